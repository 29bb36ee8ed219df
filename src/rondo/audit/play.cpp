#include "audit/play.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "analysis/analyse.h"
#include "audit/messages.h"
#include "chat/reasoning_fields.h"
#include "format/units.h"
#include "json/parse.h"
#include "json/print.h"
#include "probe/messages.h"
#include "render/bridge.h"
#include "render/encode.h"
#include "render/join.h"

namespace rondo::audit {
namespace {

using tokenizer::TokenId;

constexpr const char* kQuestion = "How is the weather in Paris?";
constexpr const char* kNextQuestion = "And tomorrow?";
constexpr const char* kRules = "You are helpful.";
constexpr const char* kLateRules = "Be brief.";
constexpr const char* kResult = "18 degrees, sunny";

bool begins_with(const std::vector<tokenizer::Piece>& pieces, const Step& step) {
  std::vector<TokenId> old = step.prompt_ids;
  old.insert(old.end(), step.completion_ids.begin(), step.completion_ids.end());
  return std::ranges::mismatch(old, pieces, {}, {}, &tokenizer::Piece::id).in1 == old.end();
}

// Reads the completion.  If a token that ends turns also closes parts of them, only its last occurrence ends this turn.
Result<render::ParsedCompletion> read(const AuditContext& context, const Step& step) {
  std::span<const TokenId> ids = step.completion_ids;
  const auto is_stop = [&](TokenId id) { return context.profile.is_stop(id); };
  const bool stops = !ids.empty() && is_stop(ids.back());
  const std::span<const TokenId> body = ids.first(ids.size() - (stops ? 1 : 0));
  if (std::ranges::none_of(body, is_stop))
    return render::interpret(context.format, context.tokenizer, context.profile, context.base.tools, step.prompt_ids,
                             ids);
  render::TurnProfile unstopped = context.profile;
  unstopped.stop_ids.clear();
  return render::interpret(context.format, context.tokenizer, unstopped, context.base.tools, step.prompt_ids, body);
}

class Player {
 public:
  Player(const Stage& stage, const Scenario& scenario, const Sending& sending)
      : stage_(stage), scenario_(scenario), sending_(sending) {
    played_.with_tools = scenario.has_tools || scenario.has_calls();
    report::Case& outcome = played_.outcome;
    outcome.scenario = scenario.name;
    outcome.title = scenario.title;
    outcome.setting = stage.setting().name;
    outcome.kwargs = stage.setting().kwargs;
    outcome.is_inherent = scenario.is_inherent;
    if (scenario.has_system) messages_.push_back(probe::plain_message("system", kRules));
    messages_.push_back(probe::plain_message("user", kQuestion));
  }

  Played run() {
    if (!applies()) return std::move(played_);
    const AuditContext context = stage_.context(played_.with_tools);
    for (std::size_t turn = 0; turn < scenario_.turns.size(); ++turn) {
      played_.turn = turn;
      if (!play_turn(context, accepted(context, fitting(scenario_.turns[turn])))) break;
    }
    return std::move(played_);
  }

 private:
  // Records why the rest is not played.
  bool skip(std::string why) {
    played_.outcome.note = std::move(why);
    return false;
  }
  bool skip(const std::string& why, const Error& error) {
    if (error.code == ErrorCode::kLimit) played_.ran_out_of_limits = true;
    played_.is_refused = true;
    return skip(why + ": " + error.message);
  }

  bool applies() {
    const format::Format& format = stage_.format();
    const bool has_text =
        std::ranges::all_of(scenario_.turns, [](const ScenarioTurn& t) { return !t.content.empty(); });
    if (scenario_.has_calls() && !format.calls.present && !(scenario_.is_flexible && has_text))
      return skip("the template writes no calls");
    const bool is_needed = std::ranges::any_of(scenario_.turns, [](const ScenarioTurn& t) {
      return t.spelling == Spelling::kBlankLineBehindReasoning || t.spelling == Spelling::kNewlineEndsReasoning ||
             t.spelling == Spelling::kTightBehindReasoning;
    });
    if (scenario_.has_reasoning() && !shows_reasoning() && (is_needed || !scenario_.is_flexible))
      return skip("the template knows no reasoning");
    for (const ScenarioTurn& turn : scenario_.turns) {
      if (turn.calls.size() > 1 && format.input.single_call) return skip("the template takes one call in a turn");
    }
    return true;
  }

