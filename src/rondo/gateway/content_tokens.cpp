#include "gateway/content_tokens.h"

#include <utility>

namespace rondo::gateway {

void ContentTokens::sampled(apis::Logprob token, std::size_t begin, std::size_t end) {
  for (auto part = waiting_.rbegin(); part != waiting_.rend() && part->begin == part->end; ++part) part->end = end;
  waiting_.push_back({.logprob = std::move(token), .begin = begin, .end = end});
}

void ContentTokens::parsed(std::span<const parse::Event> events) {
  for (const parse::Event& event : events) {
    const bool is_content = event.kind == parse::EventKind::kContent;
    for (Token& token : waiting_) {
      if (token.begin >= event.end) break;
      // The end of the text wrote something for a character that was cut off.
      if (token.begin == token.end) token.end = event.end;
      if (is_content && !token.content && token.end > event.begin)
        token.content = content_bytes_ + (token.begin > event.begin ? token.begin - event.begin : 0);
      token.is_certain = token.end <= event.end;
    }
    if (is_content) content_bytes_ += event.text.size();
  }
}

std::vector<apis::Logprob> ContentTokens::shown(std::size_t size) {
  std::vector<apis::Logprob> out;
  while (!waiting_.empty()) {
    Token& token = waiting_.front();
    const bool is_shown = token.content && *token.content < size;
    if (!is_shown && (token.content || !token.is_certain)) break;
    if (is_shown) out.push_back(std::move(token.logprob));
    waiting_.pop_front();
  }
  return out;
}

}  // namespace rondo::gateway
