// The extents of turns in a traced render: where a message's data is, and which text belongs to its turn.
//
// Everything is derived from the origins of one render (text/text.h).  No marker is known in advance.
//
//   <header> data of message a <own tail: closers, stop token, white space> next message's text
//                             ^ data_end                                    ^ tail_end
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "jinja/template.h"

namespace rondo::probe {

// Returns the message that a run belongs to: its context's message, otherwise the guard, otherwise the message that its
// data came from.  Lists of tools and documents, and the generation prompt, belong to no message (kNoMessage).
[[nodiscard]] std::int32_t owner(const text::Run& run, const text::Origins& origins);

// Returns true for bytes that came from a message but not from its role: copied, escaped, serialised or printed.
[[nodiscard]] bool is_message_data(const text::Run& run, const text::Origins& origins);

// Bytes [begin, end) of a rendered text.
struct Extent {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// Returns the range from the first to the last byte of message `index`'s own data (without its role) in the message's
// own turn.  Data that a later turn repeats (a result, the name of its call) does not count.  Returns nullopt if the
// template wrote no such data.
[[nodiscard]] std::optional<Extent> data_extent(const jinja::Rendered& rendered, std::int32_t index);

// Returns the offset after the template's text that follows `from` and still belongs to message `index`'s turn.
[[nodiscard]] std::size_t tail_end(const jinja::Rendered& rendered, std::int32_t index, std::size_t from);

// Returns the offset of the first byte that belongs to message `index`, or nullopt.
[[nodiscard]] std::optional<std::size_t> turn_begin(const jinja::Rendered& rendered, std::int32_t index);

// All three values for each of the first `count` messages.  Takes time linear in the text.
struct TurnExtent {
  std::optional<std::size_t> begin;
  std::optional<Extent> data;
  std::size_t tail_end = 0;  // counted from the end of the data, or from `begin` if there is none
};
[[nodiscard]] std::vector<TurnExtent> turn_extents(const jinja::Rendered& rendered, std::size_t count);

// Returns where the data of the first `count` messages ends; 0 if they have none.
[[nodiscard]] std::size_t end_of_data(const jinja::Rendered& rendered, std::size_t count);

}  // namespace rondo::probe