  // If only content can hold the reasoning, a flexible scenario does not ask for it.
  [[nodiscard]] bool shows_reasoning() const {
    const format::Format& format = stage_.format();
    return format.reasoning.present && !(scenario_.is_flexible && format.reasoning.in_content);
  }

  // The parts of a turn that the template supports.
  [[nodiscard]] ScenarioTurn fitting(ScenarioTurn turn) const {
    if (!scenario_.is_flexible) return turn;
    if (!shows_reasoning()) turn.reasoning.clear();
    if (!stage_.format().calls.present && !turn.calls.empty()) {
      turn.calls.clear();
      turn.following = {"user"};
    }
    return turn;
  }

  // Drops the part that the template does not accept beside the others: reasoning, or the content if the scenario is
  // about reasoning.
  [[nodiscard]] ScenarioTurn accepted(const AuditContext& context, ScenarioTurn turn) const {
    if (!scenario_.is_flexible || turn.reasoning.empty() || turn.content.empty() || turn.calls.empty()) return turn;
    json::Array messages = messages_;
    messages.push_back(message_of(*context.format, saying_of(turn)));
    if (render::render_messages(context.turn(), messages, false).ok()) return turn;
    const bool is_about_reasoning = turn.spelling == Spelling::kBlankLineBehindReasoning ||
                                    turn.spelling == Spelling::kNewlineEndsReasoning ||
                                    turn.spelling == Spelling::kTightBehindReasoning;
    (is_about_reasoning ? turn.content : turn.reasoning).clear();
    return turn;
  }

  // False if the prefix broke, or nothing more can be played.
  bool play_turn(const AuditContext& context, const ScenarioTurn& turn) {
    Step step;
    step.history = messages_;
    auto prompt = render::render_messages(context.turn(), messages_, true);
    if (!prompt.ok()) return skip("the template refuses the conversation", prompt.error());
    step.prompt = std::move(prompt).value();
    if (played_.turn == 0) played_.first_prompt = step.prompt.text.bytes();
    const Saying saying = saying_of(turn);
    if (!say(context, turn, saying, step)) return false;
    played_.samples.push_back(step.sampled);

    step.prompt_ids = render::ids_of(
        render::encode_range(context.turn(), step.prompt, 0, step.prompt.text.size(), render::ContentSpecials::kText));
    step.completion_ids =
        render::ids_of(render::encode_behind(context.tokenizer, step.prompt_ids, step.sampled.text, nullptr));
    const auto written = render::text_behind(context.tokenizer, step.prompt_ids, step.completion_ids);
    if (!written.ok() || written.value() != step.sampled.text)
      return skip("the tokenizer does not give back what was sampled");
    auto said = read(context, step);
    if (!said.ok()) return skip("what was sampled cannot be read", said.error());
    step.said = std::move(said).value();
    step.following = following_of(context, turn, step.said);
    step.kept = kept_of(step);
    return render_again(context, turn, saying, std::move(step));
  }

  // Samples what the model writes after the prompt; false if nothing is known about that.
  bool say(const AuditContext& context, const ScenarioTurn& turn, const Saying& saying, Step& step) {
    if (sending_.samples != nullptr && played_.turn < sending_.samples->size()) {
      step.sampled = (*sending_.samples)[played_.turn];
      return true;
    }
    Sample sampled = sample(context, messages_, step.prompt, message_of(*context.format, saying));
    if (!sampled.sampled) return skip(std::move(sampled.why_not));
    step.sampled = *std::move(sampled.sampled);
    if (auto why_not = respell(*context.format, turn, step.sampled)) return skip(*std::move(why_not));
    return true;
  }

