// Model: parsing what was sampled, streaming parsers, formats and grammars.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "base/files.h"
#include "core/check.h"
#include "core/fields.h"
#include "python/arrays.h"
#include "python/calls.h"
#include "python/values.h"

namespace rondo::python {

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace {

// Python's keyword arguments are these functions' parameters.
// NOLINTBEGIN(readability-function-size)

ParsedIds parse_text(const Model& model, Call call, const ParseCall& options, const std::string& text) {
  return value_or_raise(without_gil([&]() -> Result<ParsedIds> {
    auto made = model.parser(call, options);
    if (!made.ok()) return made.error();
    parse::Parser& parser = made.value();
    static_cast<void>(parser.feed(text));  // only the message is needed here
    ParsedIds out;
    out.reasoning_open = parser.place() == parse::Place::kReasoning;
    out.stopped = parser.ended();
    auto message = parser.finish();
    if (!message.ok()) return message.error();
    out.message = std::move(message).value();
    out.text = text;
    return out;
  }));
}

// The prompt before a completion, in whichever form it was given.
struct Prompt {
  Prompt(nb::handle tail, nb::handle ids)
      : ids_(ids.is_none() ? nb::object(nb::tuple()) : nb::borrow(ids), "prompt_ids") {
    if (!tail.is_none()) tail_ = to_text(tail, "prompt_tail");
  }
  void enter(ParseCall& options) const {
    options.prompt_tail = tail_;
    options.prompt_ids = ids_.span();
  }

 private:
  Ids ids_;
  std::optional<std::string> tail_;
};

ParsedObject parse(const ModelObject& self, nb::handle completion, nb::handle messages, nb::handle prompt_ids,
                   nb::handle prompt_tail, nb::handle tools, nb::handle kwargs, nb::handle continue_final_message,
                   const std::string& tool_choice, bool parallel_tool_calls, const std::string& reasoning, bool partial,
                   bool strict) {
  const Prompt prompt(prompt_tail, prompt_ids);
  Call call =
      read_answer_call({messages, tools, nb::none(), kwargs, nb::none(), false, continue_final_message, "text"});
  ParseCall options{
      read_options({tool_choice, parallel_tool_calls, reasoning, partial, strict}), std::nullopt, {}, false};
  prompt.enter(options);
  if (PyUnicode_Check(completion.ptr())) {
    const std::string text = to_text(completion, "completion");
    return parsed_object(parse_text(*self.model, std::move(call), options, text));
  }
  const Ids ids(completion, "completion");
  return parsed_object(
      value_or_raise(without_gil([&] { return self.model->parse_ids(call, std::move(options), ids.span()); })));
}

// --- Streams ---------------------------------------------------------------------------------------------------------

const char* kind_name(parse::EventKind kind) {
  switch (kind) {
    case parse::EventKind::kMarker: return "marker";
    case parse::EventKind::kContent: return "content";
    case parse::EventKind::kReasoning: return "reasoning";
    case parse::EventKind::kCallStart: return "call_start";
    case parse::EventKind::kCallId: return "call_id";
    case parse::EventKind::kArguments: return "arguments";
    case parse::EventKind::kCallEnd: return "call_end";
  }
  return "marker";
}

std::unique_ptr<StreamObject> stream_parser(const ModelObject& self, nb::handle messages, nb::handle prompt_ids,
                                            nb::handle prompt_tail, nb::handle tools, nb::handle kwargs,
                                            const std::string& tool_choice, bool parallel_tool_calls,
                                            const std::string& reasoning) {
  const Prompt prompt(prompt_tail, prompt_ids);
  Call call = read_answer_call({messages, tools, nb::none(), kwargs, nb::none(), false, nb::none(), "text"});
  ParseCall options{read_options({tool_choice, parallel_tool_calls, reasoning, false, false}), std::nullopt, {}, false};
  prompt.enter(options);
  parse::Parser parser = value_or_raise(without_gil([&] { return self.model->parser(call, options); }));
  return std::unique_ptr<StreamObject>(new StreamObject{{self.model, std::move(parser)}, {}});
}

using Events = core::ParserStream::Events;

nb::list events_to_python(const Events& events) {
  nb::list out;
  for (const parse::Event& event : events) {
    if (event.kind == parse::EventKind::kMarker) continue;
    nb::dict entry;
    entry["kind"] = kind_name(event.kind);
    if (event.kind != parse::EventKind::kCallEnd) entry["text"] = to_python_text(event.text);
    if (event.kind != parse::EventKind::kContent && event.kind != parse::EventKind::kReasoning)
      entry["call"] = event.call;
    if (event.id) entry["id"] = to_python_text(*event.id);
    out.append(entry);
  }
  return out;
}

nb::list feed(StreamObject& self, nb::handle given) {
  const auto check_open = [&] {
    if (self.stream.is_closed()) raise_invalid("the stream is closed");
  };
  if (PyUnicode_Check(given.ptr())) {
    const std::string text = to_text(given, "text");
    // The state is read under the mutex, but a Python exception needs the GIL, so it is raised afterwards.
    bool was_closed = false;
    Events events = without_gil([&] {
      const std::lock_guard lock(self.mutex);
      was_closed = self.stream.is_closed();
      return was_closed ? Events() : self.stream.feed(text);
    });
    if (was_closed) check_open();
    return events_to_python(events);
  }
  if (!self.stream.takes_ids()) raise_invalid("the model brings no tokenizer; feed text");
  const Ids ids(PyLong_Check(given.ptr()) ? nb::object(nb::make_tuple(given)) : nb::borrow(given), "ids");
  bool was_closed = false;
  Events events = value_or_raise(without_gil([&]() -> Result<Events> {
    const std::lock_guard lock(self.mutex);
    was_closed = self.stream.is_closed();
    return was_closed ? Result<Events>(Events()) : self.stream.feed(ids.span());
  }));
  if (was_closed) check_open();
  return events_to_python(events);
}

ParsedObject finish(StreamObject& self) {
  return parsed_object(value_or_raise(without_gil([&]() -> Result<ParsedIds> {
    const std::lock_guard lock(self.mutex);
    ParsedIds out;
    out.reasoning_open = self.stream.parser().place() == parse::Place::kReasoning;
    out.stopped = self.stream.parser().ended();
    (void)self.stream.close();
    auto message = self.stream.parser().finish();
    if (!message.ok()) return message.error();
    out.message = std::move(message).value();
    out.text = self.stream.text();
    return out;
  })));
}

void bind_stream(nb::module_& module) {
  nb::class_<StreamObject>(module, "StreamParser", R"(Reads a completion while it is sampled.

Made by Model.stream_parser().  Events are dicts: {"kind": "content" or "reasoning", "text"}, {"kind": "call_start", "call",
"text": the name, "id"?}, {"kind": "call_id", "call", "text"}, {"kind": "arguments", "call", "text"}, {"kind": "call_end",
"call"}.  Nothing that was reported is taken back.  Threads may share a parser: their calls wait for each other.)")
      .def("feed", &feed, "piece"_a, nb::sig("def feed(self, piece: str | int | rondo.types.Ids) -> list[dict]"),
           "Takes text, an id or ids, and returns the events that are certain now.  A marker that is a token of the "
           "vocabulary counts only as that token.")
      .def(
          "close",
          [](StreamObject& self) {
            const Events events = without_gil([&] {
              const std::lock_guard lock(self.mutex);
              return self.stream.close();
            });
            return events_to_python(events);
          },
          nb::sig("def close(self) -> list[dict]"), "Ends the completion and returns the events that were held back.")
      .def(
          "arguments",
          [](StreamObject& self, std::size_t call) {
            const std::lock_guard lock(self.mutex);
            const parse::PartialValue* value = self.stream.arguments(call);
            return value != nullptr ? to_python(value->value()) : nb::object(nb::none());
          },
          "call"_a, nb::sig("def arguments(self, call: int) -> typing.Any"),
          R"(The arguments of a call so far, as a Python value: {"city": "Par"}.

A string grows; a number or word appears when it is complete.  None before the arguments begin.)")
      .def(
          "open_argument",
          [](StreamObject& self, std::size_t call) {
            const std::lock_guard lock(self.mutex);
            const parse::PartialValue* value = self.stream.arguments(call);
            return optional_text(value != nullptr ? value->open_path() : std::nullopt);
          },
          "call"_a, nb::sig("def open_argument(self, call: int) -> str | None"),
          "A JSON pointer to the innermost argument value that is still being written; None if every value is "
          "complete.")
      .def("finish", &finish, "Ends the completion and returns all of it as a Parsed.")
      .def_prop_ro(
          "ended",
          [](StreamObject& self) {
            const std::lock_guard lock(self.mutex);
            return self.stream.parser().ended();
          },
          "True once a stop was seen; later text is not part of the turn.")
      .def_prop_ro(
          "reasoning_open",
          [](StreamObject& self) {
            const std::lock_guard lock(self.mutex);
            return self.stream.parser().place() == parse::Place::kReasoning;
          },
          "True if the next text would be reasoning.");
}

// --- Partial values --------------------------------------------------------------------------------------------------

struct PartialObject {
  parse::PartialValue value;
  std::mutex mutex;
};

void bind_partial(nb::module_& module) {
  nb::class_<PartialObject>(module, "PartialValue", R"(Reads a JSON text while it arrives: the value so far.

A string appears with its first character, a dict or list with its opening bracket, and a number or word when it is
complete.  StreamParser has one for each call; this class reads any text, such as the parts of arguments that an API
streams.

    >>> value = rondo.PartialValue()
    >>> value.feed('{"city": "Par')
    >>> value.value, value.open_path
    ({'city': 'Par'}, '/city')
)")
      .def(nb::init<>())
      .def(
          "feed",
          [](PartialObject& self, nb::handle text) {
            const std::string piece = to_text(text, "text");
            const std::lock_guard lock(self.mutex);
            self.value.feed(piece);
          },
          "text"_a, nb::sig("def feed(self, text: str) -> None"),
          "Reads the next piece.  At a character that JSON does not allow there, reading stops for good.")
      .def(
          "close",
          [](PartialObject& self) {
            const std::lock_guard lock(self.mutex);
            self.value.close();
          },
          "Ends the text, which completes a number at the top level.")
      .def_prop_ro(
          "value",
          [](PartialObject& self) {
            const std::lock_guard lock(self.mutex);
            return to_python(self.value.value());
          },
          nb::sig("def value(self) -> typing.Any"), "The value so far; None before it begins.")
      .def_prop_ro(
          "open_path",
          [](PartialObject& self) {
            const std::lock_guard lock(self.mutex);
            return optional_text(self.value.open_path());
          },
          nb::sig("def open_path(self) -> str | None"),
          "A JSON pointer to the innermost value that has begun and is not complete; None if there is none.")
      .def_prop_ro(
          "complete",
          [](PartialObject& self) {
            const std::lock_guard lock(self.mutex);
            return self.value.is_complete();
          },
          "True once the whole value has been read.")
      .def_prop_ro(
          "valid",
          [](PartialObject& self) {
            const std::lock_guard lock(self.mutex);
            return self.value.is_valid();
          },
          "False after a character that JSON does not allow there.");
}

// --- Formats and grammars --------------------------------------------------------------------------------------------

std::shared_ptr<const format::Format> format_of(const ModelObject& self, nb::handle tools, nb::handle kwargs) {
  Call call = read_call({nb::none(), tools, nb::none(), kwargs, nb::none(), false, nb::none(), "text"});
  return value_or_raise(without_gil([&] { return self.model->format(call); }));
}

nb::object losses(const ModelObject& self, nb::handle tools, nb::handle kwargs) {
  const auto format = format_of(self, tools, kwargs);
  nb::list losses;
  for (const format::Loss& loss : format->losses) {
    nb::dict entry;
    entry["what"] = to_python_text(loss.what);
    entry["meaning"] = to_python_text(loss.meaning);
    entry["line"] = loss.line;
    losses.append(entry);
  }
  nb::list notes;
  for (const std::string& note : format->notes) notes.append(to_python_text(note));
  nb::dict out;
  out["losses"] = losses;
  out["notes"] = notes;
  const std::optional<std::string> objection = format->verify();
  out["objection"] = objection ? to_python_text(*objection) : nb::object(nb::none());
  return out;
}

nb::object check(const ModelObject& self, nb::handle kwargs, nb::handle now,
                 const std::optional<std::vector<std::string>>& scenarios) {
  Call call = read_call({nb::none(), nb::none(), nb::none(), kwargs, now, false, nb::none(), "text"});
  return to_python(value_or_raise(without_gil([&]() -> Result<json::Value> {
    const auto prepared = self.model->prepare(call, core::TokenizerUse::kOptional);
    if (!prepared.ok()) return prepared.error();
    core::CheckRequest request;
    request.model = self.model->name();
    request.has_file = files::exists(prepared.value().chat_template->name());
    request.scenarios = scenarios.value_or(std::vector<std::string>{});
    const auto report = core::check(*self.model, call, std::move(request));
    if (!report.ok()) return report.error();
    return report::to_json(report.value());
  })));
}

nb::object grammar(const ModelObject& self, nb::handle messages, nb::handle prompt_ids, nb::handle tools,
                   nb::handle response_schema, bool response_text, nb::handle tool_choice, bool parallel_tool_calls,
                   const std::string& language, nb::handle kwargs) {
  const Ids prompt(prompt_ids.is_none() ? nb::object(nb::tuple()) : nb::borrow(prompt_ids), "prompt_ids");
  Call call = read_answer_call({messages, tools, nb::none(), kwargs, nb::none(), false, nb::none(), "text"});
  json::Object asked{{"tool_choice", to_json(tool_choice, "tool_choice")},
                     {"parallel_tool_calls", parallel_tool_calls},
                     {"response_text", response_text},
                     {"format", language}};
  if (!response_schema.is_none()) asked.set("response_schema", to_json(response_schema, "response_schema"));
  core::Fields fields(asked);
  const core::Asked read = core::read_asked(fields);
  const core::GrammarLanguage written_in = core::read_language(fields);
  if (const Status status = fields.finish(); !status.ok()) raise(status.error());
  return to_python(core::to_json(
      value_or_raise(without_gil([&] { return self.model->grammar(call, read, written_in, prompt.span()); }))));
}

nb::object capabilities(const ModelObject& self, nb::handle kwargs) {
  const Call call =
      read_answer_call({nb::none(), nb::none(), nb::none(), kwargs, nb::none(), false, nb::none(), "text"});
  return to_python(to_json(value_or_raise(without_gil([&] { return self.model->capabilities(call); }))));
}

constexpr const char* kParseDoc = R"(Reads a completion: reasoning, content and tool calls.  No text is lost.

completion: ids (shape (n,), any integer dtype, or a sequence of ints; read up to the first stop token), or text with
special tokens as text.  In ids, a marker counts only as its own token: the same characters spelled with ordinary tokens are
text.  prompt_ids, prompt_tail or messages show what the prompt has already opened; the first that is given counts,
otherwise the generation prompt after a plain user message.  tools give the types of arguments and the known names.
reasoning="inline" leaves reasoning in the content.  partial=True leaves out what may be the beginning of a marker.
strict=True raises ParseError with the offset of the first mistake.

    >>> parsed = model.parse(completion_ids, prompt_ids=prompt_ids, tools=tools)
    >>> parsed.tool_calls[0].name, parsed.tool_calls[0].arguments
)";

constexpr const char* kCheckDoc =
    R"(Finds where a next prompt does not continue what the model has seen, why, and what helps.

Plays conversations through the template under each value of its own variables: render, sample, parse, keep as messages,
render again.  Returns a dict as `rondo check --json` prints it (docs/check.schema.json): findings (worst first), notes and
cases. kwargs: variables that every setting has.  scenarios: names of conversations; all by default.  Takes seconds.

Raises InvalidArgumentError for an unknown scenario.  Runs without the GIL.

