// Templates made of encoders' constants against the encoders themselves: what they write of the corpus's conversations, and what
// their own parsers read.
//
// The recorded results stand in the folder oracle_dsv of the larger corpus, or of $RONDO_ENCODERS, which has the encoders
// too (tools/oracles/encoders.py).  A line has the conversation `c`, the mode `k` (thinking or chat, then +nodrop and an effort) and hash
// and text (`h`, `t`; the text where its hash does first) or the error `e`.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "base/files.h"
#include "core/model.h"
#include "json/parse.h"
#include "json/print.h"
#include "parse/parser.h"
#include "tests/support/corpus.h"

namespace rondo {
namespace {

// A recorded encoder: the file of its results and of its code.
constexpr const char* kEncoders[] = {"dsv32", "dsv4", "dsv4_0731"};
// Conversations with reasoning under another name than the encoders read: rondo gives it to a template under every name.
constexpr std::string_view kOtherNames[] = {"reasoning_alt_fields", "thought_other_field"};

std::string encoders_folder() {
  const char* const folder = std::getenv("RONDO_ENCODERS");
  return folder == nullptr ? "" : folder;
}

std::shared_ptr<const core::Model> load(const std::string& path) {
  core::Source source;
  source.chat_template = path;
  source.strict = true;
  const auto model = core::Model::load(source);
  REQUIRE_MESSAGE(model.ok(), (model.ok() ? "" : model.error().to_string()));
  return model.value();
}

// "thinking+nodrop+max" as variables.
json::Object variables(std::string_view mode) {
  json::Object out;
  std::size_t end = mode.find('+');
  out.set("thinking_mode", std::string(mode.substr(0, end)));
  while (end != std::string_view::npos) {
    mode.remove_prefix(end + 1);
    end = mode.find('+');
    const std::string_view word = mode.substr(0, end);
    if (word == "nodrop") {
      out.set("drop_thinking", false);
    } else {
      out.set("reasoning_effort", std::string(word));
    }
  }
  return out;
}

// Reasoning, content and calls in one line; arguments as values, as their spelling is free.
std::string shown(const chat::AssistantMessage& message) {
  std::string out = message.reasoning.value_or("") + "|" + message.content;
  for (const chat::ToolCall& call : message.tool_calls)
    out += "|" + call.name + json::to_compact(json::parse(call.arguments).value());
  return out;
}
std::string shown(const json::Value& message) {
  std::string out = message.find("reasoning_content")->as_string() + "|" + message.find("content")->as_string();
  for (const json::Value& call : message.find("tool_calls")->as_array()) {
    const json::Value& function = *call.find("function");
    out += "|" + function.find("name")->as_string() +
           json::to_compact(json::parse(function.find("arguments")->as_string()).value());
  }
  return out;
}

struct Renders {
  std::size_t equal = 0;
  std::size_t written = 0;  // by the encoder
  std::size_t refused = 0;  // by both
};

class Recorded {
 public:
  Recorded(const test::Corpus& corpus, std::string name) : corpus_(corpus), name_(std::move(name)) {}

  [[nodiscard]] const test::CorpusConversation& conversation(const json::Value& line) const {
    const std::string_view id = *line.find_string("c");
    for (const test::CorpusConversation& item : corpus_.conversations()) {
      if (item.id == id) return item;
    }
    FAIL("no conversation " << id);
    std::abort();
  }

  [[nodiscard]] std::vector<json::Value> lines(const std::string& suffix) const {
    std::vector<json::Value> out;
    const std::string folder = test::is_small_corpus() ? encoders_folder() : test::corpus_folder();
    for (const std::string& line :
         test::read_xz_lines(files::join(files::join(folder, "oracle_dsv"), name_ + suffix))) {
      out.push_back(json::parse(line).value());
    }
    return out;
  }

  // Compares each render with what the encoder wrote.
  [[nodiscard]] Renders renders(const core::Model& model) const {
    std::map<std::string, std::string, std::less<>> texts;
    Renders out;
    for (const json::Value& line : lines(".jsonl.xz")) {
      const test::CorpusConversation& item = conversation(line);
      const std::string_view mode = *line.find_string("k");
      CAPTURE(item.id);
      CAPTURE(mode);
      core::Call call;
      call.conversation.messages = item.messages;
      if (!item.tools.is_null()) call.conversation.tools = item.tools;
      call.conversation.kwargs = variables(mode);
      call.conversation.add_generation_prompt = true;
      call.has_messages = true;
      const auto text = model.render(call);
      const auto hash = line.find_string("h");
      CHECK(text.ok() == hash.has_value());
      ++(hash ? out.written : out.refused);
      if (!hash || !text.ok()) continue;
      std::string& known = texts[std::string(*hash)];
      if (const auto first = line.find_string("t")) known = *first;
      const bool is_named_otherwise = std::ranges::find(kOtherNames, item.id) != std::end(kOtherNames);
      out.equal += text.value() == known ? 1 : 0;
      if (!is_named_otherwise) CHECK(text.value() == known);
    }
    return out;
  }

  // Number of answers that both parsers read.
  [[nodiscard]] std::size_t parses(const core::Model& model) const {
    std::size_t out = 0;
    for (const json::Value& line : lines(".parse.jsonl.xz")) {
      const test::CorpusConversation& item = conversation(line);
      const json::Value* parsed = line.find("parsed");
      if (parsed == nullptr) continue;  // the encoder refuses marks in texts
      CAPTURE(item.id);
      const std::string_view mode = *line.find_string("mode");
      CAPTURE(mode);
      const std::string_view completion = *line.find_string("completion");
      CAPTURE(completion);
      core::Call call;
      if (!item.tools.is_null()) call.conversation.tools = item.tools;
      call.conversation.kwargs = variables(mode);
      call.conversation.add_generation_prompt = true;
      auto parser = model.parser(call, {});
      REQUIRE(parser.ok());
      (void)parser.value().feed(completion);
      REQUIRE(parser.value().finish().ok());
      CHECK(shown(parser.value().message()) == shown(*parsed));
      ++out;
    }
    return out;
  }

 private:
  const test::Corpus& corpus_;
  std::string name_;
};

}  // namespace

TEST_CASE("templates of encoders write what the encoders write, and parsers read what theirs read") {
  const auto corpus = test::Corpus::open();
  if (!corpus) return;
  if (encoders_folder().empty()) {
    MESSAGE("skipped: RONDO_ENCODERS is not set (./dev test sets it where the packages can be had)");
    return;
  }
  for (const std::string name : kEncoders) {
    const std::string path = files::join(encoders_folder(), name + ".py");
    const Recorded recorded(*corpus, name);
    if (!files::exists(path)) continue;
    CAPTURE(name);
    const auto model = load(path);
    const Renders renders = recorded.renders(*model);
    MESSAGE(name << ": equal in " << renders.equal << " of " << renders.written << " renders; " << renders.refused
                 << " are refused by both");
    CHECK(renders.equal > 100);
    const std::size_t parsed = recorded.parses(*model);
    MESSAGE(name << ": " << parsed << " answers");
  }
}

}  // namespace rondo
