#include "analysis/probe.h"

#include <algorithm>

#include "probe/variables.h"
#include "probe/words.h"

namespace rondo::analysis {
namespace {

using probe::kContentText;
using probe::kQuestionText;
using probe::kReasoningText;
using text::RunKind;

json::Value assistant(const Shape& shape, const ProbeMessage& message) {
  const auto said = [&message](bool is_said, std::string_view text) -> std::string {
    if (!is_said) return "";
    return message.is_padded ? "\n " + std::string(text) + " \n" : std::string(text) + message.ending;
  };
  probe::Saying saying{said(message.reasoning, kReasoningText), said(message.content, kContentText), message.calls};
  for (std::size_t i = 0; i < saying.calls.size(); ++i) saying.calls[i].id = probe::call_id(i);
  return probe::assistant_message(shape, saying);
}

// Returns "" for each of the texts that begin and end a prompt if the template reads it and nobody knows it.
json::Object empty_tokens(const jinja::Template& chat_template, const Options& options) {
  json::Object out;
  if (!options.bos_token && probe::reads_variable(chat_template, "bos_token")) out.set("bos_token", "");
  if (!options.eos_token && probe::reads_variable(chat_template, "eos_token")) out.set("eos_token", "");
  return out;
}

}  // namespace

Prober::Prober(const jinja::Template& chat_template, const Options& options, bool keeps_trials)
    : template_(chat_template),
      options_(options),
      tools_(probe::parsed_tools(probe::kTextTools)),
      own_variables_(probe::own_variables(chat_template, kSwitches)),
      stand_ins_(probe::stand_ins(own_variables_, probe::kTextTools)),
      empty_tokens_(empty_tokens(chat_template, options)),
      keeps_trials_(keeps_trials) {}

bool Prober::writes(const json::Array& messages, std::string_view word) {
  return std::ranges::any_of(std::array{false, true}, [&](bool tools) {
    const auto text = text_of(messages, {.tools = tools});
    return text && text->find(word) != std::string::npos;
  });
}

void Prober::learn_content_forms() {
  const auto learn = [this](json::Array messages, std::string_view word) {
    if (writes(messages, word)) return;
    probe::give_parts(messages.back());
    if (writes(messages, word)) roles_of_parts_.emplace_back(*messages.back().find_string("role"));
  };
  const json::Value question = probe::plain_message("user", kQuestionText);
  learn({question}, kQuestionText);
  learn({question, probe::plain_message("assistant", kContentText)}, kContentText);
  const ProbeMessage asked{.content = true, .calls = {{std::string(probe::kFirstTool), json::Object{{"k0", "v0"}}}}};
  learn({question, assistant({}, asked), probe::tool_message(probe::call_id(0), probe::kFirstTool, probe::kResultText)},
        probe::kResultText);
  refusal_.clear();
}

json::Object Prober::kwargs(const ProbeSetting& setting) const {
  json::Object out = options_.kwargs;
  // This overrides the caller's own switch, because only the other kind of prompt may show the marks.
  if (setting.thinking != "default") {
    for (const std::string_view name : kSwitches) out.set(name, setting.thinking == "on");
  }
  if (setting.variable) out.set(setting.variable->key, setting.variable->value);
  return out;
}

// If the template refuses, tries again with empty texts for the tokens that nobody knows, because text + undefined is an
// error, then with values for the variables that only this template has, and last with an empty list of tools.
std::optional<jinja::Rendered> Prober::render(json::Array messages, const ProbeSetting& setting,
                                              bool generation_prompt) {
  for (json::Value& message : messages) {
    const std::string role(message.find_string("role").value_or(""));
    if (std::ranges::find(roles_of_parts_, role) != roles_of_parts_.end()) probe::give_parts(message);
  }
  chat::Conversation conversation;
  conversation.messages = std::move(messages);
  if (setting.tools) {
    conversation.tools = tools_;
  } else if (needs_tool_list_.value_or(false)) {
    conversation.tools = json::Array();
  }
  conversation.add_generation_prompt = generation_prompt;
  conversation.kwargs = kwargs(setting);
  conversation.bos_token = options_.bos_token;
  conversation.eos_token = options_.eos_token;
  if (setting.stand_ins) {
    if (stand_ins_.empty()) return std::nullopt;
    probe::add_missing(conversation.kwargs, stand_ins_);
  }
  if (auto rendered = attempt(conversation)) {
    if (!setting.tools && !needs_tool_list_) needs_tool_list_ = false;
    return rendered;
  }
  if (!empty_tokens_.empty()) {
    probe::add_missing(conversation.kwargs, empty_tokens_);
    if (auto rendered = attempt(conversation)) {
      lacks_tokens_ = true;
      return rendered;
    }
  }
  if (!setting.stand_ins && !stand_ins_.empty()) {
    chat::Conversation supplied = conversation;
    probe::add_missing(supplied.kwargs, stand_ins_);
    if (auto rendered = attempt(supplied)) return rendered;
  }
  if (setting.tools || needs_tool_list_ || !probe::reads_variable(template_, "tools")) return std::nullopt;
  conversation.tools = json::Array();
  auto rendered = attempt(conversation);
  if (rendered) needs_tool_list_ = true;
  return rendered;
}

std::optional<jinja::Rendered> Prober::attempt(const chat::Conversation& conversation) {
  if (limit_) {  // the analysis fails, and each further probe would take as long
    last_refusal_ = limit_->message;
    return std::nullopt;
  }
  tmpl::ApplyOptions apply;
  apply.now = options_.now.value_or(jinja::LocalTime{2026, 1, 1, 12, 0, 0});
  apply.limits = options_.limits;
  auto rendered = tmpl::apply(template_, conversation, apply);
  if (rendered.ok()) return std::move(rendered).value();
  if (rendered.error().code == ErrorCode::kLimit && !limit_) limit_ = rendered.error();
  if (refusal_.empty()) refusal_ = rendered.error().message;
  last_refusal_ = rendered.error().message;
  return std::nullopt;
}

std::string Prober::missing_tokens() const {
  std::string out;
  if (!lacks_tokens_) return out;
  for (const json::Member& member : empty_tokens_) {
    out.append(out.empty() ? "`" : " and `").append(member.key).append("`");
  }
  return out;
}

std::optional<Turn> Prober::turn(const Shape& shape, const ProbeMessage& message, const ProbeSetting& setting) {
  last_refusal_.clear();
  auto turn = ask(assistant(shape, message), message.calls, shape.reasoning_field, setting);
  if (keeps_trials_) trials_.push_back({shape, message, setting, turn, "", {}, turn ? "" : last_refusal_});
  return turn;
}

std::optional<Turn> Prober::turn_of(const std::string& content, const ProbeSetting& setting) {
  return ask(probe::plain_message("assistant", content), {}, "", setting);
}

std::optional<Turn> Prober::ask(json::Value assistant, const std::vector<probe::SaidCall>& calls,
                                std::string_view own_field, const ProbeSetting& setting) {
  json::Array messages{probe::plain_message("user", kQuestionText), std::move(assistant)};
  if (setting.with_result) {
    for (std::size_t i = 0; i < std::max<std::size_t>(calls.size(), 1); ++i) {
      json::Object result{{"role", "tool"}, {"content", probe::kResultText}, {"tool_call_id", probe::call_id(i)}};
      if (i < calls.size()) result.set("name", calls[i].name);
      messages.push_back(std::move(result));
    }
  }
  if (setting.with_user) messages.push_back(probe::plain_message("user", probe::kSecondQuestionText));
  const bool is_followed = setting.with_result || setting.with_user;
  auto rendered = render(std::move(messages), setting, is_followed && setting.with_result);
  if (!rendered) return std::nullopt;
  Turn turn = read_turn(*rendered, is_followed, own_field);
  if (!turn.tokens.empty()) return turn;
  last_refusal_ = "the template writes nothing of the message";
  return std::nullopt;
}

std::optional<std::string> Prober::instructions(const ProbeSetting& setting) {
  const auto rendered = render(json::Array{probe::plain_message("user", kQuestionText)}, setting, false);
  if (!rendered) return std::nullopt;
  std::string out;
  std::size_t at = 0;
  for (const text::Run& run : rendered->text.runs()) {
    if (run.kind == RunKind::kLiteral) {
      out += rendered->text.bytes().substr(at, run.size);
    } else if (!out.ends_with(kNoText)) {
      out += kNoText;
    }
    at += run.size;
  }
  return out;
}

std::optional<std::string> Prober::text_of(json::Array messages, const ProbeSetting& setting) {
  auto rendered = render(std::move(messages), setting, false);
  if (!rendered) return std::nullopt;
  return rendered->text.bytes();
}

std::optional<std::string> Prober::text_with(json::Object assistant_message, const ProbeSetting& setting) {
  return text_of({probe::plain_message("user", kQuestionText), std::move(assistant_message)}, setting);
}

std::optional<Written> Prober::generation_prompt(const ProbeSetting& setting) {
  const json::Array messages{probe::plain_message("user", kQuestionText)};
  const auto with = render(messages, setting, true);
  const auto without = render(messages, setting, false);
  if (!with || !without) return std::nullopt;
  ProbeTrial trial;
  trial.setting = setting;
  // Usually the prompt is what is added at the end.  If asking for an answer also changes earlier text, take instead
  // the text at the end that was written under that condition.
  const bool is_added = with->text.bytes().starts_with(without->text.bytes());
  std::string& out = trial.generation_prompt;
  std::size_t at = 0;
  for (const text::Run& run : with->text.runs()) {
    const std::size_t skip = is_added && at < without->text.size() ? without->text.size() - at : 0;
    const bool is_part = is_added ? skip < run.size : with->origins.contexts.at(run.context).generation_prompt;
    if (!is_part) {
      out.clear();
      trial.prompt_sources.clear();
    } else {
      Source source = source_of(run);
      source.at = out.size();
      source.offset += static_cast<std::uint32_t>(skip);
      trial.prompt_sources.push_back(source);
      out += with->text.bytes().substr(at + skip, run.size - skip);
    }
    at += run.size;
  }
  Written written;
  written.append(out, trial.prompt_sources);
  if (keeps_trials_) trials_.push_back(std::move(trial));
  return written;
}

}  // namespace rondo::analysis
