// Compares content as text with content as text parts, and null, empty and absent content beside calls.
#include <algorithm>
#include <functional>

#include "audit/property_groups.h"
#include "probe/places.h"

namespace rondo::audit {
namespace {

// There is no white space between the two parts, because some templates trim it.
constexpr std::string_view kWholeWord = "word-oneword-two";
constexpr std::string_view kFirstWord = "word-one";
constexpr std::string_view kSecondWord = "word-two";

enum class Reading : std::uint8_t {
  kUnknown,  // the template does not write this role's text either
  kRead,     // same as the text
  kOther,    // different from the text
  kPrinted,  // the template prints the list as a value
  kDropped,
  kRefused,
};

// A role, and a conversation in which the content of its message is a blank to fill in.
struct Slot {
  std::string role;
  std::string path;
  std::function<json::Array(json::Value)> messages;
  TrialSetting setting;
};

// What the template makes of one text part in that slot.
struct Outcome {
  Reading reading = Reading::kUnknown;
  std::string as_text;
  std::string as_parts;  // or the error message
  causes::TemplatePlace place;
};

std::vector<Slot> slots(const Trials& trials) {
  const json::Value user = user_message();
  std::vector<Slot> out = {
      {"user",
       "messages[0].content",
       [](json::Value value) { return json::Array{plain_message("user", std::move(value))}; },
       {}},
      {"system",
       "messages[0].content",
       [user](json::Value value) { return json::Array{plain_message("system", std::move(value)), user}; },
       {}},
      {"assistant",
       "messages[1].content",
       [user](json::Value value) {
         return json::Array{user, plain_message("assistant", std::move(value)),
                            plain_message("user", kSecondQuestionWord)};
       },
       {}},
  };
  if (trials.writes_calls()) {
    const TrialSetting setting{.tools = true};
    const json::Value call = trials.assistant({"", "", {first_call()}});
    out.push_back({"tool", "messages[2].content",
                   [&trials, user, call](json::Value value) {
                     return json::Array{user, call, trials.result(0, kToolName, std::move(value))};
                   },
                   setting});
  }
  return out;
}

bool is_printed_value(const jinja::Rendered& rendered, std::size_t at) {
  const text::Run* run = probe::spot_at(rendered, at).run;
  if (run == nullptr) return false;
  const text::ChainTable& chains = rendered.origins.chains;
  return chains.contains(run->chain, "pyrepr") || chains.contains(run->chain, "json");
}

Outcome try_part(const Trials& trials, const Slot& slot) {
  Outcome out;
  const auto plain = trials.text(slot.messages(kWholeWord), slot.setting);
  if (!plain.ok() || plain.value().find(kWholeWord) == std::string::npos) return out;
  out.as_text = plain.value();
  const auto parts = trials.render(slot.messages(json::Array{text_part(kWholeWord)}), slot.setting);
  if (!parts.ok()) {
    out.reading = Reading::kRefused;
    out.as_parts = parts.error().message;
    out.place = causes::place_of(trials.context().chat_template, parts.error());
    return out;
  }
  out.as_parts = parts.value().text.bytes();
  const std::size_t at = out.as_parts.find(kWholeWord);
  const std::size_t differs = first_difference(out.as_text, out.as_parts);
  if (out.as_parts == out.as_text) {
    out.reading = Reading::kRead;
  } else if (at == std::string::npos) {
    out.reading = Reading::kDropped;
    out.place = causes::place_at(trials.context().chat_template, parts.value(), differs);
  } else {
    out.reading = is_printed_value(parts.value(), at) ? Reading::kPrinted : Reading::kOther;
    out.place = causes::place_at(trials.context().chat_template, parts.value(),
                                 out.reading == Reading::kPrinted ? at : differs);
  }
  return out;
}

std::string told(Reading reading) {
  switch (reading) {
    case Reading::kPrinted: return "are printed as a list";
    case Reading::kDropped: return "are not written";
    case Reading::kRefused: return "are refused";
    default: return "are written otherwise than the same text";
  }
}

std::string proof_of(const Outcome& outcome) {
  if (outcome.reading == Reading::kRefused) return "one text part: " + text::quoted(outcome.as_parts);
  return difference({"as text", outcome.as_text}, {"as one part", outcome.as_parts});
}

// Checks what two parts become, for roles whose parts the template reads.
class TwoParts {
 public:
  TwoParts(const Trials& trials, report::Report& report) : trials_(trials), report_(report) {}

