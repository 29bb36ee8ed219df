// Rollout: a conversation that grows turn by turn, as ids.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "python/arrays.h"
#include "python/calls.h"
#include "python/values.h"

namespace rondo::python {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

void start(RolloutObject* self, const ModelObject& model, nb::object messages, nb::object tools, nb::object documents,
           nb::object kwargs, nb::object now, const std::string& content_specials) {
  Call call = read_call({messages, tools, documents, kwargs, now, true, nb::none(), content_specials});
  auto rollout = value_or_raise(without_gil([&] { return Rollout::start(model.model, std::move(call)); }));
  new (self) RolloutObject{std::move(rollout), model.model, {}};
}

ParsedObject complete(RolloutObject& self, nb::handle completion_ids) {
  const Ids ids(completion_ids, "completion_ids");
  return parsed_object(value_or_raise(without_gil([&] {
    const std::lock_guard lock(self.mutex);
    return self.rollout->complete(ids.span());
  })));
}

nb::object add(RolloutObject& self, nb::object new_messages) {
  json::Array messages = to_objects(new_messages, "new_messages");
  std::vector<TokenId> appended;
  value_or_raise(without_gil([&]() -> Result<Added> {
    const std::lock_guard lock(self.mutex);
    auto added = self.rollout->add(std::move(messages));
    if (added.ok())
      appended.assign(self.rollout->ids().begin() + static_cast<std::ptrdiff_t>(added.value().begin),
                      self.rollout->ids().end());
    return added;
  }));
  return owned(std::move(appended));
}

// A copy, made while nobody else is inside.
template <typename Read>
auto copy_of(RolloutObject& self, Read read) {
  return without_gil([&] {
    const std::lock_guard lock(self.mutex);
    return read(*self.rollout);
  });
}

}  // namespace

void bind_rollout(nb::module_& module) {
  nb::class_<RolloutObject>(module, "Rollout", R"(A rollout that something else samples.

    >>> rollout = rondo.Rollout(model, messages, tools=tools)
    >>> sampled = engine.generate(rollout.ids, stop_token_ids=model.stop_ids())
    >>> said = rollout.complete(sampled)              # a Parsed
    >>> new = rollout.add([{"role": "tool", "content": "4"}])   # the ids behind the old ones
    >>> rollout.ids, rollout.sampled_mask             # the next prompt, and what of it the model wrote

The ids are the truth: nothing that was prompted or sampled is tokenized again.  Any number of rollouts share a model; one
thread at a time gets into one.)")
      .def("__init__", &start, "model"_a, "messages"_a, nb::kw_only(), "tools"_a = nb::none(),
           "documents"_a = nb::none(), "kwargs"_a = nb::none(), "now"_a = nb::none(), "content_specials"_a = "text",
           "Renders and tokenizes the first prompt.  Arguments as Model.encode().",
           nb::sig("def __init__(self, model: Model, messages: rondo.types.Messages, *, tools: rondo.types.Objects | "
                   "None = None, "
                   "documents: rondo.types.Objects | None = None, kwargs: dict[str, typing.Any] | None = None, "
                   "now: datetime.datetime | str | None = None, content_specials: str = 'text') -> None"))
      .def("complete", &complete, "completion_ids"_a,
           nb::sig("def complete(self, completion_ids: rondo.types.Ids) -> Parsed"),
           "Takes what was sampled behind `ids`, with or without its stop token.  Raises InvalidArgumentError if the "
           "model "
           "has just spoken.")
      .def("add", &add, "new_messages"_a,
           nb::sig("def add(self, new_messages: rondo.types.Messages) -> numpy.typing.NDArray[numpy.int32]"),
           "Appends what follows the model's turn, none of role `assistant`, and opens its next turn: the appended "
           "ids, int32 "
           "(n,).  Raises as Model.bridge(); the rollout is unchanged then.")
      .def_prop_ro(
          "ids", [](RolloutObject& self) { return owned(copy_of(self, [](const Rollout& r) { return r.ids(); })); },
          nb::sig("def ids(self) -> numpy.typing.NDArray[numpy.int32]"), "int32 (n,): every id so far, a copy.")
      .def_prop_ro(
          "sampled_mask",
          [](RolloutObject& self) { return owned(copy_of(self, [](const Rollout& r) { return r.sampled_mask(); })); },
          nb::sig("def sampled_mask(self) -> numpy.typing.NDArray[numpy.uint8]"),
          "uint8 (n,): 1 for the ids that the model sampled, and those of assistant turns in the first prompt.")
      .def_prop_ro(
          "message_indices",
          [](RolloutObject& self) {
            return owned(copy_of(self, [](const Rollout& r) { return r.message_indices(); }));
          },
          nb::sig("def message_indices(self) -> numpy.typing.NDArray[numpy.int32]"),
          "int32 (n,): index into `messages`, -1 for nobody's.")
      .def_prop_ro(
          "messages",
          [](RolloutObject& self) {
            return to_python(json::Value(copy_of(self, [](const Rollout& r) { return r.messages(); })));
          },
          nb::sig("def messages(self) -> list[dict]"),
          "The visible conversation; the model's last turn joins it with the next add().")
      .def("__len__",
           [](RolloutObject& self) { return copy_of(self, [](const Rollout& r) { return r.ids().size(); }); });
}

}  // namespace rondo::python
