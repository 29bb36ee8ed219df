// The geometry of turns in a traced render: where a message's data stands, and what of the text belongs to its turn.
//
// Everything here is read off the origins of one render (text/text.h); no marker is known in advance.
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

// The message that a run belongs to: its context's message, else the guard, else the message its data came from.
// Tool and document lists and the generation prompt belong to nobody (kNoMessage).
[[nodiscard]] std::int32_t owner(const text::Run& run, const text::Origins& origins);

// True for bytes that came from a message, other than its role: copied, escaped, serialised or printed.
[[nodiscard]] bool is_message_data(const text::Run& run, const text::Origins& origins);

// Bytes [begin, end) of a rendered text.
struct Extent {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// From the first to the last byte of message `index`'s own data (its role aside) that was written in its own turn;
// nullopt if the template wrote none.  What a later turn repeats of it (a result, the name of its call) is none.
[[nodiscard]] std::optional<Extent> data_extent(const jinja::Rendered& rendered, std::int32_t index);

// Offset behind the template's text that follows `from` and still belongs to message `index`'s turn.
[[nodiscard]] std::size_t tail_end(const jinja::Rendered& rendered, std::int32_t index, std::size_t from);

// Offset of the first byte that belongs to message `index`, or nullopt.
[[nodiscard]] std::optional<std::size_t> turn_begin(const jinja::Rendered& rendered, std::int32_t index);

// The three of them for each of the first `count` messages; takes time linear in the text.
struct TurnExtent {
  std::optional<std::size_t> begin;
  std::optional<Extent> data;
  std::size_t tail_end = 0;  // from the end of the data, else from `begin`
};
[[nodiscard]] std::vector<TurnExtent> turn_extents(const jinja::Rendered& rendered, std::size_t count);

}  // namespace rondo::probe
