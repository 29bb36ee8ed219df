#include "engine/llama_sequence.h"

#include <algorithm>
#include <utility>

#include "base/common_prefix.h"

namespace rondo::engine {
namespace {

constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

std::string count(std::size_t tokens) { return std::to_string(tokens) + (tokens == 1 ? " token" : " tokens"); }

// True if all positions that position `cut` attends to exist when `first` is the first one.  In a window of n, a
// position sees itself and the n-1 before it.  This asks for one more, because the library may round.
bool covers(const Description& description, std::size_t first, std::size_t cut) {
  const std::size_t window = description.window_tokens;
  return first != kNowhere && first <= (window == 0 ? 0 : cut - std::min(cut, window));
}

// The best checkpoint for a prompt that shares `common` ids with the sequence; null if there is none.
std::shared_ptr<const Checkpoint> best_of(const Checkpoints& checkpoints, std::size_t common) {
  const auto usable = [&](const auto& checkpoint) { return checkpoint->tokens <= common; };
  const auto best = std::find_if(checkpoints.rbegin(), checkpoints.rend(), usable);
  return best == checkpoints.rend() ? nullptr : *best;
}

}  // namespace

bool goes_back(MemoryKind kind) { return kind == MemoryKind::kAttention || kind == MemoryKind::kSlidingWindow; }

std::size_t SavedSequence::size_bytes() const {
  std::size_t sum = tokens.size() * sizeof(TokenId) + batches.size() * sizeof(std::uint32_t) +
                    logits.size() * sizeof(float) + state.size();
  for (const auto& checkpoint : checkpoints) sum += checkpoint->size_bytes();
  return sum;
}

bool can_roll_back(const Description& description, const Holding& holding, std::span<const TokenId> ids) {
  const std::size_t cut = std::min(common_prefix(holding.tokens, ids), ids.size() - 1);
  return goes_back(description.memory) && covers(description, holding.first_position, cut);
}

std::size_t reusable(const Description& description, const Holding& holding, std::span<const TokenId> ids) {
  const std::size_t common = common_prefix(holding.tokens, ids);
  if (common == holding.tokens.size() && (common < ids.size() || holding.has_logits)) return common;
  if (common == 0) return 0;
  if (can_roll_back(description, holding, ids)) return std::min(common, ids.size() - 1);
  const auto checkpoint = best_of(*holding.checkpoints, common);
  return checkpoint ? checkpoint->tokens : 0;
}

std::size_t LlamaSequence::first_position() const {
  const llama_pos first = llama_memory_seq_pos_min(memory(), id_);
  return first < 0 ? kNowhere : static_cast<std::size_t>(first);
}

Holding LlamaSequence::holding() const {
  return {.tokens = tokens_,
          .has_logits = !logits_.empty(),
          .first_position = first_position(),
          .checkpoints = &checkpoints_};
}

// Whether the engine's positions match our list and there are any.
bool LlamaSequence::positions_agree() const {
  const auto last = static_cast<llama_pos>(tokens_.size()) - 1;
  if (llama_memory_seq_pos_max(memory(), id_) != last) return false;
  const std::size_t first = first_position();
  return description_->memory == MemoryKind::kAttention ? first == 0 : first != kNowhere;
}

bool LlamaSequence::window_covers(std::size_t cut) const { return covers(*description_, first_position(), cut); }

// Why positions after `cut` cannot be removed; "" if they can.
std::string LlamaSequence::cannot_roll_back(std::size_t cut) const {
  if (!goes_back(description_->memory)) {
    return "a " + std::string(to_string(description_->memory)) + " memory can't go back from " + count(tokens_.size()) +
           " to " + std::to_string(cut);
  }
  if (window_covers(cut)) return "";
  if (description_->memory == MemoryKind::kAttention) return "the memory does not begin at position 0";
  return "the window of " + count(description_->window_tokens) + " has dropped positions that position " +
         std::to_string(cut) + " looks back at";
}

void LlamaSequence::truncate_lists(std::size_t cut) {
  tokens_.resize(cut);
  std::size_t begin = 0;
  std::size_t kept = 0;
  while (kept < batches_.size() && begin < cut) {
    batches_[kept] = static_cast<std::uint32_t>(std::min<std::size_t>(batches_[kept], cut - begin));
    begin += batches_[kept++];
  }
  batches_.resize(kept);
  logits_.clear();
  std::erase_if(checkpoints_, [&](const auto& checkpoint) { return checkpoint->tokens > cut; });
}

// Removes positions from `cut` on.  The library's answer alone proves nothing, so the positions are checked afterwards.
bool LlamaSequence::remove_from(std::size_t cut) {
  if (!llama_memory_seq_rm(memory(), id_, static_cast<llama_pos>(cut), -1)) return false;
  truncate_lists(cut);
  return positions_agree() && window_covers(cut);
}

void LlamaSequence::clear() {
  (void)llama_memory_seq_rm(memory(), id_, -1, -1);  // the library never refuses to remove a whole sequence
  tokens_.clear();
  batches_.clear();
  logits_.clear();
  checkpoints_.clear();
  is_copy_ = false;
}

bool LlamaSequence::restore(const Checkpoint& checkpoint) {
  const auto cut = static_cast<llama_pos>(checkpoint.tokens);
  // The first removal frees the attention layers' memory after the cut.  A recurrent memory refuses it, which is fine.
  (void)llama_memory_seq_rm(memory(), id_, cut, -1);
  const std::size_t read = llama_state_seq_set_data_ext(context_, checkpoint.state.data(), checkpoint.state.size(), id_,
                                                        LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY);
  const bool is_read = read == checkpoint.state.size() && llama_memory_seq_rm(memory(), id_, cut, -1);
  truncate_lists(checkpoint.tokens);
  batches_ = checkpoint.batches;
  logits_ = checkpoint.logits;
  return is_read && positions_agree() &&
         (description_->memory != MemoryKind::kSlidingWindow || window_covers(checkpoint.tokens));
}

bool LlamaSequence::restore_best(std::size_t common) {
  const std::shared_ptr<const Checkpoint> best = best_of(checkpoints_, common);
  return best && restore(*best);
}

void LlamaSequence::remember() {
  if (description_->memory == MemoryKind::kAttention || checkpoint_bytes_ == 0 || tokens_.empty()) return;
  if (!checkpoints_.empty() && checkpoints_.back()->tokens == tokens_.size()) return;
  Checkpoint checkpoint{.tokens = tokens_.size(), .state = {}, .logits = logits_, .batches = batches_};
  const std::size_t size = llama_state_seq_get_size_ext(context_, id_, LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY);
  if (size == 0 || size > checkpoint_bytes_) return;
  checkpoint.state.resize(size);
  const std::size_t written =
      llama_state_seq_get_data_ext(context_, checkpoint.state.data(), size, id_, LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY);
  if (written != size) return;
  checkpoints_.push_back(std::make_shared<const Checkpoint>(std::move(checkpoint)));
  std::size_t total = 0;
  for (const auto& kept : checkpoints_) total += kept->size_bytes();
  while (total > checkpoint_bytes_) {  // the oldest go first: a rollout grows, and branches usually come late
    total -= checkpoints_.front()->size_bytes();
    checkpoints_.erase(checkpoints_.begin());
  }
}

PromptReport LlamaSequence::keep_prefix(std::span<const TokenId> ids) {
  PromptReport report;
  const auto start_over = [&](std::string reason) {
    clear();
    report.how = Reuse::kFull;
    report.reason = std::move(reason);
  };
  const std::size_t common = common_prefix(tokens_, ids);
  if (tokens_.empty()) {
    start_over("the memory was empty");
  } else if (!positions_agree()) {
    start_over("the engine's positions do not agree with the list of decoded tokens");
  } else if (common == tokens_.size() && (common < ids.size() || !logits_.empty())) {
    report.how = Reuse::kAppend;
  } else if (common == 0) {
    start_over("the prompt begins with another token");
  } else {
    const std::size_t cut = std::min(common, ids.size() - 1);  // one token must be decoded for its logits
    std::string reason = cannot_roll_back(cut);
    report.how = Reuse::kRollback;
    if (cut == 0) {
      start_over("only the first token could be kept");
    } else if (!reason.empty() || !remove_from(cut)) {
      report.how = Reuse::kCheckpoint;
      if (reason.empty()) reason = "the engine could not remove the positions from " + std::to_string(cut) + " on";
      if (!restore_best(common)) start_over(reason + ", and no checkpoint is old enough");
    }
  }
  report.reused = tokens_.size();
  report.prefilled = ids.size() - report.reused;
  return report;
}

void LlamaSequence::resync() {
  if (positions_agree()) return;
  const std::size_t cut = tokens_.size();
  if (cut > 0 && cannot_roll_back(cut).empty() && remove_from(cut)) return;
  if (cut > 0 && restore_best(cut) && tokens_.size() == cut) return;
  clear();
}

void LlamaSequence::decoded(std::span<const TokenId> ids, std::span<const float> logits) {
  tokens_.insert(tokens_.end(), ids.begin(), ids.end());
  batches_.push_back(static_cast<std::uint32_t>(ids.size()));
  logits_.assign(logits.begin(), logits.end());
  is_copy_ = false;
}

std::optional<SavedSequence> LlamaSequence::save() const {
  if (tokens_.empty() || !positions_agree()) return std::nullopt;
  SavedSequence saved{.tokens = tokens_,
                      .batches = batches_,
                      .logits = logits_,
                      .state = {},
                      .first_position = first_position(),
                      .checkpoints = checkpoints_};
  const std::size_t window = description_->window_tokens;
  if (window > 0)
    saved.first_position = std::max(saved.first_position, tokens_.size() - std::min(window, tokens_.size()));
  saved.state.resize(llama_state_seq_get_size(context_, id_));
  const std::size_t written = llama_state_seq_get_data(context_, saved.state.data(), saved.state.size(), id_);
  if (written == 0 || written != saved.state.size()) return std::nullopt;
  return saved;
}

bool LlamaSequence::load(const SavedSequence& saved) {
  clear();
  const std::size_t read = llama_state_seq_set_data(context_, saved.state.data(), saved.state.size(), id_);
  tokens_ = saved.tokens;
  batches_ = saved.batches;
  logits_ = saved.logits;
  checkpoints_ = saved.checkpoints;
  if (read == saved.state.size() && positions_agree()) return true;
  clear();
  return false;
}

void LlamaSequence::share(const LlamaSequence& other) {
  clear();
  llama_memory_seq_cp(memory(), other.id_, id_, -1, -1);
  tokens_ = other.tokens_;
  batches_ = other.batches_;
  is_copy_ = true;
}

}  // namespace rondo::engine
