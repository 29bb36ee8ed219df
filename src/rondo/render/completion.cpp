#include "render/completion.h"

#include <algorithm>
#include <vector>

#include "parse/parser.h"

namespace rondo::render {
namespace {

using tokenizer::TokenId;

// The generation prompt is short; a continued message is the caller's business.
constexpr std::size_t kPromptTailTokens = 256;

Status check_ids(const tokenizer::Tokenizer& tokenizer, std::span<const TokenId> ids) {
  for (const TokenId id : ids) {
    if (id >= 0 && id < tokenizer.vocab_size()) continue;
    Error error;
    error.code = ErrorCode::kTokenizer;
    error.message = "completion id " + std::to_string(id) + " is out of range; the vocabulary has " +
                    std::to_string(tokenizer.vocab_size()) + " ids";
    return error;
  }
  return Done{};
}

}  // namespace

Result<ParsedCompletion> interpret(const std::shared_ptr<const format::Format>& format,
                                   const tokenizer::Tokenizer& tokenizer, const TurnProfile& profile,
                                   const std::optional<json::Value>& tools, std::span<const TokenId> prompt_ids,
                                   std::span<const TokenId> completion_ids) {
  if (const Status valid = check_ids(tokenizer, completion_ids); !valid.ok()) return valid.error();
  const auto first_stop =
      std::find_if(completion_ids.begin(), completion_ids.end(), [&](TokenId id) { return profile.is_stop(id); });
  const bool stopped = first_stop != completion_ids.end();
  const auto body = completion_ids.first(static_cast<std::size_t>(first_stop - completion_ids.begin()));
  const std::size_t tail = std::min(prompt_ids.size(), kPromptTailTokens);
  const Result<std::string> prompt_tail = tokenizer.decode(prompt_ids.last(tail), {});
  if (!prompt_tail.ok()) return prompt_tail.error();
  // Decoded as a whole and not id by id: some tokenizers write the first token of a text differently.
  const Result<std::string> text = tokenizer.decode(body, {});
  if (!text.ok()) return text.error();

  parse::Options options;
  options.tools = tools;
  options.prompt_tail = prompt_tail.value();
  parse::Parser parser(format, std::move(options));
  static_cast<void>(parser.feed(text.value()));  // the message is all that counts here
  ParsedCompletion out;
  out.closing_text = stopped ? "" : parser.closing_text();
  out.input = format->input;
  Result<chat::AssistantMessage> message = parser.finish();
  if (!message.ok()) return message.error();
  out.message = std::move(message).value();
  return out;
}

}  // namespace rondo::render
