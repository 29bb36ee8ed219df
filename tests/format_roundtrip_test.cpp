// Template -> Format -> parser, against what the templates themselves write: parse(render(message)) == message.
//
// Over the templates of the corpus, over its recorded completions, and over an invented template.  RONDO_VERBOSE=<row> prints that row's format and failures.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>

#include "analysis/analyse.h"
#include "base/files.h"
#include "format/units.h"
#include "json/parse.h"
#include "json/print.h"
#include "parse/parser.h"
#include "tests/support/corpus.h"
#include "tests/support/messages.h"

namespace rondo {
namespace {

namespace fs = std::filesystem;
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

std::shared_ptr<const jinja::Template> compiled(const std::string& path) {
  const auto source = files::read(path);
  REQUIRE_MESSAGE(source.ok(), source.error().to_string());
  auto result = jinja::Template::compile(source.value(), {}, fs::path(path).filename().string());
  return result.ok() ? result.value() : nullptr;
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
  apply.now = corpus.clock();
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

analysis::Options analysis_options(const test::CorpusRow& row) {
  analysis::Options options;
  options.bos_token = row.bos_token;
  options.eos_token = row.eos_token;
  options.now = jinja::LocalTime{2026, 3, 14, 15, 9, 26};
  return options;
}

TEST_CASE("recorded completions of the corpus are read as the messages they came from") {
  const auto corpus = test::Corpus::open();
  if (!corpus) {
    MESSAGE(test::kNoCorpus);
    return;
  }
  Rate total;
  std::string report;
  for (const test::CorpusRow& row : corpus->rows()) {
    if (!files::exists(completions_file(row.id))) continue;
    const char* only = std::getenv("RONDO_ROW");
    if (only != nullptr && row.id != only) continue;
    const auto chat_template = compiled(row.template_path);
    if (!chat_template) continue;
    const auto format = analysis::analyse(*chat_template, analysis_options(row));
    REQUIRE_MESSAGE(format.ok(), row.id << ": " << format.error().to_string());
    CHECK_MESSAGE(!format.value()->verify(), row.id);
    if (is_verbose(row.id)) MESSAGE(row.id << "\n" << format.value()->to_string());
    const Rate rate = check_completions(*corpus, row, *chat_template, format.value());
    CHECK_MESSAGE(rate.chunking == 0, row.id << ": chunks matter in " << rate.chunking);
    total.good += rate.good;
    total.all += rate.all;
    if (rate.good != rate.all) report += "  " + percent(rate) + "  " + row.id + "\n";
  }
  MESSAGE("completions read as their messages: " << percent(total) << "\nnot all of:\n" << report);
  CHECK(total.all > 1000);
  CHECK(total.good >= 0.96 * total.all);
}

// ---- Messages of all shapes, rendered and read back ----------------------------------------------------------------

constexpr const char* kValues =
    R"(["Paris", "a \"q\" \\ 'x' <b> & é 日本", "l1\nl2\n\n  l3", "42", "true", "{\"a\": 1}", "", " lead and trail ", 3, -7, 1.5,
  1e21, true, false, null, {"u":"C","n":1}, {"l":[1,2.5,null,true,"s"],"o":{"p":{"q":"r"}}}, ["a","b"], [1,"a",null,{"k":[]}], {}, []])";

json::Value tool_call(const Format& format, std::size_t index, const std::string& name, const json::Object& arguments) {
  json::Object function{{"name", name}, {"arguments", arguments}};
  if (format.input.arguments_as_text) function.set("arguments", json::to_python(json::Value(arguments), {}));
  // Where the id carries the name it must do so here too.
  const auto& pieces = format.calls.pieces;
  const bool is_named = std::any_of(pieces.begin(), pieces.end(),
                                    [](const auto& piece) { return piece.kind == format::CallPiece::Kind::kNameInId; });
  const std::string id =
      is_named ? "functions." + name + ":" + std::to_string(index) : "abcdef00" + std::to_string(index);
  return json::Object{{"id", id}, {"type", "function"}, {"function", function}};
}

json::Value assistant(const Format& format, const char* reasoning, const char* content,
                      const std::vector<json::Object>& calls) {
  json::Object out{{"role", "assistant"}};
  if (content != nullptr) {
    out.set("content", content);
  } else if (format.input.no_content != format::NoContent::kAbsent) {
    out.set("content", format.input.no_content == format::NoContent::kNull ? json::Value() : json::Value(""));
  }
  if (reasoning != nullptr) out.set(format.input.reasoning_field, reasoning);
  json::Array list;
  for (const json::Object& call : calls)
    list.push_back(tool_call(format, list.size(), list.size() % 2 == 0 ? "get_weather" : "search", call));
  if (!list.empty()) out.set("tool_calls", std::move(list));
  return out;
}

std::vector<json::Value> messages_for(const Format& format) {
  std::vector<json::Value> out;
  out.push_back(assistant(format, nullptr, "Hello there.\n\nSecond *par* <b>x</b>", {}));
  const bool thinks = !format.input.reasoning_field.empty();
  if (thinks) out.push_back(assistant(format, "Think\n\nmore", "Hello there.", {}));
  if (!format.calls.present) return out;
  const json::Value values = json::parse(kValues).value();
  for (const json::Value& value : values.as_array())
    out.push_back(assistant(format, nullptr, nullptr, {json::Object{{"k", value}}}));
  out.push_back(assistant(format, nullptr, nullptr,
                          {json::Object{{"a", "x"}, {"b", 2}, {"c", true}, {"d", nullptr}, {"f", "y\nz"}}}));
  out.push_back(assistant(format, nullptr, nullptr, {json::Object{}}));
  out.push_back(assistant(format, nullptr, "Let me look.", {json::Object{{"city", "Paris"}}}));
  if (thinks) out.push_back(assistant(format, "I think\nso", nullptr, {json::Object{{"city", "Paris"}, {"d", 3}}}));
  if (thinks) out.push_back(assistant(format, "I think", "Let me look.", {json::Object{{"city", "Paris"}}}));
  if (format.input.single_call) return out;
  out.push_back(
      assistant(format, nullptr, nullptr, {json::Object{{"city", "Paris"}, {"n", 1}}, json::Object{{"q", "x"}}}));
  out.push_back(
      assistant(format, nullptr, nullptr,
                {json::Object{{"city", "Paris"}}, json::Object{{"q", "x"}}, json::Object{{"city", "Rome"}, {"d", 2}}}));
  out.push_back(assistant(format, nullptr, nullptr, {json::Object{}, json::Object{{"q", "x"}}}));
  return out;
}

// Tools whose schemas have the types of the message's own arguments.
json::Value tools_for(const json::Value& message) {
  json::Array tools;
  for (const char* name : {"get_weather", "search"}) {
    json::Object properties;
    if (const json::Value* calls = message.find("tool_calls")) {
      for (const json::Value& call : calls->as_array()) {
        if (call.find("function")->find_string("name") != name) continue;
        json::Value arguments = *call.find("function")->find("arguments");
        if (arguments.is_string()) arguments = json::parse(arguments.as_string()).value();
        for (const json::Member& member : arguments.as_object()) {
          properties.set(member.key, json::Object{{"type", test::type_name(member.value)}, {"description", "d"}});
        }
      }
    }
    tools.push_back(test::tool_of(name, std::move(properties), false));
  }
  return json::Value(std::move(tools));
}

// The text of the turn behind the prompt; nullopt if the template refuses or rewrites the prompt.
struct Written {
  std::string prompt;
  std::string text;
};

std::optional<Written> written(const jinja::Template& chat_template, const analysis::Options& special,
                               const json::Value& message, bool thinking) {
  chat::Conversation conversation;
  conversation.messages = json::Array{json::Object{{"role", "user"}, {"content", "Hi."}}};
  if (message.find("tool_calls") != nullptr) conversation.tools = tools_for(message);
  if (thinking) conversation.kwargs = json::Object{{"enable_thinking", true}, {"thinking", true}};
  conversation.bos_token = special.bos_token;
  conversation.eos_token = special.eos_token;
  tmpl::ApplyOptions apply;
  apply.now = jinja::LocalTime{2026, 3, 14, 15, 9, 26};
  const auto render = [&] { return tmpl::apply(chat_template, conversation, apply); };
  const auto plain = render();
  conversation.add_generation_prompt = true;
  const auto prompt = render();
  conversation.add_generation_prompt = false;
  conversation.messages.push_back(message);
  const auto full = render();
  if (!plain.ok() || !prompt.ok() || !full.ok()) return std::nullopt;
  const std::string& text = full.value().text.bytes();
  for (const auto* before : {&prompt.value(), &plain.value()}) {
    const std::string& start = before->text.bytes();
    if (text.starts_with(start)) return Written{start, text.substr(start.size())};
  }
  return std::nullopt;
}

Rate check_round_trip(const std::string& name, const jinja::Template& chat_template, const analysis::Options& special,
                      const std::shared_ptr<const Format>& format) {
  Rate rate;
  for (const json::Value& message : messages_for(*format)) {
    std::string expected;
    std::optional<Written> turn;
    for (const bool thinking : {false, true}) {
      turn = written(chat_template, special, message, thinking);
      if (!turn) continue;
      expected = show_expected(message, turn->text);
      if (expected == show_expected(message, json::to_compact(message) + turn->text)) break;
    }
    if (!turn) continue;
    parse::Options options;
    options.tools = tools_for(message);
    options.prompt_tail = turn->prompt;
    const std::string got = parsed(format, options, turn->text, turn->text.size() + 1);
    rate.count(got == expected);
    for (const std::size_t chunk : {1, 2, 5})
      rate.chunking += parsed(format, options, turn->text, chunk) != got ? 1 : 0;
    if (got != expected && is_verbose(name)) {
      MESSAGE(name << "\n  text " << json::to_compact(json::Value(turn->text)) << "\n  got  " << got << "\n  want "
                   << expected);
    }
  }
  return rate;
}

// (path, special tokens) of every template at hand.
std::vector<std::pair<std::string, analysis::Options>> templates_at_hand() {
  std::vector<std::pair<std::string, analysis::Options>> out;
  const auto corpus = test::Corpus::open();
  if (!corpus) return out;
  std::map<std::string, analysis::Options> by_path;
  for (const test::CorpusRow& row : corpus->rows()) by_path.emplace(row.template_path, analysis_options(row));
  out.assign(by_path.begin(), by_path.end());
  return out;
}

TEST_CASE("parse(render(message)) == message over the templates at hand") {
  const auto templates = templates_at_hand();
  if (templates.empty()) {
    MESSAGE(test::kNoCorpus);
    return;
  }
  Rate total;
  Rate with_calls;
  std::string report;
  int call_templates = 0;
  for (const auto& [path, special] : templates) {
    const auto chat_template = compiled(path);
    if (!chat_template) continue;
    const std::string name = fs::path(path).stem().string();
    const auto format = analysis::analyse(*chat_template, special);
    if (!format.ok()) continue;
    CHECK_MESSAGE(!format.value()->verify(), name);
    if (is_verbose(name)) MESSAGE(name << "\n" << format.value()->to_string());
    const Rate rate = check_round_trip(name, *chat_template, special, format.value());
    CHECK_MESSAGE(rate.chunking == 0, name << ": chunks matter in " << rate.chunking);
    call_templates += format.value()->calls.present ? 1 : 0;
    for (Rate* sum : {&total, format.value()->calls.present ? &with_calls : nullptr}) {
      if (sum == nullptr) continue;
      sum->good += rate.good;
      sum->all += rate.all;
    }
    if (rate.good != rate.all) report += "  " + percent(rate) + "  " + name + "\n";
  }
  MESSAGE("messages read back: " << percent(total) << "; with calls, " << call_templates
                                 << " templates: " << percent(with_calls) << "\nnot all of:\n"
                                 << report);
  CHECK(total.good >= 0.95 * total.all);
}

// ---- Invented templates --------------------------------------------------------------------------------------------

constexpr const char* kInventedJson = R"JINJA(
{%- for m in messages %}
{{- '[[' + m.role + '>>' }}
{%- if m.reasoning_content %}{{- '(*mull ' + m.reasoning_content + ' mull*)' }}{%- endif %}
{{- m.content or '' }}
{%- for c in m.tool_calls or [] %}
{{- '{!do ' + c.function.name + ' with ' + (c.function.arguments | tojson) + ' do!}' }}
{%- endfor %}
{{- '~fin~' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '[[assistant>>' }}{%- endif %}
)JINJA";

