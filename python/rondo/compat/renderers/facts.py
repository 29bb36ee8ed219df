"""What a template shows of itself, by a few small renders when it is first asked for.

A family's renderer knows this by hand: what closes a turn, which reasoning history keeps, what opens a call.
"""
import functools

import rondo

# Text that no template writes of itself.
_ASKED, _THOUGHT, _SAID = "Qaq", "Rerer", "Zizi"
_USER = {"role": "user", "content": _ASKED}
_PLAIN = {"role": "assistant", "content": _SAID}
_THINKS = {"role": "assistant", "content": _SAID, "reasoning_content": _THOUGHT}
_CALL = {"id": "abcdef000", "type": "function", "function": {"name": "probe", "arguments": {"z": _SAID}}}
_RESULT = {"role": "tool", "tool_call_id": "abcdef000", "name": "probe", "content": _SAID}
_TOOLS = [{"type": "function", "function": {"name": "probe", "description": "d", "parameters": {
    "type": "object", "properties": {"z": {"type": "string", "description": "d"}}}}}]


class Facts:
    """Of one model with one set of template variables.

    conventions: the family's entry in families.json.  end_token: what the tokenizer itself ends with.
    """

    def __init__(self, model, kwargs, conventions, end_token):
        self._model, self._kwargs, self._conventions, self._end_token = model, kwargs, conventions, end_token

    def _text(self, messages, **options):
        """The prompt, or None where the template refuses."""
        try:
            return self._model.render(messages, kwargs=self._kwargs, **options)
        except rondo.Error:
            return None

    @functools.cached_property
    def format(self):
        return self._model.format(kwargs=self._kwargs)

    def part(self, name):
        """A part of the format; empty where the template writes no such thing."""
        return self.format.get(name) or {}

    def mark(self, part, name):
        """A mark without the white space around it."""
        return self.part(part).get(name, "").strip()

    @functools.cached_property
    def generation_prompt(self):
        text = self._text([_USER], add_generation_prompt=True)
        return "" if text is None else text.rpartition(_ASKED)[2]

    @functools.cached_property
    def header(self):
        """The ids that open the model's turn."""
        return self._model.tokenize(self.format.get("header") or "").tolist()

    @functools.cached_property
    def call_tokens(self):
        """The tokens that open and close a call, where a single token does so."""
        markers = [self.mark("calls", name) for name in ("call_open", "call_close")]
        return [self._model.find_token(marker) if marker else None for marker in markers]

    @functools.cached_property
    def reasoning_closer(self):
        return self._model.tokenize(self.mark("reasoning", "close")).tolist()

    @functools.cached_property
    def stops(self):
        """What ends a last turn first: the template's own stop where it writes that there, else the tokenizer's."""
        stops = self._model.stop_ids(kwargs=self._kwargs)
        plain = [text.strip() for text in self.part("stops").get("content", ()) if text.strip()]
        last = (self._text([_USER, _PLAIN]) or "").rstrip()
        closing = [self._model.find_token(text) for text in plain if last.endswith(text)]
        first = next((token for token in [*closing, self._end_token] if token in stops), None)
        return stops if first is None else [first, *(token for token in stops if token != first)]

    # --- Earlier reasoning -------------------------------------------------------------------------------------------

    @functools.cached_property
    def _closes_reasoning(self):
        """Whether the generation prompt opens and closes the reasoning itself."""
        closer = self.mark("reasoning", "close")
        return bool(closer) and self.generation_prompt.rstrip().endswith(closer)

    @functools.cached_property
    def retention_with_tools(self):
        return self._retention(tools=_TOOLS)

    @functools.cached_property
    def retention_without_tools(self):
        return self._retention()

    def _retention(self, **options):
        """What the template itself does with earlier reasoning when a user speaks again."""
        if "retention_is" in self._conventions:
            return self._conventions["retention_is"]
        if self._closes_reasoning and self._conventions.get("retention_of") != "history":
            return "all"  # nothing is sampled that could be dropped
        for shown, further in (([_USER, _THINKS], [_USER]),
                               ([_USER, {**_THINKS, "tool_calls": [_CALL]}, _RESULT], [_PLAIN, _USER])):
            before = self._text(shown, **options) or ""
            behind = self._text([*shown, *further], add_generation_prompt=True, **options)
            if _THOUGHT in before and behind is not None and _THOUGHT not in behind:
                return "tool_cycle"
        return "all"

    @functools.cached_property
    def is_prefix_stable(self):
        """Whether a conversation that ends with the model's turn stays a prefix of all that extend it, as far as a matrix
        of small conversations shows."""
        for ending in (_PLAIN, _THINKS, {**_THINKS, "tool_calls": [_CALL]}, {**_PLAIN, "tool_calls": [_CALL]}):
            following = [_RESULT] if ending.get("tool_calls") else [_USER]
            for turns in ([_USER, ending], [_USER, _PLAIN, _USER, ending]):
                for further in (following, [*following, _PLAIN], [*following, _THINKS], [*following, _PLAIN, _USER]):
                    before, behind = self._text(turns), self._text([*turns, *further])
                    if before is not None and behind is not None and not behind.startswith(before):
                        return False
        return True
