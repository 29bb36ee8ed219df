// Why a re-rendered prompt differs from what the model has already seen.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "render/encode.h"

namespace rondo::render {

// The first token at which a re-render differs from the tokens in the KV cache.
struct Break {
  std::size_t kept_tokens = 0;              // length of the common prefix
  std::size_t byte = 0;                     // first byte of the re-render's differing token
  std::string kept;                         // what the cache holds from there on (a few tokens)
  std::string rerendered;                   // what the template writes now
  std::string place;                        // origin of the re-rendered text: "line 39, messages[1].content"
  std::string cause;                        // a sentence
  std::int32_t message = text::kNoMessage;  // the message whose turn differs
  std::int32_t line = 0;                    // template line of the cause; 0 if unknown
  std::int32_t column = 0;
};

// Compares `old_ids` (prompt and completion, as they stand in the cache) with `ids`, the tokens of `rerendered`
// (`begins`: first byte of each).  nullopt if all of `old_ids` is a prefix.  `before` is a render of the same
// conversation from before the new messages came; its decisions are compared with the new ones.
[[nodiscard]] std::optional<Break> find_break(const TurnContext& context, std::span<const tokenizer::TokenId> old_ids,
                                              const jinja::Rendered& rerendered,
                                              std::span<const tokenizer::Piece> pieces, const jinja::Rendered* before);

// Where byte `at` came from: "template line 39" or "messages[1].content via strip".
[[nodiscard]] std::string describe_origin(const jinja::Rendered& rendered, std::size_t at);

// The source line of a template, trimmed, for messages; "" if there is no such line.
[[nodiscard]] std::string source_line(const jinja::Template& chat_template, std::int32_t line);

// Every condition that went another way in `after` than in `before`, under the same input element; in order.
[[nodiscard]] std::vector<const jinja::Decision*> flips(const jinja::Rendered& before, const jinja::Rendered& after);

// The first condition that went another way in `after` than in `before`, under the same input element.  One that was
// evaluated under `message` is preferred (kNoMessage: none is).  nullptr if all went the same way.
[[nodiscard]] const jinja::Decision* first_flip(const jinja::Rendered& before, const jinja::Rendered& after,
                                                std::int32_t message);

}  // namespace rondo::render