  void compare(const Slot& slot, const Outcome& outcome) {
    const auto two =
        trials_.render(slot.messages(json::Array{text_part(kFirstWord), text_part(kSecondWord)}), slot.setting);
    if (!two.ok() || two.value().text.bytes() == outcome.as_parts) return;
    const std::string& text = two.value().text.bytes();
    Found found;
    found.is_lost = text.find(kSecondWord) == std::string::npos;
    found.finding.rule = "parts-differ";
    found.finding.level = found.is_lost ? report::Level::kError : report::Level::kNote;
    found.finding.path = slot.path;
    const std::size_t at = found.is_lost ? text.find(kFirstWord) : first_difference(outcome.as_parts, text);
    found.finding.place = causes::place_at(trials_.context().chat_template, two.value(), at);
    found.finding.proof = difference({"one part", outcome.as_parts}, {"the same in two parts", text});
    // One line of the template may write several roles.
    const auto known = std::ranges::find_if(found_, [&found](const Found& other) {
      return other.is_lost == found.is_lost && other.finding.place.line == found.finding.place.line;
    });
    const std::string role = "`" + slot.role + "`";
    if (known != found_.end()) {
      known->roles.push_back(role);
    } else {
      found.roles.push_back(role);
      found_.push_back(std::move(found));
    }
  }

  void report() {
    for (Found& found : found_) {
      found.finding.sentence =
          found.is_lost ? "of the text parts of " + listed(found.roles) + " messages only the first is written"
                        : "text parts of " + listed(found.roles) + " messages are not joined as they are";
      add_finding(report_, std::move(found.finding));
    }
  }

 private:
  struct Found {
    bool is_lost = false;
    std::vector<std::string> roles;
    report::Finding finding;
  };

