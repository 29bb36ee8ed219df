"""The plain parts of the interface: messages, rendered tokens with their helpers, parsed responses, training samples.

What these mean is the interface's own; how they are filled is rondo's.  Nothing here knows a model.
"""
import enum
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, Protocol, TypedDict, runtime_checkable

import numpy

# --- Messages --------------------------------------------------------------------------------------------------------


class TextPart(TypedDict):
    type: Literal["text"]
    text: str


class ThinkingPart(TypedDict):
    """Reasoning as a content part."""

    type: Literal["thinking"]
    thinking: str


class ImagePart(TypedDict, total=False):
    type: Literal["image", "image_url"]
    image: Any
    url: str
    path: str
    image_url: dict[str, Any]


class VideoPart(TypedDict, total=False):
    type: Literal["video", "video_url"]
    video: Any
    url: str
    path: str
    video_url: dict[str, Any]


ContentPart = TextPart | ThinkingPart | ImagePart | VideoPart
Content = str | list[ContentPart]


class ToolCallFunction(TypedDict):
    name: str
    arguments: dict[str, Any] | str


class ToolCall(TypedDict, total=False):
    type: str
    id: str
    function: ToolCallFunction


class ToolSpec(TypedDict):
    name: str
    description: str
    parameters: dict[str, Any]


class _MessageRequired(TypedDict):
    role: str
    content: Content


class Message(_MessageRequired, total=False):
    """A turn, in the shape of the public chat APIs."""

    tool_calls: list[ToolCall]
    tool_call_id: str
    name: str
    reasoning: str
    reasoning_content: str


def extract_message_tool_names(messages) -> list[str | None]:
    """Per message the function whose result it is: its own `name`, else that of the call with its id; else None."""
    known = {}
    for message in messages:
        is_assistant = isinstance(message, Mapping) and message.get("role") == "assistant"
        for call in (message.get("tool_calls") or []) if is_assistant else []:
            function = call.get("function") if isinstance(call, Mapping) else None
            name = function.get("name") if isinstance(function, Mapping) else None
            if isinstance(name, str) and isinstance(call.get("id"), str):
                known[call["id"]] = name
    return [_tool_name(message, known) for message in messages]


def _tool_name(message, known) -> str | None:
    if not isinstance(message, Mapping) or message.get("role") != "tool":
        return None
    name, call_id = message.get("name"), message.get("tool_call_id")
    if isinstance(name, str) and name:
        return name
    return known.get(call_id) or None if isinstance(call_id, str) else None


# --- Rendered tokens -------------------------------------------------------------------------------------------------


@dataclass
class PlaceholderRange:
    """Where the placeholder tokens of one image or video stand."""

    offset: int
    length: int


@dataclass
class MultiModalData:
    """What comes beside the tokens of a conversation with images.  rondo renders text; it never fills one."""

    mm_hashes: dict[str, list[str]] = field(default_factory=dict)
    mm_placeholders: dict[str, list[PlaceholderRange]] = field(default_factory=dict)
    mm_items: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def is_empty(self) -> bool:
        return not (self.mm_hashes or self.mm_placeholders or self.mm_items)


