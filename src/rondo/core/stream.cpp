#include "core/stream.h"

#include <utility>

namespace rondo::core {

ParserStream::ParserStream(std::shared_ptr<const Model> model, parse::Parser parser)
    : model_(std::move(model)), parser_(std::move(parser)) {
  if (model_->tokenizer() != nullptr) decoder_.emplace(*model_->tokenizer());
}

Result<ParserStream::Events> ParserStream::feed(std::span<const TokenId> ids) {
  const tokenizer::Tokenizer& tokenizer = *model_->tokenizer();
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
  text_ += text;
  const auto events = parser_.feed(text);
  return {events.begin(), events.end()};
}

ParserStream::Events ParserStream::close() {
  Events out;
  if (is_closed_) return out;
  if (decoder_) out = feed(decoder_->finish());
  const auto events = parser_.close();
  out.insert(out.end(), events.begin(), events.end());
  is_closed_ = true;
  return out;
}

}  // namespace rondo::core
