#include "analysis/reasoning_switch.h"

#include <algorithm>
#include <utility>

#include "analysis/probe.h"
#include "format/units.h"
#include "probe/variables.h"
#include "probe/words.h"

namespace rondo::analysis {
namespace {

using format::trimmed;
using State = ReasoningSwitch::State;

constexpr std::string_view kNoWord = "qzx";  // not a word for an effort
constexpr std::string_view kOtherNoWord = "wkv";
constexpr std::int64_t kBudget = 7351;  // a number that no template has
constexpr std::int64_t kOtherBudget = 9431;

// What the template writes for a question under one value of a variable.
struct SeenPrompt {
  std::string text = {};    // without a generation prompt
  std::string prompt = {};  // the generation prompt
  State state = State::kFree;
  bool tells = false;  // the text before the question has the close of reasoning
  bool operator==(const SeenPrompt& other) const { return text == other.text && prompt == other.prompt; }
};

class SwitchFinder {
 public:
  SwitchFinder(const jinja::Template& chat_template, const Options& options, const format::Format& format)
      : prober_(chat_template, options, false), format_(format) {
    out_.has_reasoning = format.reasoning.present;
  }

  ReasoningSwitch run() {
    prober_.learn_content_forms();
    usual_ = see(std::nullopt);
    if (!usual_) return out_;
    out_.usual = usual_->state;
    for (const std::string& name : probe::own_variables(prober_.chat_template())) {
      if (prober_.options().kwargs.find(name) != nullptr) continue;
      if (try_numbers(name)) continue;
      try_truth(name);
      try_words(name);
      try_types(name);
    }
    return std::move(out_);
  }

 private:
  // Returns what a prompt says about reasoning, by the last marker in it.
  [[nodiscard]] State state_of(std::string_view prompt) const {
    const std::string_view open = trimmed(format_.reasoning.open);
    const std::string_view close = trimmed(format_.reasoning.close);
    if (close.empty()) return State::kFree;
    const std::size_t closed = prompt.rfind(close);
    const std::size_t opened = open.empty() ? std::string_view::npos : prompt.rfind(open);
    if (closed != std::string_view::npos && (opened == std::string_view::npos || opened <= closed))
      return State::kClosed;
    return opened == std::string_view::npos ? State::kFree : State::kOpen;
  }