@dataclass
class RenderedTokens:
    """A prompt in token ids; the lists have an entry per id.

    message_indices: the message an id belongs to, -1 for nobody's.  sampled_mask: True where the model itself would have
    written the id.  is_content: True for a message's body (of assistants: what is sampled), False for the template's
    scaffold.  message_roles, message_tool_names: an entry per message.  Of a bridge's result messages are the new ones.
    """

    token_ids: list[int] = field(default_factory=list)
    message_indices: list[int] = field(default_factory=list)
    sampled_mask: list[bool] = field(default_factory=list)
    is_content: list[bool] = field(default_factory=list)
    message_roles: list[str] = field(default_factory=list)
    message_tool_names: list[str | None] = field(default_factory=list)
    multi_modal_data: "MultiModalData | None" = None

    @classmethod
    def lazily(cls, makers: dict[str, Callable[[], list]], **fields: Any) -> "RenderedTokens":
        """Fields, and functions that make the others when they are first asked for."""
        made = cls.__new__(cls)
        made.__dict__.update(fields, _makers=makers)
        return made

    def __getattr__(self, name):  # only for what is not there
        make = self.__dict__.get("_makers", {}).get(name)
        if make is None:
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
        value = self.__dict__[name] = make()
        return value

    def __getstate__(self):
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def tokens_per_message(self, n_messages: int | None = None, *, sampled_only: bool = False) -> list[int]:
        """How many ids each message has; with `sampled_only` how many of them the model would have written."""
        known = len(self.message_roles)
        count = known if n_messages is None else min(n_messages, known)
        owners = numpy.asarray(self.message_indices, dtype=numpy.int64)
        if sampled_only:
            if len(self.sampled_mask) != len(self.token_ids):
                return [0] * count
            owners = owners[numpy.asarray(self.sampled_mask, dtype=bool)]
        owners = owners[(owners >= 0) & (owners < count)]
        return numpy.bincount(owners, minlength=count).tolist() if count > 0 else []

    def message_token_spans(self) -> list[tuple[int, int] | None]:
        """Per message (first, behind last) of its ids; None for a message without any."""
        owners = numpy.asarray(self.message_indices, dtype=numpy.int64)
        count = len(self.message_roles) or int(owners.max(initial=-1)) + 1
        first = numpy.full(count, len(owners), dtype=numpy.int64)
        last = numpy.full(count, -1, dtype=numpy.int64)
        places = numpy.flatnonzero((owners >= 0) & (owners < count))
        numpy.minimum.at(first, owners[places], places)
        numpy.maximum.at(last, owners[places], places)
        return [(begin, end + 1) if end >= 0 else None for begin, end in zip(first.tolist(), last.tolist())]

    def role_token_spans(self) -> dict[str, list[tuple[int, int]]]:
        """The spans of the messages, by role; roles without ids have an empty list."""
        out: dict[str, list[tuple[int, int]]] = {}
        for role, span in zip(self.message_roles, self.message_token_spans()):
            out.setdefault(role, []).extend([span] if span else [])
        return out

    def tokens_by_role(self, *, sampled_only: bool = False) -> dict[str, int]:
        out: dict[str, int] = {}
        for role, count in zip(self.message_roles, self.tokens_per_message(sampled_only=sampled_only)):
            out[role] = out.get(role, 0) + count
        return out

    def _has_content(self) -> bool:
        size = len(self.token_ids)
        return bool(self.is_content and self.message_roles) and len(self.is_content) == len(self.message_indices) == size

    def content_token_spans_by_role(self) -> dict[str, list[tuple[int, int]]]:
        """By role the runs of body ids; a run never crosses messages."""
        out: dict[str, list[tuple[int, int]]] = {}
        if not self._has_content():
            return out
        body = numpy.asarray(self.is_content, dtype=bool)
        for role, span in zip(self.message_roles, self.message_token_spans()):
            runs = out.setdefault(role, [])
            if span:
                edges = numpy.diff(numpy.concatenate(([0], body[span[0]:span[1]].astype(numpy.int8), [0])))
                starts, ends = numpy.flatnonzero(edges == 1), numpy.flatnonzero(edges == -1)
                runs += [(span[0] + begin, span[0] + end) for begin, end in zip(starts.tolist(), ends.tolist())]
        return out

    def content_mask_for_roles(self, roles: "set[str] | frozenset[str]") -> list[bool]:
        """True for the body ids of messages with one of these roles."""
        if not self._has_content():
            return [False] * len(self.token_ids)
        return [bool(is_body) and 0 <= owner < len(self.message_roles) and self.message_roles[owner] in roles
                for owner, is_body in zip(self.message_indices, self.is_content)]


# --- Parsed responses ------------------------------------------------------------------------------------------------


class ToolCallParseStatus(str, enum.Enum):
    """How a single call fared.  Schemas are not checked; names are, where the format's parser does so."""

    OK = "ok"
    INVALID_JSON = "invalid_json"
    UNCLOSED_BLOCK = "unclosed_block"
    MISSING_NAME = "missing_name"
    MALFORMED_STRUCTURE = "malformed_structure"
    UNKNOWN_TOOL = "unknown_tool"

    def __str__(self):
        return self.value


