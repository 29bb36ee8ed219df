// Model: loading, rendering, encoding, bridging.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "json/parse.h"
#include "json/print.h"
#include "python/arrays.h"
#include "python/calls.h"
#include "python/values.h"

namespace rondo::python {

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace {

// Python's keyword arguments are these functions' parameters.
// NOLINTBEGIN(readability-function-size)

std::optional<std::string> optional_path(nb::handle value, std::string_view name) {
  if (value.is_none()) return std::nullopt;
  // Paths of pathlib, and any other object that names a file.
  const nb::object path = nb::steal(PyOS_FSPath(value.ptr()));
  if (!path.is_valid()) throw nb::python_error();
  return to_text(path, name);
}

std::optional<json::Object> corrections(nb::handle value) {
  if (value.is_none()) return std::nullopt;
  return to_object(value, "format");
}

core::Polyfill polyfill_of(const std::string& name) {
  const auto found = core::polyfill_named(name);
  if (!found) raise_invalid("`polyfill` must be \"off\", \"auto\" or \"on\"", "polyfill");
  return *found;
}

ModelObject load(nb::handle path, nb::handle chat_template, nb::handle tokenizer, nb::handle format, bool strict,
                 const std::string& polyfill, const std::string& cache_folder) {
  core::Source source;
  source.path = optional_path(path, "path").value_or("");
  source.chat_template = optional_path(chat_template, "template");
  source.tokenizer = optional_path(tokenizer, "tokenizer");
  source.corrections = corrections(format);
  source.strict = strict;
  source.polyfill = polyfill_of(polyfill);
  source.cache_folder = cache_folder;
  if (source.path.empty() && !(source.chat_template && source.tokenizer))
    raise_invalid("a path is needed, or both `template` and `tokenizer`", "path");
  auto model = value_or_raise(without_gil([&] { return Model::load(source); }));
  return {std::move(model), std::move(source)};
}

ModelObject from_memory(const nb::dict& parts, nb::handle chat_template, nb::handle format, bool strict,
                        const std::string& polyfill, const std::string& cache_folder) {
  core::MemoryModel memory;
  memory.name = to_text(parts["name"], "name");
  memory.tokenizer_json = to_text(parts["tokenizer_json"], "tokenizer_json");
  if (!parts["config"].is_none()) memory.config = to_json(parts["config"], "config");
  if (!parts["generation_config"].is_none())
    memory.generation = to_json(parts["generation_config"], "generation_config");
  if (!parts["chat_template"].is_none()) memory.chat_template = to_text(parts["chat_template"], "chat_template");
  if (!parts["tool_template"].is_none()) memory.tool_template = to_text(parts["tool_template"], "tool_template");
  core::Source source;
  source.chat_template = optional_path(chat_template, "template");
  source.corrections = corrections(format);
  source.strict = strict;
  source.polyfill = polyfill_of(polyfill);
  source.cache_folder = cache_folder;
  return {value_or_raise(without_gil([&] { return Model::from_memory(memory, source); })), std::nullopt};
}

// Returns the arguments of load() again.
nb::tuple reduce(const ModelObject& self) {
  if (!self.source) {
    PyErr_SetString(PyExc_TypeError, "a model that was made from a tokenizer in memory cannot be pickled");
    throw nb::python_error();
  }
  const core::Source& source = *self.source;
  const auto text = [](const std::optional<std::string>& value) {
    return value ? to_python_text(*value) : nb::object(nb::none());
  };
  const nb::object format = source.corrections ? to_python(*source.corrections) : nb::object(nb::none());
  const nb::object path = source.path.empty() ? nb::object(nb::none()) : to_python_text(source.path);
  return nb::make_tuple(nb::module_::import_("rondo").attr("_load"),
                        nb::make_tuple(path, text(source.chat_template), text(source.tokenizer), format, source.strict,
                                       std::string(core::to_string(source.polyfill))));
}

nb::object render(const ModelObject& self, nb::handle messages, nb::handle tools, nb::handle documents,
                  bool add_generation_prompt, nb::handle continue_final_message, nb::handle kwargs, nb::handle now) {
  Call call =
      read_call({messages, tools, documents, kwargs, now, add_generation_prompt, continue_final_message, "text"});
  return to_python_text(value_or_raise(without_gil([&] { return self.model->render(call); })));
}

nb::tuple shape(const ModelObject& self, nb::handle messages, nb::handle tools, nb::handle documents,
                nb::handle kwargs) {
  Call call = read_call({messages, tools, documents, kwargs, nb::none(), false, nb::none(), "text"});
  value_or_raise(without_gil([&] { return self.model->prepare(call, core::TokenizerUse::kOptional); }));
  return nb::make_tuple(to_python(json::Value(std::move(call.conversation.messages))),
                        nb::cast(tmpl::sentences(call.shaping)));
}

nb::tuple shape_tools(const ModelObject& self, nb::handle tools, nb::handle kwargs) {
  Call call = read_call({nb::list(), tools, nb::none(), kwargs, nb::none(), false, nb::none(), "text"});
  value_or_raise(without_gil([&] { return self.model->prepare(call, core::TokenizerUse::kOptional); }));
  return nb::make_tuple(to_python(call.conversation.tools.value_or(json::Array())), nb::cast(call.shaping.tools));
}

EncodedObject encode(const ModelObject& self, nb::handle messages, nb::handle tools, nb::handle documents,
                     bool add_generation_prompt, nb::handle continue_final_message, nb::handle kwargs, nb::handle now,
                     const std::string& content_specials, bool raw_turns, const std::optional<std::string>& retention,
                     bool inline_reasoning) {
  Call call = read_call({messages, tools, documents, kwargs, now, add_generation_prompt, continue_final_message,
                         content_specials, raw_turns, inline_reasoning, retention});
  EncodedObject out;
  out.data = value_or_raise(without_gil([&] {
    out.roles = roles(call.conversation.messages);
    out.tool_names = tool_names(call.conversation.messages);
    return self.model->encode(call);
  }));
  return out;
}

// The arguments of bridge() and append().
struct BridgeArguments {
  nb::handle prompt_ids;
  nb::handle completion_ids;
  nb::handle new_messages;
  bool close = true;
  bool lossy = true;
  bool find_lossy = true;
  std::string retention = "all";
  nb::handle sampled = {};
};

// [(begin, end), ...]
std::vector<std::pair<std::size_t, std::size_t>> read_ranges(nb::handle ranges) {
  std::vector<std::pair<std::size_t, std::size_t>> out;
  if (!ranges.is_valid() || ranges.is_none()) return out;
  if (!nb::try_cast(ranges, out)) raise_invalid("must be a sequence of (begin, end)", "sampled");
  return out;
}

// `make` takes the model, a call and a bridge.
template <typename Made, typename Make>
Made bridged(const ModelObject& self, const BridgeArguments& given, const CallArguments& arguments, Make make) {
  const Ids prompt(given.prompt_ids, "prompt_ids");
  const Ids completion(given.completion_ids, "completion_ids");
  json::Array added = to_objects(given.new_messages, "new_messages");
  Call call = read_call(arguments);
  const render::Retention retention = read_retention(given.retention);
  std::vector<std::pair<std::size_t, std::size_t>> sampled = read_ranges(given.sampled);
  return value_or_raise(without_gil([&]() -> Result<Made> {
    core::BridgeCall bridge{.prompt = prompt.span(),
                            .completion = completion.span(),
                            .new_messages = std::move(added),
                            .close = given.close,
                            .find_lossy = given.find_lossy,
                            .allow_lossy = given.lossy,
                            .retention = retention,
                            .sampled = std::move(sampled)};
    if (const tokenizer::Tokenizer* tokenizer = self.model->tokenizer(); tokenizer != nullptr) {
      if (Status valid = core::check_ids(*tokenizer, bridge.prompt, "prompt_ids"); !valid.ok()) return valid.error();
      if (Status valid = core::check_ids(*tokenizer, bridge.completion, "completion_ids"); !valid.ok())
        return valid.error();
    }
    return make(*self.model, call, std::move(bridge));
  }));
}

BridgedObject bridge(const ModelObject& self, nb::handle prompt_ids, nb::handle completion_ids, nb::handle new_messages,
                     nb::handle messages, nb::handle tools, nb::handle documents, nb::handle kwargs, nb::handle now,
                     const std::string& content_specials, bool close, bool lossy, bool find_lossy,
                     const std::string& retention, nb::handle sampled) {
  return {bridged<render::Bridged>(
      self, {prompt_ids, completion_ids, new_messages, close, lossy, find_lossy, retention, sampled},
      {messages, tools, documents, kwargs, now, true, nb::none(), content_specials},
      [](const Model& model, Call& call, core::BridgeCall bridge) { return model.bridge(call, std::move(bridge)); })};
}

AppendedObject append(const ModelObject& self, nb::handle prompt_ids, nb::handle completion_ids,
                      nb::handle new_messages, nb::handle messages, nb::handle tools, nb::handle documents,
                      nb::handle kwargs, nb::handle now, const std::string& content_specials, bool close) {
  return {bridged<render::Appended>(
      self,
      {.prompt_ids = prompt_ids,
       .completion_ids = completion_ids,
       .new_messages = new_messages,
       .close = close,
       .find_lossy = false},
      {messages, tools, documents, kwargs, now, true, nb::none(), content_specials},
      [](const Model& model, Call& call, core::BridgeCall bridge) { return model.append(call, std::move(bridge)); })};
}

std::vector<TokenId> stop_ids(const ModelObject& self, nb::handle tools, nb::handle kwargs) {
  Call call = read_call({nb::none(), tools, nb::none(), kwargs, nb::none(), true, nb::none(), "text"});
  return value_or_raise(without_gil([&] { return self.model->profile(call); }))->stop_ids;
}

nb::object tokenize(const ModelObject& self, nb::handle text, bool parse_special) {
  const std::string bytes = to_text(text, "text");
  return owned(value_or_raise(without_gil([&] { return self.model->tokenize(bytes, parse_special); })));
}

nb::object detokenize(const ModelObject& self, nb::handle ids, bool skip_special) {
  const Ids given(ids, "ids");
  return to_python_text(
      value_or_raise(without_gil([&] { return self.model->detokenize(given.span(), skip_special); })));
}

std::optional<TokenId> find_token(const ModelObject& self, nb::handle token) {
  const std::string text = to_text(token, "token");
  return self.model->tokenizer() == nullptr ? std::nullopt : self.model->tokenizer()->find(text);
}

constexpr const char* kRenderDoc = R"(The prompt as text.

messages: a list of dicts in the shape of the public chat APIs (or pydantic models or dataclasses); the template sees
exactly what you give.  tools, documents: lists of dicts.  kwargs: further template variables.  continue_final_message:
True, or the name of the field of the last message that the model continues ("reasoning_content"; with "tool_calls" it
continues the arguments of the last call, a JSON text that may end anywhere).  now: a datetime (or ISO text) for templates
that print the time; the clock by default.

Raises InvalidArgumentError, or TemplateError with the template's line.  Runs without the GIL.

    >>> model.render([{"role": "user", "content": "Hello"}], add_generation_prompt=True)
)";

constexpr const char* kShapeDoc =
    R"(Returns the messages in the form that the template needs, and sentences that say what was changed.

For renderers other than rondo: render() and encode() shape messages on their own.  Arguments as render().  Shaping shaped
messages changes nothing.  A model loaded with strict=True returns them as they are.

