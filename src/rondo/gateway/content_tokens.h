// Finds out which sampled tokens are content, for clients that ask for log probabilities.  Private to gateway/.
//
//   tokens.sampled(logprob, begin, end);      // a token, and the range of the sampled text that it wrote
//   tokens.parsed(events);                    // what the parser made of that text
//   send(tokens.shown(bytes_of_content));     // tokens of the content that the client was sent
//
// Whether a token is content may be known only after further tokens, because the parser and possible stop texts hold
// text back.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "apis/turn.h"
#include "parse/parser.h"

namespace rondo::gateway {

class ContentTokens {
 public:
  // A token without text is the beginning of a character, which the next tokens complete.
  void sampled(apis::Logprob token, std::size_t begin, std::size_t end);
  void parsed(std::span<const parse::Event> events);
  // Returns the tokens that have a byte among the first `size` bytes of content, in order, each of them once.
  [[nodiscard]] std::vector<apis::Logprob> shown(std::size_t size);

 private:
  struct Token {
    apis::Logprob logprob;
    std::size_t begin = 0;
    std::size_t end = 0;
    std::optional<std::size_t> content;  // the place in the content of its first byte that is content
    bool is_certain = false;             // the parser has decided on all of its text
  };
  std::deque<Token> waiting_;
  std::size_t content_bytes_ = 0;
};

}  // namespace rondo::gateway