@dataclass
class ParsedToolCall:
    """A call as the model wrote it, well or badly.

    raw: the text between the call's markers.  token_span: (first, behind last) of its ids, markers included.
    """

    raw: str
    name: str | None = None
    arguments: dict[str, Any] | str | None = None
    token_span: tuple[int, int] | None = None
    status: ToolCallParseStatus = ToolCallParseStatus.OK
    id: str | None = None


@dataclass
class ParsedResponse:
    """A completion as a message.  reasoning_complete: False if it ended inside of the reasoning."""

    content: str
    reasoning_content: str | None = None
    tool_calls: list[ParsedToolCall] = field(default_factory=list)
    reasoning_complete: bool | None = True


@dataclass
class RenderedConversation:
    """The exact ids of a conversation, prompt and completion."""

    prompt_ids: list[int]
    completion_ids: list[int] = field(default_factory=list)
    completion_logprobs: list[float] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    parsed_completion: ParsedResponse | None = None

    @property
    def token_ids(self) -> list[int]:
        return self.prompt_ids + self.completion_ids

    def with_completion(self, completion_ids, *, completion_logprobs=None, parsed_completion=None):
        return RenderedConversation(list(self.prompt_ids), list(completion_ids), list(completion_logprobs or []),
                                    list(self.messages), parsed_completion)


# --- Tokenizers and renderers, by their members ----------------------------------------------------------------------


@runtime_checkable
class Tokenizer(Protocol):
    name_or_path: str
    unk_token_id: int | None
    eos_token_id: int | None

    def encode(self, text: str, *args: Any, **kwargs: Any) -> list[int]: ...

    def decode(self, token_ids: Any, *args: Any, **kwargs: Any) -> str: ...

    def convert_tokens_to_ids(self, tokens: Any) -> Any: ...


@runtime_checkable
class OffsetTokenizer(Tokenizer, Protocol):
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...


@runtime_checkable
class ChatTemplateTokenizer(Tokenizer, Protocol):
    def apply_chat_template(self, *args: Any, **kwargs: Any) -> Any: ...


@runtime_checkable
class MultimodalRenderer(Protocol):
    """A renderer that also takes images.  rondo's is none."""

    @property
    def mm_token_type_id_map(self) -> dict[int, int]: ...

    def bridge_to_next_turn(self, *args: Any, **kwargs: Any) -> "RenderedTokens | None": ...


def is_multimodal(renderer: object) -> bool:
    own = getattr(renderer, "is_multimodal", None)
    return own if isinstance(own, bool) else isinstance(renderer, MultimodalRenderer)


# --- Training samples ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RenderedTrainingSample:
    token_ids: list[int]
    loss_mask: list[bool]
    multi_modal_data: "MultiModalData | None" = None
    mm_token_type_ids: list[int] | None = None


def _check_selection(selection, messages) -> None:
    if len(selection) != len(messages):
        raise ValueError("message_loss_mask must have one entry per message")
    if any(not isinstance(entry, (bool, int)) or entry not in (0, 1) for entry in selection):
        raise ValueError("message_loss_mask entries must be booleans or integers 0/1")


def _loss_mask(rendered, messages, role_to_mask, body_roles) -> numpy.ndarray:
    """What is trained on before anything is appended or deselected."""
    owners = numpy.asarray(rendered.message_indices, dtype=numpy.int64)
    size = len(owners)
    sampled = (numpy.asarray(rendered.sampled_mask, dtype=bool) if len(rendered.sampled_mask) == size
               else numpy.ones(size, dtype=bool))
    body = (numpy.asarray(rendered.is_content, dtype=bool) if len(rendered.is_content) == size
            else numpy.zeros(size, dtype=bool))
    # The last entry is that of nobody's ids.
    wanted = numpy.array([role_to_mask is None or bool(role_to_mask(message)) for message in messages] + [False])
    by_body = numpy.array([message.get("role") in body_roles for message in messages] + [False])
    return numpy.where(by_body[owners], body, sampled & wanted[owners])


