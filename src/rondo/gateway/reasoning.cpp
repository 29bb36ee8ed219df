#include "gateway/reasoning.h"

#include <algorithm>
#include <utility>

namespace rondo::gateway {
namespace {

using WishMode = apis::ReasoningWish::Mode;
using Switch = analysis::ReasoningSwitch;

class Wish {
 public:
  Wish(const Switch& found, const apis::GenerateRequest& request, core::Call& call)
      : switch_(found), request_(request), call_(call) {}

  ReasoningPlan run() {
    const apis::ReasoningWish& wish = request_.reasoning;
    if (wish.mode == WishMode::kOff) {
      off();
      return std::move(out_);
    }
    if (!wish.effort.empty()) effort(wish.effort);
    if (wish.mode == WishMode::kOn && !has_switched_) on();
    if (wish.budget_tokens) budget(*wish.budget_tokens);
    return std::move(out_);
  }

 private:
  void set(const json::Member& member) {
    if (request_.kwargs.find(member.key) == nullptr) call_.conversation.kwargs.set(member.key, member.value);
  }

  // A value that every request has may differ from the template's own default.
  void set_unless_usual(const json::Member& member, bool is_usual) {
    if (!is_usual || call_.conversation.kwargs.find(member.key) != nullptr) set(member);
  }

  void off() {
    if (switch_.off) return set_unless_usual(*switch_.off, switch_.is_usually_off);
    if (switch_.has_reasoning && switch_.usual != Switch::State::kClosed)
      out_.notes.emplace_back("the model's template has nothing that turns reasoning off");
  }

  void on() {
    if (switch_.on) return set_unless_usual(*switch_.on, switch_.is_usually_on);
    if (!switch_.has_reasoning) {
      out_.notes.emplace_back("the model's template has no reasoning to turn on");
    } else if (switch_.usual == Switch::State::kClosed) {
      out_.notes.emplace_back("the model's template has nothing that turns reasoning on");
    }
  }

  void effort(const std::string& asked) {
    if (switch_.effort.empty()) {
      const bool is_on = switch_.on.has_value();
      out_.notes.push_back("the model's template takes no effort" +
                           std::string(is_on ? ": `" + asked + "` turns reasoning on, no more" : ""));
      if (is_on) on();
      has_switched_ = true;
      return;
    }
    has_switched_ = true;
    const std::string word = switch_.takes_any_effort ? asked : nearest(asked);
    set({switch_.effort, word});
    // Another variable may have to enable reasoning first.
    if (switch_.on && switch_.on->key != switch_.effort && asked != "none") on();
    if (word != asked)
      out_.notes.push_back("the model's template does not know the effort `" + asked + "`: `" + word + "` was set");
  }

  // The known word next to `asked` in the order of the APIs; the greater one if two are equally near.
  [[nodiscard]] std::string nearest(const std::string& asked) const {
    const std::vector<std::string>& all = analysis::effort_words();
    const auto place = [&](const std::string& word) {
      return static_cast<std::ptrdiff_t>(std::ranges::find(all, word) - all.begin());
    };
    if (std::ranges::find(switch_.efforts, asked) != switch_.efforts.end()) return asked;
    std::string best;
    for (const std::string& word : switch_.efforts) {
      if (word == "none") continue;
      const bool is_nearer = std::abs(place(word) - place(asked)) <= std::abs(place(best) - place(asked));
      if (best.empty() || is_nearer) best = word;
    }
    return best.empty() ? switch_.efforts.back() : best;
  }

  void budget(std::int64_t tokens) {
    if (switch_.budget.empty()) {
      if (switch_.has_reasoning) out_.budget = tokens;
      return;
    }
    set({switch_.budget, tokens});
  }

  const Switch& switch_;
  const apis::GenerateRequest& request_;
  core::Call& call_;
  ReasoningPlan out_;
  bool has_switched_ = false;
};

}  // namespace

ReasoningPlan apply_reasoning(const core::Model& model, const apis::GenerateRequest& request, core::Call& call) {
  const apis::ReasoningWish& wish = request.reasoning;
  if (wish.mode == WishMode::kDefault && wish.effort.empty() && !wish.budget_tokens) return {};
  core::Call probed;
  probed.conversation.tools = call.conversation.tools;
  probed.now = call.now;
  const auto found = model.reasoning_switch(probed);
  if (!found.ok()) return {};  // a template that no probe fits gives its reason when it is rendered
  return Wish(*found.value(), request, call).run();
}

}  // namespace rondo::gateway
