// A parser that is fed ids, text or both, and remembers the text.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model.h"
#include "parse/parser.h"
#include "parse/partial_value.h"
#include "rondo/result.h"
#include "tokenizer/tokenizer.h"

namespace rondo::core {

// Not thread-safe.
class ParserStream {
 public:
  using Events = std::vector<parse::Event>;

  // `model` brings the tokenizer of ids; without one only text may be fed.
  ParserStream(std::shared_ptr<const Model> model, parse::Parser parser);

  // Fails with kTokenizer on an id out of range; nothing was fed then.  REQUIRES: takes_ids().
  [[nodiscard]] Result<Events> feed(std::span<const TokenId> ids);
  // Ends what ids before it began of a character.
  [[nodiscard]] Events feed(std::string_view text);
  // The text ends here: what was held back, nothing the second time.
  [[nodiscard]] Events close();

  // The arguments of a call so far; nullptr where the text has no such call yet.
  [[nodiscard]] const parse::PartialValue* arguments(std::size_t call) const {
    return call < arguments_.size() ? arguments_[call].get() : nullptr;
  }
  [[nodiscard]] bool takes_ids() const { return decoder_.has_value(); }
  [[nodiscard]] bool is_closed() const { return is_closed_; }
  [[nodiscard]] const std::string& text() const { return text_; }  // all that was fed
  [[nodiscard]] parse::Parser& parser() { return parser_; }
  [[nodiscard]] const parse::Parser& parser() const { return parser_; }

 private:
  // What they began of a character.
  [[nodiscard]] Events end_ids();
  [[nodiscard]] Events take(std::string_view text);
  void note(std::span<const parse::Event> events, Events& out);

  std::shared_ptr<const Model> model_;
  parse::Parser parser_;
  std::optional<tokenizer::Tokenizer::Stream> decoder_;
  std::string text_;
  std::vector<std::unique_ptr<parse::PartialValue>> arguments_;
  bool is_closed_ = false;
};

}  // namespace rondo::core