def build_training_sample(
    renderer,
    messages,
    *,
    role_to_mask: Callable[[Message], bool] | None = None,
    tools=None,
    content_sft_roles: "set[str] | frozenset[str] | None" = None,
    ensure_final_stop: bool = False,
    message_loss_mask: list[bool | int] | None = None,
) -> RenderedTrainingSample:
    """Ids and loss mask of a conversation for supervised training, from one render.

    Trained on is what the model would have sampled; with `role_to_mask` only in messages for which it says so.
    `content_sft_roles`: of messages with these roles the body instead.  `ensure_final_stop`: appends the stop token where
    the template leaves the last assistant turn open.  `message_loss_mask`: one 0 or 1 per message; 0 takes the message,
    its stop token included, out of the loss.  Without a sampled_mask (a renderer that gives none) `role_to_mask` is needed
    and whole messages are trained on.
    """
    if message_loss_mask is not None:
        _check_selection(message_loss_mask, messages)
    rendered = renderer.render(messages, tools=tools)
    size = len(rendered.token_ids)
    has_sampled = len(rendered.sampled_mask) == size
    if role_to_mask is None and not has_sampled:
        raise ValueError("role_to_mask is required: the renderer does not say what is sampled")
    body_roles = frozenset(content_sft_roles or ()) if len(rendered.is_content) == size else frozenset()
    mask = _loss_mask(rendered, messages, role_to_mask, body_roles)
    ids = list(rendered.token_ids)
    owners = numpy.asarray(rendered.message_indices, dtype=numpy.int64)
    is_trained_last = messages[-1].get("role") == "assistant" and (role_to_mask is None or role_to_mask(messages[-1]))
    if ensure_final_stop and has_sampled and is_trained_last:
        stops = renderer.get_stop_token_ids()
        trained = numpy.flatnonzero(mask)
        if not trained.size or ids[trained[-1]] not in stops:
            ids.append(stops[0])
            mask, owners = numpy.append(mask, True), numpy.append(owners, len(messages) - 1)
    if message_loss_mask is not None:
        mask = mask & numpy.array([bool(entry) for entry in message_loss_mask] + [False])[owners]
    media = rendered.multi_modal_data
    media = None if media is None or media.is_empty() else media
    types = _token_types(media.mm_placeholders, len(ids)) if media is not None and media.mm_placeholders else None
    return RenderedTrainingSample(ids, mask.tolist(), media, types)


def _token_types(placeholders, length) -> list[int]:
    """0 for text, 1 for images, 2 for video."""
    types = numpy.zeros(length, dtype=numpy.int64)
    for modality, ranges in placeholders.items():
        for span in ranges:
            types[span.offset:span.offset + span.length] = {"image": 1, "video": 2}.get(modality, 0)
    return types.tolist()


def _common_prefix_len(a, b) -> int:
    size = min(len(a), len(b))
    differing = numpy.flatnonzero(numpy.asarray(a[:size]) != numpy.asarray(b[:size]))
    return int(differing[0]) if differing.size else size


def build_trajectory_step(renderer, prompt_messages, completion_messages, *, tools=None) -> dict[str, Any]:
    """Prompt and completion ids of one step, split where the prompt for the model ends in the whole conversation."""
    prompt = renderer.render_ids(prompt_messages, tools=tools, add_generation_prompt=bool(completion_messages))
    rendered = renderer.render([*prompt_messages, *completion_messages], tools=tools)
    split = _common_prefix_len(prompt, rendered.token_ids)
    completion = rendered.token_ids[split:]
    step = {
        "prompt_ids": rendered.token_ids[:split],
        "prompt_mask": [False] * split,
        "completion_ids": completion,
        "completion_mask": [True] * len(completion),
        "completion_logprobs": [0.0] * len(completion),
        "routed_experts": None,
        "sampling_mask": None,
    }
    media = rendered.multi_modal_data
    if media is not None and not media.is_empty():
        step["multi_modal_data"] = media
    return step


