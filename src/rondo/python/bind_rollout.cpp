// Rollout: a conversation that grows turn by turn, as ids.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "python/arrays.h"
#include "python/calls.h"
#include "python/values.h"

namespace rondo::python {

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace {

// Python's keyword arguments are these functions' parameters.
// NOLINTBEGIN(readability-function-size)

void start(RolloutObject* self, const ModelObject& model, nb::handle messages, nb::handle tools, nb::handle documents,
           nb::handle kwargs, nb::handle now, const std::string& content_specials) {
  Call call = read_call({messages, tools, documents, kwargs, now, true, nb::none(), content_specials});
  auto started = value_or_raise(without_gil([&] { return model.model->start_rollout(call); }));
  // nanobind has allocated the memory of the object; __init__ constructs it there.
  new (self) RolloutObject{std::move(started.rollout), std::move(started.notes), {}, {}};
}

Result<ParsedIds> complete_ids(render::Rollout& rollout, std::span<const TokenId> ids) {
  auto said = rollout.complete(ids);
  if (!said.ok()) return said.error();
  ParsedIds out;
  out.message = said.value()->message;
  out.text = said.value()->raw;
  out.closing_text = said.value()->closing_text;
  out.ends = said.value()->ends;
  // Ids from the stop token on have no text in the turn, so they have no entry in `ends`.
  out.stopped = out.ends.size() < ids.size();
  out.reasoning_open =
      !out.message.complete && out.message.reasoning && out.message.content.empty() && out.message.tool_calls.empty();
  return out;
}

ParsedObject complete(RolloutObject& self, nb::handle completion_ids) {
  const Ids ids(completion_ids, "completion_ids");
  return parsed_object(value_or_raise(without_gil([&] {
    const std::lock_guard lock(self.mutex);
    return complete_ids(self.rollout, ids.span());
  })));
}

nb::object add(RolloutObject& self, nb::handle new_messages, const std::string& retention) {
  json::Array messages = to_objects(new_messages, "new_messages");
  const render::Retention policy = read_retention(retention);
  std::vector<TokenId> appended;
  value_or_raise(without_gil([&]() -> Status {
    const std::lock_guard lock(self.mutex);
    auto added = self.rollout.extend(std::move(messages), policy);
    if (!added.ok()) return added.error();
    self.last = std::move(added).value();
    const auto ids = self.rollout.ids().subspan(self.last.begin);
    appended.assign(ids.begin(), ids.end());
    return Done{};
  }));
  return owned(std::move(appended));
}

nb::dict last_to_python(RolloutObject& self) {
  const std::lock_guard lock(self.mutex);
  nb::list cuts;
  for (const render::Cut& cut : self.last.cuts) cuts.append(nb::make_tuple(cut.begin, cut.end, cut.message));
  nb::dict out;
  out["begin"] = self.last.begin;
  out["kept"] = self.last.kept;
  out["cuts"] = cuts;
  out["notes"] = texts(self.last.notes);
  out["shaped"] = texts(self.last.shaped);
  return out;
}

// A copy, made while no other thread is inside.
template <typename Read>
auto copy_of(RolloutObject& self, Read read) {
  return without_gil([&] {
    const std::lock_guard lock(self.mutex);
    return read(self.rollout);
  });
}

// NOLINTEND(readability-function-size)

void bind_first_prompt(nb::class_<RolloutObject>& rollout) {
  rollout
      .def_prop_ro(
          "notes", [](const RolloutObject& self) { return texts(self.notes); }, nb::sig("def notes(self) -> list[str]"),
          "Sentences about the first messages, as Encoded.notes.")
      .def_prop_ro(
          "shaped", [](const RolloutObject& self) { return texts(self.rollout.shaped()); },
          nb::sig("def shaped(self) -> list[str]"),
          "Sentences: where the template got one of the first messages in another form than it was sent.");
}

}  // namespace

void bind_rollout(nb::module_& module) {
  nb::class_<RolloutObject> rollout(module, "Rollout",
                                    R"(A conversation that grows as ids; you sample the model's turns.

    >>> rollout = rondo.Rollout(model, messages, tools=tools)
    >>> sampled = engine.generate(rollout.ids, stop_token_ids=model.stop_ids())
    >>> said = rollout.complete(sampled)              # a Parsed
    >>> new = rollout.add([{"role": "tool", "content": "4"}])   # the ids after the old ones
    >>> rollout.ids, rollout.sampled_mask             # the next prompt, and what of it the model wrote

The ids are the truth: nothing that was prompted or sampled is tokenized again.  Any number of rollouts may share a model,
and threads may share a rollout: their calls wait for each other.)");
  rollout
      .def("__init__", &start, "model"_a, "messages"_a, nb::kw_only(), "tools"_a = nb::none(),
           "documents"_a = nb::none(), "kwargs"_a = nb::none(), "now"_a = nb::none(), "content_specials"_a = "text",
           "Renders and tokenizes the first prompt.  Arguments as Model.encode().",
           nb::sig("def __init__(self, model: Model, messages: rondo.types.Messages, *, tools: rondo.types.Objects | "
                   "None = None, "
                   "documents: rondo.types.Objects | None = None, kwargs: dict[str, typing.Any] | None = None, "
                   "now: datetime.datetime | str | None = None, content_specials: str = 'text') -> None"))
      .def("complete", &complete, "completion_ids"_a,
           nb::sig("def complete(self, completion_ids: rondo.types.Ids) -> Parsed"),
           "Takes the ids that were sampled after `ids`, with or without the stop token.  Raises InvalidArgumentError "
           "if the last turn is already the model's.")
      .def("add", &add, "new_messages"_a, nb::kw_only(), "retention"_a = "all",
           nb::sig("def add(self, new_messages: rondo.types.Messages, *, retention: str = 'all') -> "
                   "numpy.typing.NDArray[numpy.int32]"),
           "Appends the messages that follow the model's turn (none of role `assistant`), opens its next turn, and "
           "returns the appended ids, int32 (n,).  retention: which earlier reasoning stays: \"all\" (the old ids stay "
           "as they are), \"template\", "
           "\"tool_cycle\", \"preserve_thinking_between_tool_calls\" or \"preserve_all_thinking\"; `last_add` says "
           "what was "
           "cut.  Raises as Model.bridge(); the rollout is then unchanged.")
      .def_prop_ro(
          "ids",
          [](RolloutObject& self) {
            return owned(copy_of(
                self, [](const render::Rollout& r) { return std::vector<TokenId>(r.ids().begin(), r.ids().end()); }));
          },
          nb::sig("def ids(self) -> numpy.typing.NDArray[numpy.int32]"), "int32 (n,): every id so far, a copy.")
      .def_prop_ro(
          "sampled_mask",
          [](RolloutObject& self) {
            return owned(copy_of(self, [](const render::Rollout& r) { return r.sampled_mask(); }));
          },
          nb::sig("def sampled_mask(self) -> numpy.typing.NDArray[numpy.uint8]"),
          "uint8 (n,): 1 for ids that the model sampled, and for assistant turns in the first prompt.")
      .def_prop_ro(
          "message_indices",
          [](RolloutObject& self) {
            return owned(copy_of(self, [](const render::Rollout& r) { return r.message_indices(); }));
          },
          nb::sig("def message_indices(self) -> numpy.typing.NDArray[numpy.int32]"),
          "int32 (n,): index into `messages`; -1 for no message.")
      .def_prop_ro("last_add", &last_to_python, nb::sig("def last_add(self) -> dict[str, typing.Any]"),
                   "What the last add() did: begin (the first appended id), kept (how many leading ids stayed in "
                   "place), cuts (ranges of ids that were cut out: (begin, end, message)), notes, shaped (where the "
                   "template got a new message in another form than it was sent).")
      .def_prop_ro(
          "messages",
          [](RolloutObject& self) {
            return to_python(json::Value(copy_of(self, [](const render::Rollout& r) { return r.messages(); })));
          },
          nb::sig("def messages(self) -> list[dict]"),
          "The visible conversation; the next add() adds the model's last turn to it.")
      .def("__len__",
           [](RolloutObject& self) { return copy_of(self, [](const render::Rollout& r) { return r.ids().size(); }); });
  bind_first_prompt(rollout);
}

}  // namespace rondo::python
