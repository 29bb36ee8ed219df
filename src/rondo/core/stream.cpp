#include "core/stream.h"

#include <utility>

namespace rondo::core {

ParserStream::ParserStream(std::shared_ptr<const Model> model, parse::Parser parser)
    : model_(std::move(model)), parser_(std::move(parser)) {
  if (model_->tokenizer() != nullptr) decoder_.emplace(*model_->tokenizer());
}

Result<ParserStream::Events> ParserStream::feed(std::span<const TokenId> ids) {
  const tokenizer::Tokenizer& tokenizer = *model_->tokenizer();
  if (Status valid = check_ids(tokenizer, ids, "ids"); !valid.ok()) return valid.error();
  Events out;
  for (const TokenId id : ids) {
    auto text = decoder_->next(id);
    if (!text.ok()) return text.error();
    text_ += text.value();
    const parse::Piece piece{id, text.value(), tokenizer.is_added(id)};
    const auto events = parser_.feed(std::span(&piece, 1));
    out.insert(out.end(), events.begin(), events.end());
  }
  return out;
}

ParserStream::Events ParserStream::feed(std::string_view text) {
  if (text.empty()) return {};
  Events out = end_ids();
  const Events events = take(text);
  out.insert(out.end(), events.begin(), events.end());
  return out;
}

ParserStream::Events ParserStream::close() {
  if (is_closed_) return {};
  Events out = end_ids();
  const auto events = parser_.close();
  out.insert(out.end(), events.begin(), events.end());
  is_closed_ = true;
  return out;
}

ParserStream::Events ParserStream::end_ids() { return decoder_ ? take(decoder_->finish()) : Events(); }

ParserStream::Events ParserStream::take(std::string_view text) {
  text_ += text;
  const auto events = parser_.feed(text);
  return {events.begin(), events.end()};
}

}  // namespace rondo::core
