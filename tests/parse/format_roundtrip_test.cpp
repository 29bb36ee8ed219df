// Template -> Format -> parser, over the recorded completions of the corpus: each is read as the message that it came from.
//
// RONDO_VERBOSE=<row> prints that row's format and failures.  Messages of every shape: format_matrix_test.cpp.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>

#include "analysis/analyse.h"
#include "base/files.h"
#include "format/units.h"
#include "json/parse.h"
#include "json/print.h"
#include "parse/parser.h"
#include "template/chat_template.h"
#include "tests/support/corpus_templates.h"

namespace rondo {
namespace {

using format::Format;

std::string completions_file(const std::string& row) {
  return test::corpus_folder() + "/completions/" + row + ".jsonl.xz";
}

bool is_verbose(const std::string& row) {
  const char* wanted = std::getenv("RONDO_VERBOSE");
  return wanted != nullptr && (row == wanted || std::string(wanted) == "all");
}

// Numbers by value, objects without regard to order: templates may sort and respell.
std::string canonical(const json::Value& value) {
  if (value.is_object()) {
    std::map<std::string, std::string> members;
    for (const json::Member& member : value.as_object()) members[member.key] = canonical(member.value);
    std::string out = "{";
    for (const auto& [key, text] : members) out += key + ":" + text + ",";
    return out + "}";
  }
  if (value.is_array()) {
    std::string out = "[";
    for (const json::Value& item : value.as_array()) out += canonical(item) + ",";
    return out + "]";
  }
  if (value.is_number()) return json::to_compact(json::Value(value.to_double().value_or(0)));
  return json::to_compact(value);
}

std::string canonical_arguments(const json::Value& arguments) {
  if (!arguments.is_string()) return canonical(arguments);
  if (format::is_blank(arguments.as_string())) return "{}";
  const auto parsed = json::parse(arguments.as_string());
  return parsed.ok() ? canonical(parsed.value()) : "unreadable: " + arguments.as_string();
}

// Without white space at the ends: what the template trims is not the parser's to find again.
std::string show(const std::string& reasoning, const std::string& content,
                 const std::vector<std::pair<std::string, std::string>>& calls) {
  std::string out =
      "R(" + std::string(format::trimmed(reasoning)) + ") C(" + std::string(format::trimmed(content)) + ")";
  for (const auto& [name, arguments] : calls) out += "\n    " + name + arguments;
  return out;
}

std::string show(const chat::AssistantMessage& message) {
  std::vector<std::pair<std::string, std::string>> calls;
  for (const chat::ToolCall& call : message.tool_calls)
    calls.emplace_back(call.name, canonical_arguments(json::Value(call.arguments)));
  return show(message.reasoning.value_or(""), message.content, calls);
}

std::string text_of(const json::Value* content) {
  if (content == nullptr) return "";
  if (content->is_string()) return content->as_string();
  std::string out;
  if (content->is_array()) {
    for (const json::Value& part : content->as_array()) out += part.find_string("text").value_or("");
  }
  return out;
}

// What of `message` stands in `written`: templates may leave reasoning or content out.
std::string show_expected(const json::Value& message, const std::string& written) {
  const auto if_written = [&written](std::string text) {
    return written.find(format::trimmed(text)) == std::string::npos ? std::string() : text;
  };
  std::string reasoning;
  for (const char* field : {"reasoning", "thinking", "reasoning_content"}) {
    if (const auto text = message.find_string(field)) reasoning = *text;
  }
  std::vector<std::pair<std::string, std::string>> calls;
  if (const json::Value* list = message.find("tool_calls"); list != nullptr && list->is_array()) {
    for (const json::Value& call : list->as_array()) {
      const json::Value* function = call.find("function");
      const json::Value& holder = function != nullptr ? *function : call;
      const std::string name(holder.find_string("name").value_or(""));
      const json::Value* arguments = holder.find("arguments");
      if (written.find(name) != std::string::npos)
        calls.emplace_back(name, arguments != nullptr ? canonical_arguments(*arguments) : "{}");
    }
  }
  return show(if_written(reasoning), if_written(text_of(message.find("content"))), calls);
}

std::string parsed(const std::shared_ptr<const Format>& format, const parse::Options& options, const std::string& text,
                   std::size_t chunk) {
  parse::Parser parser(format, options);
  for (std::size_t at = 0; at < text.size(); at += chunk) (void)parser.feed(std::string_view(text).substr(at, chunk));
  return show(parser.finish().value());
}

struct Rate {
  int good = 0;
  int all = 0;
  int chunking = 0;  // the message depends on the chunks
  void count(bool is_good) {
    ++all;
    good += is_good ? 1 : 0;
  }
};

std::string percent(const Rate& rate) {
  char text[64];
  std::snprintf(text, sizeof text, "%5d of %5d  %5.1f %%", rate.good, rate.all,
                rate.all > 0 ? 100.0 * rate.good / rate.all : 0.0);
  return text;
}

json::Object kwargs_named(const test::CorpusRow& row, const std::string& name) {
  for (const json::Value& set : row.kwargs_sets) {
    const json::Value* kwargs = set.find("kwargs");
    if (set.find_string("name") == name && kwargs != nullptr && kwargs->is_object()) return kwargs->as_object();
  }
  return {};
}

// The prompt of one recorded completion, and what was asked of the model.
struct Prompt {
  std::string text;
  json::Value message;
  std::optional<json::Value> tools;
};

std::optional<Prompt> prompt_of(const jinja::Template& chat_template, const test::Corpus& corpus,
                                const test::CorpusRow& row, const json::Value& line) {
  const auto& items = corpus.conversations();
  const auto item = std::find_if(items.begin(), items.end(),
                                 [&](const auto& candidate) { return candidate.id == *line.find_string("c"); });
  const auto index = static_cast<std::size_t>(line.find("i")->to_int64().value_or(0));
  if (item == items.end() || index >= item->messages.size()) return std::nullopt;
  chat::Conversation conversation = corpus.conversation(row, *item);
  conversation.messages.assign(item->messages.begin(), item->messages.begin() + static_cast<std::ptrdiff_t>(index));
  conversation.add_generation_prompt = true;
  Prompt prompt;
  prompt.tools = conversation.tools;
  for (const json::Member& member : kwargs_named(row, std::string(*line.find_string("k")))) {
    const bool is_tools = member.value.is_string() && member.value.as_string() == "$tools";
    if (is_tools && !conversation.tools) continue;
    conversation.kwargs.set(member.key, is_tools ? *conversation.tools : member.value);
    if (is_tools) conversation.tools.reset();
  }
  tmpl::ApplyOptions apply;
  apply.now = test::kClock;
  auto rendered = tmpl::apply(chat_template, conversation, apply);
  if (!rendered.ok()) return std::nullopt;
  prompt.text = rendered.value().text.bytes();
  prompt.message = item->messages[index];
  return prompt;
}

// Messages whose own text holds the markers of their model: what is written can't tell them from markup.
bool is_ambiguous(std::string_view conversation) {
  return conversation == "injection_tool_result" || conversation == "reasoning_inline_tags" ||
         conversation == "injection_roles";
}

Rate check_completions(const test::Corpus& corpus, const test::CorpusRow& row, const jinja::Template& chat_template,
                       const std::shared_ptr<const Format>& format) {
  Rate rate;
  for (const std::string& text : test::read_xz_lines(completions_file(row.id))) {
    const json::Value line = json::parse(text).value();
    const auto completion = line.find_string("q");
    if (!completion || is_ambiguous(*line.find_string("c"))) continue;
    const auto prompt = prompt_of(chat_template, corpus, row, line);
    if (!prompt) continue;
    const std::string written(*completion);
    parse::Options options;
    options.tools = prompt->tools;
    options.prompt_tail = prompt->text;
    const std::string got = parsed(format, options, written, written.size() + 1);
    const std::string expected = show_expected(
        prompt->message,
        prompt->text.substr(prompt->text.size() - std::min<std::size_t>(prompt->text.size(), 64)) + written);
    // History that leaves reasoning open which the prompt began: the format says that it loses such answers.
    const bool is_told = std::any_of(format->losses.begin(), format->losses.end(),
                                     [](const format::Loss& loss) { return loss.what == "answers without reasoning"; });
    if (is_told && got != expected && got.starts_with("R(" + text_of(prompt->message.find("content")) + ")")) continue;
    rate.count(got == expected);
    rate.chunking += parsed(format, options, written, 3) != got ? 1 : 0;
    if (got != expected && is_verbose(row.id)) {
      MESSAGE(row.id << " " << *line.find_string("c") << " " << *line.find_string("k") << "\n  text "
                     << json::to_compact(json::Value(written)) << "\n  got  " << got << "\n  want " << expected);
    }
  }
  return rate;
}

TEST_CASE("recorded completions of the corpus are read as the messages they came from") {
  const auto corpus = test::Corpus::open();
  if (!corpus) return;
  Rate total;
  std::string report;
  for (const test::CorpusRow& row : corpus->rows()) {
    if (!files::exists(completions_file(row.id))) continue;
    const char* only = std::getenv("RONDO_ROW");
    if (only != nullptr && row.id != only) continue;
    const auto found = test::analysed_template(row);
    if (!found.ok()) continue;
    const std::shared_ptr<const Format>& format = found.value().format;
    CHECK_MESSAGE(!format->verify(), row.id);
    if (is_verbose(row.id)) MESSAGE(row.id << "\n" << format->to_string());
    const Rate rate = check_completions(*corpus, row, *found.value().chat_template, format);
    CHECK_MESSAGE(rate.chunking == 0, row.id << ": chunks matter in " << rate.chunking);
    total.good += rate.good;
    total.all += rate.all;
    if (rate.good != rate.all) report += "  " + percent(rate) + "  " + row.id + "\n";
  }
  MESSAGE("completions read as their messages: " << percent(total) << "\nnot all of:\n" << report);
  CHECK(total.all > 1000);
  CHECK(total.good >= 0.96 * total.all);
}

TEST_CASE("a template that refuses everything still has a format") {
  const auto chat_template = jinja::Template::compile("{{ raise_exception('no') }}", {}, "refusing");
  REQUIRE(chat_template.ok());
  const auto format = analysis::analyse(*chat_template.value(), {});
  REQUIRE(format.ok());
  CHECK(!format.value()->calls.present);
  CHECK(parsed(format.value(), {}, "Hello", 2) == "R() C(Hello)");
}

}  // namespace
}  // namespace rondo
