// The model of a fake engine: what it samples after a prompt, and the texts of ids.
//
// What it samples depends only on the ids before it (and on the seed, if there is one).  So a run can be repeated, and
// a completion that was cut off continues as it would have.
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

// A prompt that ends with `suffix` is continued with `completion`, even if a tokenizer would write the text
// differently.
struct Rule {
  Ids suffix;
  Ids completion;
};

struct ModelOptions {
  TokenId vocabulary = 512;
  TokenId first_plain = 256;   // invented continuations use ids from here on
  Ids end_ids = {2};           // the ids that end a turn
  std::size_t end_after = 32;  // the average number of ids in invented continuations
  // The texts of ids.  An id below 256 without a text is that byte; any other one is " ID".
  std::map<TokenId, std::string> pieces{};
  std::vector<Rule> rules{};  // of the rules that match, the one with the longest suffix; among these, the first
  // A scripted conversation, used if no rule matches.  Every turn of the model begins after `opens`.  The turn after
  // its Nth occurrence in the prompt is the Nth of `turns`; further turns repeat the last one.
  Ids opens{};
  std::vector<Ids> turns{};
};

// Reads {"vocabulary", "first_plain", "end_ids", "end_after", "pieces": {"ID": "text"}, "rules": [{"suffix": [],
// "completion": []}], "opens": [], "turns": [[]]}.  Absent members keep the value in `defaults`.  Fails with
// kInvalidArgument, which names the member that does not fit.
[[nodiscard]] Result<ModelOptions> read_model(const json::Value& value, ModelOptions defaults = {});

// How a prompt is to be continued.
struct Asked {
  std::size_t max_tokens = 16;
  Ids stop_ids{};
  std::vector<std::string> stops{};  // texts
  bool ignore_end = false;
  std::optional<std::uint64_t> seed{};
  Ids allowed{};           // only these are sampled; empty: any
  std::vector<Ids> bad{};  // rows that are not sampled one id after the other
};

enum class Stop : std::uint8_t { kEnd, kStopId, kStopText, kLength, kAbort };

struct Completion {
  Ids ids;  // ends with the id that stopped it
  Stop stop = Stop::kLength;
  std::string stop_text;  // for kStopText
};

class Model {
 public:
  explicit Model(ModelOptions options) : options_(std::move(options)) {}

  [[nodiscard]] Completion complete(std::span<const TokenId> prompt, const Asked& asked) const;
  [[nodiscard]] bool is_end(TokenId id) const;
  // Returns the text as the engines write it: an end id has none.
  [[nodiscard]] std::string text_of(TokenId id) const;
  [[nodiscard]] std::string text_of(std::span<const TokenId> ids) const;
  // Returns the bytes of `text` as ids.
  [[nodiscard]] static Ids ids_of(std::string_view text);
  [[nodiscard]] static double logprob_of(TokenId id);
  // Returns the `count` best ids beside each sampled id, which is the first of them.
  [[nodiscard]] Ids best(TokenId sampled, std::size_t count) const;

  [[nodiscard]] const ModelOptions& options() const { return options_; }

 private:
  [[nodiscard]] std::span<const TokenId> scripted(std::span<const TokenId> prompt) const;
  [[nodiscard]] std::span<const TokenId> turn_behind(std::span<const TokenId> prompt) const;

  ModelOptions options_;
};

}  // namespace rondo::fakes
