// Rollouts: conversations that grow as ids.
#include <utility>

#include "base/utf8.h"
#include "capi/requests.h"
#include "json/print.h"
#include "protocol/readers.h"
#include "render/retention.h"

namespace rondo::capi {
namespace {

Outcome<std::shared_ptr<RolloutObject>> start_rollout(const Library& library, rondo_model handle,
                                                      const rondo_chat* chat) {
  auto object = object_of(library, handle);
  if (!object.ok()) return object.failure();
  auto request = request_of(chat);
  if (!request.ok()) return request.failure();
  Fields fields(request.value());
  core::Call call = read_call(library, fields, true);
  call.specials = protocol::read_specials(fields);
  call.inline_reasoning = fields.flag("inline_reasoning", true);
  if (Status status = fields.finish(); !status.ok()) return status.error();
  auto started = object.value()->model->start_rollout(call);
  if (!started.ok()) return started.error();
  return std::shared_ptr<RolloutObject>(new RolloutObject{{}, std::move(started.value().rollout)});
}

Outcome<ResultObject> complete(render::Rollout& rollout, rondo_ids given) {
  auto ids = span_of(given, "completion");
  if (!ids.ok()) return ids.failure();
  const auto said = rollout.complete(ids.value());
  if (!said.ok()) return said.error();
  ResultObject out;
  out.json = json::to_compact(protocol::message_to_json(said.value()->message));
  out.text = utf8::to_valid(said.value()->raw);
  return out;
}

Outcome<ResultObject> extend(render::Rollout& rollout, rondo_text new_messages, rondo_text options) {
  auto messages = messages_of(new_messages, "new_messages");
  if (!messages.ok()) return messages.failure();
  auto object = object_of_text(options, "options");
  if (!object.ok()) return object.failure();
  Fields fields(object.value());
  const render::Retention retention = protocol::read_retention(fields).value_or(render::Retention::kAll);
  if (Status status = fields.finish(); !status.ok()) return status.error();
  auto extended = rollout.extend(std::move(messages.value()), retention);
  if (!extended.ok()) return extended.error();
  const auto appended = rollout.ids().subspan(extended.value().begin);
  ResultObject out;
  out.ids.emplace(appended.begin(), appended.end());
  out.json = json::to_compact(protocol::extension_to_json(extended.value()));
  return out;
}

Outcome<ResultObject> state_of(const render::Rollout& rollout) {
  ResultObject out;
  out.ids.emplace(rollout.ids().begin(), rollout.ids().end());
  out.owners = rollout.message_indices();
  out.sampled_mask = rollout.sampled_mask();
  out.json = json::to_compact(json::Value(rollout.messages()));
  return out;
}

}  // namespace
extern "C" {

rondo_status rondo_rollout_open(rondo_library* library, rondo_model model, const rondo_chat* chat,
                                rondo_rollout* rollout, rondo_error* error) {
  return open_handle(library, rollout, error, [&](const Library& open) { return start_rollout(open, model, chat); });
}

rondo_status rondo_rollout_complete(rondo_library* library, rondo_rollout rollout, rondo_ids completion,
                                    rondo_result* result, rondo_error* error) {
  return answer_alone(library, rollout, result, error,
                      [&](render::Rollout& open) { return complete(open, completion); });
}

rondo_status rondo_rollout_extend(rondo_library* library, rondo_rollout rollout, rondo_text new_messages,
                                  rondo_text options, rondo_result* result, rondo_error* error) {
  return answer_alone(library, rollout, result, error,
                      [&](render::Rollout& open) { return extend(open, new_messages, options); });
}

rondo_status rondo_rollout_state(rondo_library* library, rondo_rollout rollout, rondo_result* result,
                                 rondo_error* error) {
  return answer_alone(library, rollout, result, error, state_of);
}

rondo_status rondo_rollout_close(rondo_library* library, rondo_rollout rollout) {
  return close_handle(library, rollout);
}

}  // extern "C"

}  // namespace rondo::capi
