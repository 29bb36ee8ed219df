// Random rollouts: conversations that grow by completions a model might sample and messages that might follow.
//
// A completion starts as what the template itself would have had the model write (reasoning, text, calls), and is then
// left as it is or spoiled: cut off anywhere, respelled, split into other tokens, without its stop, with tokens behind it.
#pragma once

#include <cstddef>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "format/format.h"
#include "render/completion.h"
#include "render/turn.h"

namespace rondo::test {

struct RandomCompletion {
  std::vector<tokenizer::TokenId> ids;
  std::string kind;  // "canonical", "cut off", ...
};

class RolloutMaker {
 public:
  // `context` and `format` must outlive it.
  RolloutMaker(const render::TurnContext& context, const render::TurnProfile& profile, const format::Format& format,
               std::uint32_t seed);

  // System and user messages, now and then an earlier turn.
  [[nodiscard]] json::Array first_messages();
  // What a model might sample behind `prompt`, the prompt of `messages`.
  [[nodiscard]] RandomCompletion completion(std::span<const tokenizer::TokenId> prompt, const json::Array& messages);
  // Messages behind the completion: results of its calls (complete, out of order, missing, unknown), user, system, developer
  // messages, parts that are no text, text that reads like control tokens.
  [[nodiscard]] json::Array new_messages(const render::ParsedCompletion& said);

  [[nodiscard]] std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_()) % limit; }
  [[nodiscard]] bool one_in(std::size_t n) { return below(n) == 0; }

 private:
  [[nodiscard]] std::string text(bool is_input);
  [[nodiscard]] json::Value assistant();
  [[nodiscard]] std::string sampled_text(const json::Array& messages, const json::Value& assistant);
  [[nodiscard]] std::string respelled(std::string text);
  [[nodiscard]] std::vector<tokenizer::TokenId> resplit(const std::vector<tokenizer::TokenId>& ids);
  void add_tail(RandomCompletion& out);
  void add_results(const render::ParsedCompletion& said, json::Array& out);

  const render::TurnContext& context_;
  const render::TurnProfile& profile_;
  const format::Format& format_;
  std::mt19937 random_;
  std::size_t next_id_ = 0;
};

}  // namespace rondo::test
