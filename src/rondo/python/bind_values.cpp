// Encoded, Bridged, Parsed, ToolCall and Event: what the methods of a model return.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/arrays.h"
#include "python/calls.h"
#include "python/values.h"

namespace rondo::python {

namespace nb = nanobind;

namespace {

// From the first id of each message to one past its last; None for messages without ids.
nb::list message_spans(const std::vector<std::int32_t>& owners, std::size_t messages) {
  constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::vector<std::pair<std::size_t, std::size_t>> spans(messages, {kNone, 0});
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const auto owner = static_cast<std::size_t>(owners[i]);
    if (owners[i] < 0 || owner >= messages) continue;
    if (spans[owner].first == kNone) spans[owner].first = i;
    spans[owner].second = i + 1;
  }
  nb::list out;
  for (const auto& [begin, end] : spans) {
    if (begin == kNone) {
      out.append(nb::none());
    } else {
      out.append(nb::make_tuple(begin, end));
    }
  }
  return out;
}

nb::dict lossy_to_python(const render::LossyFinding& finding) {
  nb::dict out;
  out["what"] = to_python_text(finding.what);
  out["cause"] = to_python_text(causes::to_string(finding.cause));
  out["message"] = finding.message < 0 ? nb::object(nb::none()) : nb::object(nb::int_(finding.message));
  out["place"] = to_python_text(finding.place);
  out["line"] = finding.line;
  out["column"] = finding.column;
  return out;
}

nb::list findings(const std::vector<render::LossyFinding>& lossy) {
  nb::list out;
  for (const render::LossyFinding& finding : lossy) out.append(lossy_to_python(finding));
  return out;
}

template <typename Array, typename Object, typename Data, typename Field>
auto array_of(Data Object::* data, Field field) {
  return [data, field](nb::handle_t<Object> self) {
    Object& object = nb::cast<Object&>(self);
    // The view holds a reference to `self`, so the memory lives as long as the view.
    return view<Array>((object.*data).*field, self);
  };
}

void bind_encoded(nb::module_& module) {
  using render::Encoded;
  nb::class_<EncodedObject>(module, "Encoded", R"(A prompt as token ids, with the owner of each id.

All arrays have one entry per id, shape (n,).  They are views of the object's own memory: nothing is copied, and a view
keeps the object alive.  Writing into a view changes only what the object shows.)")
      .def_prop_ro("ids", array_of<Int32Array>(&EncodedObject::data, &Encoded::ids), "int32: the token ids")
      .def_prop_ro(
          "message_indices", array_of<Int32Array>(&EncodedObject::data, &Encoded::message_indices),
          "int32: the message that an id belongs to, by its first byte; -1 for no message (tools, generation prompt)")
      .def_prop_ro("content_mask", array_of<Uint8Array>(&EncodedObject::data, &Encoded::content_mask),
                   "uint8: 1 if the first byte is a message's own data")
      .def_prop_ro("sampled_mask", array_of<Uint8Array>(&EncodedObject::data, &Encoded::sampled_mask),
                   "uint8: 1 if the model would have sampled the id as part of its turn, stop token included")
      .def_prop_ro(
          "straddles", array_of<Uint8Array>(&EncodedObject::data, &Encoded::straddles),
          "uint8: 1 if an id's bytes come from several messages, or partly from data and partly from the template")
      .def_prop_ro("begins", array_of<Uint32Array>(&EncodedObject::data, &Encoded::begins),
                   "uint32: the first byte of each id in the UTF-8 of `text`")
      .def_prop_ro("ends", array_of<Uint32Array>(&EncodedObject::data, &Encoded::ends),
                   "uint32: the end of each id in the UTF-8 of `text`")
      .def_prop_ro(
          "text", [](const EncodedObject& self) { return to_python_text(self.data.text); }, "The prompt as text.",
          nb::sig("def text(self) -> str"))
      .def_prop_ro(
          "notes", [](const EncodedObject& self) { return texts(self.data.notes); },
          "Sentences about raw turns: what was written to close them, and which messages differ from their "
          "completions.",
          nb::sig("def notes(self) -> list[str]"))
      .def_prop_ro(
          "shaped", [](const EncodedObject& self) { return texts(self.data.shaped); },
          "Sentences: where the template got a message in another form than it was sent (docs/shaping.md).",
          nb::sig("def shaped(self) -> list[str]"))
      .def_ro("roles", &EncodedObject::roles, "The role of each message; \"\" for a message without a role.")
      .def_ro("tool_names", &EncodedObject::tool_names,
              "For each message, the tool whose result it is: its own `name`, or that of the call that it answers.  "
              "None for other messages.")
      .def(
          "message_spans",
          [](const EncodedObject& self) { return message_spans(self.data.message_indices, self.roles.size()); },
          "For each message the range (begin, end) of its ids; None for a message without ids.",
          nb::sig("def message_spans(self) -> list[tuple[int, int] | None]"))
      .def("__len__", [](const EncodedObject& self) { return self.data.ids.size(); })
      .def("__repr__", [](const EncodedObject& self) {
        return "Encoded(" + std::to_string(self.data.ids.size()) + " ids, " + std::to_string(self.roles.size()) +
               " messages)";
      });
}

void bind_bridged(nb::module_& module) {
  using render::Bridged;
  nb::class_<BridgedObject>(module, "Bridged", R"(The next prompt: the old ids unchanged, then the new turn.

Arrays are views of the object's own memory, as those of Encoded.)")
      .def_prop_ro("ids", array_of<Int32Array>(&BridgedObject::data, &Bridged::ids),
                   "int32 (n,): prompt_ids + completion_ids + what was appended")
      .def_prop_ro("content_mask", array_of<Uint8Array>(&BridgedObject::data, &Bridged::content_mask),
                   "uint8 (n,): 1 if an appended id's first byte is a new message's own data")
      .def_prop_ro("message_indices", array_of<Int32Array>(&BridgedObject::data, &Bridged::message_indices),
                   "int32 (n,): index in new_messages; -1 for everything else")
      .def_prop_ro(
          "appended", [](const BridgedObject& self) { return self.data.appended; },
          "How many ids were appended; they are the last ones.")
      .def_prop_ro(
          "appended_text", [](const BridgedObject& self) { return to_python_text(self.data.appended_text); },
          nb::sig("def appended_text(self) -> str"))
      .def_prop_ro(
          "notes", [](const BridgedObject& self) { return texts(self.data.notes); },
          "Sentences: what rondo made up or replaced by a stand-in, and why.", nb::sig("def notes(self) -> list[str]"))
      .def_prop_ro(
          "shaped", [](const BridgedObject& self) { return texts(self.data.shaped); },
          "Sentences: where the template got a message in another form than it was sent (docs/shaping.md).",
          nb::sig("def shaped(self) -> list[str]"))
      .def_prop_ro(
          "lossy", [](const BridgedObject& self) { return findings(self.data.lossy); },
          "What the template would have written differently in earlier turns: dicts with what, cause, message, place, "
          "line, column.",
          nb::sig("def lossy(self) -> list[dict]"))
      .def_prop_ro(
          "cuts",
          [](const BridgedObject& self) {
            nb::list out;
            for (const render::Cut& cut : self.data.cuts) out.append(nb::make_tuple(cut.begin, cut.end, cut.message));
            return out;
          },
          nb::sig("def cuts(self) -> list[tuple[int, int, int]]"),
          "The ranges of old ids that were cut out: (begin, end, message).  Empty unless the retention cuts.")
      .def_prop_ro(
          "kept", [](const BridgedObject& self) { return self.data.kept; },
          "How many leading ids stayed in place: all old ones if nothing was cut.")
      .def("__len__", [](const BridgedObject& self) { return self.data.ids.size(); })
      .def("__repr__", [](const BridgedObject& self) {
        return "Bridged(" + std::to_string(self.data.ids.size()) + " ids, " + std::to_string(self.data.appended) +
               " appended)";
      });
}

void bind_appended(nb::module_& module) {
  using render::Appended;
  nb::class_<AppendedObject>(module, "Appended", R"(What follows the old ids in the next prompt.

Arrays are views of the object's own memory, as those of Encoded.)")
      .def_prop_ro("ids", array_of<Int32Array>(&AppendedObject::data, &Appended::ids), "int32 (n,): the new ids")
      .def_prop_ro("message_indices", array_of<Int32Array>(&AppendedObject::data, &Appended::message_indices),
                   "int32 (n,): index in new_messages; -1 for everything else")
      .def_prop_ro("content_mask", array_of<Uint8Array>(&AppendedObject::data, &Appended::content_mask),
                   "uint8 (n,): 1 if an id's first byte is a new message's own data")
      .def_prop_ro(
          "text", [](const AppendedObject& self) { return to_python_text(self.data.text); },
          nb::sig("def text(self) -> str"))
      .def_prop_ro(
          "notes", [](const AppendedObject& self) { return texts(self.data.notes); },
          "Sentences: what rondo made up or replaced by a stand-in, and why.", nb::sig("def notes(self) -> list[str]"))
      .def_prop_ro(
          "shaped", [](const AppendedObject& self) { return texts(self.data.shaped); },
          "Sentences: where the template got a message in another form than it was sent (docs/shaping.md).",
          nb::sig("def shaped(self) -> list[str]"))
      .def_prop_ro(
          "lossy", [](const AppendedObject& self) { return findings(self.data.lossy); },
          "How the completion's end differs from what the template writes there: dicts as in Bridged.",
          nb::sig("def lossy(self) -> list[dict]"))
      .def("__len__", [](const AppendedObject& self) { return self.data.ids.size(); })
      .def("__repr__",
           [](const AppendedObject& self) { return "Appended(" + std::to_string(self.data.ids.size()) + " ids)"; });
}

void bind_call(nb::module_& module) {
  nb::class_<CallObject>(module, "ToolCall", "A tool call that a model wrote, well or badly.")
      .def_prop_ro(
          "id", [](const CallObject& self) { return optional_text(self.call.id); },
          "The id that the model wrote; None for formats without ids.", nb::sig("def id(self) -> str | None"))
      .def_prop_ro(
          "name", [](const CallObject& self) { return to_python_text(self.call.name); },
          nb::sig("def name(self) -> str"))
      .def_prop_ro(
          "arguments", [](const CallObject& self) { return to_python_text(self.call.arguments); },
          "JSON text: the model's own characters if the format writes arguments as JSON.",
          nb::sig("def arguments(self) -> str"))
      .def_prop_ro(
          "status", [](const CallObject& self) { return std::string(chat::to_string(self.call.status)); },
          "\"ok\", \"invalid_json\", \"unclosed\", \"malformed\" or \"unknown_tool\".")
      .def_prop_ro(
          "problems",
          [](const CallObject& self) {
            nb::list out;
            for (const chat::CallProblem& problem : self.call.problems) {
              nb::dict entry;
              entry["kind"] = std::string(chat::to_string(problem.kind));
              entry["parameter"] = to_python_text(problem.parameter);
              entry["message"] = to_python_text(problem.sentence);
              out.append(entry);
            }
            return out;
          },
          nb::sig("def problems(self) -> list[dict[str, str]]"),
          R"(Why a call is malformed although its arguments can be read: dicts with kind, parameter and message.

Kinds: "swallowed_tag", "unknown_attribute", "wrong_type", "unknown_parameter",
"unclosed_value", "unreadable_parameter" (docs/parse.md).)")
      .def_prop_ro(
          "raw", [](const CallObject& self) { return to_python_text(self.raw); }, "The call as the model wrote it.",
          nb::sig("def raw(self) -> str"))
      .def_ro("token_span", &CallObject::token_span,
              "The range (begin, end) of its ids in the completion; None if text was parsed.")
      .def("__repr__", [](const CallObject& self) {
        return "ToolCall(" + self.call.name + ", " + std::string(chat::to_string(self.call.status)) + ")";
      });
}

void bind_parsed(nb::module_& module) {
  nb::class_<ParsedObject>(module, "Parsed", "What a model wrote.")
      .def_prop_ro(
          "content", [](const ParsedObject& self) { return to_python_text(self.message.content); },
          nb::sig("def content(self) -> str"))
      .def_prop_ro(
          "reasoning_content", [](const ParsedObject& self) { return optional_text(self.message.reasoning); },
          "None if there was no reasoning block.", nb::sig("def reasoning_content(self) -> str | None"))
      .def_ro("tool_calls", &ParsedObject::calls)
      .def_prop_ro(
          "complete", [](const ParsedObject& self) { return self.message.complete; },
          "False if something that was opened is still open.")
      .def_prop_ro(
          "behind_stop", [](const ParsedObject& self) { return to_python_text(self.message.behind_stop); },
          "Text after the stop, which is not part of the turn; \"\" if only markup follows the stop, and always for "
          "ids.",
          nb::sig("def behind_stop(self) -> str"))
      .def_ro("stopped", &ParsedObject::stopped,
              "True if a stop token was among the ids; the ids after it were not read.")
      .def_ro("reasoning_open", &ParsedObject::reasoning_open, "True if the text ends inside the reasoning.")
      .def_prop_ro(
          "text", [](const ParsedObject& self) { return to_python_text(self.text); },
          "What was parsed, up to the stop token.", nb::sig("def text(self) -> str"))
      .def(
          "to_message",
          [](const ParsedObject& self, std::size_t first_call_index, bool raw) {
            nb::object message = to_python(chat::to_history(self.message, first_call_index));
            if (raw && self.ids) message["raw_ids"] = nb::cast(*self.ids);
            if (raw && !self.ids) message["raw"] = to_python_text(self.text);
            return message;
          },
          nb::arg("first_call_index") = 0, nb::arg("raw") = false,
          nb::sig("def to_message(self, first_call_index: int = 0, raw: bool = False) -> dict"),
          R"(The message for a conversation's history: a dict with role, content, reasoning_content and tool_calls.

A call for which the model wrote no id gets `call_<index>`, counted from `first_call_index`.  raw=True adds what was parsed:
`raw_ids` (a list of all given ids), or `raw` for a text.  Model.encode(..., raw_turns=True) then puts that into the prompt
instead of writing the message again.)")
      .def("__repr__", [](const ParsedObject& self) {
        return "Parsed(" + std::to_string(self.message.content.size()) + " bytes of content, " +
               std::to_string(self.calls.size()) + " calls)";
      });
}

}  // namespace

void bind_values(nb::module_& module) {
  bind_encoded(module);
  bind_bridged(module);
  bind_appended(module);
  bind_call(module);
  bind_parsed(module);
}

}  // namespace rondo::python