constexpr const char* kInventedParameters = R"JINJA(
{%- for m in messages %}
{{- '#' + m.role + '#\n' }}
{%- if m.reasoning_content %}{{- '~~~musing\n' + m.reasoning_content + '\n~~~\n' }}{%- endif %}
{{- m.content or '' }}
{%- if m.tool_calls %}{{- '\n=run=' }}
{%- for c in m.tool_calls %}
{{- '\n(op ' + c.function.name + ')' }}
{%- for k, v in c.function.arguments.items() %}
{{- '\n(arg ' + k + ')' }}{{- v if v is string else v | tojson }}{{- '(/arg)' }}
{%- endfor %}
{{- '\n(/op)' }}
{%- endfor %}{{- '\n=done=' }}{%- endif %}
{{- '#end#\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '#assistant#\n' }}{%- endif %}
)JINJA";

TEST_CASE("templates with markers that nobody has seen") {
  for (const char* source : {kInventedJson, kInventedParameters}) {
    const auto chat_template = jinja::Template::compile(source, {}, "invented");
    REQUIRE(chat_template.ok());
    const auto format = analysis::analyse(*chat_template.value(), {});
    REQUIRE(format.ok());
    INFO(format.value()->to_string());
    CHECK(format.value()->reasoning.present);
    CHECK(format.value()->calls.present);
    const Rate rate = check_round_trip("invented", *chat_template.value(), {}, format.value());
    CHECK(rate.all >= 25);
    CHECK(rate.good == rate.all);
    CHECK(rate.chunking == 0);
  }
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
