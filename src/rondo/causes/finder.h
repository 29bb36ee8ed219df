// The search for the cause of one break, step by step.  Internal to causes/.
//
// finder.cpp     where the break is, and causes that concern the whole prompt
// in_prompt.cpp  breaks before the turn
// in_turn.cpp    breaks inside it
#pragma once

#include <string>
#include <string_view>

#include "causes/find.h"
#include "causes/places.h"
#include "probe/places.h"

namespace rondo::causes {

class Finder {
 public:
  explicit Finder(const Event& event);

  // Call this once.
  [[nodiscard]] Found run();

 private:
  [[nodiscard]] Cause refused() const;
  [[nodiscard]] Cause retokenized() const;

  // in_prompt.cpp
  [[nodiscard]] Cause of_prompt() const;
  [[nodiscard]] Cause of_generation_prompt(std::size_t begin) const;
  [[nodiscard]] text::Literal use_of(const text::Literal& constant) const;
  [[nodiscard]] std::optional<Cause> of_new_message(const probe::Spot& now) const;
  [[nodiscard]] bool is_moved_head(const probe::Spot& then, const probe::Spot& now) const;
  [[nodiscard]] Cause of_earlier_turn() const;
  [[nodiscard]] Cause of_context(CauseKind kind, const jinja::Rendered& earlier, std::int32_t message,
                                 const std::string& what, std::string path) const;
  [[nodiscard]] const jinja::Decision* flip_of_use(const jinja::Rendered& earlier, std::int32_t message,
                                                   const std::vector<text::Literal>& places) const;

  // in_turn.cpp
  [[nodiscard]] Cause of_turn() const;
  [[nodiscard]] std::optional<Cause> of_reasoning() const;
  [[nodiscard]] std::optional<Cause> of_what_follows() const;
  [[nodiscard]] std::optional<Cause> of_call() const;
  [[nodiscard]] Cause of_value(const text::Run& run) const;
  template <typename Takes>
  [[nodiscard]] std::optional<text::Literal> closest(const Takes& takes) const;
  [[nodiscard]] std::optional<text::Literal> argument_form() const;
  [[nodiscard]] bool is_in_calls() const;
  [[nodiscard]] bool has_begun_json() const;
  [[nodiscard]] std::optional<Cause> of_space() const;
  [[nodiscard]] Cause of_lost_space() const;
  [[nodiscard]] std::optional<Cause> of_missing_part() const;
  [[nodiscard]] text::Literal decided_at() const;
  [[nodiscard]] text::Literal lost_at(std::string_view field, std::string_view because) const;
  [[nodiscard]] std::optional<Cause> of_stop() const;
  [[nodiscard]] Cause of_the_rest() const;

  // Returns whether the turn was written as it was sampled, up to the break, while nothing followed it.
  [[nodiscard]] bool held_alone() const;
  // Returns whether the same character of a constant was written there, and something changes it now.
  //
  // REQUIRES: held_alone().
  [[nodiscard]] bool is_rewritten() const;
  // Returns the parts of the turn that the next prompt shows; offsets into the prompt.
  [[nodiscard]] Regions shown_regions() const;
  [[nodiscard]] std::size_t calls_begin() const;  // offset in the sampled text; npos if it has no calls
  [[nodiscard]] const json::Value* kept_calls() const;

  [[nodiscard]] Cause make(CauseKind kind, const text::Literal& literal, std::string sentence,
                           std::string path = "") const;
  [[nodiscard]] Cause of_flip(CauseKind kind, const jinja::Decision& flip, const std::string& what,
                              std::string path) const;
  [[nodiscard]] text::Literal here() const { return written_at(template_, *again_, at_); }
  [[nodiscard]] std::string words_here() const { return in_words(place_of(template_, here())); }
  [[nodiscard]] std::string message_path(std::string_view field) const;
  [[nodiscard]] std::string reasoning_path(std::int32_t message) const;
  // From the break on: what the model has seen, and what is written now.
  [[nodiscard]] std::string_view seen_rest() const { return std::string_view(seen_).substr(at_); }
  [[nodiscard]] std::string_view again_rest() const {
    return std::string_view(again_->text.bytes()).substr(std::min(at_, again_->text.size()));
  }
  // Returns the offset in the sampled text.
  //
  // REQUIRES: the break is not in the prompt.
  [[nodiscard]] std::size_t in_turn() const { return at_ - event_.prompt.text.size(); }

  const Event& event_;
  const jinja::Template& template_;
  const jinja::Outline& outline_;
  const format::Format& format_;
  std::string seen_;
  std::int32_t index_;                      // index of the assistant message
  const jinja::Rendered* again_ = nullptr;  // the next prompt
  std::size_t at_ = 0;                      // the first byte that differs
};

// Returns at most a few dozen bytes in quotes.
[[nodiscard]] std::string quoted_start(std::string_view text);

}  // namespace rondo::causes