# --- Helpers for renderers written by hand ---------------------------------------------------------------------------


def trim_to_turn_close(previous_prompt_ids, previous_completion_ids, close_token_ids, *, synthesize_close=None):
    """Prompt and completion up to the completion's last close token; with `synthesize_close` behind it if there is none."""
    ids = [*previous_prompt_ids, *previous_completion_ids]
    for end in range(len(ids), len(previous_prompt_ids), -1):
        if ids[end - 1] in close_token_ids:
            return ids[:end]
    return None if synthesize_close is None else [*ids, synthesize_close]


def reject_assistant_in_extension(new_messages) -> bool:
    """True if one of the messages is the model's own, which a bridge must not write again."""
    return any(message.get("role") == "assistant" for message in new_messages)


def introduces_user_query(new_messages, *, is_user_query=None) -> bool:
    test = is_user_query or (lambda message: message.get("role") == "user")
    return any(test(message) for message in new_messages)


def resolve_thinking_retention(config, implied: str) -> str:
    requested = getattr(config, "thinking_retention", None)
    return implied if requested is None else requested


def should_rerender_for_thinking_retention(thinking_retention: str, new_messages, *, is_user_query=None) -> bool:
    """Whether the policy wants the conversation rendered anew instead of bridged."""
    if thinking_retention in ("template", "all"):
        return thinking_retention == "template"
    return introduces_user_query(new_messages, is_user_query=is_user_query)


def should_preserve_past_thinking(messages, msg_idx: int, *, preserve_all_thinking: bool,
                                  preserve_thinking_between_tool_calls: bool) -> bool:
    """Whether a message's reasoning stays against its template: always, or in a tool cycle that no user has ended."""
    if preserve_all_thinking or not preserve_thinking_between_tool_calls:
        return preserve_all_thinking
    roles = [message.get("role") for message in messages]
    begin = len(roles) - roles[::-1].index("user") if "user" in roles else 0
    return msg_idx >= begin and "tool" in roles[begin:]


class AttributedTextSegments(list):
    """(id, is content) pairs; `has_content_attribution` says whether the second means anything."""

    def __init__(self, values=(), *, has_content_attribution: bool):
        super().__init__(values)
        self.has_content_attribution = has_content_attribution


def attribute_text_segments(tokenizer, segments, *, overlap_is_content: bool = False) -> AttributedTextSegments:
    """Tokenizes joined segments (text, is content) in one pass; each id goes to the segment of its first character.

    With `overlap_is_content` an id is content if any of its characters is.  A tokenizer without character offsets
    gives ids whose second member means nothing.
    """
    text = "".join(part for part, _ in segments)
    if not text:
        return AttributedTextSegments(has_content_attribution=True)
    try:
        encoding = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        ids, offsets = list(encoding["input_ids"]), list(encoding["offset_mapping"])
    except (KeyError, NotImplementedError, TypeError, ValueError):
        ids = tokenizer.encode(text, add_special_tokens=False)
        return AttributedTextSegments([(token, False) for token in ids], has_content_attribution=False)
    characters = [is_content for part, is_content in segments for _ in part]
    out = []
    for token, (begin, end) in zip(ids, offsets):
        if overlap_is_content and end > begin:
            out.append((token, any(characters[begin:end])))
        else:
            out.append((token, characters[min(begin, len(characters) - 1)]))
    return AttributedTextSegments(out, has_content_attribution=True)


def load_tokenizer(model_name_or_path: str):
    """The tokenizer of a model by `transformers`, without running code of the model's own."""
    try:
        import transformers
    except ImportError as error:
        raise ImportError("loading a tokenizer by name needs the package transformers; "
                          "rondo.load() reads a folder or a .gguf without it") from error
    return transformers.AutoTokenizer.from_pretrained(model_name_or_path, trust_remote_code=False)


__all__ = [name for name, value in list(globals().items())
           if not name.startswith("_") and getattr(value, "__module__", __name__) == __name__
           and value not in (typing, enum, numpy)] + ["Content", "ContentPart"]