  bool render_again(const AuditContext& context, const ScenarioTurn& turn, const Saying& saying, Step step) {
    report::Case& outcome = played_.outcome;
    outcome.prompt_tokens = context.has_tokenizer ? step.prompt_ids.size() : 0;
    outcome.completion_tokens = context.has_tokenizer ? step.completion_ids.size() : 0;
    messages_.push_back(step.kept);
    auto alone = render::render_messages(context.turn(), messages_, false);
    if (alone.ok()) step.alone = std::move(alone).value();
    messages_.insert(messages_.end(), step.following.begin(), step.following.end());
    auto again = render::render_messages(context.turn(), messages_, true);
    if (again.ok()) {
      step.again = std::move(again).value();
      step.pieces =
          render::encode_range(context.turn(), *step.again, 0, step.again->text.size(), render::ContentSpecials::kText);
    } else {
      step.refusal = again.error();
      // A template may say that it does not accept such a conversation.  Breaking down over it is another matter.
      const bool is_meant = again.error().code == ErrorCode::kTemplateRaised;
      // A form that the template does not accept is one of its properties (properties.h), not a broken prefix.
      const bool is_other_form =
          scenario_.arguments != ArgumentsForm::kWanted || scenario_.content != ContentForm::kWanted;
      if (is_meant || is_other_form || again.error().code == ErrorCode::kLimit)
        return skip("the template refuses the next prompt", again.error());
    }
    note_texts(step);
    judge(context, turn, saying, step);
    const bool holds = step.again && outcome.string_prefix == report::Verdict::kHolds &&
                       (!context.has_tokenizer || outcome.token_prefix == report::Verdict::kHolds);
    if (holds) return true;
    played_.broken = std::move(step);
    return false;
  }

  static render::Extent tail_of(const jinja::Rendered& again, std::int32_t index) {
    const auto data = render::data_extent(again, index);
    return data ? render::Extent{data->end, render::tail_end(again, index, data->end)} : render::Extent{};
  }

  void note_texts(const Step& step) {
    played_.texts.push_back(step.seen());
    played_.texts.push_back(step.again ? step.again->text.bytes() : "");
    played_.alones.push_back(step.alone ? step.alone->text.bytes() : "");
    played_.tails.push_back(step.again ? tail_of(*step.again, static_cast<std::int32_t>(step.history.size()))
                                       : render::Extent{});
    if (!step.again) return;
    const text::Origins& origins = step.again->origins;
    for (const text::Run& run : step.again->text.runs()) {
      // Whoever reads a call gives it an id.  History need not show an id that the model did not write.
      if (!render::is_message_data(run, origins) || origins.paths.step_name(run.path()) == "id") continue;
      played_.data_bytes += run.size;
    }
  }

  [[nodiscard]] Saying saying_of(const ScenarioTurn& turn) const {
    Saying out{turn.reasoning, turn.content, {}};
    for (const ScenarioCall& call : turn.calls) {
      out.calls.push_back({call.name, json::parse(call.arguments).value().as_object(),
                           call_id(stage_.format(), call.name, calls_ + out.calls.size())});
    }
    return out;
  }

  json::Array following_of(const AuditContext& context, const ScenarioTurn& turn,
                           const render::ParsedCompletion& said) {
    json::Array out;
    for (const std::string& what : turn.following) {
      if (what == "user") {
        out.push_back(probe::plain_message("user", kNextQuestion));
      } else if (what != "results") {
        out.push_back(probe::plain_message(what, kLateRules));
      } else {
        for (const chat::ToolCall& call : said.message.tool_calls) {
          const std::string id = call.id.value_or(call_id(*context.format, call.name, calls_));
          ++calls_;
          out.push_back(probe::tool_message(id, call.name, kResult));
        }
      }
    }
    // A call that was not understood has no result.  The conversation continues without one.
    if (out.empty()) out.push_back(probe::plain_message("user", kNextQuestion));
    return out;
  }

  json::Value kept_of(const Step& step) const {
    json::Value kept = render::history_message(step.said, step.following);
    json::Object& message = kept.as_object();
    set_arguments(step.said, message);
    set_reasoning(message);
    const bool has_content = !step.said.message.content.empty();
    switch (sending_.content.value_or(scenario_.content)) {
      case ContentForm::kWanted: break;
      case ContentForm::kNull:
        if (!has_content) message.set("content", nullptr);
        break;
      case ContentForm::kEmpty:
        if (!has_content) message.set("content", "");
        break;
      case ContentForm::kAbsent:
        if (!has_content) message.erase("content");
        break;
      case ContentForm::kParts: message.set("content", json::Array{probe::text_part(step.said.message.content)}); break;
    }
    return kept;
  }

