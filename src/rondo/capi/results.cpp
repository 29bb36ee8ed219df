// The parts of results.
#include <utility>

#include "capi/library.h"

namespace rondo::capi {
namespace {

rondo_ids ids_view(const std::vector<std::int32_t>& ids) { return {ids.data(), ids.size()}; }
rondo_mask mask_view(const std::vector<std::uint8_t>& mask) { return {mask.data(), mask.size()}; }

// `part`, a member of the result, in the form that `view` returns.
template <typename View, typename Part>
rondo_status give(rondo_library* library, rondo_result result, View* out, std::optional<Part> ResultObject::* part,
                  View (*view)(const Part&)) noexcept {
  return guarded(nullptr, [&]() -> Outcome<Done> {
    if (out == nullptr) return null_failure("the place for the part");
    *out = View{};
    auto open = library_of(library);
    if (!open.ok()) return open.failure();
    auto object = object_of(*open.value(), result);
    if (!object.ok()) return object.failure();
    const std::optional<Part>& found = (*object.value()).*part;
    if (!found) return invalid("the result has no such part");
    *out = view(*found);
    return Done{};
  });
}

std::size_t count_of(const core::ParserStream::Events& events) { return events.size(); }

std::int32_t kind_of(parse::EventKind kind) {
  switch (kind) {
    case parse::EventKind::kMarker: return 0;
    case parse::EventKind::kContent: return RONDO_EVENT_CONTENT;
    case parse::EventKind::kReasoning: return RONDO_EVENT_REASONING;
    case parse::EventKind::kCallStart: return RONDO_EVENT_CALL_START;
    case parse::EventKind::kCallId: return RONDO_EVENT_CALL_ID;
    case parse::EventKind::kArguments: return RONDO_EVENT_ARGUMENTS;
    case parse::EventKind::kCallEnd: return RONDO_EVENT_CALL_END;
  }
  return 0;
}

void fill_event(rondo_event& out, const parse::Event& event) {
  out.kind = kind_of(event.kind);
  out.call = event.call;
  out.text = text_view(event.text);
  out.has_id = event.id ? 1 : 0;
  if (event.id) out.id = text_view(*event.id);
}

}  // namespace
extern "C" {

rondo_status rondo_result_text(rondo_library* library, rondo_result result, rondo_text* text) {
  return give(library, result, text, &ResultObject::text, text_view);
}

rondo_status rondo_result_json(rondo_library* library, rondo_result result, rondo_text* json) {
  return give(library, result, json, &ResultObject::json, text_view);
}

rondo_status rondo_result_ids(rondo_library* library, rondo_result result, rondo_ids* ids) {
  return give(library, result, ids, &ResultObject::ids, ids_view);
}

rondo_status rondo_result_owners(rondo_library* library, rondo_result result, rondo_ids* owners) {
  return give(library, result, owners, &ResultObject::owners, ids_view);
}

rondo_status rondo_result_content_mask(rondo_library* library, rondo_result result, rondo_mask* mask) {
  return give(library, result, mask, &ResultObject::content_mask, mask_view);
}

rondo_status rondo_result_sampled_mask(rondo_library* library, rondo_result result, rondo_mask* mask) {
  return give(library, result, mask, &ResultObject::sampled_mask, mask_view);
}

rondo_status rondo_result_loss_mask(rondo_library* library, rondo_result result, rondo_mask* mask) {
  return give(library, result, mask, &ResultObject::loss_mask, mask_view);
}

rondo_status rondo_result_event_count(rondo_library* library, rondo_result result, size_t* count) {
  return give(library, result, count, &ResultObject::events, count_of);
}

rondo_status rondo_result_event(rondo_library* library, rondo_result result, size_t index, rondo_event* event) {
  return guarded(nullptr, [&]() -> Outcome<Done> {
    if (event == nullptr) return null_failure("the place for the event");
    if (event->struct_size < sizeof(rondo_event)) return invalid("the event begins as RONDO_EVENT_INIT");
    const std::size_t size = event->struct_size;
    *event = RONDO_EVENT_INIT;
    event->struct_size = size;
    auto open = library_of(library);
    if (!open.ok()) return open.failure();
    auto object = object_of(*open.value(), result);
    if (!object.ok()) return object.failure();
    const auto& events = object.value()->events;
    if (!events || index >= events->size()) return invalid("the result has no such event");
    fill_event(*event, (*events)[index]);
    return Done{};
  });
}

rondo_status rondo_result_close(rondo_library* library, rondo_result result) { return close_handle(library, result); }

}  // extern "C"

}  // namespace rondo::capi
