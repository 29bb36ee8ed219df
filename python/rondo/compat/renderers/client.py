"""A client of vLLM's endpoint that takes and gives token ids: render, sample, parse.

`generate` takes an `openai.AsyncOpenAI`, or whatever has its `base_url`, `get` and `post`.  Text only.
"""
import json
import math
from collections.abc import Mapping
from typing import Any

from .base import ToolCallParseStatus

ROUTED_EXPERTS_DATA_PREFIX = b'"routed_experts":{"data":"'
VLLM_LOGPROB_SENTINEL = -9999.0  # what the engine writes where it has no value

_longest: dict[tuple[str, str], int | None] = {}  # by engine and model; None: the engine does not say


class OverlongPromptError(Exception):
    """A prompt is longer than what the engine takes.  Raised before anything is sent."""

    def __init__(self, *, prompt_len: int, max_prompt_len: int) -> None:
        super().__init__(f"the prompt has {prompt_len} ids; the engine takes {max_prompt_len}")
        self.prompt_len, self.max_prompt_len = prompt_len, max_prompt_len


class MalformedGenerateResponseError(ValueError):
    """An engine's reply does not have the expected shape."""


async def _longest_prompt(client, model):
    key = (str(getattr(client, "base_url", "")), model)
    if key not in _longest:
        _longest[key] = None
        try:
            cards = (await client.get("/models", cast_to=dict[str, Any])).get("data") or []
        except Exception:  # noqa: BLE001: an engine that does not tell has no limit that could be checked here
            cards = []
        for card in cards:
            size = card.get("max_model_len") if isinstance(card, Mapping) and card.get("id") == model else None
            if isinstance(size, int) and size > 0:
                _longest[key] = size
    return _longest[key]


def parse_generate_response(raw: bytes) -> dict[str, Any]:
    """The reply as a dict; the long text of `routed_experts` as a view of `raw`, which is not read as JSON."""
    begin = raw.find(ROUTED_EXPERTS_DATA_PREFIX)
    if begin < 0:
        return json.loads(raw)
    begin += len(ROUTED_EXPERTS_DATA_PREFIX)
    end = raw.index(b'"', begin)
    reply = json.loads(raw[:begin] + raw[end:])
    reply["choices"][0]["routed_experts"]["data"] = memoryview(raw)[begin:end]
    return reply


def _logprobs(choice, ids) -> list[float]:
    place = "choices[0].logprobs"
    given = choice.get("logprobs")
    entries = given.get("content") if isinstance(given, Mapping) else None
    if not isinstance(entries, list):
        raise MalformedGenerateResponseError(f"{place}.content must be a list")
    if len(entries) != len(ids):
        raise MalformedGenerateResponseError(f"{place}.content has {len(entries)} entries for {len(ids)} ids")
    return [_logprob(entry, token, f"{place}.content[{k}]") for k, (entry, token) in enumerate(zip(entries, ids))]


def _logprob(entry, token, place) -> float:
    if not isinstance(entry, Mapping) or entry.get("token") != f"token_id:{token}":
        raise MalformedGenerateResponseError(f"{place}.token must be `token_id:{token}`")
    value = entry.get("logprob")
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise MalformedGenerateResponseError(f"{place}.logprob must be a finite number")
    if value == VLLM_LOGPROB_SENTINEL:
        raise MalformedGenerateResponseError(f"{place}.logprob stands for no value")
    return float(value)


async def generate(
    *,
    client,
    renderer,
    messages,
    model: str,
    prompt_ids: list[int] | None = None,
    multi_modal_data=None,
    prompt_attribution=None,
    tools=None,
    sampling_params: dict[str, Any] | None = None,
    cache_salt: str | None = None,
    priority: int | None = None,
    extra_headers: dict[str, str] | None = None,
    max_prompt_len: int | None = None,
    process_multimodal: bool = True,
) -> dict[str, Any]:
    """Renders messages (or takes `prompt_ids`), samples, and gives ids, logprobs and the parsed answer as a dict.

    `sampling_params` go to the engine as they are, but for `stop_token_ids` and `logprobs`, which are set here.
    `prompt_attribution`: the RenderedTokens behind `prompt_ids`, handed through.  `max_prompt_len`: by default what the
    engine says.

    Raises OverlongPromptError, MalformedGenerateResponseError, ValueError for tools that the renderer cannot read calls
    of, and NotImplementedError for images.
    """
    if tools and not getattr(renderer, "supports_tools", True):
        raise ValueError(f"{type(renderer).__name__} reads no calls: its template writes none; name a tool_parser")
    if not process_multimodal or (multi_modal_data is not None and not multi_modal_data.is_empty()):
        raise NotImplementedError("images and videos are not sent by this client")
    if prompt_ids is None:
        prompt_attribution = renderer.render(messages, tools=tools, add_generation_prompt=True)
        multi_modal_data = prompt_attribution.multi_modal_data
    ids = list(prompt_attribution.token_ids if prompt_ids is None else prompt_ids)
    longest = await _longest_prompt(client, model) if max_prompt_len is None else max_prompt_len
    if longest is not None and len(ids) > longest:
        raise OverlongPromptError(prompt_len=len(ids), max_prompt_len=longest)
    sampling = {"skip_special_tokens": False, **(sampling_params or {}), "logprobs": 1,
                "stop_token_ids": renderer.get_stop_token_ids()}
    body = {"model": model, "token_ids": ids, "sampling_params": sampling}
    extra = {"cache_salt": cache_salt, "priority": priority}
    body.update({name: value for name, value in extra.items() if value is not None})
    reply = await _post(client, body, extra_headers)
    choice = (reply.get("choices") or [{}])[0]
    completion = list(choice.get("token_ids") or [])
    prompt = list(reply.get("prompt_token_ids") or ids)
    logprobs = _logprobs(choice, completion)
    parsed = renderer.parse_response(completion, prompt_ids=prompt, tools=tools)
    reason = choice.get("finish_reason")
    if reason == "stop" and any(call.status == ToolCallParseStatus.OK for call in parsed.tool_calls):
        reason = "tool_calls"  # as the chat APIs say it
    return {
        "request_id": reply.get("request_id") or "",
        "usage": reply.get("usage"),
        "prompt_ids": prompt,
        "renderer_prompt_ids": None,
        "mm_placeholders": reply.get("mm_placeholders"),
        "completion_ids": completion,
        "completion_logprobs": logprobs,
        "content": parsed.content,
        "reasoning_content": parsed.reasoning_content,
        "tool_calls": parsed.tool_calls,
        "finish_reason": reason,
        "reasoning_complete": parsed.reasoning_complete,
        "routed_experts": choice.get("routed_experts"),
        "sampling_mask": choice.get("sampling_mask"),
        "multi_modal_data": multi_modal_data,
        "prompt_attribution": prompt_attribution,
    }


async def _post(client, body, headers):
    """The endpoint is at the server's root, beside the /v1 of the client."""
    import httpx  # comes with the client

    root = str(client.base_url).rstrip("/").removesuffix("/v1")
    options = {"options": {"headers": headers}} if headers else {}
    reply = await client.post(f"{root}/inference/v1/generate", cast_to=httpx.Response, body=body, **options)
    return parse_generate_response(reply.content)
