// Finds legal conversations that the template refuses or writes only in part, and what strict mode refuses.  The level
// of a refusal depends on the conversation and on whether the template means it.  If the template raises a message on
// purpose for an unknown order of messages, that is a note: the model was not trained on it, and the client is told.
// Failing on what every rollout with tools contains is an error, or a warning if it is on purpose.
#include <algorithm>

#include "audit/property_groups.h"
#include "causes/places.h"
#include "json/print.h"

namespace rondo::audit {
namespace {

enum class Use : std::uint8_t {
  kCore,   // every client sends it
  kCalls,  // every rollout with tools contains it
  kRare,   // legal and seen in practice
};

struct Shape {
  std::string name;
  Use use = Use::kRare;
  json::Array messages;
  std::vector<std::string_view> words;  // that the prompt must contain, with the index of their message
  TrialSetting setting;
};

std::vector<Shape> plain_shapes() {
  const json::Value system = plain_message("system", kSystemWord);
  const json::Value user = user_message();
  const json::Value answer = plain_message("assistant", kAnswerWord);
  const json::Value again = plain_message("user", kSecondQuestionWord);
  return {
      {"a system message", Use::kCore, {system, user}, {kSystemWord, kQuestionWord}, {}},
      {"several turns", Use::kCore, {user, answer, again}, {kQuestionWord, kAnswerWord, kSecondQuestionWord}, {}},
      {"two user messages in a row", Use::kRare, {user, again}, {kQuestionWord, kSecondQuestionWord}, {}},
      {"an assistant message first", Use::kRare, {answer, user}, {kAnswerWord, kQuestionWord}, {}},
      {"two assistant messages in a row",
       Use::kRare,
       {user, answer, plain_message("assistant", kSecondAnswerWord), again},
       {kAnswerWord, kSecondAnswerWord},
       {}},
      {"a system message behind others",
       Use::kRare,
       {user, answer, system, again},
       {kQuestionWord, kAnswerWord, kSystemWord, kSecondQuestionWord},
       {}},
      {"two system messages",
       Use::kRare,
       {system, plain_message("system", "system-two"), user},
       {kSystemWord, "system-two", kQuestionWord},
       {}},
      {"a developer message",
       Use::kRare,
       {plain_message("developer", "developer-one"), user},
       {"developer-one", kQuestionWord},
       {}},
      {"empty user content", Use::kRare, {plain_message("user", "")}, {}, {}},
  };
}

std::vector<Shape> call_shapes(const Trials& trials) {
  const json::Value user = user_message();
  const json::Value again = plain_message("user", kSecondQuestionWord);
  const SaidCall first = first_call();
  const SaidCall second = second_call();
  const json::Value call = trials.assistant({"", "", {first}});
  const json::Value said = trials.assistant({"", std::string(kAnswerWord), {first}});
  const json::Value both = trials.assistant({"", "", {first, second}});
  const json::Value result = trials.result(0, kToolName, kResultWord);
  const json::Value other = trials.result(1, kSecondToolName, kSecondResultWord);
  const json::Value answer = plain_message("assistant", kAnswerWord);
  const TrialSetting tools{.tools = true};
  std::vector<Shape> out = {
      {"a call and its result", Use::kCalls, {user, call, result}, {kToolName, kResultWord}, tools},
      {"a system message, a call and its result",
       Use::kCalls,
       {plain_message("system", kSystemWord), user, call, result},
       {kSystemWord, kToolName, kResultWord},
       tools},
      {"an answer behind a result, and a question",
       Use::kCalls,
       {user, call, result, answer, again},
       {kResultWord, kAnswerWord, kSecondQuestionWord},
       tools},
      {"a call behind a result",
       Use::kCalls,
       {user, call, result, call, trials.result(0, kToolName, kSecondResultWord)},
       {kResultWord, kSecondResultWord},
       tools},
      {"a user message behind a result",
       Use::kRare,
       {user, call, result, again},
       {kResultWord, kSecondQuestionWord},
       tools},
      {"text beside a call", Use::kRare, {user, said, result}, {kToolName, kResultWord}, tools},
      {"a call and its result without tools", Use::kRare, {user, call, result}, {kToolName, kResultWord}, {}},
      {"a result without a call", Use::kRare, {user, result}, {kResultWord}, tools},
      {"an empty tool result", Use::kRare, {user, call, trials.result(0, kToolName, "")}, {kToolName}, tools},
  };
  if (!trials.format().input.single_call)
    out.push_back({"two calls and their results",
                   Use::kCalls,
                   {user, both, result, other},
                   {kResultWord, kSecondResultWord},
                   tools});
  return out;
}

std::vector<Shape> all_shapes(const Trials& trials) {
  std::vector<Shape> out = plain_shapes();
  if (trials.writes_calls()) {
    for (Shape& shape : call_shapes(trials)) out.push_back(std::move(shape));
  }
  for (Shape& shape : out) shape.setting.generation_prompt = true;
  return out;
}

bool is_meant(const Error& error) { return error.code == ErrorCode::kTemplateRaised; }

report::Level refusal_level(Use use, const Error& error) {
  switch (use) {
    case Use::kCore: return is_meant(error) ? report::Level::kNote : report::Level::kError;
    case Use::kCalls: return is_meant(error) ? report::Level::kWarning : report::Level::kError;
    case Use::kRare: return is_meant(error) ? report::Level::kNote : report::Level::kWarning;
  }
  return report::Level::kNote;
}

// Refusals from one place of the template are one finding, with the worst level among them.
struct Refusal {
  report::Level level = report::Level::kNote;
  Error error;
  std::vector<std::string> shapes;
};

// Messages of one role that the template does not write.
struct Dropped {
  std::string role;
  report::Level level = report::Level::kNote;
  std::vector<std::string> shapes;
  report::Finding finding;
};

class RefusalAudit {
 public:
  RefusalAudit(const Trials& trials, report::Report& report) : trials_(trials), report_(report) {}