    >>> for finding in model.check()["findings"]:
    ...     print(finding["level"], finding["rule"], finding.get("place"), finding["sentence"])
)";

// NOLINTEND(readability-function-size)

}  // namespace

void bind_parse(nb::module_& module, nb::class_<ModelObject>& model) {
  bind_stream(module);
  bind_partial(module);
  model
      .def(
          "parse", &parse, "completion"_a, nb::kw_only(), "messages"_a = nb::none(), "prompt_ids"_a = nb::none(),
          "prompt_tail"_a = nb::none(), "tools"_a = nb::none(), "kwargs"_a = nb::none(),
          "continue_final_message"_a = nb::none(), "tool_choice"_a = "auto", "parallel_tool_calls"_a = true,
          "reasoning"_a = "split", "partial"_a = false, "strict"_a = false, kParseDoc,
          nb::sig("def parse(self, completion: rondo.types.Ids | str, *, messages: rondo.types.Messages | None = None, "
                  "prompt_ids: rondo.types.Ids | None = None, prompt_tail: str | None = None, tools: "
                  "rondo.types.Objects | None = None, "
                  "kwargs: dict[str, typing.Any] | None = None, continue_final_message: bool | str | None = None, "
                  "tool_choice: str = 'auto', parallel_tool_calls: bool = True, reasoning: str = 'split', "
                  "partial: bool = False, strict: bool = False) -> Parsed"))
      .def("stream_parser", &stream_parser, nb::kw_only(), "messages"_a = nb::none(), "prompt_ids"_a = nb::none(),
           "prompt_tail"_a = nb::none(), "tools"_a = nb::none(), "kwargs"_a = nb::none(), "tool_choice"_a = "auto",
           "parallel_tool_calls"_a = true, "reasoning"_a = "split",
           "Makes a StreamParser, which reads what the model writes while it writes.  Arguments as parse().",
           nb::sig("def stream_parser(self, *, messages: rondo.types.Messages | None = None, prompt_ids: "
                   "rondo.types.Ids | None = None, "
                   "prompt_tail: str | None = None, tools: rondo.types.Objects | None = None, "
                   "kwargs: dict[str, typing.Any] | None = None, tool_choice: str = 'auto', "
                   "parallel_tool_calls: bool = True, reasoning: str = 'split') -> StreamParser"))
      .def("grammar", &grammar, nb::kw_only(), "messages"_a = nb::none(), "prompt_ids"_a = nb::none(),
           "tools"_a = nb::none(), "response_schema"_a = nb::none(), "response_text"_a = false,
           "tool_choice"_a = "auto", "parallel_tool_calls"_a = true, "format"_a = "gbnf", "kwargs"_a = nb::none(),
           R"(Returns what the model may write, for an engine that constrains sampling.

format: "gbnf", "structural_tag" or "lark".  tool_choice: "auto", "none", "required" or {"name": function}.  response_text:
the answer is the text of the string that response_schema describes, such as one of its `enum`, not JSON.  prompt_ids,
otherwise messages, show what the prompt has already opened.  Returns a dict with grammar (text; "" if there is nothing to
constrain), lazy, triggers and warnings.)",
           nb::sig(
               "def grammar(self, *, messages: rondo.types.Messages | None = None, prompt_ids: rondo.types.Ids | None "
               "= None, tools: rondo.types.Objects | None = None, "
               "response_schema: dict[str, typing.Any] | None = None, response_text: bool = False, "
               "tool_choice: str | dict[str, str] = 'auto', parallel_tool_calls: bool = True, "
               "format: str = 'gbnf', kwargs: dict[str, typing.Any] | None = None) -> dict[str, typing.Any]"))
      .def(
          "format",
          [](const ModelObject& self, nb::handle tools, nb::handle kwargs) {
            return to_python(format::to_json(*format_of(self, tools, kwargs)));
          },
          nb::kw_only(), "tools"_a = nb::none(), "kwargs"_a = nb::none(),
          "How the template writes an assistant turn, as plain data (docs/format.md).",
          nb::sig("def format(self, *, tools: rondo.types.Objects | None = None, kwargs: dict[str, typing.Any] | None "
                  "= None) -> "
                  "dict[str, typing.Any]"))
      .def("capabilities", &capabilities, nb::kw_only(), "kwargs"_a = nb::none(),
           "Returns which parts of a conversation the template can carry, each with the evidence of a render "
           "(docs/capabilities.md).",
           nb::sig("def capabilities(self, *, kwargs: dict[str, typing.Any] | None = None) -> dict[str, typing.Any]"))
      .def("losses", &losses, nb::kw_only(), "tools"_a = nb::none(), "kwargs"_a = nb::none(),
           R"(Returns which parts of a message are lost when it is rendered and parsed, as far as the format shows.

The dict has losses (what, meaning, line of the template), notes (what could not be inferred) and objection (None if the
format's parts fit each other).)",
           nb::sig("def losses(self, *, tools: rondo.types.Objects | None = None, kwargs: dict[str, typing.Any] | None "
                   "= None) -> "
                   "dict[str, typing.Any]"))
      .def("check", &check, nb::kw_only(), "kwargs"_a = nb::none(), "now"_a = nb::none(), "scenarios"_a = nb::none(),
           kCheckDoc,
           nb::sig("def check(self, *, kwargs: dict[str, typing.Any] | None = None, now: datetime.datetime | str | "
                   "None = None, scenarios: list[str] | None = None) -> dict[str, typing.Any]"));
}

}  // namespace rondo::python
