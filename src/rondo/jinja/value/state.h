// What operations remember during one render.  Not for the VM.
#pragma once

#include <array>
#include <memory_resource>
#include <string>
#include <string_view>
#include <vector>

#include "jinja/value/runtime.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

// A run of a string, and the byte at which it begins.
struct RunPlace {
  const String* string = nullptr;
  std::uint32_t run = 0;
  std::size_t begin = 0;
};

struct Runtime::State {
  explicit State(std::pmr::memory_resource* memory) : globals(memory), spare_texts(memory) {}

  // Recently made chains.  Chain and step select the slot.
  struct ChainSlot {
    text::ChainId chain = text::ChainId::kNone;
    text::ChainId result = text::ChainId::kNone;
  };
  std::array<ChainSlot, 16> chains;
  std::pmr::vector<NamedValue> globals;       // the globals that were read
  std::pmr::vector<text::Text*> spare_texts;  // they belong to the heap
  // For emission: the context that bytes of context `from` get under context `under`.
  text::ContextId from = text::ContextId::kNone;
  text::ContextId under = text::ContextId::kNone;
  text::ContextId stamped = text::ContextId::kNone;
  bool stamp_known = false;
  RunPlace last_run;  // where a part of a string was last looked up
};

}  // namespace rondo::jinja
