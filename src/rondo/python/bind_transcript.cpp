// Transcript: a conversation that grows by messages, as text.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "python/calls.h"
#include "python/values.h"

namespace rondo::python {

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace {

// Python's keyword arguments are this function's parameters.
// NOLINTBEGIN(readability-function-size)
void start_transcript(TranscriptObject* self, const ModelObject& model, nb::handle messages, nb::handle tools,
                      nb::handle documents, nb::handle kwargs, nb::handle now, bool add_generation_prompt) {
  Call call = read_call({messages, tools, documents, kwargs, now, add_generation_prompt, nb::none()});
  render::Transcript transcript = value_or_raise(without_gil([&]() -> Result<render::Transcript> {
    auto shared = model.model->transcripts(call);
    if (!shared.ok()) return shared.error();
    return render::Transcript::start(shared.value(), std::move(call.conversation.messages));
  }));
  // nanobind has allocated the memory of the object; __init__ constructs it there.
  new (self) TranscriptObject{std::move(transcript), {}, {}};
}
// NOLINTEND(readability-function-size)

nb::object append_messages(TranscriptObject& self, nb::handle new_messages) {
  json::Array messages = to_objects(new_messages, "new_messages");
  std::string added;
  value_or_raise(without_gil([&]() -> Status {
    const std::lock_guard lock(self.mutex);
    auto grown = self.transcript.append(std::move(messages));
    if (!grown.ok()) return grown.error();
    self.last = std::move(grown).value();
    added = self.transcript.text().substr(self.last.kept);
    return Done{};
  }));
  return to_python_text(added);
}

nb::dict last_append(TranscriptObject& self) {
  const std::lock_guard lock(self.mutex);
  nb::dict out;
  out["way"] = to_python_text(render::to_string(self.last.way));
  out["why"] = to_python_text(self.last.why);
  out["kept"] = self.last.kept;
  out["shaped"] = texts(self.last.shaped);
  return out;
}

// A copy, made while no other thread is inside.
template <typename Read>
auto copy_of(TranscriptObject& self, Read read) {
  return without_gil([&] {
    const std::lock_guard lock(self.mutex);
    return read(self.transcript);
  });
}

}  // namespace

void bind_transcript(nb::module_& module) {
  nb::class_<TranscriptObject>(module, "Transcript", R"(A conversation that grows by messages, as text.

    >>> transcript = rondo.Transcript(model, messages, tools=tools)
    >>> new = transcript.append([{"role": "user", "content": "And then?"}])
    >>> transcript.text                   # what model.render() gives for all messages, byte for byte
    >>> transcript.last_append["way"]     # "incremental": only a few of the messages were rendered

If the new turns are known not to depend on older ones, rondo renders only a few messages, and the work does not grow with
the conversation.  Otherwise it renders all messages, and `last_append` says why.  Any number of transcripts may share a
model, and threads may share a transcript: their calls wait for each other.)")
      .def("__init__", &start_transcript, "model"_a, "messages"_a, nb::kw_only(), "tools"_a = nb::none(),
           "documents"_a = nb::none(), "kwargs"_a = nb::none(), "now"_a = nb::none(), "add_generation_prompt"_a = false,
           "Renders the messages.  Arguments as Model.render().",
           nb::sig("def __init__(self, model: Model, messages: rondo.types.Messages, *, tools: rondo.types.Objects | "
                   "None = None, "
                   "documents: rondo.types.Objects | None = None, kwargs: dict[str, typing.Any] | None = None, "
                   "now: datetime.datetime | str | None = None, add_generation_prompt: bool = False) -> None"))
      .def("append", &append_messages, "new_messages"_a,
           nb::sig("def append(self, new_messages: rondo.types.Messages) -> str"),
           "Appends messages of any role, and returns the text after the part of the old text that stayed.  Raises as "
           "Model.render() of all messages would; the transcript is then unchanged.")
      .def_prop_ro(
          "text",
          [](TranscriptObject& self) {
            return to_python_text(copy_of(self, [](const render::Transcript& t) { return t.text(); }));
          },
          nb::sig("def text(self) -> str"), "The text that the template writes for all messages.")
      .def_prop_ro(
          "messages",
          [](TranscriptObject& self) {
            return to_python(json::Value(copy_of(self, [](const render::Transcript& t) { return t.messages(); })));
          },
          nb::sig("def messages(self) -> list[dict]"), "The conversation, in the form that the template needs.")
      .def_prop_ro("last_append", &last_append, nb::sig("def last_append(self) -> dict[str, typing.Any]"),
                   "What the last append() did: way (\"incremental\" or \"full\"), why, kept (how many bytes of the "
                   "text stayed), shaped (where the template got a new message in another form than it was sent).")
      .def("__len__", [](TranscriptObject& self) {
        return copy_of(self, [](const render::Transcript& t) { return t.messages().size(); });
      });
}

}  // namespace rondo::python
