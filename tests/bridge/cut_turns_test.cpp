// Turns that were cut off: at every token of turns with reasoning, text and calls, what a bridge appends closes what is open,
// and the parser reads the same message, closed.
//
// tools/recorders/harmony_cuts.py records what is appended to turns of one format, all of which openai-harmony reads as the turns,
// closed.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <optional>

#include "base/files.h"
#include "core/model.h"
#include "json/parse.h"
#include "json/print.h"
#include "tests/support/byte_tokenizer.h"
#include "tests/support/corpus.h"
#include "tests/support/messages.h"
#include "text/text.h"

namespace rondo {
namespace {

using tokenizer::TokenId;

// Those of the published table (seed_table_test.cpp), and kin of theirs that the small corpus has.
constexpr const char* kFamilies[] = {"qwen3.6", "qwen3.5", "glm5.1",      "glm5",    "kimi-k2.6",
                                     "kimi-k2", "kimi-k3", "deepseek-v4", "gpt-oss", "deepseek-v3.2"};

const char* const kTools =
    R"([{"type": "function", "function": {"name": "get_weather", "description": "d", "parameters":
  {"type": "object", "properties": {"location": {"type": "string", "description": "d"},
   "days": {"type": "integer", "description": "d"}}}}}])";

std::vector<test::MessageParts> turns() {
  const json::Object weather{{"location", "Oslo"}, {"days", 2}};
  const auto turn = [](std::string reasoning, std::string content, std::vector<json::Object> calls) {
    test::MessageParts parts{
        .reasoning = std::move(reasoning), .content = std::move(content), .calls = std::move(calls)};
    parts.names.assign(parts.calls.size(), "get_weather");
    return parts;
  };
  return {turn("I should look.", "It is 12C.", {}), turn("I should look.", "", {weather}),
          turn("", "Let me check.", {weather, json::Object{}})};
}

class Subject {
 public:
  Subject(std::shared_ptr<const core::Model> model, const test::CorpusRow& row, jinja::LocalTime now)
      : model_(std::move(model)) {
    call_.conversation.messages = {json::Object{{"role", "user"}, {"content", "Weather in Oslo?"}}};
    call_.conversation.tools = json::parse(kTools).value();
    call_.conversation.bos_token = row.bos_token;
    call_.conversation.eos_token = row.eos_token;
    call_.conversation.add_generation_prompt = true;
    call_.has_messages = true;
    call_.now = now;
    core::Call asked = call_;
    if (auto encoded = model_->encode(asked); encoded.ok()) prompt_ = encoded.value().ids;
  }

  [[nodiscard]] bool has_prompt() const { return !prompt_.empty(); }

  // What the model would have sampled of the turn, as far as the template says.
  [[nodiscard]] std::vector<TokenId> sampled(const test::MessageParts& parts) const {
    core::Call asked = call_;
    auto format = model_->format(asked);
    if (!format.ok()) return {};
    asked = call_;
    asked.conversation.messages.push_back(test::message_of(*format.value(), parts));
    asked.conversation.add_generation_prompt = false;
    const auto encoded = model_->encode(asked);
    std::vector<TokenId> out;
    if (!encoded.ok()) return out;
    for (std::size_t i = 0; i < encoded.value().ids.size(); ++i) {
      if (encoded.value().samplers[i] == 1) out.push_back(encoded.value().ids[i]);
    }
    return out;
  }

  [[nodiscard]] std::vector<TokenId> tokens(const std::string& text) const {
    return model_->tokenize(text, true).value();
  }
  [[nodiscard]] std::string text(std::span<const TokenId> ids) const { return model_->detokenize(ids, false).value(); }

  // What stands between a completion and the message that follows it; nullopt where the template refuses that.
  [[nodiscard]] std::optional<std::vector<TokenId>> lead(std::span<const TokenId> completion,
                                                         const std::string& follows) const {
    core::Call asked = call_;
    const json::Array next = {json::Object{{"role", follows}, {"content", "12"}}};
    const auto appended = model_->append(asked, {.prompt = prompt_, .completion = completion, .new_messages = next});
    if (!appended.ok()) return std::nullopt;
    const std::vector<std::int32_t>& owners = appended.value().message_indices;
    const auto first = std::ranges::find_if(owners, [](std::int32_t owner) { return owner >= 0; });
    return std::vector<TokenId>(appended.value().ids.begin(), appended.value().ids.begin() + (first - owners.begin()));
  }

  [[nodiscard]] chat::AssistantMessage read(std::span<const TokenId> completion) const {
    core::Call asked = call_;
    auto parsed = model_->parse_ids(asked, {.prompt_ids = prompt_}, completion);
    REQUIRE_MESSAGE(parsed.ok(), parsed.error().to_string());
    return std::move(parsed.value().message);
  }

 private:
  std::shared_ptr<const core::Model> model_;
  core::Call call_;
  std::vector<TokenId> prompt_;
};

std::optional<Subject> subject_of(const test::CorpusRow& row) {
  auto model = core::Model::load({.path = row.model_folder});
  if (!model.ok()) return std::nullopt;
  Subject subject(model.value(), row, test::kClock);
  return subject.has_prompt() ? std::optional(std::move(subject)) : std::nullopt;
}

bool goes_on(const std::string& a, const std::string& b) { return a.starts_with(b) || b.starts_with(a); }

