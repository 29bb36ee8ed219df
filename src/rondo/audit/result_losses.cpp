// Finds what happens to tool results: their order, and the ids and names that connect them to their calls.
#include "audit/property_groups.h"

namespace rondo::audit {
namespace {

class ResultAudit {
 public:
  ResultAudit(const Trials& trials, report::Report& report) : trials_(trials), report_(report) {
    setting_.tools = true;
    setting_.generation_prompt = true;
    const SaidCall first = first_call();
    const SaidCall second = first_call("w");
    one_call_ = trials.assistant({"", "", {first}});
    two_calls_ = trials.assistant({"", "", {first, second}});
  }

  void run() {
    const auto one = trials_.render(with(one_call_, {trials_.result(0, kToolName, kResultWord)}), setting_);
    if (!one.ok()) return;  // find_refusals reports it
    if (one.value().text.bytes().find(kResultWord) == std::string::npos) return;
    check_name(one.value().text.bytes());
    check_id(one.value().text.bytes());
    if (!trials_.format().input.single_call) check_order();
  }

 private:
  [[nodiscard]] static json::Array with(const json::Value& call, json::Array results) {
    json::Array out = {user_message(), call};
    for (json::Value& result : results) out.push_back(std::move(result));
    return out;
  }

  // In the public chat APIs a result has an id but no name.
  void check_name(const std::string& named) {
    json::Value result = trials_.result(0, kToolName, kResultWord);
    result.as_object().erase("name");
    const auto rendered = trials_.render(with(one_call_, {result}), setting_);
    report::Finding finding;
    finding.path = "messages[2].name";
    if (!rendered.ok()) {
      finding.rule = "refused";
      finding.level = report::Level::kWarning;
      finding.sentence = "a tool result without `name` is refused; the public chat APIs have none there";
      finding.proof = "the template fails with " + text::quoted(rendered.error().message);
      finding.place = causes::place_of(trials_.context().chat_template, rendered.error());
    } else if (rendered.value().text.bytes() != named) {
      const std::string& text = rendered.value().text.bytes();
      finding.rule = "dropped-field";
      finding.level = report::Level::kNote;
      finding.sentence = "the name of a tool result is written, and the public chat APIs have none there";
      finding.proof = difference({"with a name", named}, {"without", text});
      finding.place =
          causes::place_at(trials_.context().chat_template, rendered.value(), first_difference(text, named));
    } else {
      return;
    }
    finding.remedies.push_back({.kind = report::Remedy::Kind::kField,
                                .sentence = "send the tool's name with its result",
                                .is_verified = true});
    add_finding(report_, std::move(finding));
  }

  void check_id(const std::string& told) {
    struct Change {
      const char* what;
      std::optional<std::string> id;
    };
    for (const Change& change :
         {Change{"without an id", std::nullopt}, Change{"with an id that no call has", "zzzzzzzz9"}}) {
      json::Value result = trials_.result(0, kToolName, kResultWord);
      if (change.id) {
        result.as_object().set("tool_call_id", *change.id);
      } else {
        result.as_object().erase("tool_call_id");
      }
      const auto rendered = trials_.render(with(one_call_, {result}), setting_);
      report::Finding finding;
      finding.path = "messages[2].tool_call_id";
      finding.level = report::Level::kNote;
      if (!rendered.ok()) {
        finding.rule = "refused";
        finding.sentence = std::string("a tool result ") + change.what + " is refused";
        finding.proof = "the template fails with " + text::quoted(rendered.error().message);
        finding.place = causes::place_of(trials_.context().chat_template, rendered.error());
      } else if (rendered.value().text.bytes().find(kResultWord) == std::string::npos) {
        finding.rule = "dropped-field";
        finding.level = report::Level::kWarning;
        finding.sentence = std::string("a tool result ") + change.what + " is not written";
        finding.proof = difference({"with the call's id", told}, {change.what, rendered.value().text.bytes()});
        finding.place = causes::last_look(trials_.context().chat_template, rendered.value(), 2, "tool_call_id");
      } else {
        continue;
      }
      add_finding(report_, std::move(finding));
    }
  }

  void check_order() {
    const json::Value first = trials_.result(0, kToolName, kResultWord);
    const json::Value second = trials_.result(1, kToolName, kSecondResultWord);
    const auto ordered = trials_.render(with(two_calls_, {first, second}), setting_);
    const auto reversed = trials_.render(with(two_calls_, {second, first}), setting_);
    if (!ordered.ok()) return;
    const std::string& text = ordered.value().text.bytes();
    if (text.find(kResultWord) == std::string::npos || text.find(kSecondResultWord) == std::string::npos) return;
    report::Finding finding;
    finding.path = "messages[3]";
    finding.level = report::Level::kNote;
    if (!reversed.ok()) {
      finding.rule = "refused";
      finding.sentence = "results in another order than their calls are refused";
      finding.proof = "the template fails with " + text::quoted(reversed.error().message);
      finding.place = causes::place_of(trials_.context().chat_template, reversed.error());
    } else if (reversed.value().text.bytes() == text) {
      finding.rule = "results-reordered";
      finding.sentence = "tool results are written in the order of their calls, whatever order they are sent in";
      finding.proof = "sent either way: " + excerpt(text, text.find(kResultWord), text.find(kSecondResultWord));
      finding.place = causes::place_at(trials_.context().chat_template, ordered.value(), text.find(kResultWord));
    } else if (!tells_call(ordered.value())) {
      finding.rule = "collision";
      finding.sentence = "results of two calls of one tool are told apart by their order alone";
      finding.proof = "they are written as " + excerpt(text, text.find(kResultWord), text.find(kSecondResultWord));
      finding.place = causes::place_at(trials_.context().chat_template, ordered.value(), text.find(kResultWord));
    } else {
      return;
    }
    add_finding(report_, std::move(finding));
  }

  // Whether a part of the second call's id, or its number, is beside its result.
  [[nodiscard]] bool tells_call(const jinja::Rendered& rendered) const {
    const json::Value other = trials_.result(0, kToolName, kSecondResultWord);
    const auto changed = trials_.text(with(two_calls_, {trials_.result(0, kToolName, kResultWord), other}), setting_);
    return !changed.ok() || changed.value() != rendered.text.bytes();
  }

  const Trials& trials_;
  report::Report& report_;
  TrialSetting setting_;
  json::Value one_call_;
  json::Value two_calls_;
};

}  // namespace

void find_result_losses(const Trials& trials, report::Report& report) {
  if (trials.writes_calls()) ResultAudit(trials, report).run();
}

}  // namespace rondo::audit