  void set_reasoning(json::Object& message) const {
    const ReasoningForm form = sending_.reasoning.value_or(scenario_.reasoning);
    if (form == ReasoningForm::kWanted) return;
    for (const std::string_view name : chat::kReasoningFields) {
      const json::Value* found = message.find(name);
      if (found == nullptr) continue;
      const json::Value value = *found;
      message.erase(name);
      if (form == ReasoningForm::kOtherName)
        message.set(name == "reasoning" ? "reasoning_content" : "reasoning", value);
      return;
    }
  }

  void set_arguments(const render::ParsedCompletion& said, json::Object& message) const {
    ArgumentsForm form = sending_.arguments.value_or(scenario_.arguments);
    if (form == ArgumentsForm::kWanted && stage_.copies_arguments()) form = ArgumentsForm::kText;
    json::Value* calls = message.find("tool_calls");
    if (form == ArgumentsForm::kWanted || calls == nullptr) return;
    for (std::size_t i = 0; i < calls->as_array().size() && i < said.message.tool_calls.size(); ++i) {
      const std::string& text = said.message.tool_calls[i].arguments;
      const auto value = json::parse(text);
      const bool as_object = form == ArgumentsForm::kObject && value.ok();
      calls->as_array()[i]
          .as_object()
          .find("function")
          ->as_object()
          .set("arguments", as_object ? value.value() : json::Value(text));
    }
  }

  static void set(report::Verdict& verdict, bool holds) {
    if (verdict == report::Verdict::kBreaks) return;
    verdict = holds ? report::Verdict::kHolds : report::Verdict::kBreaks;
  }

  void judge(const AuditContext& context, const ScenarioTurn& turn, const Saying& saying, const Step& step) {
    report::Case& outcome = played_.outcome;
    const std::string seen = step.seen();
    set(outcome.string_prefix, step.again && step.again->text.bytes().starts_with(seen));
    const bool same_tokens = step.again && begins_with(step.pieces, step);
    if (context.has_tokenizer) set(outcome.token_prefix, same_tokens);
    const bool is_whole = !step.sampled.is_cut && turn.spelling != Spelling::kBrokenCall;
    if (is_whole) set(outcome.parse_of_render, reads(saying, step.said.message));
    if (is_whole && step.alone) {
      const std::size_t size = step.prompt.text.size() + step.sampled.stop_begin;
      set(outcome.render_of_parse, step.alone->text.bytes().starts_with(std::string_view(seen).substr(0, size)));
    }
    if (step.again) set(outcome.bridge, bridges(context, step, same_tokens));
  }

  // Whether the parser found the intended turn, apart from white space around texts.
  static bool reads(const Saying& saying, const chat::AssistantMessage& said) {
    if (format::trimmed(said.reasoning.value_or("")) != format::trimmed(saying.reasoning)) return false;
    if (format::trimmed(said.content) != format::trimmed(saying.content)) return false;
    if (said.tool_calls.size() != saying.calls.size()) return false;
    for (std::size_t i = 0; i < said.tool_calls.size(); ++i) {
      if (said.tool_calls[i].name != saying.calls[i].name) return false;
      const auto arguments = json::parse(said.tool_calls[i].arguments);
      const json::Value read = arguments.ok() ? arguments.value() : json::Value();
      if (canonical(read) != canonical(saying.calls[i].arguments)) return false;
    }
    return true;
  }