// Why `closed` is not the message that was cut off, closed; "" if it is.  A turn that the model has ended itself
// (`is_ended`) may have been ended inside of its reasoning, and nothing closes that behind the stop.
std::string objection(const chat::AssistantMessage& cut, const chat::AssistantMessage& closed, bool is_ended) {
  if (!closed.complete && !(is_ended && !cut.complete)) return "something is still open";
  if (!goes_on(cut.content, closed.content)) return "content " + text::quoted(closed.content);
  if (!goes_on(cut.reasoning.value_or(""), closed.reasoning.value_or("")))
    return "reasoning " + text::quoted(*closed.reasoning);
  // A call whose name has begun may be one now.
  if (closed.tool_calls.size() < cut.tool_calls.size() || closed.tool_calls.size() > cut.tool_calls.size() + 1)
    return std::to_string(closed.tool_calls.size()) + " calls";
  for (std::size_t i = 0; i < closed.tool_calls.size(); ++i) {
    const chat::ToolCall& call = closed.tool_calls[i];
    if (i < cut.tool_calls.size() && call.name != cut.tool_calls[i].name) return "a call of " + call.name;
    if (call.status == chat::CallStatus::kUnclosed || call.status == chat::CallStatus::kInvalidJson)
      return "arguments " + call.arguments;
  }
  return "";
}

struct Tally {
  long cuts = 0;
  long wrong = 0;
};

void check(const Subject& subject, const std::string& name, const std::vector<TokenId>& sampled, Tally& tally) {
  for (std::size_t size = 0; size <= sampled.size(); ++size) {
    const std::span<const TokenId> completion = std::span(sampled).first(size);
    const chat::AssistantMessage cut = subject.read(completion);
    for (const std::string follows : {"user", "tool"}) {
      const auto lead = subject.lead(completion, follows);
      if (!lead) continue;
      ++tally.cuts;
      std::vector<TokenId> whole(completion.begin(), completion.end());
      whole.insert(whole.end(), lead->begin(), lead->end());
      const std::string wrong = objection(cut, subject.read(whole), size == sampled.size());
      if (wrong.empty()) continue;
      ++tally.wrong;
      MESSAGE(name << ", before a message of role " << follows << ": " << text::quoted(subject.text(completion))
                   << " + " << text::quoted(subject.text(*lead)) << ": " << wrong);
    }
  }
}

TEST_CASE("a turn that is cut off anywhere is closed as its parser reads it") {
  const auto corpus = test::Corpus::open();
  if (!corpus || corpus->rows_with_tokenizer().empty()) {
    MESSAGE(test::kNoCorpus);
    return;
  }
  std::vector<test::CorpusRow> rows = corpus->rows_with_tokenizer();
  for (const char* family : kFamilies) {
    const test::CorpusRow* row = corpus->find(family);
    const auto is_it = [family](const test::CorpusRow& other) { return other.id == family; };
    if (row != nullptr && !row->model_folder.empty() && std::ranges::none_of(rows, is_it)) rows.push_back(*row);
  }
  Tally families;
  Tally others;
  for (const test::CorpusRow& row : rows) {
    const auto subject = subject_of(row);
    if (!subject) continue;
    const bool is_family = std::ranges::find(kFamilies, row.id) != std::end(kFamilies) || test::is_small_corpus();
    for (const test::MessageParts& parts : turns())
      check(*subject, row.id, subject->sampled(parts), is_family ? families : others);
  }
  MESSAGE(families.cuts << " cuts, " << families.wrong << " not closed");
  CHECK(families.cuts > 1000);
  CHECK(families.wrong == 0);
  MESSAGE("other templates: " << others.cuts << " cuts, " << others.wrong << " not closed");
  CHECK(others.wrong == 0);
}

// The control tokens of that format, as they stand in its turns.
std::vector<std::string> control_tokens(const std::vector<json::Value>& rows) {
  std::vector<std::string> out;
  for (const json::Value& row : rows) {
    const std::string turn(row.find_string("turn").value_or(""));
    for (std::size_t at = turn.find("<|"); at != std::string::npos; at = turn.find("<|", at + 1)) {
      const std::string token = turn.substr(at, turn.find("|>", at) + 2 - at);
      if (std::ranges::find(out, token) == out.end()) out.push_back(token);
    }
  }
  return out;
}

TEST_CASE("what is appended to a cut turn is what the reference parser has read") {
  std::vector<json::Value> rows;
  std::ifstream record(RONDO_SOURCE_DIR "/tests/golden/cut_turns/harmony.jsonl");
  for (std::string line; std::getline(record, line);) rows.push_back(json::parse(line).value());
  REQUIRE(rows.size() > 200);
  const auto corpus = test::Corpus::open();
  const test::CorpusRow* row = corpus ? corpus->find("gpt-oss") : nullptr;
  if (row == nullptr) {
    MESSAGE(test::kNoCorpus);
    return;
  }
  core::MemoryModel memory;
  memory.name = row->id;
  memory.chat_template = files::read(row->template_path).value();
  memory.tokenizer_json = json::to_compact(test::byte_tokenizer_json(control_tokens(rows)));
  const auto model = core::Model::from_memory(std::move(memory), {});
  REQUIRE_MESSAGE(model.ok(), model.error().to_string());
  const Subject subject(model.value(), *row, test::kClock);
  REQUIRE(subject.has_prompt());
  std::string turn;
  for (const json::Value& line : rows) {
    if (const auto text = line.find_string("turn")) {
      turn = *text;
      continue;
    }
    const auto size = static_cast<std::size_t>(line.find("size")->to_int64().value());
    const std::string follows(*line.find_string("follows"));
    CAPTURE(turn.substr(0, size));
    CAPTURE(follows);
    const auto lead = subject.lead(subject.tokens(turn.substr(0, size)), follows);
    REQUIRE(lead);
    CHECK(subject.text(*lead) == *line.find_string("lead"));
  }
}

}  // namespace
}  // namespace rondo
