"""Calls as the interface wants them: what rondo parsed, and attempts that rondo takes for text."""
import json

from .base import ParsedToolCall, ToolCallParseStatus

_STATUS = {
    "ok": ToolCallParseStatus.OK,
    "invalid_json": ToolCallParseStatus.INVALID_JSON,
    "unclosed": ToolCallParseStatus.UNCLOSED_BLOCK,
    "malformed": ToolCallParseStatus.MALFORMED_STRUCTURE,
    "unknown_tool": ToolCallParseStatus.UNKNOWN_TOOL,
}
_READ = (ToolCallParseStatus.OK, ToolCallParseStatus.UNKNOWN_TOOL, ToolCallParseStatus.MISSING_NAME)
# Kinds of problems that the interface leaves to who runs the tool.
_OF_THE_SCHEMA = ("wrong_type", "unknown_parameter")


def parsed_call(call, marks):
    """A rondo.ToolCall as a ParsedToolCall; marks: the part `calls` of the format."""
    status = _STATUS[call.status]
    if status is ToolCallParseStatus.MALFORMED_STRUCTURE:
        if call.problems and all(problem["kind"] in _OF_THE_SCHEMA for problem in call.problems):
            status = ToolCallParseStatus.OK
        elif not call.name:
            status = ToolCallParseStatus.MISSING_NAME
    return ParsedToolCall(
        raw=_inside(call.raw, marks),
        name=call.name or None,
        arguments=_decoded(call.arguments) if status in _READ and call.arguments else None,
        token_span=call.token_span,
        status=status,
        id=call.id,
    )


def take_attempts(model, ids, reasoning, content, calls, call_tokens, stops):
    """What begins with the token that opens calls and is none: text or markup to rondo, calls that failed to the interface.

    Returns the content without them, and all calls in their order.
    """
    opener, closer = call_tokens
    if opener is None or opener not in ids:
        return content, calls
    end = next((place for place, token in enumerate(ids) if token in stops), len(ids))
    spans, found = [call.token_span for call in calls if call.token_span], []
    for begin in [place for place, token in enumerate(ids[:end]) if token == opener]:
        if any(first <= begin < last for first, last in spans):
            continue
        close = next((place for place in range(begin + 1, end) if ids[place] == closer), None)
        last = end if close is None else close + 1
        text = model.detokenize(ids[begin:last])
        inside = model.detokenize(ids[begin + 1:end if close is None else close]).strip()
        if text not in content and (text in (reasoning or "") or not _is_empty(inside)):
            continue
        content = content.replace(text, "", 1)
        found.append(ParsedToolCall(raw=inside, token_span=(begin, last), status=_fault(inside, close is not None)))
        spans.append((begin, last))
    return content, sorted([*calls, *found], key=lambda call: call.token_span or (0, 0)) if found else calls


def _is_empty(text):
    """Whether the inside of a call is JSON without anything in it, which rondo reads as markup."""
    try:
        return not json.loads(text)
    except ValueError:
        return False


def _fault(text, is_closed):
    """Why the inside of a call is none."""
    if not is_closed:
        return ToolCallParseStatus.UNCLOSED_BLOCK
    if not text.startswith(("{", "[")):
        return ToolCallParseStatus.MALFORMED_STRUCTURE
    try:
        json.loads(text)
    except ValueError:
        return ToolCallParseStatus.INVALID_JSON
    return ToolCallParseStatus.MISSING_NAME


def _decoded(arguments):
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def _inside(raw, marks):
    """A call's text without the markers around it."""
    for opener in (marks.get("section_open", ""), marks.get("call_open", "")):
        raw = raw.strip().removeprefix(opener.strip())
    for closer in (marks.get("section_close", ""), marks.get("call_close", "")):
        raw = raw.strip().removesuffix(closer.strip())
    return raw.strip()