  static bool bridges(const AuditContext& context, const Step& step, bool same_tokens) {
    render::BridgeRequest request;
    request.prompt_ids = step.prompt_ids;
    request.completion_ids = step.completion_ids;
    request.completion = &step.said;
    request.messages = step.history;
    request.new_messages = step.following;
    request.find_lossy = false;
    const auto appended = render::append_turn(context.turn(), context.profile, request);
    if (!appended.ok()) return false;
    if (same_tokens) {
      const std::size_t old_size = step.prompt_ids.size() + step.completion_ids.size();
      const std::vector<TokenId> rest =
          render::ids_of({step.pieces.begin() + static_cast<std::ptrdiff_t>(old_size), step.pieces.end()});
      if (appended.value().ids == rest) return true;
    }
    const std::string& text = step.again->text.bytes();
    if (text.ends_with(appended.value().text)) return true;
    // The end of the turn may differ: the bridge closes what was sampled, and the template closes what was kept.
    const auto data = render::data_extent(*step.again, static_cast<std::int32_t>(step.history.size()) + 1);
    if (!data) return false;
    const std::string_view end = std::string_view(text).substr(data->begin);
    return appended.value().text.ends_with(end);
  }

  const Stage& stage_;
  const Scenario& scenario_;
  const Sending& sending_;
  json::Array messages_;
  std::size_t calls_ = 0;  // of all turns so far
  Played played_;
};

}  // namespace

Result<std::unique_ptr<const Stage>> Stage::make(const Subject& subject, Setting setting) {
  std::unique_ptr<Stage> stage(new Stage(subject, std::move(setting)));
  analysis::Options options;
  options.bos_token = subject.base.bos_token;
  options.eos_token = subject.base.eos_token;
  options.kwargs = stage->setting_.kwargs;
  options.now = subject.options.now;
  options.limits = subject.options.limits;
  if (subject.has_tokenizer) options.tokenizer = subject.tokenizer.get();
  auto format = analysis::analyse(*subject.chat_template, options);
  if (!format.ok()) return format.error();
  stage->format_ = std::move(format).value();
  stage->plain_ = subject.base;
  stage->plain_.kwargs = stage->setting_.kwargs;
  stage->tooled_ = stage->plain_;
  stage->tooled_.tools = scenario_tools();
  const render::TurnContext turn{*subject.chat_template, *subject.tokenizer, stage->plain_, subject.options};
  // Some templates require tools.
  const bool takes_no_tools = render::render_messages(turn, {probe::plain_message("user", kQuestion)}, true).ok();
  if (!takes_no_tools) stage->plain_.tools = scenario_tools();
  stage->profile_ = render::probe_turns({*subject.chat_template, *subject.tokenizer, stage->tooled_, subject.options});
  stage->copies_arguments_ = stage->finds_arguments_copied();
  return std::unique_ptr<const Stage>(std::move(stage));
}

std::unique_ptr<const Stage> Stage::with(const Subject& subject) const {
  std::unique_ptr<Stage> out(new Stage(subject, setting_));
  out->format_ = format_;
  out->tooled_ = tooled_;
  out->plain_ = plain_;
  out->profile_ = profile_;
  out->copies_arguments_ = out->finds_arguments_copied();
  return out;
}

bool Stage::finds_arguments_copied() const {
  if (!format_->calls.present || format_->calls.arguments == format::ArgumentStyle::kParameters) return false;
  const std::string text = R"({"location":"Paris"})";
  json::Value message = message_of(
      *format_,
      {"", "", {{"get_weather", json::parse(text).value().as_object(), call_id(*format_, "get_weather", 0)}}});
  json::Value& call = message.as_object().find("tool_calls")->as_array().front();
  call.as_object().find("function")->as_object().set("arguments", text);
  const auto rendered =
      render::render_messages(context(true).turn(), {probe::plain_message("user", kQuestion), message}, false);
  if (!rendered.ok()) return false;
  const jinja::Rendered& turn = rendered.value();
  return std::ranges::any_of(turn.text.runs(), [&](const text::Run& run) {
    return run.kind == text::RunKind::kData && run.size == text.size() && run.chain == text::ChainId::kNone &&
           turn.origins.paths.step_name(run.path()) == "arguments";
  });
}

AuditContext Stage::context(bool with_tools) const {
  return {*subject_.chat_template,       *subject_.tokenizer, subject_.has_tokenizer, format_, profile_,
          with_tools ? tooled_ : plain_, subject_.options};
}

Played play(const Stage& stage, const Scenario& scenario, const Sending& sending) {
  return Player(stage, scenario, sending).run();
}

}  // namespace rondo::audit