  void run() {
    for (const Shape& shape : all_shapes(trials_)) {
      const auto rendered = trials_.render(shape.messages, shape.setting);
      if (!rendered.ok()) {
        note(shape, rendered.error());
      } else {
        check_words(shape, rendered.value());
      }
    }
    for (const Refusal& refusal : refusals_) report(refusal);
    for (Dropped& dropped : dropped_) report(dropped);
  }

 private:
  void note(const Shape& shape, const Error& error) {
    const report::Level level = refusal_level(shape.use, error);
    for (Refusal& known : refusals_) {
      if (known.error.line != error.line || known.error.message != error.message) continue;
      known.level = std::max(known.level, level);
      known.shapes.push_back(shape.name);
      return;
    }
    refusals_.push_back({level, error, {shape.name}});
  }

  void report(const Refusal& refusal) {
    report::Finding finding = finding_of("refused", refusal.level);
    finding.sentence =
        std::string(is_meant(refusal.error) ? "the template refuses on purpose: " : "the template fails on: ") +
        listed(refusal.shapes);
    finding.proof = (is_meant(refusal.error) ? "it raises " : "the error is ") + text::quoted(refusal.error.message);
    finding.place = causes::place_of(trials_.context().chat_template, refusal.error);
    finding.path = "messages";
    add_finding(report_, std::move(finding));
  }

  // Finds a message whose text is missing from the prompt.
  void check_words(const Shape& shape, const jinja::Rendered& rendered) {
    const std::string& text = rendered.text.bytes();
    for (const std::string_view word : shape.words) {
      if (text.find(word) != std::string::npos) continue;
      const std::size_t index = message_of(shape, word);
      const std::string role(shape.messages[index].find_string("role").value_or(""));
      // A role that few templates know.
      const report::Level level = role == "developer"       ? report::Level::kNote
                                  : shape.use == Use::kRare ? report::Level::kWarning
                                                            : report::Level::kError;
      const auto known = std::ranges::find_if(
          dropped_, [&](const Dropped& other) { return other.role == role && other.level == level; });
      if (known != dropped_.end()) {
        if (known->shapes.back() != shape.name) known->shapes.push_back(shape.name);
        continue;
      }
      Dropped dropped{role, level, {shape.name}, {}};
      dropped.finding.proof =
          "with " + shape.name + " nothing of " + text::quoted(word) + " is in the prompt " + shortened(text);
      dropped.finding.path = "messages[" + std::to_string(index) + "].content";
      dropped.finding.place = flipped_place(shape, index, word, rendered);
      if (dropped.finding.place.line == 0)
        dropped.finding.place =
            causes::last_look(trials_.context().chat_template, rendered, static_cast<std::int32_t>(index), "role");
      dropped_.push_back(std::move(dropped));
    }
  }

  void report(Dropped& dropped) {
    const auto worse = std::ranges::find_if(
        dropped_, [&](const Dropped& other) { return other.role == dropped.role && other.level > dropped.level; });
    if (worse != dropped_.end()) return;  // simpler conversations do not show it either
    dropped.finding.rule = "dropped-field";
    dropped.finding.level = dropped.level;
    dropped.finding.sentence =
        "a message of role `" + dropped.role + "` is not written in a conversation with " + listed(dropped.shapes);
    add_finding(report_, std::move(dropped.finding));
  }

