from collections.abc import Sequence
import datetime
from typing import Annotated, Any

import numpy
import numpy.typing
from numpy.typing import NDArray

import rondo.types


class Encoded:
    """
    A prompt as token ids, with the owner of each id.

    All arrays have one entry per id, shape (n,).  They are views of the object's own memory: nothing is copied, and a view
    keeps the object alive.  Writing into a view changes only what the object shows.
    """

    @property
    def ids(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """int32: the token ids"""

    @property
    def message_indices(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """
        int32: the message that an id belongs to, by its first byte; -1 for no message (tools, generation prompt)
        """

    @property
    def content_mask(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
        """uint8: 1 if the first byte is a message's own data"""

    @property
    def sampled_mask(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
        """
        uint8: 1 if the model would have sampled the id as part of its turn, stop token included
        """

    @property
    def straddles(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
        """
        uint8: 1 if an id's bytes come from several messages, or partly from data and partly from the template
        """

    @property
    def begins(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
        """uint32: the first byte of each id in the UTF-8 of `text`"""

    @property
    def ends(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
        """uint32: the end of each id in the UTF-8 of `text`"""

    @property
    def text(self) -> str:
        """The prompt as text."""

    @property
    def notes(self) -> list[str]:
        """
        Sentences about raw turns: what was written to close them, and which messages differ from their completions.
        """

    @property
    def shaped(self) -> list[str]:
        """
        Sentences: where the template got a message in another form than it was sent (docs/shaping.md).
        """

    @property
    def roles(self) -> list[str]:
        """The role of each message; "" for a message without a role."""

    @property
    def tool_names(self) -> list[str | None]:
        """
        For each message, the tool whose result it is: its own `name`, or that of the call that it answers.  None for other messages.
        """

    def message_spans(self) -> list[tuple[int, int] | None]:
        """
        For each message the range (begin, end) of its ids; None for a message without ids.
        """

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
        uint8 (n,): 1 if an appended id's first byte is a new message's own data
        """

    @property
    def message_indices(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """int32 (n,): index in new_messages; -1 for everything else"""

    @property
    def appended(self) -> int:
        """How many ids were appended; they are the last ones."""

    @property
    def appended_text(self) -> str: ...

    @property
    def notes(self) -> list[str]:
        """Sentences: what rondo made up or replaced by a stand-in, and why."""

    @property
    def shaped(self) -> list[str]:
        """
        Sentences: where the template got a message in another form than it was sent (docs/shaping.md).
        """

    @property
    def lossy(self) -> list[dict]:
        """
        What the template would have written differently in earlier turns: dicts with what, cause, message, place, line, column.
        """

    @property
    def cuts(self) -> list[tuple[int, int, int]]:
        """
        The ranges of old ids that were cut out: (begin, end, message).  Empty unless the retention cuts.
        """

    @property
    def kept(self) -> int:
        """How many leading ids stayed in place: all old ones if nothing was cut."""

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
        """uint8 (n,): 1 if an id's first byte is a new message's own data"""

    @property
    def text(self) -> str: ...

    @property
    def notes(self) -> list[str]:
        """Sentences: what rondo made up or replaced by a stand-in, and why."""

    @property
    def shaped(self) -> list[str]:
        """
        Sentences: where the template got a message in another form than it was sent (docs/shaping.md).
        """

    @property
    def lossy(self) -> list[dict]:
        """
        How the completion's end differs from what the template writes there: dicts as in Bridged.
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
        """
        JSON text: the model's own characters if the format writes arguments as JSON.
        """

    @property
    def status(self) -> str:
        """"ok", "invalid_json", "unclosed", "malformed" or "unknown_tool"."""

    @property
    def problems(self) -> list[dict[str, str]]:
        """
        Why a call is malformed although its arguments can be read: dicts with kind, parameter and message.

        Kinds: "swallowed_tag", "unknown_attribute", "wrong_type", "unknown_parameter",
        "unclosed_value", "unreadable_parameter" (docs/parse.md).
        """

    @property
    def raw(self) -> str:
        """The call as the model wrote it."""

    @property
    def token_span(self) -> tuple[int, int] | None:
        """
        The range (begin, end) of its ids in the completion; None if text was parsed.
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
        Text after the stop, which is not part of the turn; "" if only markup follows the stop, and always for ids.
        """

    @property
    def stopped(self) -> bool:
        """
        True if a stop token was among the ids; the ids after it were not read.
        """

    @property
    def reasoning_open(self) -> bool:
        """True if the text ends inside the reasoning."""

    @property
    def text(self) -> str:
        """What was parsed, up to the stop token."""

    def to_message(self, first_call_index: int = 0, raw: bool = False) -> dict:
        """
        The message for a conversation's history: a dict with role, content, reasoning_content and tool_calls.

        A call for which the model wrote no id gets `call_<index>`, counted from `first_call_index`.  raw=True adds what was parsed:
        `raw_ids` (a list of all given ids), or `raw` for a text.  Model.encode(..., raw_turns=True) then puts that into the prompt
        instead of writing the message again.
        """

    def __repr__(self) -> str: ...

def load(path: object | None, *, template: object | None, tokenizer: object | None, format: object | None, strict: bool, polyfill: str, cache_folder: str) -> Model: ...

def from_memory(parts: dict, *, template: object | None, format: object | None, strict: bool, polyfill: str, cache_folder: str) -> Model: ...

class Model:
    """
    A model as rondo sees it: its chat template and its tokenizer.

    Made by rondo.load() or rondo.from_tokenizer().  Immutable: all methods may be called from many threads at once, and work
    without the GIL.  A model that was loaded from files can be pickled; the pickle has the paths, not the content.
    """

    def render(self, messages: rondo.types.Messages, *, tools: rondo.types.Objects | None = None, documents: rondo.types.Objects | None = None, add_generation_prompt: bool = False, continue_final_message: bool | str | None = None, kwargs: dict[str, Any] | None = None, now: datetime.datetime | str | None = None) -> str:
        """
        The prompt as text.

        messages: a list of dicts in the shape of the public chat APIs (or pydantic models or dataclasses); the template sees
        exactly what you give.  tools, documents: lists of dicts.  kwargs: further template variables.  continue_final_message:
        True, or the name of the field of the last message that the model continues ("reasoning_content"; with "tool_calls" it
        continues the arguments of the last call, a JSON text that may end anywhere).  now: a datetime (or ISO text) for templates
        that print the time; the clock by default.

        Raises InvalidArgumentError, or TemplateError with the template's line.  Runs without the GIL.

            >>> model.render([{"role": "user", "content": "Hello"}], add_generation_prompt=True)
        """

    def shape(self, messages: rondo.types.Messages, *, tools: rondo.types.Objects | None = None, documents: rondo.types.Objects | None = None, kwargs: dict[str, Any] | None = None) -> tuple[list[dict[str, Any]], list[str]]:
        """
        Returns the messages in the form that the template needs, and sentences that say what was changed.

        For renderers other than rondo: render() and encode() shape messages on their own.  Arguments as render().  Shaping shaped
        messages changes nothing.  A model loaded with strict=True returns them as they are.

            >>> shaped, changes = model.shape(messages, tools=tools)
        """

    def shape_tools(self, tools: rondo.types.Objects, *, kwargs: dict[str, Any] | None = None) -> tuple[list[dict[str, Any]], list[str]]:
        """
        Returns the tool definitions in the form that the template needs, and sentences that say what was changed.

        For renderers other than rondo: render() and encode() shape tools on their own.  Shaping shaped tools changes nothing.  A
        model loaded with strict=True returns them as they are.

            >>> shaped, changes = model.shape_tools(tools)
        """

    def encode(self, messages: rondo.types.Messages, *, tools: rondo.types.Objects | None = None, documents: rondo.types.Objects | None = None, add_generation_prompt: bool = False, continue_final_message: bool | str | None = None, kwargs: dict[str, Any] | None = None, now: datetime.datetime | str | None = None, content_specials: str = 'text', raw_turns: bool = False, retention: str | None = None, inline_reasoning: bool = True) -> Encoded:
        """
        Makes the prompt as token ids, with the owner of each id: an Encoded.

        Arguments as render().  content_specials="parse" recognises control tokens in user text, as
        apply_chat_template(tokenize=True) does.  By default, text from messages, tools and documents never becomes a control token,
        with one exception: the markers around a block of reasoning with which an assistant's content begins, because the model has
        sampled them.  inline_reasoning=False switches the exception off.  raw_turns=True: assistant messages with a field `raw_ids`
        (ids) or `raw` (text), as Parsed.to_message(raw=True) makes them, are used as they were sampled, and later messages are
        appended as a bridge does.  `notes` say what was written to close them, and which part of a continued message the template
        does not write.  retention: which earlier reasoning stays in the prompt although the template drops it:
        "preserve_all_thinking" or "preserve_thinking_between_tool_calls"; by default the template decides.

        Raises as render(), and UnsupportedError for a model without a tokenizer.  Runs without the GIL.

            >>> encoded = model.encode(messages, tools=tools)
            >>> labels = numpy.where(encoded.sampled_mask, encoded.ids, -100)
        """

    def bridge(self, prompt_ids: rondo.types.Ids, completion_ids: rondo.types.Ids, new_messages: rondo.types.Messages, *, messages: rondo.types.Messages | None = None, tools: rondo.types.Objects | None = None, documents: rondo.types.Objects | None = None, kwargs: dict[str, Any] | None = None, now: datetime.datetime | str | None = None, content_specials: str = 'text', close: bool = True, lossy: bool = True, find_lossy: bool = True, retention: str = 'all', sampled: Sequence[tuple[int, int]] | None = None) -> Bridged:
        """
        The next prompt of a rollout: the old ids unchanged, then the new turn.

        prompt_ids, completion_ids: what the model was given and what it sampled, shape (n,), any integer dtype (int32 is not
        copied), or sequences of ints; the completion with or without its stop token, possibly cut off.  new_messages: the messages
        after the completion, none of role `assistant`.  close=False does not close reasoning or a call that the completion left
        open; the stop token is written nevertheless.  lossy=False raises BridgeError if the template would write a part of the old
        turns differently; find_lossy=False does not look for such parts, which saves renders of the whole conversation.  messages:
        the messages in prompt_ids, for templates whose later turns depend on them.  retention: which earlier reasoning stays: "all"
        (the old ids stay as they are), "preserve_all_thinking", "template", "tool_cycle" or
        "preserve_thinking_between_tool_calls".  For a retention that cuts, sampled are the ranges of prompt_ids in which the
        assistant messages in `messages` were sampled, in order; `cuts` and `kept` of the result say what was cut.

        Raises BridgeError if the template writes nothing that ends an assistant turn, TokenizerError for ids out of range,
        InvalidArgumentError, TemplateError.  Runs without the GIL.

            >>> bridged = model.bridge(prompt_ids, completion_ids, [{"role": "tool", "content": "4"}], tools=tools)
            >>> next_prompt = bridged.ids
        """

    def append(self, prompt_ids: rondo.types.Ids, completion_ids: rondo.types.Ids, new_messages: rondo.types.Messages, *, messages: rondo.types.Messages | None = None, tools: rondo.types.Objects | None = None, documents: rondo.types.Objects | None = None, kwargs: dict[str, Any] | None = None, now: datetime.datetime | str | None = None, content_specials: str = 'text', close: bool = True) -> Appended:
        """
        Makes only the appended part of bridge(): an Appended.  It reads only the last few old ids, so you need not give the others.  Arguments as bridge().
        """

    def stop_ids(self, *, tools: rondo.types.Objects | None = None, kwargs: dict[str, Any] | None = None) -> list[int]:
        """
        The ids that end generation, sorted: the template's stop tokens and the tokenizer's own end ids.
        """

    def tokenize(self, text: str, *, parse_special: bool = True) -> numpy.typing.NDArray[numpy.int32]:
        """
        The ids of a text, int32 (n,), without the tokens that a tokenizer may add around it.
        """

    def detokenize(self, ids: rondo.types.Ids, *, skip_special: bool = False) -> str:
        """The text of ids; bytes that are not UTF-8 become U+FFFD."""

    def find_token(self, token: str) -> int | None:
        """The id of the token with exactly this text; None if there is none."""

    @property
    def vocab_size(self) -> int:
        """
        The size of the vocabulary: all ids are below it.  0 without a tokenizer.
        """

    @property
    def chat_template(self) -> str:
        """The template's text; "" without one."""

    @property
    def name(self) -> str:
        """The path or name from which the model was loaded."""

    def __reduce__(self) -> tuple: ...

    def __repr__(self) -> object: ...

    def parse(self, completion: rondo.types.Ids | str, *, messages: rondo.types.Messages | None = None, prompt_ids: rondo.types.Ids | None = None, prompt_tail: str | None = None, tools: rondo.types.Objects | None = None, kwargs: dict[str, Any] | None = None, continue_final_message: bool | str | None = None, tool_choice: str = 'auto', parallel_tool_calls: bool = True, reasoning: str = 'split', partial: bool = False, strict: bool = False) -> Parsed:
        """
        Reads a completion: reasoning, content and tool calls.  No text is lost.

        completion: ids (shape (n,), any integer dtype, or a sequence of ints; read up to the first stop token), or text with
        special tokens as text.  In ids, a marker counts only as its own token: the same characters spelled with ordinary tokens are
        text.  prompt_ids, prompt_tail or messages show what the prompt has already opened; the first that is given counts,
        otherwise the generation prompt after a plain user message.  tools give the types of arguments and the known names.
        reasoning="inline" leaves reasoning in the content.  partial=True leaves out what may be the beginning of a marker.
        strict=True raises ParseError with the offset of the first mistake.

            >>> parsed = model.parse(completion_ids, prompt_ids=prompt_ids, tools=tools)
            >>> parsed.tool_calls[0].name, parsed.tool_calls[0].arguments
        """

    def stream_parser(self, *, messages: rondo.types.Messages | None = None, prompt_ids: rondo.types.Ids | None = None, prompt_tail: str | None = None, tools: rondo.types.Objects | None = None, kwargs: dict[str, Any] | None = None, tool_choice: str = 'auto', parallel_tool_calls: bool = True, reasoning: str = 'split') -> StreamParser:
        """
        Makes a StreamParser, which reads what the model writes while it writes.  Arguments as parse().
        """

    def grammar(self, *, messages: rondo.types.Messages | None = None, prompt_ids: rondo.types.Ids | None = None, tools: rondo.types.Objects | None = None, response_schema: dict[str, Any] | None = None, response_text: bool = False, tool_choice: str | dict[str, str] = 'auto', parallel_tool_calls: bool = True, format: str = 'gbnf', kwargs: dict[str, Any] | None = None) -> dict[str, Any]:
        """
        Returns what the model may write, for an engine that constrains sampling.

        format: "gbnf", "structural_tag" or "lark".  tool_choice: "auto", "none", "required" or {"name": function}.  response_text:
        the answer is the text of the string that response_schema describes, such as one of its `enum`, not JSON.  prompt_ids,
        otherwise messages, show what the prompt has already opened.  Returns a dict with grammar (text; "" if there is nothing to
        constrain), lazy, triggers and warnings.
        """

    def format(self, *, tools: rondo.types.Objects | None = None, kwargs: dict[str, Any] | None = None) -> dict[str, Any]:
        """
        How the template writes an assistant turn, as plain data (docs/format.md).
        """

    def capabilities(self, *, kwargs: dict[str, Any] | None = None) -> dict[str, Any]:
        """
        Returns which parts of a conversation the template can carry, each with the evidence of a render (docs/capabilities.md).
        """

    def losses(self, *, tools: rondo.types.Objects | None = None, kwargs: dict[str, Any] | None = None) -> dict[str, Any]:
        """
        Returns which parts of a message are lost when it is rendered and parsed, as far as the format shows.

        The dict has losses (what, meaning, line of the template), notes (what could not be inferred) and objection (None if the
        format's parts fit each other).
        """

    def check(self, *, kwargs: dict[str, Any] | None = None, now: datetime.datetime | str | None = None, scenarios: list[str] | None = None) -> dict[str, Any]:
        """
        Finds where a next prompt does not continue what the model has seen, why, and what helps.

        Plays conversations through the template under each value of its own variables: render, sample, parse, keep as messages,
        render again.  Returns a dict as `rondo check --json` prints it (docs/check.schema.json): findings (worst first), notes and
        cases. kwargs: variables that every setting has.  scenarios: names of conversations; all by default.  Takes seconds.

        Raises InvalidArgumentError for an unknown scenario.  Runs without the GIL.

            >>> for finding in model.check()["findings"]:
            ...     print(finding["level"], finding["rule"], finding.get("place"), finding["sentence"])
        """

class StreamParser:
    """
    Reads a completion while it is sampled.

    Made by Model.stream_parser().  Events are dicts: {"kind": "content" or "reasoning", "text"}, {"kind": "call_start", "call",
    "text": the name, "id"?}, {"kind": "call_id", "call", "text"}, {"kind": "arguments", "call", "text"}, {"kind": "call_end",
    "call"}.  Nothing that was reported is taken back.  Threads may share a parser: their calls wait for each other.
    """

    def feed(self, piece: str | int | rondo.types.Ids) -> list[dict]:
        """
        Takes text, an id or ids, and returns the events that are certain now.  A marker that is a token of the vocabulary counts only as that token.
        """

    def close(self) -> list[dict]:
        """Ends the completion and returns the events that were held back."""

    def arguments(self, call: int) -> Any:
        """
        The arguments of a call so far, as a Python value: {"city": "Par"}.

        A string grows; a number or word appears when it is complete.  None before the arguments begin.
        """

    def open_argument(self, call: int) -> str | None:
        """
        A JSON pointer to the innermost argument value that is still being written; None if every value is complete.
        """

    def finish(self) -> Parsed:
        """Ends the completion and returns all of it as a Parsed."""

    @property
    def ended(self) -> bool:
        """True once a stop was seen; later text is not part of the turn."""

    @property
    def reasoning_open(self) -> bool:
        """True if the next text would be reasoning."""

class PartialValue:
    """
    Reads a JSON text while it arrives: the value so far.

    A string appears with its first character, a dict or list with its opening bracket, and a number or word when it is
    complete.  StreamParser has one for each call; this class reads any text, such as the parts of arguments that an API
    streams.

        >>> value = rondo.PartialValue()
        >>> value.feed('{"city": "Par')
        >>> value.value, value.open_path
        ({'city': 'Par'}, '/city')
    """

    def __init__(self) -> None: ...

    def feed(self, text: str) -> None:
        """
        Reads the next piece.  At a character that JSON does not allow there, reading stops for good.
        """

    def close(self) -> None:
        """Ends the text, which completes a number at the top level."""

    @property
    def value(self) -> Any:
        """The value so far; None before it begins."""

    @property
    def open_path(self) -> str | None:
        """
        A JSON pointer to the innermost value that has begun and is not complete; None if there is none.
        """

    @property
    def complete(self) -> bool:
        """True once the whole value has been read."""

    @property
    def valid(self) -> bool:
        """False after a character that JSON does not allow there."""

class Rollout:
    """
    A conversation that grows as ids; you sample the model's turns.

        >>> rollout = rondo.Rollout(model, messages, tools=tools)
        >>> sampled = engine.generate(rollout.ids, stop_token_ids=model.stop_ids())
        >>> said = rollout.complete(sampled)              # a Parsed
        >>> new = rollout.add([{"role": "tool", "content": "4"}])   # the ids after the old ones
        >>> rollout.ids, rollout.sampled_mask             # the next prompt, and what of it the model wrote

    The ids are the truth: nothing that was prompted or sampled is tokenized again.  Any number of rollouts may share a model,
    and threads may share a rollout: their calls wait for each other.
    """

    def __init__(self, model: Model, messages: rondo.types.Messages, *, tools: rondo.types.Objects | None = None, documents: rondo.types.Objects | None = None, kwargs: dict[str, Any] | None = None, now: datetime.datetime | str | None = None, content_specials: str = 'text') -> None:
        """Renders and tokenizes the first prompt.  Arguments as Model.encode()."""

    def complete(self, completion_ids: rondo.types.Ids) -> Parsed:
        """
        Takes the ids that were sampled after `ids`, with or without the stop token.  Raises InvalidArgumentError if the last turn is already the model's.
        """

    def add(self, new_messages: rondo.types.Messages, *, retention: str = 'all') -> numpy.typing.NDArray[numpy.int32]:
        """
        Appends the messages that follow the model's turn (none of role `assistant`), opens its next turn, and returns the appended ids, int32 (n,).  retention: which earlier reasoning stays: "all" (the old ids stay as they are), "template", "tool_cycle", "preserve_thinking_between_tool_calls" or "preserve_all_thinking"; `last_add` says what was cut.  Raises as Model.bridge(); the rollout is then unchanged.
        """

    @property
    def ids(self) -> numpy.typing.NDArray[numpy.int32]:
        """int32 (n,): every id so far, a copy."""

    @property
    def sampled_mask(self) -> numpy.typing.NDArray[numpy.uint8]:
        """
        uint8 (n,): 1 for ids that the model sampled, and for assistant turns in the first prompt.
        """

    @property
    def message_indices(self) -> numpy.typing.NDArray[numpy.int32]:
        """int32 (n,): index into `messages`; -1 for no message."""

    @property
    def last_add(self) -> dict[str, Any]:
        """
        What the last add() did: begin (the first appended id), kept (how many leading ids stayed in place), cuts (ranges of ids that were cut out: (begin, end, message)), notes, shaped (where the template got a new message in another form than it was sent).
        """

    @property
    def messages(self) -> list[dict]:
        """
        The visible conversation; the next add() adds the model's last turn to it.
        """

    def __len__(self) -> int: ...

    @property
    def notes(self) -> list[str]:
        """Sentences about the first messages, as Encoded.notes."""

    @property
    def shaped(self) -> list[str]:
        """
        Sentences: where the template got one of the first messages in another form than it was sent.
        """

class Transcript:
    """
    A conversation that grows by messages, as text.

        >>> transcript = rondo.Transcript(model, messages, tools=tools)
        >>> new = transcript.append([{"role": "user", "content": "And then?"}])
        >>> transcript.text                   # what model.render() gives for all messages, byte for byte
        >>> transcript.last_append["way"]     # "incremental": only a few of the messages were rendered

    If the new turns are known not to depend on older ones, rondo renders only a few messages, and the work does not grow with
    the conversation.  Otherwise it renders all messages, and `last_append` says why.  Any number of transcripts may share a
    model, and threads may share a transcript: their calls wait for each other.
    """

    def __init__(self, model: Model, messages: rondo.types.Messages, *, tools: rondo.types.Objects | None = None, documents: rondo.types.Objects | None = None, kwargs: dict[str, Any] | None = None, now: datetime.datetime | str | None = None, add_generation_prompt: bool = False) -> None:
        """Renders the messages.  Arguments as Model.render()."""

    def append(self, new_messages: rondo.types.Messages) -> str:
        """
        Appends messages of any role, and returns the text after the part of the old text that stayed.  Raises as Model.render() of all messages would; the transcript is then unchanged.
        """

    @property
    def text(self) -> str:
        """The text that the template writes for all messages."""

    @property
    def messages(self) -> list[dict]:
        """The conversation, in the form that the template needs."""

    @property
    def last_append(self) -> dict[str, Any]:
        """
        What the last append() did: way ("incremental" or "full"), why, kept (how many bytes of the text stayed), shaped (where the template got a new message in another form than it was sent).
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