    >>> shaped, changes = model.shape(messages, tools=tools)
)";

constexpr const char* kShapeToolsDoc =
    R"(Returns the tool definitions in the form that the template needs, and sentences that say what was changed.

For renderers other than rondo: render() and encode() shape tools on their own.  Shaping shaped tools changes nothing.  A
model loaded with strict=True returns them as they are.

    >>> shaped, changes = model.shape_tools(tools)
)";

constexpr const char* kEncodeDoc = R"(Makes the prompt as token ids, with the owner of each id: an Encoded.

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
)";

constexpr const char* kBridgeDoc = R"(The next prompt of a rollout: the old ids unchanged, then the new turn.

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
)";

// NOLINTEND(readability-function-size)

}  // namespace

void bind_model(nb::module_& module) {
  module.def("load", &load, "path"_a.none(), nb::kw_only(), "template"_a.none(), "tokenizer"_a.none(),
             "format"_a.none(), "strict"_a, "polyfill"_a, "cache_folder"_a);
  module.def("from_memory", &from_memory, "parts"_a, nb::kw_only(), "template"_a.none(), "format"_a.none(), "strict"_a,
             "polyfill"_a, "cache_folder"_a);
  nb::class_<ModelObject> model(module, "Model", R"(A model as rondo sees it: its chat template and its tokenizer.

Made by rondo.load() or rondo.from_tokenizer().  Immutable: all methods may be called from many threads at once, and work
without the GIL.  A model that was loaded from files can be pickled; the pickle has the paths, not the content.)");
  model
      .def("render", &render, "messages"_a, nb::kw_only(), "tools"_a = nb::none(), "documents"_a = nb::none(),
           "add_generation_prompt"_a = false, "continue_final_message"_a = nb::none(), "kwargs"_a = nb::none(),
           "now"_a = nb::none(), kRenderDoc,
           nb::sig("def render(self, messages: rondo.types.Messages, *, tools: rondo.types.Objects | None = None, "
                   "documents: rondo.types.Objects | None = None, "
                   "add_generation_prompt: bool = False, continue_final_message: bool | str | None = None, "
                   "kwargs: dict[str, typing.Any] | None = None, now: datetime.datetime | str | None = None) -> str"))
      .def("shape", &shape, "messages"_a, nb::kw_only(), "tools"_a = nb::none(), "documents"_a = nb::none(),
           "kwargs"_a = nb::none(), kShapeDoc,
           nb::sig("def shape(self, messages: rondo.types.Messages, *, tools: rondo.types.Objects | None = None, "
                   "documents: rondo.types.Objects | None = None, kwargs: dict[str, typing.Any] | None = None) "
                   "-> tuple[list[dict[str, typing.Any]], list[str]]"))
      .def("shape_tools", &shape_tools, "tools"_a, nb::kw_only(), "kwargs"_a = nb::none(), kShapeToolsDoc,
           nb::sig("def shape_tools(self, tools: rondo.types.Objects, *, kwargs: dict[str, typing.Any] | None = None) "
                   "-> tuple[list[dict[str, typing.Any]], list[str]]"))
      .def("encode", &encode, "messages"_a, nb::kw_only(), "tools"_a = nb::none(), "documents"_a = nb::none(),
           "add_generation_prompt"_a = false, "continue_final_message"_a = nb::none(), "kwargs"_a = nb::none(),
           "now"_a = nb::none(), "content_specials"_a = "text", "raw_turns"_a = false, "retention"_a = nb::none(),
           "inline_reasoning"_a = true, kEncodeDoc,
           nb::sig("def encode(self, messages: rondo.types.Messages, *, tools: rondo.types.Objects | None = None, "
                   "documents: rondo.types.Objects | None = None, "
                   "add_generation_prompt: bool = False, continue_final_message: bool | str | None = None, "
                   "kwargs: dict[str, typing.Any] | None = None, now: datetime.datetime | str | None = None, "
                   "content_specials: str = 'text', raw_turns: bool = False, retention: str | None = None, "
                   "inline_reasoning: bool = True) -> Encoded"))
      .def("bridge", &bridge, "prompt_ids"_a, "completion_ids"_a, "new_messages"_a, nb::kw_only(),
           "messages"_a = nb::none(), "tools"_a = nb::none(), "documents"_a = nb::none(), "kwargs"_a = nb::none(),
           "now"_a = nb::none(), "content_specials"_a = "text", "close"_a = true, "lossy"_a = true,
           "find_lossy"_a = true, "retention"_a = "all", "sampled"_a = nb::none(), kBridgeDoc,
           nb::sig("def bridge(self, prompt_ids: rondo.types.Ids, completion_ids: rondo.types.Ids, new_messages: "
                   "rondo.types.Messages, *, "
                   "messages: rondo.types.Messages | None = None, tools: rondo.types.Objects | None = None, documents: "
                   "rondo.types.Objects | None = None, "
                   "kwargs: dict[str, typing.Any] | None = None, now: datetime.datetime | str | None = None, "
                   "content_specials: str = 'text', close: bool = True, lossy: bool = True, find_lossy: bool = True, "
                   "retention: str = 'all', "
                   "sampled: collections.abc.Sequence[tuple[int, int]] | None = None) -> Bridged"))
      .def(
          "append", &append, "prompt_ids"_a, "completion_ids"_a, "new_messages"_a, nb::kw_only(),
          "messages"_a = nb::none(), "tools"_a = nb::none(), "documents"_a = nb::none(), "kwargs"_a = nb::none(),
          "now"_a = nb::none(), "content_specials"_a = "text", "close"_a = true,
          "Makes only the appended part of bridge(): an Appended.  It reads only the last few old ids, so you need not "
          "give the others.  Arguments as bridge().",
          nb::sig(
              "def append(self, prompt_ids: rondo.types.Ids, completion_ids: rondo.types.Ids, new_messages: "
              "rondo.types.Messages, *, messages: rondo.types.Messages | None = None, tools: rondo.types.Objects | "
              "None "
              "= None, documents: rondo.types.Objects | None = None, kwargs: dict[str, typing.Any] | None = None, now: "
              "datetime.datetime | str | None = None, content_specials: str = 'text', close: bool = True) -> Appended"))
      .def("stop_ids", &stop_ids, nb::kw_only(), "tools"_a = nb::none(), "kwargs"_a = nb::none(),
           "The ids that end generation, sorted: the template's stop tokens and the tokenizer's own end ids.",
           nb::sig("def stop_ids(self, *, tools: rondo.types.Objects | None = None, kwargs: dict[str, typing.Any] | "
                   "None = None) -> "
                   "list[int]"))
      .def("tokenize", &tokenize, "text"_a, nb::kw_only(), "parse_special"_a = true,
           "The ids of a text, int32 (n,), without the tokens that a tokenizer may add around it.",
           nb::sig("def tokenize(self, text: str, *, parse_special: bool = True) -> numpy.typing.NDArray[numpy.int32]"))
      .def("detokenize", &detokenize, "ids"_a, nb::kw_only(), "skip_special"_a = false,
           "The text of ids; bytes that are not UTF-8 become U+FFFD.",
           nb::sig("def detokenize(self, ids: rondo.types.Ids, *, skip_special: bool = False) -> str"))
      .def("find_token", &find_token, "token"_a, "The id of the token with exactly this text; None if there is none.",
           nb::sig("def find_token(self, token: str) -> int | None"))
      .def_prop_ro(
          "vocab_size",
          [](const ModelObject& self) {
            return self.model->tokenizer() == nullptr ? 0 : self.model->tokenizer()->vocab_size();
          },
          "The size of the vocabulary: all ids are below it.  0 without a tokenizer.")
      .def_prop_ro(
          "chat_template", [](const ModelObject& self) { return to_python_text(self.model->template_text(false)); },
          "The template's text; \"\" without one.", nb::sig("def chat_template(self) -> str"))
      .def_prop_ro(
          "name", [](const ModelObject& self) { return to_python_text(self.model->name()); },
          "The path or name from which the model was loaded.", nb::sig("def name(self) -> str"))
      .def("__reduce__", &reduce)
      .def("__repr__",
           [](const ModelObject& self) { return to_python_text("<rondo.Model " + self.model->name() + ">"); });
  bind_parse(module, model);
}

}  // namespace rondo::python