  [[nodiscard]] static std::size_t message_of(const Shape& shape, std::string_view word) {
    for (std::size_t i = 0; i < shape.messages.size(); ++i) {
      if (shape.messages[i].find_string("content") == word) return i;
    }
    return shape.messages.size() > 1 ? 1 : 0;  // the name of a call
  }

  // The text may be written if fewer messages follow.  This is the condition that then goes the other way.
  [[nodiscard]] causes::TemplatePlace flipped_place(const Shape& shape, std::size_t index, std::string_view word,
                                                    const jinja::Rendered& rendered) const {
    for (std::size_t count = shape.messages.size() - 1; count > index; --count) {
      const json::Array fewer(shape.messages.begin(), shape.messages.begin() + static_cast<std::ptrdiff_t>(count));
      const auto before = trials_.render(fewer, shape.setting);
      if (!before.ok() || before.value().text.bytes().find(word) == std::string::npos) continue;
      const auto last = static_cast<std::int32_t>(count) - 1;
      const jinja::Decision* flip = causes::first_flip(before.value(), rendered, last);
      return flip == nullptr ? causes::TemplatePlace{}
                             : causes::place_of(trials_.context().chat_template, {flip->line, flip->column});
    }
    return {};
  }

  const Trials& trials_;
  report::Report& report_;
  std::vector<Refusal> refusals_;
  std::vector<Dropped> dropped_;
};

// The message with the arguments of its calls as text, as the APIs have them.
json::Value with_text_arguments(json::Value message) {
  for (json::Value& call : message.as_object().find("tool_calls")->as_array()) {
    json::Object& function = call.as_object().find("function")->as_object();
    const json::Value arguments = *function.find("arguments");
    if (!arguments.is_string()) function.set("arguments", json::to_compact(arguments));
  }
  return message;
}

// Clients send arguments as a string of JSON.  If the template needs an object, someone must parse them first.
void find_refused_arguments(const Trials& trials, report::Report& report) {
  if (!trials.writes_calls()) return;
  const json::Value call = trials.assistant({"", "", {first_call()}});
  const json::Value result = trials.result(0, kToolName, kResultWord);
  const TrialSetting setting{.generation_prompt = true, .tools = true};
  const auto refused = trials.render({user_message(), with_text_arguments(call), result}, setting);
  if (refused.ok() || !trials.text({user_message(), call, result}, setting).ok()) return;
  report::Finding finding = finding_of("refused", report::Level::kNote);
  finding.sentence = "calls whose arguments are a string of JSON are refused";
  finding.proof = "the template fails with " + text::quoted(refused.error().message);
  finding.place = causes::place_of(trials.context().chat_template, refused.error());
  finding.path = "messages[1].tool_calls[0].function.arguments";
  finding.remedies.push_back({.kind = report::Remedy::Kind::kArguments,
                              .sentence = "send the arguments as an object (rondo does in lenient mode)",
                              .is_verified = true});
  add_finding(report, std::move(finding));
}

}  // namespace

void find_refusals(const Trials& trials, report::Report& report) {
  RefusalAudit(trials, report).run();
  find_refused_arguments(trials, report);
}

void find_strict_differences(const Trials& trials, report::Report& report) {
  for (const Shape& shape : all_shapes(trials)) {
    TrialSetting strict = shape.setting;
    strict.strict = true;
    TrialSetting lenient = shape.setting;
    lenient.strict = false;
    const auto allowed = trials.render(shape.messages, lenient);
    const auto sandboxed = trials.render(shape.messages, strict);
    if (!allowed.ok()) continue;
    report::Finding finding = finding_of("strict-differs", report::Level::kNote);
    finding.path = "messages";
    if (!sandboxed.ok()) {
      finding.sentence = "transformers' sandbox refuses the template where other engines run it";
      finding.proof = "with " + shape.name + ": " + text::quoted(sandboxed.error().message);
      finding.place = causes::place_of(trials.context().chat_template, sandboxed.error());
    } else if (sandboxed.value().text.bytes() != allowed.value().text.bytes()) {
      const std::string& text = allowed.value().text.bytes();
      const std::size_t at = first_difference(text, sandboxed.value().text.bytes());
      finding.level = report::Level::kWarning;
      finding.sentence = "transformers' sandbox writes another prompt than other engines";
      finding.proof = difference({"other engines", text}, {"sandbox", sandboxed.value().text.bytes()});
      finding.place = causes::place_at(trials.context().chat_template, allowed.value(), at);
    } else {
      continue;
    }
    add_finding(report, std::move(finding));
  }
}

}  // namespace rondo::audit
