// Reads what the prompt already has of the turn: its tail, and the text of a continued message.
#include <utility>

#include "format/units.h"
#include "parse/machine.h"

namespace rondo::parse {

using format::is_blank;

// Returns whether what was read of the prompt is more than the beginning of a turn: its end, an answer that the template
// wrote, or a whole call.
bool Machine::has_more_than_begun() const {
  const bool has_ended_call = !message_.tool_calls.empty() && !call_.is_reported;
  return phase_ == Phase::kEnded || (prompt_.is_generated && !is_blank(message_.content)) || has_ended_call;
}

// Finds the turn's header in the prompt.  The template wrote the text after the header for the model, so it is parsed
// like the model's own text.
void Machine::start_from_prompt(std::string_view tail) {
  std::string written;
  bool is_generation_prompt = false;
  const bool has_no_header = is_blank(syntax_->format->header);
  const std::size_t header = has_no_header ? std::string::npos : tail.rfind(syntax_->format->header);
  if (header != std::string::npos) written = tail.substr(header + syntax_->format->header.size());
  // Inside a turn, after a tool's result, a prompt may open the reasoning without a header.
  const std::string_view open = format::trimmed(syntax_->format->reasoning.open);
  const std::size_t last_open = open.empty() ? std::string::npos : tail.rfind(open);
  if (last_open != std::string::npos && is_blank(std::string_view(tail).substr(last_open + open.size()))) {
    prompt_.open_reasoning = tail.substr(last_open);
    if (header == std::string::npos) written = prompt_.open_reasoning;
  }
  for (const format::GenerationPrompt& prompt : syntax_->format->generation_prompts) {
    if (prompt.text.empty() || !tail.ends_with(prompt.text)) continue;
    if (has_no_header && prompt.text.size() > written.size()) written = prompt.text;
    is_generation_prompt = true;
  }
  top_.has_header = header != std::string::npos;
  const std::string shown = written;
  prompt_.is_generated = is_generation_prompt;
  prompt_.lacks_header = header == std::string::npos && !tail.empty() && !is_generation_prompt;
  if (is_generation_prompt) drop_prompt_space(written);
  if (written.empty()) return;
  prompt_.bytes = prompt_.generated = written.size();
  const bool inline_reasoning = std::exchange(inline_reasoning_, false);
  if (!is_generation_prompt && has_unopened_reasoning(written)) phase_ = Phase::kUndecided;
  feed(written);
  inline_reasoning_ = inline_reasoning;
  prompt_.is_foreign = has_more_than_begun();
  if (prompt_.is_foreign) return;
  forget_blank_reasoning();
  if (is_generation_prompt) expect_repeated_open();
  if (phase_ == Phase::kReasoning && inline_reasoning) leave_inline(shown);
}

// Forgets what was read of the prompt's text `shown`, whose reasoning stays in the content.
void Machine::leave_inline(const std::string& shown) {
  reported_.events.clear();
  message_.reasoning.reset();
  message_.content.clear();
  foreign_.quoting = {};
  prompt_.inline_open = shown;
}

// Models repeat the opener of an answer that the prompt has already written.
void Machine::expect_repeated_open() {
  if (phase_ == Phase::kTop && top_.is_wrapped && syntax_->rare.content_open_is_reserved) top_.is_blank = true;
}

// Removes reasoning that the prompt both opened and closed.
void Machine::forget_blank_reasoning() {
  if (phase_ == Phase::kReasoning || !message_.reasoning || !is_blank(*message_.reasoning)) return;
  message_.reasoning.reset();
  std::erase_if(reported_.events, [](const Event& event) { return event.kind == EventKind::kReasoning; });
}

// Returns whether `begun` closes reasoning that it does not open.  Some templates leave it to the prompt to open it.
bool Machine::has_unopened_reasoning(std::string_view begun) const {
  const format::Reasoning& reasoning = syntax_->format->reasoning;
  const std::string_view open = format::trimmed(reasoning.open);
  const std::string_view close = format::trimmed(reasoning.close);
  if (!reasoning.present || inline_reasoning_ || close.empty()) return false;
  const std::size_t end = begun.find(close);
  return end != std::string_view::npos && (open.empty() || begun.substr(0, end).find(open) == std::string_view::npos);
}

void Machine::go_on_behind(std::string_view begun) {
  if (begun.empty()) return;
  if (phase_ == Phase::kTop && has_unopened_reasoning(begun)) phase_ = Phase::kUndecided;
  prompt_.bytes += begun.size();
  feed(begun);
  forget_blank_reasoning();
}

// Drops white space at the end of a generation prompt: all of a blank one, and what follows a reasoning opener beyond
// its own trail.  History does not have it there, so it is not text of the message.
void Machine::drop_prompt_space(std::string& written) const {
  if (is_blank(written)) return written.clear();
  const Marker open(syntax_->format->reasoning.open);
  const std::size_t at = open.empty() ? std::string::npos : written.rfind(open.core());
  if (at == std::string::npos) return;
  const std::string_view rest = std::string_view(written).substr(at + open.core().size());
  if (is_blank(rest) && rest.starts_with(open.trail())) written.resize(at + open.core().size() + open.trail().size());
}

}  // namespace rondo::parse
