from collections.abc import Sequence
import datetime
from typing import Annotated, Any

import numpy
import numpy.typing
from numpy.typing import NDArray

import rondo.types


class Encoded:
    """
    A prompt in token ids, and whose each id is.

    All arrays have one entry per id, shape (n,).  They are views of the object's own memory: no copies, and they keep the
    object alive.  Writing into one changes what the object shows, and nothing else.
    """

    @property
    def ids(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """int32: the token ids"""

    @property
    def message_indices(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """
        int32: the message that an id belongs to, by its first byte; -1: nobody's (tools, generation prompt)
        """

    @property
    def content_mask(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
        """uint8: 1 where the first byte is a message's own data"""

    @property
    def sampled_mask(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
        """
        uint8: 1 where the model would have written the id as part of its turn, stop token included
        """

    @property
    def straddles(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
        """
        uint8: 1 where an id's bytes are of several messages, or partly data and partly template
        """

    @property
    def begins(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
        """uint32: the first byte of each id in the UTF-8 of `text`"""

    @property
    def ends(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
        """uint32: behind the last byte of each id"""

    @property
    def text(self) -> str:
        """The prompt as text."""

    @property
    def notes(self) -> list[str]:
        """
        Of raw turns: what was written to close them, and where a message is not what its completion says.
        """

    @property
    def shaped(self) -> list[str]:
        """
        What of the messages was given to the template otherwise than it was sent: sentences (docs/shaping.md).
        """

    @property
    def roles(self) -> list[str]:
        """The role of each message; "" for one without."""

    @property
    def tool_names(self) -> list[str | None]:
        """
        Per message the tool whose result it is: its own `name`, or that of the call which it answers; None for others.
        """

    def message_spans(self) -> list[tuple[int, int] | None]:
        """Per message (first, behind last) of its ids, or None if it has none."""

    def __len__(self) -> int: ...

    def __repr__(self) -> str: ...

class Bridged:
    """
    The next prompt: the old ids unchanged, then the new turn.

    Arrays are views of the object's own memory, as those of Encoded.
    """

    @property
    def ids(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """int32 (n,): prompt_ids + completion_ids + what was appended"""

    @property
    def content_mask(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
        """
        uint8 (n,): 1 where an appended id's first byte is a new message's own data
        """

    @property
    def message_indices(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """int32 (n,): index in new_messages; -1 for everything else"""

    @property
    def appended(self) -> int:
        """How many ids, the last ones, were appended."""

    @property
    def appended_text(self) -> str: ...

    @property
    def notes(self) -> list[str]:
        """What was synthesised or replaced by a stand-in, and why: sentences."""

    @property
    def shaped(self) -> list[str]:
        """
        What of the messages was given to the template otherwise than it was sent: sentences (docs/shaping.md).
        """

    @property
    def lossy(self) -> list[dict]:
        """
        What the template would have written differently in earlier turns: dicts of what, cause, message, place, line, column.
        """

    @property
    def cuts(self) -> list[tuple[int, int, int]]:
        """
        (first, behind last, message) of old ids that were cut out; none unless the retention does so.
        """

    @property
    def kept(self) -> int:
        """
        How many leading ids are where they were: all old ones if nothing was cut.
        """

    def __len__(self) -> int: ...

    def __repr__(self) -> str: ...

class Appended:
    """
    What follows the old ids in the next prompt.

    Arrays are views of the object's own memory, as those of Encoded.
    """

    @property
    def ids(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """int32 (n,): the new ids"""

    @property
    def message_indices(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """int32 (n,): index in new_messages; -1 for everything else"""

    @property
    def content_mask(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
        """uint8 (n,): 1 where an id's first byte is a new message's own data"""

    @property
    def text(self) -> str: ...

    @property
    def notes(self) -> list[str]:
        """What was synthesised or replaced by a stand-in, and why: sentences."""

    @property
    def shaped(self) -> list[str]:
        """
        What of the messages was given to the template otherwise than it was sent: sentences (docs/shaping.md).
        """

    @property
    def lossy(self) -> list[dict]:
        """
        How the completion's end differs from what the template writes there: dicts as those of Bridged.
        """

    def __len__(self) -> int: ...

    def __repr__(self) -> str: ...

class ToolCall:
    """A tool call that a model wrote, well or badly."""

    @property
    def id(self) -> str | None:
        """The id that the model wrote; None for formats without ids."""

    @property
    def name(self) -> str: ...

    @property
    def arguments(self) -> str:
        """JSON text: the model's own characters where the format carries JSON."""

    @property
    def status(self) -> str:
        """"ok", "invalid_json", "unclosed", "malformed" or "unknown_tool"."""

    @property
    def problems(self) -> list[dict[str, str]]:
        """
        Why a call is malformed whose arguments can be read: dicts of kind, parameter and message.

        Kinds: "swallowed_tag", "unknown_attribute", "wrong_type", "unknown_parameter",
        "unclosed_value", "unreadable_parameter" (docs/parse.md).
        """

    @property
    def raw(self) -> str:
        """The call as the model wrote it."""

    @property
    def token_span(self) -> tuple[int, int] | None:
        """
        (first, behind last) of its ids in the completion; None where text was parsed.
        """

    def __repr__(self) -> str: ...

class Parsed:
    """What a model wrote."""

    @property
    def content(self) -> str: ...

    @property
    def reasoning_content(self) -> str | None:
        """None if there was no reasoning block."""

    @property
    def tool_calls(self) -> list[ToolCall]: ...

    @property
    def complete(self) -> bool:
        """False if something that was opened is still open."""

    @property
    def behind_stop(self) -> str:
        """
        Text behind the stop, which is no part of the turn; markup alone is left out.  Of ids, nothing behind the stop is read.
        """

    @property
    def stopped(self) -> bool:
        """A stop token was among the ids; what follows it was not read."""

    @property
    def reasoning_open(self) -> bool:
        """The text ends inside of the reasoning."""

    @property
    def text(self) -> str:
        """What was parsed, up to the stop token."""

    def to_message(self, first_call_index: int = 0, raw: bool = False) -> dict:
        """
        The message for a conversation's history: a dict with role, content, reasoning_content and tool_calls.

        Calls without an id of the model's own get `call_<index>`, counted from `first_call_index`.  raw=True adds what was parsed, as
        `raw_ids` (a list of ints; all that were given) or, where it was text, `raw`: Model.encode(..., raw_turns=True) then puts
        that into the prompt instead of writing the message again.
        """

    def __repr__(self) -> str: ...

def load(path: object | None, *, template: object | None, tokenizer: object | None, format: object | None, strict: bool, polyfill: str, cache_folder: str) -> Model: ...

def from_memory(parts: dict, *, template: object | None, format: object | None, strict: bool, polyfill: str, cache_folder: str) -> Model: ...

class Model:
    """
    A model as rondo sees it: its chat template and its tokenizer.

    Made by rondo.load() or rondo.from_tokenizer().  Immutable: all methods may be called from many threads at once, and work
    without the GIL.  Can be pickled when it was loaded from files: the paths travel, not the content.
    """

    def render(self, messages: rondo.types.Messages, *, tools: rondo.types.Objects | None = None, documents: rondo.types.Objects | None = None, add_generation_prompt: bool = False, continue_final_message: bool | str | None = None, kwargs: dict[str, Any] | None = None, now: datetime.datetime | str | None = None) -> str:
        """
        The prompt as text.

        messages: a list of dicts in the shape of the public chat APIs (or pydantic models or dataclasses); what is given is what the
        template sees.  tools, documents: lists of dicts.  kwargs: further template variables.  continue_final_message: True, or the
        name of the field of the last message that the model is to continue ("reasoning_content", or "tool_calls": behind the last
        call's arguments, a JSON text that may end anywhere).  now: a datetime (or ISO text) for templates that print the time; the
        clock by default.

        Raises InvalidArgumentError, or TemplateError with the template's line.  Runs without the GIL.

            >>> model.render([{"role": "user", "content": "Hello"}], add_generation_prompt=True)
        """

    def shape(self, messages: rondo.types.Messages, *, tools: rondo.types.Objects | None = None, documents: rondo.types.Objects | None = None, kwargs: dict[str, Any] | None = None) -> tuple[list[dict[str, Any]], list[str]]:
        """
        The messages in the form that the template needs, and sentences that say what is not as it was given.

        For renderers other than rondo: render() and encode() shape messages on their own.  Arguments as render().  Shaping shaped
        messages changes nothing.  A model loaded with strict=True returns them as they are.

            >>> shaped, changes = model.shape(messages, tools=tools)
        """

    def shape_tools(self, tools: rondo.types.Objects, *, kwargs: dict[str, Any] | None = None) -> tuple[list[dict[str, Any]], list[str]]:
        """
        The tool definitions in the form that the template needs, and sentences that say what is not as it was given.

        For renderers other than rondo: render() and encode() shape tools on their own.  Shaping shaped tools changes nothing.  A
        model loaded with strict=True returns them as they are.

            >>> shaped, changes = model.shape_tools(tools)
        """

    def encode(self, messages: rondo.types.Messages, *, tools: rondo.types.Objects | None = None, documents: rondo.types.Objects | None = None, add_generation_prompt: bool = False, continue_final_message: bool | str | None = None, kwargs: dict[str, Any] | None = None, now: datetime.datetime | str | None = None, content_specials: str = 'text', raw_turns: bool = False, retention: str | None = None, inline_reasoning: bool = True) -> Encoded:
        """
        The prompt as token ids, with the owner of each: an Encoded.

        Arguments as render().  content_specials="parse" recognises control tokens in user text, as
        apply_chat_template(tokenize=True) does; by default text from messages, tools and documents never becomes one, but for the
        marks of a block of reasoning with which an assistant's content begins: the model has sampled them (inline_reasoning=False: nor they).
        raw_turns=True: assistant messages with a field `raw_ids` (ids) or `raw` (text), as Parsed.to_message(raw=True) makes them,
        stand as they were sampled, and what follows is appended as a bridge does; `notes` say what was written to close them, and
        what of a continued message the template does not write.  retention: what of earlier reasoning stands in the prompt though
        the template drops it: "preserve_all_thinking", "preserve_thinking_between_tool_calls"; by default what the template writes.

        Raises as render(), and UnsupportedError for a model without a tokenizer.  Runs without the GIL.

            >>> encoded = model.encode(messages, tools=tools)
            >>> labels = numpy.where(encoded.sampled_mask, encoded.ids, -100)
        """

    def bridge(self, prompt_ids: rondo.types.Ids, completion_ids: rondo.types.Ids, new_messages: rondo.types.Messages, *, messages: rondo.types.Messages | None = None, tools: rondo.types.Objects | None = None, documents: rondo.types.Objects | None = None, kwargs: dict[str, Any] | None = None, now: datetime.datetime | str | None = None, content_specials: str = 'text', close: bool = True, lossy: bool = True, find_lossy: bool = True, retention: str = 'all', sampled: Sequence[tuple[int, int]] | None = None) -> Bridged:
        """
        The next prompt of a rollout: the old ids unchanged, then the new turn.

        prompt_ids, completion_ids: what the model was given and what it sampled, shape (n,), any integer dtype (int32 is not
        copied), or sequences of ints; the completion with or without its stop token, possibly cut off.  new_messages: what follows,
        none of role `assistant`.  close=False leaves out what would close reasoning or a call that the completion left open; the stop
        token is written all the same.  lossy=False raises BridgeError where the template would have written something of the old turns
        differently; find_lossy=False does not look for that (it takes renders of the whole conversation).  messages: those behind prompt_ids, for templates whose later turns depend on them.
        retention: what of earlier reasoning stays: "all" (the old ids stay as they are) or "preserve_all_thinking", "template",
        "tool_cycle", "preserve_thinking_between_tool_calls"; with one that cuts, sampled are the ranges of prompt_ids that the
        assistant messages in `messages` were sampled as, in order, and `cuts` and `kept` of the result say what is gone.

        Raises BridgeError where the template writes nothing that ends an assistant turn, TokenizerError for ids out of range,
        InvalidArgumentError, TemplateError.  Runs without the GIL.

            >>> bridged = model.bridge(prompt_ids, completion_ids, [{"role": "tool", "content": "4"}], tools=tools)
            >>> next_prompt = bridged.ids
        """

    def append(self, prompt_ids: rondo.types.Ids, completion_ids: rondo.types.Ids, new_messages: rondo.types.Messages, *, messages: rondo.types.Messages | None = None, tools: rondo.types.Objects | None = None, documents: rondo.types.Objects | None = None, kwargs: dict[str, Any] | None = None, now: datetime.datetime | str | None = None, content_specials: str = 'text', close: bool = True) -> Appended:
        """
        The appended part of bridge() alone, an Appended: of the old ids only the last few are looked at, so that ends of them are enough.  Arguments as bridge().
        """

    def stop_ids(self, *, tools: rondo.types.Objects | None = None, kwargs: dict[str, Any] | None = None) -> list[int]:
        """
        The ids that end generation, sorted: the template's stop tokens and the tokenizer's own end ids.
        """

    def tokenize(self, text: str, *, parse_special: bool = True) -> numpy.typing.NDArray[numpy.int32]:
        """
        The ids of a text, int32 (n,), without what a tokenizer may add around it.
        """

    def detokenize(self, ids: rondo.types.Ids, *, skip_special: bool = False) -> str:
        """The text of ids; bytes that are no UTF-8 become U+FFFD."""

    def find_token(self, token: str) -> int | None:
        """The id of the token that reads exactly so; None if there is none."""

    @property
    def vocab_size(self) -> int:
        """Ids are below this; 0 without a tokenizer."""

    @property
    def chat_template(self) -> str:
        """The template's text; "" without one."""

    @property
    def name(self) -> str:
        """Where it came from."""

    def __reduce__(self) -> tuple: ...

    def __repr__(self) -> object: ...

    def parse(self, completion: rondo.types.Ids | str, *, messages: rondo.types.Messages | None = None, prompt_ids: rondo.types.Ids | None = None, prompt_tail: str | None = None, tools: rondo.types.Objects | None = None, kwargs: dict[str, Any] | None = None, continue_final_message: bool | str | None = None, tool_choice: str = 'auto', parallel_tool_calls: bool = True, reasoning: str = 'split', partial: bool = False, strict: bool = False) -> Parsed:
        """
        What a completion says: reasoning, content, tool calls; nothing is lost.

        completion: ids (shape (n,), any integer dtype, or a sequence of ints; read up to the first stop token), or text with
        special tokens as text.  Of ids, markers count only as the tokens that they are: the same characters spelled by ordinary
        tokens are text.  What the prompt has opened already is read off prompt_ids, else prompt_tail, else messages, else the
        generation prompt behind a plain user message.  tools give argument types and known names.  reasoning="inline" leaves
        reasoning in the content; partial=True leaves out what may be the beginning of a marker; strict=True raises ParseError with
        the offset of the first mistake.

            >>> parsed = model.parse(completion_ids, prompt_ids=prompt_ids, tools=tools)
            >>> parsed.tool_calls[0].name, parsed.tool_calls[0].arguments
        """

    def stream_parser(self, *, messages: rondo.types.Messages | None = None, prompt_ids: rondo.types.Ids | None = None, prompt_tail: str | None = None, tools: rondo.types.Objects | None = None, kwargs: dict[str, Any] | None = None, tool_choice: str = 'auto', parallel_tool_calls: bool = True, reasoning: str = 'split') -> StreamParser:
        """
        A parser that is fed while the model samples: a StreamParser.  Arguments as parse().
        """

    def grammar(self, *, messages: rondo.types.Messages | None = None, prompt_ids: rondo.types.Ids | None = None, tools: rondo.types.Objects | None = None, response_schema: dict[str, Any] | None = None, response_text: bool = False, tool_choice: str | dict[str, str] = 'auto', parallel_tool_calls: bool = True, format: str = 'gbnf', kwargs: dict[str, Any] | None = None) -> dict[str, Any]:
        """
        What the model may write, for an engine that samples under constraints.

        format: "gbnf", "structural_tag" or "lark".  tool_choice: "auto", "none", "required" or {"name": function}.  response_text:
        the answer is the text of the string that response_schema describes, such as one of its `enum`, not JSON.  What the
        prompt has opened already is read off prompt_ids, else messages.  A dict of grammar (text, "" where there is nothing to
        constrain), lazy, triggers and warnings.
        """

    def format(self, *, tools: rondo.types.Objects | None = None, kwargs: dict[str, Any] | None = None) -> dict[str, Any]:
        """
        How the template writes an assistant turn, as plain data (docs/format.md).
        """

    def capabilities(self, *, kwargs: dict[str, Any] | None = None) -> dict[str, Any]:
        """
        What of a conversation the template can carry, each with what a render showed (docs/capabilities.md).
        """

    def losses(self, *, tools: rondo.types.Objects | None = None, kwargs: dict[str, Any] | None = None) -> dict[str, Any]:
        """
        What of a message cannot survive render and parse, as far as the format tells.

        A dict of losses (what, meaning, template line), notes (what could not be inferred) and objection (None if the format's parts
        fit each other).
        """

    def check(self, *, kwargs: dict[str, Any] | None = None, now: datetime.datetime | str | None = None, scenarios: list[str] | None = None) -> dict[str, Any]:
        """
        Where a next prompt is not the continuation of what the model has seen, why, and what helps.

        Plays conversations through the template under each value of its own variables: render, sample, parse, keep as messages,
        render again.  A dict as `rondo check --json` prints it (docs/check.schema.json): findings, the worst first, notes, and cases.
        kwargs: variables that every setting has.  scenarios: names of conversations; all by default.  Takes seconds.

        Raises InvalidArgumentError for a scenario that there is not.  Runs without the GIL.

            >>> for finding in model.check()["findings"]:
            ...     print(finding["level"], finding["rule"], finding.get("place"), finding["sentence"])
        """

class StreamParser:
    """
    Reads a completion while it is sampled.

    Made by Model.stream_parser().  Events are dicts: {"kind": "content" or "reasoning", "text"}, {"kind": "call_start", "call",
    "text": the name, "id"?}, {"kind": "call_id", "call", "text"}, {"kind": "arguments", "call", "text"}, {"kind": "call_end",
    "call"}.  Nothing that was reported is taken back.  One thread at a time gets in.
    """

    def feed(self, piece: str | int | rondo.types.Ids) -> list[dict]:
        """
        Text, an id, or ids: the events that are certain now.  Markers count only as the tokens that they are.
        """

    def close(self) -> list[dict]:
        """The completion ends here: what was held back."""

    def arguments(self, call: int) -> Any:
        """
        The arguments of a call so far, as a Python value: {"city": "Par"}.

        Strings grow; a number or word is there when it is complete.  None before they have begun.
        """

    def open_argument(self, call: int) -> str | None:
        """
        Of these, a JSON pointer to the innermost value that is still being written; None where none is.
        """

    def finish(self) -> Parsed:
        """close(), then all of it as a Parsed."""

    @property
    def ended(self) -> bool:
        """A stop was seen; what follows belongs to nobody."""

    @property
    def reasoning_open(self) -> bool:
        """What comes next is reasoning still."""

class PartialValue:
    """
    The JSON value that a text is so far, while it arrives.

    Strings are there with their first character, dicts and lists with their opening bracket; a number or word when it is complete.
    StreamParser keeps one for each call; this one reads any text, such as the parts of arguments that an API streams.

        >>> value = rondo.PartialValue()
        >>> value.feed('{"city": "Par')
        >>> value.value, value.open_path
        ({'city': 'Par'}, '/city')
    """

    def __init__(self) -> None: ...

    def feed(self, text: str) -> None:
        """
        The next piece.  From a character that no JSON has there on, nothing more is read.
        """

    def close(self) -> None:
        """The text ends here: a number at the top is complete."""

    @property
    def value(self) -> Any:
        """None before it has begun."""

    @property
    def open_path(self) -> str | None:
        """
        A JSON pointer to the innermost value that has begun and is not complete; None where there is none.
        """

    @property
    def complete(self) -> bool:
        """The whole value is there."""

    @property
    def valid(self) -> bool:
        """False once a character came that no JSON has there."""

class Rollout:
    """
    A rollout that something else samples.

        >>> rollout = rondo.Rollout(model, messages, tools=tools)
        >>> sampled = engine.generate(rollout.ids, stop_token_ids=model.stop_ids())
        >>> said = rollout.complete(sampled)              # a Parsed
        >>> new = rollout.add([{"role": "tool", "content": "4"}])   # the ids behind the old ones
        >>> rollout.ids, rollout.sampled_mask             # the next prompt, and what of it the model wrote

    The ids are the truth: nothing that was prompted or sampled is tokenized again.  Any number of rollouts share a model; one
    thread at a time gets into one.
    """

    def __init__(self, model: Model, messages: rondo.types.Messages, *, tools: rondo.types.Objects | None = None, documents: rondo.types.Objects | None = None, kwargs: dict[str, Any] | None = None, now: datetime.datetime | str | None = None, content_specials: str = 'text') -> None:
        """Renders and tokenizes the first prompt.  Arguments as Model.encode()."""

    def complete(self, completion_ids: rondo.types.Ids) -> Parsed:
        """
        Takes what was sampled behind `ids`, with or without its stop token.  Raises InvalidArgumentError if the model has just spoken.
        """

    def add(self, new_messages: rondo.types.Messages, *, retention: str = 'all') -> numpy.typing.NDArray[numpy.int32]:
        """
        Appends what follows the model's turn, none of role `assistant`, and opens its next turn: the appended ids, int32 (n,).  retention: what of earlier reasoning stays: "all" (the old ids stay as they are), "template", "tool_cycle", "preserve_thinking_between_tool_calls" or "preserve_all_thinking"; `last_add` says what was cut.  Raises as Model.bridge(); the rollout is unchanged then.
        """

    @property
    def ids(self) -> numpy.typing.NDArray[numpy.int32]:
        """int32 (n,): every id so far, a copy."""

    @property
    def sampled_mask(self) -> numpy.typing.NDArray[numpy.uint8]:
        """
        uint8 (n,): 1 for the ids that the model sampled, and those of assistant turns in the first prompt.
        """

    @property
    def message_indices(self) -> numpy.typing.NDArray[numpy.int32]:
        """int32 (n,): index into `messages`, -1 for nobody's."""

    @property
    def last_add(self) -> dict[str, Any]:
        """
        What the last add() did: begin (the first appended id), kept (how many leading ids are where they were), cuts ((first, behind last, message) of ids that were cut out), notes, shaped (what of the new messages was given to the template otherwise than it was sent).
        """

    @property
    def messages(self) -> list[dict]:
        """
        The visible conversation; the model's last turn joins it with the next add().
        """

    def __len__(self) -> int: ...

    @property
    def notes(self) -> list[str]:
        """What was noticed of the first messages, as Encoded.notes."""

    @property
    def shaped(self) -> list[str]:
        """
        What of the first messages was given to the template otherwise than it was sent, a sentence each.
        """

class Transcript:
    """
    A conversation that grows by messages, as text.

        >>> transcript = rondo.Transcript(model, messages, tools=tools)
        >>> new = transcript.append([{"role": "user", "content": "And then?"}])
        >>> transcript.text                   # what model.render() gives for all messages, byte for byte
        >>> transcript.last_append["way"]     # "incremental": only a few of the messages were rendered

    Where it is known that the new turns do not depend on older ones, only a few messages are rendered, and the work does not grow
    with the conversation; else all of them are, and `last_append` says why.  Any number of transcripts share a model; one thread
    at a time gets into one.
    """

    def __init__(self, model: Model, messages: rondo.types.Messages, *, tools: rondo.types.Objects | None = None, documents: rondo.types.Objects | None = None, kwargs: dict[str, Any] | None = None, now: datetime.datetime | str | None = None, add_generation_prompt: bool = False) -> None:
        """Renders the messages.  Arguments as Model.render()."""

    def append(self, new_messages: rondo.types.Messages) -> str:
        """
        Appends messages of any role: the text behind what stayed of the old one.  Raises as Model.render() of all messages; the transcript is unchanged then.
        """

    @property
    def text(self) -> str:
        """What the template writes of all messages."""

    @property
    def messages(self) -> list[dict]:
        """The conversation, in the form that the template needs."""

    @property
    def last_append(self) -> dict[str, Any]:
        """
        What the last append() did: way ("incremental" or "full"), why, kept (how many bytes of the text stayed), shaped (what of the new messages was given to the template otherwise than it was sent).
        """

    def __len__(self) -> int: ...

def edge_export(model: Model, model_path: str, kwargs: dict[str, Any] | None = None) -> dict[str, Any]:
    """For rondo.edge.export_template()."""

def edge_import(template: dict[str, Any] | str) -> str:
    """For rondo.edge.import_template()."""

def edge_validate(template: dict[str, Any] | str) -> list[dict[str, Any]]:
    """For rondo.edge.validate()."""

def edge_format(template: dict[str, Any] | str, requests: dict[str, Any]) -> list[dict[str, Any]]:
    """For rondo.edge.format()."""

class Suite:
    """
    Tests of a template, as their author writes them (docs/tester.md): the text of a file, YAML or JSON by the end of its name.

    Raises InvalidArgumentError, with line and column.
    """

    def __init__(self, text: str, name: str) -> None: ...

    @property
    def cases(self) -> list[tuple[str, int]]:
        """Name and line of each case."""

    def load(self, model: str = '', *, cache_folder: str = '') -> Model:
        """
        The model that the suite names, beside its file; or the one at the path `model`.
        """

    def run(self, index: int, model: Model) -> dict[str, Any]:
        """
        What became of a case: a dict with name, line, passed, checks, failures, notes, and text, which shows the failures.
        """

def run_case(model: Model, case: dict[str, Any]) -> dict[str, Any]:
    """The same of one case, which is a dict with the keys of docs/tester.md."""