  [[nodiscard]] std::optional<SeenPrompt> see(const std::optional<json::Member>& variable) {
    for (const bool tools : {false, true}) {
      ProbeSetting setting{.tools = tools, .variable = variable};
      const auto text = prober_.text_of(json::Array{probe::plain_message("user", probe::kQuestionText)}, setting);
      const auto prompt = prober_.generation_prompt(setting);
      if (!text || !prompt) continue;
      SeenPrompt out{*text, prompt->text};
      // Some templates always ask for an answer, so a blank prompt is read from the text after the question.
      const std::size_t question = text->rfind(probe::kQuestionText);
      const std::size_t head = question == std::string::npos ? text->size() : question;
      out.state = state_of(format::is_blank(prompt->text) ? text->substr(head) : prompt->text);
      const std::string_view close = trimmed(format_.reasoning.close);
      out.tells = !close.empty() && text->substr(0, head).find(close) != std::string::npos;
      return out;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<SeenPrompt> see(const std::string& name, json::Value value) {
    return see(json::Member{name, std::move(value)});
  }

  // Returns how strongly a prompt asks for reasoning.
  [[nodiscard]] static int rank(const SeenPrompt& seen) {
    const int state = seen.state == State::kOpen ? 2 : seen.state == State::kFree ? 1 : 0;
    return 2 * state + (seen.tells ? 1 : 0);
  }

  // Takes the variable as a switch if the two prompts differ in how strongly they ask for reasoning.
  bool take_switch(const std::string& name, const json::Value& more, const SeenPrompt& with_more,
                   const json::Value& less, const SeenPrompt& with_less) {
    if (rank(with_more) <= rank(with_less)) return false;
    set_switch(name, more, with_more, less, with_less);
    return true;
  }

  void set_switch(const std::string& name, const json::Value& more, const SeenPrompt& with_more,
                  const json::Value& less, const SeenPrompt& with_less) {
    if (!out_.on) {
      out_.on = json::Member{name, more};
      out_.is_usually_on = with_more == *usual_;
    }
    if (!out_.off) {
      out_.off = json::Member{name, less};
      out_.is_usually_off = with_less == *usual_;
    }
  }

  void try_truth(const std::string& name) {
    const auto yes = see(name, true);
    const auto no = see(name, false);
    if (!yes || !no || *yes == *no) return;
    if (take_switch(name, true, *yes, false, *no) || take_switch(name, false, *no, true, *yes)) return;
    // The template may tell the model in words of its own.  Then the variable's name decides.
    const bool is_named = std::ranges::find(kSwitches, name) != kSwitches.end();
    if (is_named && format_.reasoning.present) set_switch(name, true, *yes, false, *no);
  }

  // Tries the words of the Messages API for it.
  void try_types(const std::string& name) {
    const auto yes = see(name, "enabled");
    const auto no = see(name, "disabled");
    const auto unknown = see(name, kNoWord);
    if (yes && no && !(unknown && (*unknown == *yes || *unknown == *no)))
      take_switch(name, "enabled", *yes, "disabled", *no);
  }

  // Tries the words for an effort.  At least two must be known, and they must make a difference.
  void try_words(const std::string& name) {
    const auto unknown = see(name, kNoWord);
    std::vector<std::pair<std::string, SeenPrompt>> known;
    for (const std::string& word : effort_words()) {
      auto seen = see(name, word);
      if (!seen || (unknown && *seen == *unknown)) continue;
      known.emplace_back(word, *std::move(seen));
    }
    if (known.size() < 2) return;
    // If any word is written, and none of the known ones is the default, the variable may be about anything.
    const auto other = see(name, kOtherNoWord);
    const bool takes_any = unknown && other && !(*unknown == *other);
    const bool is_usual = std::ranges::any_of(known, [&](const auto& one) { return one.second == *usual_; });
    const auto differs = [&](const auto& one) { return !(one.second == known.front().second); };
    const bool is_api_name = name == "reasoning_effort";  // the name in the request itself
    if (std::ranges::none_of(known, differs) || (takes_any && !is_usual && !is_api_name)) return;
    const auto& [least, with_least] = known.front();
    const auto& [most, with_most] = known.back();
    take_switch(name, most, with_most, least, with_least);
    if (!out_.effort.empty()) return;
    out_.effort = name;
    out_.takes_any_effort = takes_any;
    for (const auto& [word, seen] : known) out_.efforts.push_back(word);
  }

  bool try_numbers(const std::string& name) {
    const auto one = see(name, kBudget);
    const auto other = see(name, kOtherBudget);
    const auto none = see(name, std::int64_t{0});
    if (!one || !other || !none || *one == *other) return false;
    // Two budgets must differ only by the number, but zero must change more than the number.  Then it is about
    // reasoning.
    const auto with = [&](std::int64_t tokens) {
      std::string text = one->text + one->prompt;
      const std::string old = std::to_string(kBudget);
      const std::string number = std::to_string(tokens);
      for (std::size_t at = text.find(old); at != std::string::npos; at = text.find(old, at + number.size()))
        text.replace(at, old.size(), number);
      return text;
    };
    if (with(kOtherBudget) != other->text + other->prompt || with(0) == none->text + none->prompt) return false;
    const bool is_told = one->tells && one->text != none->text && !(*none == *usual_);
    if (rank(*one) <= rank(*none) && !is_told) return false;
    if (out_.budget.empty()) out_.budget = name;
    take_switch(name, kBudget, *one, std::int64_t{0}, *none);
    if (out_.on && out_.on->key == name) out_.on.reset();  // any number turns it on
    return true;
  }

  Prober prober_;
  const format::Format& format_;
  std::optional<SeenPrompt> usual_;
  ReasoningSwitch out_;
};

}  // namespace

const std::vector<std::string>& effort_words() {
  static const std::vector<std::string> kWords = {"none", "minimal", "low", "medium", "high", "xhigh", "max"};
  return kWords;
}

ReasoningSwitch find_reasoning_switch(const jinja::Template& chat_template, const Options& options,
                                      const format::Format& format) {
  return SwitchFinder(chat_template, options, format).run();
}

}  // namespace rondo::analysis