  const Trials& trials_;
  report::Report& report_;
  std::vector<Found> found_;
};

// ---- Content beside calls

// The message with a call and that content; nullopt leaves the content out.
json::Array call_messages(const Trials& trials, const std::optional<json::Value>& content) {
  json::Value call = trials.assistant({"", "", {first_call()}});
  json::Object message{{"role", "assistant"}};
  if (content) message.set("content", *content);
  message.set("tool_calls", *call.find("tool_calls"));
  return {user_message(), message, trials.result(0, kToolName, kResultWord)};
}

// Where the template printed null content as a word.
std::optional<std::size_t> printed_null(const jinja::Rendered& rendered) {
  std::size_t at = 0;
  for (const text::Run& run : rendered.text.runs()) {
    if (run.kind == text::RunKind::kScalar && rendered.origins.paths.to_string(run.path()) == "messages[1].content")
      return at;
    at += run.size;
  }
  return std::nullopt;
}

void compare_no_content(const Trials& trials, report::Report& report) {
  const TrialSetting setting{.tools = true};
  const auto empty = trials.text(call_messages(trials, json::Value("")), setting);
  std::int32_t refused_line = 0;
  for (const bool is_null : {true, false}) {
    const auto content = is_null ? std::optional(json::Value()) : std::nullopt;
    const auto rendered = trials.render(call_messages(trials, content), setting);
    const std::string what = is_null ? "null" : "absent";
    report::Finding finding;
    finding.path = "messages[1].content";
    if (!rendered.ok()) {
      if (!empty.ok()) continue;                                        // it refuses something other than the content
      if (!is_null && rendered.error().line == refused_line) continue;  // for the same reason
      refused_line = rendered.error().line;
      finding.rule = "refused";
      finding.level = is_null ? report::Level::kError : report::Level::kWarning;
      finding.sentence = "a message with calls whose content is " + what + " is refused";
      finding.proof = "the template fails with " + text::quoted(rendered.error().message);
      finding.place = causes::place_of(trials.context().chat_template, rendered.error());
      finding.remedies.push_back(
          {.kind = report::Remedy::Kind::kField, .sentence = "send `\"content\": \"\"`", .is_verified = true});
      add_finding(report, std::move(finding));
      continue;
    }
    const std::string& text = rendered.value().text.bytes();
    if (const auto at = printed_null(rendered.value())) {
      finding.rule = "python-value";
      finding.level = report::Level::kWarning;
      finding.sentence = "content that is null beside calls is written as a word";
      finding.proof = "content null is written as " + excerpt(text, *at, *at + 4);
      finding.place = causes::place_at(trials.context().chat_template, rendered.value(), *at);
      finding.remedies.push_back({.kind = report::Remedy::Kind::kField, .sentence = "send `\"content\": \"\"`"});
      add_finding(report, std::move(finding));
    } else if (empty.ok() && text != empty.value()) {
      finding.rule = "parts-differ";
      finding.level = report::Level::kNote;
      finding.sentence = "beside calls, content that is " + what + " is written otherwise than empty content";
      finding.proof = difference({"empty", empty.value()}, {what, text});
      finding.place =
          causes::place_at(trials.context().chat_template, rendered.value(), first_difference(empty.value(), text));
      add_finding(report, std::move(finding));
    }
  }
}

}  // namespace

void find_part_differences(const Trials& trials, report::Report& report) {
  if (trials.needs_parts()) {
    report::Finding finding = finding_of("parts-differ", report::Level::kError);
    finding.sentence = "content that is text is not written; only lists of parts are";
    const auto parts = trials.render({user_message()}, {});
    if (parts.ok()) {
      const std::string& text = parts.value().text.bytes();
      finding.proof = "as one part: " + excerpt(text, text.find(kQuestionWord), text.size()) +
                      "; as text, nothing of it is in the prompt";
      finding.place = causes::place_at(trials.context().chat_template, parts.value(), text.find(kQuestionWord));
    }
    finding.path = "messages[0].content";
    finding.remedies.push_back({.kind = report::Remedy::Kind::kField,
                                .sentence = "send content as a list of text parts",
                                .is_verified = true});
    add_finding(report, std::move(finding));
    return;
  }
  const std::vector<Slot> all = slots(trials);
  std::vector<Outcome> outcomes;
  std::vector<std::string> readers;
  for (const Slot& slot : all) {
    outcomes.push_back(try_part(trials, slot));
    const Reading reading = outcomes.back().reading;
    if (reading == Reading::kRead || reading == Reading::kOther) readers.push_back("`" + slot.role + "`");
  }
  TwoParts two_parts(trials, report);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Outcome& outcome = outcomes[i];
    if (outcome.reading == Reading::kUnknown) continue;
    const bool is_read = outcome.reading == Reading::kRead || outcome.reading == Reading::kOther;
    if (is_read) two_parts.compare(all[i], outcome);
    if (outcome.reading == Reading::kRead) continue;
    report::Finding finding;
    finding.rule = "parts-differ";
    finding.path = all[i].path;
    finding.place = outcome.place;
    finding.proof = proof_of(outcome);
    if (readers.empty()) {
      // Like most templates, this one reads text only, so a client with parts must join them first.  If the template
      // does not say so, text is lost.
      finding.level = outcome.reading == Reading::kDropped ? report::Level::kWarning : report::Level::kNote;
      finding.sentence = "content must be text: text parts " + told(outcome.reading);
      add_finding(report, std::move(finding));
      break;
    }
    finding.level = outcome.reading == Reading::kDropped ? report::Level::kError : report::Level::kWarning;
    finding.sentence = is_read ? "text parts of `" + all[i].role + "` messages " + told(outcome.reading)
                               : "the template reads text parts of " + listed(readers) + " messages, and those of `" +
                                     all[i].role + "` messages " + told(outcome.reading);
    finding.remedies.push_back({.kind = report::Remedy::Kind::kField,
                                .sentence = "send content as text in `" + all[i].role + "` messages",
                                .is_verified = true});
    add_finding(report, std::move(finding));
  }
  two_parts.report();
  if (trials.writes_calls()) compare_no_content(trials, report);
}

}  // namespace rondo::audit
