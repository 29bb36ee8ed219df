#include "core/stream.h"

#include <utility>

namespace rondo::core {

ParserStream::ParserStream(std::shared_ptr<const Model> model, parse::Parser parser)
    : model_(std::move(model)), parser_(std::move(parser)) {
  if (model_->tokenizer() != nullptr) decoder_.emplace(*model_->tokenizer());
}

void ParserStream::follow(TokenId id) {
  (void)decoder_->next(id);
  (void)decoder_->finish();
}

Result<ParserStream::Events> ParserStream::feed(std::span<const TokenId> ids) {
  const tokenizer::Tokenizer& tokenizer = *model_->tokenizer();
  if (Status valid = check_ids(tokenizer, ids, "ids"); !valid.ok()) return valid.error();
  Events out;
  for (const TokenId id : ids) {
    auto text = decoder_->next(id);
    if (!text.ok()) return text.error();
    text_ += text.value();
    std::string_view own = text.value();
    const bool is_added = tokenizer.is_added(id);
    // Ids before it may have left the beginning of a character in front of it.
    if (const std::string_view content = tokenizer.token_bytes(id); is_added && own.ends_with(content)) {
      const std::string_view broken = own.substr(0, own.size() - content.size());
      if (!broken.empty()) note(parser_.feed(broken), out);
      own = content;
    }
    const parse::Piece piece{id, own, is_added};
    note(parser_.feed(std::span(&piece, 1)), out);
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

ParserStream::Events ParserStream::end_turn(TokenId stop) {
  Events out = end_ids();
  const parse::Piece piece{stop, model_->tokenizer()->token_bytes(stop), true};
  if (parser_.ends_turn(text_, piece.bytes)) note(parser_.feed(std::span(&piece, 1)), out);
  return out;
}

ParserStream::Events ParserStream::close() {
  if (is_closed_) return {};
  Events out = end_ids();
  note(parser_.close(), out);
  is_closed_ = true;
  return out;
}

ParserStream::Events ParserStream::end_ids() { return decoder_ ? take(decoder_->finish()) : Events(); }

ParserStream::Events ParserStream::take(std::string_view text) {
  text_ += text;
  Events out;
  note(parser_.feed(text), out);
  return out;
}

void ParserStream::note(std::span<const parse::Event> events, Events& out) {
  out.insert(out.end(), events.begin(), events.end());
  for (const parse::Event& event : events) {
    if (event.kind == parse::EventKind::kCallStart) arguments_.push_back(std::make_unique<parse::PartialValue>());
    if (event.kind == parse::EventKind::kArguments) arguments_[event.call]->feed(event.text);
  }
}

}  // namespace rondo::core
