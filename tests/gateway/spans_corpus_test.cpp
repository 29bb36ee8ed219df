// What the spans and traces of real templates say is true: every template of the corpus with a sample of conversations.
//
// The parts cover the prompt; a part that is copied input equals those bytes of the input at its path; a part that the
// template wrote stands at its line and column.  Without RONDO_TEST_FULL a sample of the conversations is taken.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "json/print.h"
#include "protocol/service.h"
#include "template/chat_template.h"
#include "tests/support/corpus.h"

namespace rondo {
namespace {

// Takes every n-th pair of template and conversation.
constexpr std::size_t kStep = 193;
constexpr std::size_t kSmallStep = 13;

std::size_t number(const json::Value& object, const char* field) {
  const json::Value* found = object.find(field);
  return found == nullptr ? 0 : static_cast<std::size_t>(found->to_int64().value_or(0));
}

// The string that a path names: a value's, or a key's own.  nullopt for paths that do not lead into the input: keys with
// dots or brackets in them, and what from_json made.
std::optional<std::string> input_at(const json::Object& variables, std::string_view path) {
  const json::Value root{json::Object(variables)};
  const json::Value* at = &root;
  while (!path.empty()) {
    if (path.starts_with('[')) {
      const std::size_t close = path.find(']');
      const auto index =
          static_cast<std::size_t>(std::strtoul(std::string(path.substr(1, close)).c_str(), nullptr, 10));
      if (!at->is_array() || index >= at->as_array().size()) return std::nullopt;
      at = &at->as_array()[index];
      path.remove_prefix(close + 1);
      continue;
    }
    if (path.starts_with('.')) path.remove_prefix(1);
    if (path.starts_with('#'))
      return at->find(path.substr(1)) != nullptr ? std::optional(std::string(path.substr(1))) : std::nullopt;
    const std::size_t end = std::min(path.find_first_of(".["), path.size());
    at = at->find(path.substr(0, end));
    if (at == nullptr) return std::nullopt;
    path.remove_prefix(end);
  }
  return at->is_string() ? std::optional(at->as_string()) : std::nullopt;
}

bool changes_case(const json::Value& origin) {
  const json::Value* via = origin.find("via");
  if (via == nullptr) return false;
  const json::Array& steps = via->as_array();
  return std::any_of(steps.begin(), steps.end(), [](const json::Value& step) {
    constexpr std::string_view kSteps[] = {"upper", "lower", "title", "capitalize", "swapcase", "casefold"};
    return std::find(std::begin(kSteps), std::end(kSteps), step.as_string()) != std::end(kSteps);
  });
}

// A string constant without its escapes, together with those directly behind it.
std::string unescaped(std::string_view constants) {
  std::string out;
  while (constants.starts_with('\'') || constants.starts_with('"')) {
    const char quote = constants.front();
    std::size_t i = 1;
    for (; i < constants.size() && constants[i] != quote; ++i) {
      if (constants[i] != '\\' || i + 1 == constants.size()) {
        out += constants[i];
        continue;
      }
      const char next = constants[++i];
      out += next == 'n' ? '\n' : next == 't' ? '\t' : next == 'r' ? '\r' : next;
    }
    constants.remove_prefix(std::min(i + 1, constants.size()));
    constants.remove_prefix(std::min(constants.find_first_not_of(" \t\n"), constants.size()));
  }
  return out;
}

// The template from the place of an origin on.
std::string source_at(const json::Value& trace, const json::Value& origin) {
  const json::Array& rows = trace.find("template")->find("rows")->as_array();
  const std::size_t first = number(origin, "row");
  std::string out;
  for (std::size_t i = first; i < rows.size() && i < first + 40; ++i) {
    if (i > first && number(rows[i], "column") == 1) out += '\n';
    out += *rows[i].find_string("text");
  }
  return out.substr(utf8::offset_of(out, number(origin, "column") - number(rows[first], "column")));
}

// What is wrong with the parts of a reply; "" if nothing is.
struct Checked {
  std::string wrong;
  std::size_t copied = 0;   // parts that were compared with the input
  std::size_t literal = 0;  // with the template
};

void check_part(const json::Value& reply, const json::Value& part, const json::Object& variables, Checked& out) {
  const json::Value& trace = *reply.find("trace");
  const std::string_view text = *reply.find_string("text");
  const std::string_view bytes = text.substr(number(part, "start"), number(part, "end") - number(part, "start"));
  const json::Value& origin = trace.find("origins")->as_array()[number(part, "origin")];
  const auto complain = [&](const std::string& what) {
    out.wrong = what + ": " + json::to_compact(part) + " " + json::to_compact(origin) + " " + text::quoted(bytes);
  };
  if (number(origin, "line") == 0) return complain("no place in the template");
  if (changes_case(origin)) return;
  if (origin.find_string("kind") == "literal") {
    const std::string there = source_at(trace, origin);
    const bool is_constant = there.starts_with('\'') || there.starts_with('"');
    const bool is_there =
        there.starts_with(bytes) || (is_constant && unescaped(there).find(bytes) != std::string::npos);
    if (!is_there) return complain("not what the template says there");
    ++out.literal;
  }
  if (origin.find_string("kind") == "data" && origin.find("path") != nullptr) {
    const auto value = input_at(variables, *origin.find_string("path"));
    if (!value) return;
    if (part.find("source") == nullptr) return;  // it was sent in another form
    const json::Array& range = part.find("source")->as_array();
    const auto begin = static_cast<std::size_t>(range[0].to_int64().value_or(0));
    if (begin > value->size() || std::string_view(*value).substr(begin, bytes.size()) != bytes)
      return complain("not what the input says there");
    ++out.copied;
  }
}

Checked check(const json::Value& reply, const json::Object& variables) {
  Checked out;
  const std::size_t size = reply.find_string("text")->size();
  for (const json::Array* ranges :
       {&reply.find("spans")->as_array(), &reply.find("trace")->find("parts")->as_array()}) {
    std::size_t at = 0;
    for (const json::Value& range : *ranges) {
      if (number(range, "start") != at || number(range, "end") <= at)
        out.wrong = "gap or overlap at byte " + std::to_string(at);
      at = number(range, "end");
    }
    if (at != size) out.wrong = "the end is not covered";
  }
  for (const json::Value& part : reply.find("trace")->find("parts")->as_array()) {
    if (out.wrong.empty()) check_part(reply, part, variables, out);
  }
  return out;
}

json::Value request_for(const test::CorpusRow& row, const chat::Conversation& conversation) {
  json::Object request{{"op", "render"}, {"template_file", row.template_path}, {"mode", "lenient"}, {"spans", true}};
  request.set("now", "2026-03-14T15:09:26");
  request.set("messages", conversation.messages);
  if (conversation.tools) request.set("tools", *conversation.tools);
  if (conversation.documents) request.set("documents", *conversation.documents);
  request.set("kwargs", conversation.kwargs);
  if (conversation.bos_token) request.set("bos_token", *conversation.bos_token);
  if (conversation.eos_token) request.set("eos_token", *conversation.eos_token);
  request.set("add_generation_prompt", conversation.add_generation_prompt);
  return json::Value(std::move(request));
}

// The variables with the messages as they were sent, without the aliases of their reasoning.
json::Object sent_variables(const chat::Conversation& conversation) {
  json::Object variables = tmpl::template_variables(conversation);
  if (conversation.kwargs.find("messages") == nullptr) variables.set("messages", conversation.messages);
  return variables;
}

}  // namespace

TEST_CASE("what spans and traces say of real prompts is true") {
  const auto corpus = test::Corpus::open();
  if (!corpus) return;
  const std::size_t step = std::getenv("RONDO_TEST_FULL") != nullptr ? 1 : test::is_small_corpus() ? kSmallStep : kStep;
  const protocol::Service service({});
  std::size_t pair = 0;
  std::size_t rendered = 0;
  Checked total;
  for (const test::CorpusRow& row : corpus->rows()) {
    for (const test::CorpusConversation& item : corpus->conversations()) {
      if (++pair % step != 0) continue;
      chat::Conversation conversation = corpus->conversation(row, item);
      conversation.messages = item.messages;
      conversation.add_generation_prompt = pair % 2 == 0;
      const auto reply = service.run(request_for(row, conversation), {.trace = true});
      if (!reply.ok()) continue;  // the template refuses the conversation
      ++rendered;
      const Checked found = check(reply.value(), sent_variables(conversation));
      total.copied += found.copied;
      total.literal += found.literal;
      CHECK_MESSAGE(found.wrong.empty(), row.id, " ", item.id, ": ", found.wrong);
    }
  }
  MESSAGE(rendered << " prompts, " << total.copied << " copied parts and " << total.literal
                   << " literal parts compared");
  CHECK(total.copied > rendered);
  CHECK(total.literal > rendered);
}

}  // namespace rondo
