// The model of a fake engine: what it samples behind a prompt, and what ids are as text.
//
// What it samples depends on the ids before it alone (and on the seed, if one is given), so that a run can be repeated and a
// completion that was cut off goes on as it would have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/prefix_tree.h"
#include "json/value.h"
#include "rondo/result.h"

namespace rondo::fakes {

using cache::TokenId;
using Ids = std::vector<TokenId>;

// A prompt that ends with `suffix` is continued with `completion`, whether or not a tokenizer would write that text so.
struct Rule {
  Ids suffix;
  Ids completion;
};

struct ModelOptions {
  TokenId vocabulary = 512;
  TokenId first_plain = 256;   // invented continuations have ids from here on
  Ids end_ids = {2};           // what ends a turn
  std::size_t end_after = 32;  // invented continuations have this many ids on average
  // Texts of ids; an id below 256 without one is that byte, any other " ID".
  std::map<TokenId, std::string> pieces{};
  std::vector<Rule> rules{};  // of those that fit the one with the longest suffix, of these the first
  // A conversation by its turns, where no rule fits: `opens` is what every turn of the model begins behind, and the turn behind
  // its Nth occurrence in the prompt is the Nth of `turns`; those behind the last of them are like the last.
  Ids opens{};
  std::vector<Ids> turns{};
};

// {"vocabulary", "first_plain", "end_ids", "end_after", "pieces": {"ID": "text"}, "rules": [{"suffix": [], "completion": []}],
// "opens": [], "turns": [[]]}.
// What is absent stays as in `defaults`; kInvalidArgument names what does not fit.
[[nodiscard]] Result<ModelOptions> read_model(const json::Value& value, ModelOptions defaults = {});

// What a prompt is to be continued with.
struct Asked {
  std::size_t max_tokens = 16;
  Ids stop_ids{};
  std::vector<std::string> stops{};  // texts
  bool ignore_end = false;
  std::optional<std::uint64_t> seed{};
};

enum class Stop : std::uint8_t { kEnd, kStopId, kStopText, kLength, kAbort };

struct Completion {
  Ids ids;  // the id that stopped it is the last one
  Stop stop = Stop::kLength;
  std::string stop_text;  // for kStopText
};

class Model {
 public:
  explicit Model(ModelOptions options) : options_(std::move(options)) {}

  [[nodiscard]] Completion complete(std::span<const TokenId> prompt, const Asked& asked) const;
  [[nodiscard]] bool is_end(TokenId id) const;
  // As the engines write it: an end id is nothing.
  [[nodiscard]] std::string text_of(TokenId id) const;
  [[nodiscard]] std::string text_of(std::span<const TokenId> ids) const;
  // Bytes as ids.
  [[nodiscard]] static Ids ids_of(std::string_view text);
  [[nodiscard]] static double logprob_of(TokenId id);
  // The `count` best beside each sampled id, which is the first of them.
  [[nodiscard]] Ids best(TokenId sampled, std::size_t count) const;

  [[nodiscard]] const ModelOptions& options() const { return options_; }

 private:
  [[nodiscard]] std::span<const TokenId> scripted(std::span<const TokenId> prompt) const;
  [[nodiscard]] std::span<const TokenId> turn_behind(std::span<const TokenId> prompt) const;

  ModelOptions options_;
};

}  // namespace rondo::fakes
