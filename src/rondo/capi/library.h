// The inside of a rondo_library, and how the C functions find the objects of handles.  Internal to capi/.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "capi/handles.h"
#include "capi/outcome.h"
#include "core/model.h"
#include "core/stream.h"
#include "protocol/service.h"
#include "render/rollout.h"
#include "rondo.h"

namespace rondo::capi {

struct Library {
  Handles handles;
  protocol::Service service;
  std::string cache_folder;
  std::optional<jinja::LocalTime> now;
};

// The objects of handles.  A lock guards the inside of a parser or a rollout.
struct ModelObject {
  std::shared_ptr<const core::Model> model;
};
struct ParserObject {
  std::mutex mutex;
  core::ParserStream stream;
};
struct RolloutObject {
  std::mutex mutex;
  render::Rollout rollout;
};
// The parts of a result; the others are absent.
struct ResultObject {
  std::optional<std::string> text;
  std::optional<std::string> json;
  std::optional<std::vector<core::TokenId>> ids;
  std::optional<std::vector<std::int32_t>> owners;
  std::optional<std::vector<std::uint8_t>> content_mask;
  std::optional<std::vector<std::uint8_t>> sampled_mask;
  std::optional<std::vector<std::uint8_t>> loss_mask;
  std::optional<core::ParserStream::Events> events;  // without markers
};

// The types and the kind that belong to a type of handle.
template <typename Handle>
struct HandleTraits;
template <>
struct HandleTraits<rondo_model> {
  using Object = ModelObject;
  static constexpr Kind kKind = Kind::kModel;
  static constexpr const char* kName = "the model";
};
template <>
struct HandleTraits<rondo_parser> {
  using Object = ParserObject;
  static constexpr Kind kKind = Kind::kParser;
  static constexpr auto kHeld = &ParserObject::stream;
  static constexpr const char* kName = "the parser";
};
template <>
struct HandleTraits<rondo_rollout> {
  using Object = RolloutObject;
  static constexpr Kind kKind = Kind::kRollout;
  static constexpr auto kHeld = &RolloutObject::rollout;
  static constexpr const char* kName = "the rollout";
};
template <>
struct HandleTraits<rondo_result> {
  using Object = ResultObject;
  static constexpr Kind kKind = Kind::kResult;
  static constexpr const char* kName = "the result";
};

// Fails if it is null or closed.
[[nodiscard]] Outcome<Library*> library_of(const rondo_library* library);

template <typename Handle>
[[nodiscard]] Outcome<std::shared_ptr<typename HandleTraits<Handle>::Object>> object_of(const Library& library,
                                                                                        Handle handle) {
  using Traits = HandleTraits<Handle>;
  if (handle.handle == 0) return null_failure(Traits::kName);
  std::shared_ptr<void> object = library.handles.find(handle.handle, Traits::kKind);
  if (object == nullptr) return closed_failure(Traits::kName);
  return std::static_pointer_cast<typename Traits::Object>(std::move(object));
}

// Runs `work`, which returns an Outcome of the handle's object, and gives the caller a handle for it.
template <typename Handle, typename Work>
rondo_status open_handle(rondo_library* given, Handle* out, rondo_error* error, const Work& work) noexcept {
  if (out != nullptr) out->handle = 0;
  return guarded(error, [&]() -> Outcome<Done> {
    Outcome<Library*> library = library_of(given);
    if (!library.ok()) return library.failure();
    if (out == nullptr) return null_failure("the place for what is opened");
    auto made = work(*library.value());
    if (!made.ok()) return made.failure();
    const std::uint64_t handle = library.value()->handles.add(std::move(made.value()), HandleTraits<Handle>::kKind);
    if (handle == 0) return Error(ErrorCode::kLimit, "too many handles are open");
    out->handle = handle;
    return Done{};
  });
}

// Makes a result about the object of a handle: `work` gets the library and the object and returns an
// Outcome<ResultObject>.
template <typename Handle, typename Work>
rondo_status answer(rondo_library* given, Handle handle, rondo_result* out, rondo_error* error,
                    const Work& work) noexcept {
  return open_handle(given, out, error, [&](Library& library) -> Outcome<std::shared_ptr<ResultObject>> {
    auto object = object_of(library, handle);
    if (!object.ok()) return object.failure();
    Outcome<ResultObject> made = work(library, *object.value());
    if (!made.ok()) return made.failure();
    return std::make_shared<ResultObject>(std::move(made.value()));
  });
}

// Does the same for an object that one thread at a time may use: `work` gets its content.
template <typename Handle, typename Work>
rondo_status answer_alone(rondo_library* given, Handle handle, rondo_result* out, rondo_error* error,
                          const Work& work) noexcept {
  return answer(given, handle, out, error, [&](const Library&, auto& object) -> Outcome<ResultObject> {
    const std::lock_guard lock(object.mutex);
    return work(object.*HandleTraits<Handle>::kHeld);
  });
}

// Does nothing for a null handle.
template <typename Handle>
rondo_status close_handle(rondo_library* given, Handle handle) noexcept {
  return guarded(nullptr, [&]() -> Outcome<Done> {
    Outcome<Library*> library = library_of(given);
    if (!library.ok()) return library.failure();
    if (handle.handle == 0) return Done{};
    const std::shared_ptr<void> object = library.value()->handles.remove(handle.handle, HandleTraits<Handle>::kKind);
    if (object == nullptr) return closed_failure(HandleTraits<Handle>::kName);
    return Done{};
  });
}

}  // namespace rondo::capi
