#include "remote/dialect.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "remote/wire_json.h"

namespace rondo::remote {
namespace {

// Servers refuse a prompt that is too long with the status of any bad request, and each words it differently.
bool is_about_context(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"exceed_context_size", "context length", "context_length", "context size",
                                              "max_model_len", "maximum model length", "longer than the model"},
      [&lower](std::string_view words) { return lower.find(words) != std::string::npos; });
}

}  // namespace

Error Dialect::refusal(int status, std::string_view body, const engine::Request& request) const {
  const std::string sentence = sentence_of(body);
  const std::size_t context = info_.context_tokens;
  const bool is_request = status == 400 || status == 413 || status == 422;
  Error out(ErrorCode::kEngine, "status " + std::to_string(status) + ": " + sentence, info_.url);
  if (is_request && (is_about_context(body) || (context > 0 && request.prompt.size() >= context))) {
    out.code = ErrorCode::kLimit;
  } else if (is_request) {
    out.code = ErrorCode::kInvalidArgument;
  } else if (status == 401 || status == 403) {
    out.hint = "the server asks for a key, or refuses the one that it was sent";
  }
  return out;
}

Result<std::string> Dialect::score_body(const engine::Request& /*request*/, const std::string& /*id*/) const {
  return no_word_for(to_string(info_.kind), "log probabilities of the prompt");
}

Result<std::vector<engine::SampledToken>> Dialect::read_scores(const json::Value& /*answer*/,
                                                               const engine::Request& /*request*/) const {
  return Error(ErrorCode::kEngine, "the server told no log probabilities of the prompt", info_.url);
}

std::unique_ptr<Dialect> make_dialect(ServerInfo info) { return row_of(info.kind).make(std::move(info)); }

}  // namespace rondo::remote
