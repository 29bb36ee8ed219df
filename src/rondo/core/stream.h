// A parser that takes ids, text or both, and remembers the text.
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

  // `model` provides the tokenizer for ids.  Without a tokenizer only text may be fed.
  ParserStream(std::shared_ptr<const Model> model, parse::Parser parser);

  // Says that the text follows this id, whose own text is left out.  A text that begins anew may lack the blank that its
  // first id has elsewhere.
  //
  // REQUIRES: takes_ids(), the id is in the vocabulary, and nothing was fed.
  void follow(TokenId id);

  // Feeds ids.  Fails with kTokenizer if an id is out of range, and then feeds nothing.
  //
  // REQUIRES: takes_ids().
  [[nodiscard]] Result<Events> feed(std::span<const TokenId> ids);
  // Feeds text.  First ends a character that earlier ids left incomplete.
  [[nodiscard]] Events feed(std::string_view text);
  // Feeds the stop token of the turn, but only if the template ends turns with it.
  //
  // REQUIRES: takes_ids(), and the id is in the vocabulary.
  [[nodiscard]] Events end_turn(TokenId stop);
  // Ends the text and returns the events that were held back.  A second call returns none.
  [[nodiscard]] Events close();

  // Returns the arguments of a call so far; nullptr if the text has no such call yet.
  [[nodiscard]] const parse::PartialValue* arguments(std::size_t call) const {
    return call < arguments_.size() ? arguments_[call].get() : nullptr;
  }
  [[nodiscard]] bool takes_ids() const { return decoder_.has_value(); }
  [[nodiscard]] bool is_closed() const { return is_closed_; }
  [[nodiscard]] const std::string& text() const { return text_; }  // everything that was fed
  [[nodiscard]] parse::Parser& parser() { return parser_; }
  [[nodiscard]] const parse::Parser& parser() const { return parser_; }

 private:
  // Ends a character that the ids left incomplete.
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
