// A last message that goes on in one of its fields: from every template at hand the prompt ends with what was given, and a
// parser behind it reads the given parts and what follows as one message.
#include <doctest/doctest.h>

#include <cstdlib>

#include "core/model.h"
#include "json/parse.h"
#include "tests/support/corpus.h"

namespace rondo {
namespace {

// What is given, the field that goes on, and what the model writes then.
struct Continued {
  const char* message;
  const char* field;
  const char* more;
};

constexpr Continued kContent = {R"({"role": "assistant", "content": "Well, I"})", "content", " think so."};
constexpr Continued kReasoning = {R"({"role": "assistant", "content": "", "reasoning_content": "Let me see"})",
                                  "reasoning_content", ", now."};
constexpr Continued kBoth = {R"({"role": "assistant", "content": "Well, I", "reasoning_content": "Let me see."})",
                             "content", " think so."};
constexpr Continued kCall = {
    R"({"role": "assistant", "content": "", "tool_calls": [{"id": "abcdef123", "type": "function",
        "function": {"name": "get_weather", "arguments": "{\"city\": \"Par"}}]})",
    "tool_calls", "is"};

class Subject {
 public:
  Subject(std::shared_ptr<const core::Model> model, const test::CorpusRow& row, jinja::LocalTime now)
      : model_(std::move(model)), row_(row), now_(now) {}

  [[nodiscard]] core::Call call(const Continued& continued) const {
    core::Call out;
    out.conversation.messages = {json::Object{{"role", "user"}, {"content", "Hi there"}},
                                 json::parse(continued.message).value()};
    out.conversation.continue_final_message = continued.field;
    out.conversation.bos_token = row_.bos_token;
    out.conversation.eos_token = row_.eos_token;
    out.has_messages = true;
    out.now = now_;
    return out;
  }
  [[nodiscard]] bool answers() const {
    core::Call asked = call(kContent);
    asked.conversation.messages.pop_back();
    asked.conversation.continue_final_message.reset();
    asked.conversation.add_generation_prompt = true;
    return model_->render(asked).ok();
  }
  [[nodiscard]] const format::Format* format() {
    core::Call asked = call(kContent);
    auto made = model_->format(asked);
    format_ = made.ok() ? made.value() : nullptr;
    return format_.get();
  }
  [[nodiscard]] std::string prompt(const Continued& continued) const {
    core::Call asked = call(continued);
    auto text = model_->render(asked);
    return text.ok() ? text.value() : "error: " + text.error().message;
  }
  [[nodiscard]] chat::AssistantMessage read(const Continued& continued) const {
    core::Call asked = call(continued);
    auto parser = model_->parser(asked, {});
    if (!parser.ok()) return {};
    (void)parser.value().feed(continued.more);
    return parser.value().finish().value();
  }

 private:
  std::shared_ptr<const core::Model> model_;
  const test::CorpusRow& row_;
  jinja::LocalTime now_;
  std::shared_ptr<const format::Format> format_;
};

// What does not hold; "" if all does.
std::string objection(Subject& subject) {
  const format::Format* format = subject.format();
  if (format == nullptr) return "";
  if (!subject.prompt(kContent).ends_with("Well, I")) return "content: " + subject.prompt(kContent);
  if (const auto read = subject.read(kContent); read.content != "Well, I think so.")
    return "content, read: " + read.content;
  if (format->reasoning.present) {
    if (!subject.prompt(kReasoning).ends_with("Let me see")) return "reasoning: " + subject.prompt(kReasoning);
    if (const auto read = subject.read(kReasoning); read.reasoning != "Let me see, now.")
      return "reasoning, read: " + read.reasoning.value_or("(none)") + "; " + read.content;
    const auto read = subject.read(kBoth);
    if (read.reasoning != "Let me see." || read.content != "Well, I think so.")
      return "both, read: " + read.reasoning.value_or("(none)") + "; " + read.content;
  }
  if (format->calls.present && subject.prompt(kCall).find("error: ") != 0) {
    const auto read = subject.read(kCall);
    if (read.tool_calls.size() != 1 || read.tool_calls[0].arguments.find("Paris") == std::string::npos)
      return "call, read: " + read.content;
  }
  return "";
}

TEST_CASE("every field of a last message can be continued, and is read with what was given") {
  const auto corpus = test::Corpus::open();
  if (!corpus) return;
  std::size_t held = 0;
  std::size_t failed = 0;
  for (const test::CorpusRow& row : corpus->templates(4)) {
    auto model = core::Model::load({.chat_template = row.template_path});
    if (!model.ok()) continue;
    Subject subject(model.value(), row, test::kClock);
    if (!subject.answers()) continue;
    const std::string fault = objection(subject);
    ++(fault.empty() ? held : failed);
    if (!fault.empty()) MESSAGE(row.id << ": " << fault);
  }
  CHECK(held >= 50);
  const bool is_sample = std::getenv("RONDO_TEST_FULL") == nullptr && !test::is_small_corpus();
  CHECK(failed <= (is_sample ? 2 : 9));
}

}  // namespace
}  // namespace rondo
