// The inference of one Format, step by step.  Internal to analysis/.
//
// accepts.cpp   what the template accepts, and the probes of all message shapes (variants)
// blocks.cpp    header, content, reasoning
// call_marks.cpp  calls
// ids.cpp       ids that the template makes
// ends.cpp      stops, notes
// instructions.cpp  calls that are only described
// losses.cpp    what the template writes alike or not at all, and what it trims
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/infer.h"
#include "format/units.h"

namespace rondo::analysis {

class Analyst {
 public:
  // With `keeps_trials` trials() has all probes.
  Analyst(const jinja::Template& chat_template, const Options& options, bool keeps_trials = false)
      : template_(chat_template), options_(options), prober_(chat_template, options, keeps_trials) {}

  // Fails with kLimit when a probe ran out of its limits.  To be called once.
  [[nodiscard]] Result<std::shared_ptr<const format::Format>> run();
  [[nodiscard]] const std::vector<ProbeTrial>& trials() const { return prober_.trials(); }

 private:
  void find_shape();
  [[nodiscard]] int shape_score(const Shape& shape);
  [[nodiscard]] std::optional<Turn> reasoned_turn(const Shape& shape);
  void find_reasoning_shape();
  void find_own_reasoning();
  void find_generation_prompts();
  void find_other_prompts();
  void collect_variants();
  [[nodiscard]] std::optional<Variant> variant(bool reasoning, bool content, std::size_t calls);
  void find_atoms();
  [[nodiscard]] std::vector<std::size_t> boundaries(std::string_view text) const {
    return format::unit_boundaries(text, format_.atoms);
  }
  [[nodiscard]] Written shared_header(const Written& header, const Written& begin) const;
  void find_header();
  [[nodiscard]] bool is_header_repeated() const;
  [[nodiscard]] bool header_opens_call() const;
  [[nodiscard]] bool header_opens_block() const;
  void infer_content_and_reasoning();
  [[nodiscard]] std::size_t content_close_in(const Written& tail, const Variant* calling) const;
  void find_content_close(const Variant* plain);
  void find_wrap_beside_calls();
  void settle_inline_reasoning();
  [[nodiscard]] std::string behind_header(const format::GenerationPrompt& prompt) const;
  void find_reasoning_tags(std::string& open, std::string& close) const;
  [[nodiscard]] std::string opener_behind_reasoning(const Turn& thinking, const std::string& between,
                                                    const std::string& plain_lead) const;
  void split_reasoning_close(const Turn& thinking, const std::string& between, const std::string& plain_lead);
  [[nodiscard]] bool goes_on_behind_content() const;
  void infer_stops();
  void infer_calls();
  void find_made_ids();
  void find_counted_member(const Turn& followed);
  void find_counted_piece(const Turn& followed);
  void find_heading_close();
  void mine_instructions();
  void mine_reasoning();
  void mine_reasoning_fields();
  void find_content_behind_calls();
  void find_open_sections();
  void infer_other_stops();
  [[nodiscard]] bool infer_pieces(const Turn& turn);
  [[nodiscard]] std::string before_calls(const VariantKey& key, const Turn& turn) const;
  void infer_inline_reasoning();
  void infer_trims();
  void lose(std::string what, std::string meaning, std::int32_t line);
  void find_dropped(const VariantKey& key);
  void find_content_behind_end(const Turn& turn);
  void find_lost_parts();
  void find_lost_borders();
  void find_lost_calls();
  void find_lost_values();
  void finish();

  [[nodiscard]] const Variant* find(bool reasoning, bool content, std::size_t calls) const {
    const auto found = variants_.find({reasoning, content, calls});
    return found == variants_.end() ? nullptr : &found->second;
  }
  // The turn's literals before token `end`, without the header.
  [[nodiscard]] std::string lead(const Turn& turn, std::size_t end) const;
  void note(std::string sentence) { format_.notes.push_back(std::move(sentence)); }

  const jinja::Template& template_;
  const Options& options_;
  Prober prober_;
  Shape shape_;
  bool shows_calls_ = false;
  bool shows_reasoning_ = false;
  Variants variants_;
  std::vector<Written> prompts_;  // of Format::generation_prompts
  format::Format format_;
  bool is_ended_by_next_ = false;  // what ends a turn without calls is the begin of the next one
  std::string plain_tail_;         // what follows the content of a plain turn, behind content.close
};

// Texts of the template.
[[nodiscard]] inline std::string without_prefix(const std::string& text, const std::string& prefix) {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}
[[nodiscard]] inline std::string trimmed_end(const std::string& text) {
  return text.substr(0, text.find_last_not_of(" \n\t\r") + 1);
}
[[nodiscard]] inline bool contains(const std::string& text, std::string_view part) {
  return !part.empty() && text.find(part) != std::string::npos;
}

// Of `words` the first `most` that may be the name of a field, or of a type, and that the chat APIs do not have.
[[nodiscard]] std::vector<std::string> names_in(const std::vector<std::string>& words, std::size_t most);
// The first calls of a probe message: one parameter each.
[[nodiscard]] std::vector<probe::SaidCall> probe_calls(std::size_t count);
// Index of the first token that is neither text nor a counter.
[[nodiscard]] std::size_t first_slot(const Turn& turn);
// Index of the first (last) name, id or arguments of that call, or kNone.
[[nodiscard]] std::size_t first_call_slot(const Turn& turn, std::size_t call);
[[nodiscard]] std::size_t last_call_slot(const Turn& turn, std::size_t call);
// The template's text between that call and the next one.
[[nodiscard]] std::string between_calls(const Turn& turn, std::size_t call);
// What stands behind token `last`, up to content that follows the calls.
[[nodiscard]] std::string behind_calls(const Turn& turn, std::size_t last);

}  // namespace rondo::analysis
