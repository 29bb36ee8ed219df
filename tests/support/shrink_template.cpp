#include "tests/support/shrink_template.h"

#include "json/print.h"
#include "template/chat_template.h"
#include "tests/support/random_message.h"

namespace rondo::test {
namespace {

// What an objection is about: its first word, or "calls" where their number is wrong.
std::string beginning(const std::string& objection) {
  if (objection.find_first_of("0123456789") == 0) return "calls";
  return objection.substr(0, objection.find_first_of(" :"));
}

class Shrinker {
 public:
  explicit Shrinker(Failure failure) : failure_(std::move(failure)), specimen_(specimen_of(failure_.shape)) {}

  Failure run() {
    // A bound that no failure has come near to; it keeps a mistake in here from running for ever.
    for (int round = 0; round < 40; ++round) {
      const bool has_simpler_message = shrink_message();
      if (!shrink_shape() && !has_simpler_message) break;
    }
    return failure_;
  }

 private:
  bool take(const Specimen& specimen, const MessageParts& message) {
    if (!is_expressible(specimen.shape, message)) return false;
    const Verdict verdict = check_law(failure_.law, specimen, message, failure_.seed);
    if (verdict.objection.empty() || beginning(verdict.objection) != beginning(failure_.objection)) return false;
    failure_.message = message;
    failure_.objection = verdict.objection;
    failure_.shape = specimen.shape;
    return true;
  }

  bool shrink_message() {
    bool has_changed = false;
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (const MessageParts& simpler : simpler_messages(failure_.message)) {
        if (!take(specimen_, simpler)) continue;
        goes_on = has_changed = true;
        break;
      }
    }
    return has_changed;
  }

  bool shrink_shape() {
    bool has_changed = false;
    for (const Simplification& step : simplifications(failure_.shape)) {
      TemplateShape simpler = failure_.shape;
      step.apply(simpler);
      tidy(simpler);
      if (simpler == failure_.shape || !is_sound(simpler)) continue;
      Specimen specimen = specimen_of(simpler);
      if (!take(specimen, failure_.message)) continue;
      specimen_ = std::move(specimen);
      has_changed = true;
    }
    return has_changed;
  }

  Failure failure_;
  Specimen specimen_;
};

}  // namespace

Failure shrunk(Failure failure) { return Shrinker(std::move(failure)).run(); }

std::string to_string(const Failure& failure) {
  const Specimen specimen = specimen_of(failure.shape);
  chat::Conversation conversation;
  conversation.messages =
      json::Array{json::Object{{"role", "user"}, {"content", "Hi."}}, message_of(*specimen.format, failure.message)};
  const auto rendered = tmpl::apply(*specimen.chat_template, conversation, {});
  return "law `" + std::string(to_string(failure.law)) + "`, seed " + std::to_string(failure.seed) + "\n" +
         failure.objection + "\nmessage " + to_string(failure.message) + "\nwritten " +
         (rendered.ok() ? json::to_compact(json::Value(rendered.value().text.bytes())) : rendered.error().to_string()) +
         "\nshape\n" + to_string(failure.shape) + "format\n" + specimen.format->to_string() + "template\n" +
         template_text(failure.shape);
}

std::string kind_of(const Failure& failure) {
  std::string out = std::string(to_string(failure.law)) + ", " + beginning(failure.objection) + ":";
  const std::string shape = to_string(failure.shape);
  for (std::size_t begin = 0; begin < shape.size(); begin = shape.find('\n', begin) + 1) {
    const std::size_t end = shape.find('\n', begin);
    const std::string line = shape.substr(begin, end - begin);
    out += " " + (line.find('"') == std::string::npos ? line : line.substr(0, line.find(' '))) + ",";
  }
  return out;
}

}  // namespace rondo::test
