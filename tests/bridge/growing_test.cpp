// Transcripts of many templates: whatever is appended, the text is what rendering all messages gives, byte for byte.
//
// RONDO_TRANSCRIPTS=N random templates, from seed RONDO_SEED on.  RONDO_TEST_FULL=1 takes every template of the corpus with
// each of its conversations, RONDO_TEMPLATE=WORD those whose name has it, RONDO_VERBOSE=1 prints a line for each template.
#include "render/transcript.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <map>
#include <utility>

#include "analysis/message_rules.h"
#include "json/parse.h"
#include "json/print.h"
#include "probe/messages.h"
#include "tests/support/corpus_templates.h"
#include "tests/support/random_message.h"
#include "tests/support/random_template.h"

namespace rondo {
namespace {

using render::Grown;
using render::Transcript;
using render::TranscriptModel;

const char* const kTools = R"([
  {"type": "function", "function": {"name": "get_weather", "description": "d", "parameters":
    {"type": "object", "properties": {"city": {"type": "string", "description": "d"}}, "required": ["city"]}}},
  {"type": "function", "function": {"name": "search", "description": "d", "parameters":
    {"type": "object", "properties": {"city": {"type": "string", "description": "d"}}, "required": ["city"]}}}])";

std::uint64_t env_number(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

bool is_full_test() { return std::getenv("RONDO_TEST_FULL") != nullptr || std::getenv("RONDO_TEMPLATE") != nullptr; }

std::vector<test::AnalysedTemplate> chosen_templates(const test::Corpus& corpus) {
  std::vector<test::AnalysedTemplate> out =
      test::analysed_templates(corpus, is_full_test() ? 1 : corpus.rows().size() / 14 + 1);
  if (const char* word = std::getenv("RONDO_TEMPLATE"); word != nullptr)
    std::erase_if(out, [&](const test::AnalysedTemplate& from) { return from.name.find(word) == std::string::npos; });
  return out;
}

struct Tally {
  long incremental = 0;
  long full = 0;
  std::map<std::string, long> reasons;  // without the places

  void add(const Grown& grown) {
    ++(grown.way == Grown::Way::kIncremental ? incremental : full);
    if (grown.way == Grown::Way::kIncremental) return;
    const std::size_t colon = grown.why.starts_with("messages[") ? grown.why.find(": ") + 2 : 0;
    ++reasons[grown.why.substr(colon)];
  }
  void add(const Tally& other) {
    incremental += other.incremental;
    full += other.full;
    for (const auto& [reason, count] : other.reasons) reasons[reason] += count;
  }
  [[nodiscard]] std::string to_string() const {
    std::string out = std::to_string(incremental) + " incremental, " + std::to_string(full) + " full";
    for (const auto& [reason, count] : reasons) out += "\n    " + std::to_string(count) + " " + reason;
    return out;
  }
};

std::shared_ptr<const TranscriptModel> model_of(const test::AnalysedTemplate& from, chat::Conversation base) {
  analysis::Options options;
  options.bos_token = from.bos_token;
  options.eos_token = from.eos_token;
  options.now = test::kClock;
  TranscriptModel::Parts parts;
  parts.chat_template = from.chat_template;
  parts.rules = analysis::find_message_rules(*from.chat_template, options, *from.format);
  parts.input = from.format->input;
  parts.base = std::move(base);
  parts.base.bos_token = from.bos_token;
  parts.base.eos_token = from.eos_token;
  parts.apply.now = test::kClock;
  return TranscriptModel::make(std::move(parts));
}

// What rendering all messages gives; nullopt if the template refuses them.
std::optional<std::string> whole(const TranscriptModel& model, json::Array messages) {
  const TranscriptModel::Parts& parts = model.parts();
  static_cast<void>(tmpl::shape(messages, parts.rules));
  tmpl::ApplyOptions options = parts.apply;
  options.origins = false;
  const auto rendered =
      tmpl::apply(*parts.chat_template, parts.base, messages, parts.base.add_generation_prompt, options);
  if (!rendered.ok()) return std::nullopt;
  return rendered.value().text.bytes();
}

// Appends the messages one by one, or some at a time.
void play(const std::shared_ptr<const TranscriptModel>& model, const json::Array& messages, std::size_t most,
          const std::string& name, Tally& tally) {
  json::Array so_far;
  std::optional<Transcript> transcript;
  for (std::size_t at = 0; at < messages.size();) {
    const std::size_t count = std::min(messages.size() - at, 1 + (most > 1 ? at * 7 % most : 0));
    const json::Array added(messages.begin() + static_cast<std::ptrdiff_t>(at),
                            messages.begin() + static_cast<std::ptrdiff_t>(at + count));
    json::Array grown = so_far;
    grown.insert(grown.end(), added.begin(), added.end());
    at += count;
    const std::optional<std::string> want = whole(*model, grown);
    if (!transcript) {
      so_far = grown;
      auto started = Transcript::start(model, grown);
      REQUIRE_MESSAGE(started.ok() == want.has_value(), name);
      if (!want) continue;
      transcript.emplace(std::move(started).value());
      CHECK_MESSAGE(transcript->text() == *want, name);
      continue;
    }
    const std::string before = transcript->text();
    const auto done = transcript->append(added);
    REQUIRE_MESSAGE(done.ok() == want.has_value(), name << ": " << json::to_compact(json::Value(grown)) << " "
                                                        << (done.ok() ? done.value().why : done.error().to_string()));
    if (!want) {
      // As if nothing had been asked; the conversation goes on without them.
      CHECK(transcript->text() == before);
      continue;
    }
    so_far = grown;
    tally.add(done.value());
    REQUIRE_MESSAGE(transcript->text() == *want, name << ": " << done.value().why << "\n"
                                                      << json::to_compact(json::Value(grown)) << "\n--- is\n"
                                                      << transcript->text() << "\n--- whole\n"
                                                      << *want);
    CHECK(before.substr(0, done.value().kept) == want->substr(0, done.value().kept));
  }
}

// A long conversation with cycles of tools.
json::Array long_conversation(const format::InputShape& shape, bool has_system, bool reasons) {
  json::Array out;
  if (has_system) out.push_back(probe::plain_message("system", "Be brief."));
  const auto say = [&](const std::string& content, std::vector<probe::SaidCall> calls) {
    out.push_back(probe::assistant_message(
        shape,
        {reasons && out.size() % 3 != 0 ? "thought " + std::to_string(out.size()) : "", content, std::move(calls)}));
  };
  for (int turn = 0; turn < 5; ++turn) {
    const std::string number = std::to_string(turn);
    out.push_back(probe::plain_message("user", "question " + number + " ünï"));
    for (int cycle = 0; cycle < turn; ++cycle) {
      const std::string id = probe::call_id(out.size());
      say(cycle % 2 == 0 ? "" : "a word", {{"get_weather", {{"city", "Ulm " + number}}, id}});
      out.push_back(probe::tool_message(id, "get_weather", "sunny " + number));
    }
    if (turn == 3) {
      const std::string id = probe::call_id(out.size());
      const std::string other = probe::call_id(out.size() + 1);
      say("", {{"get_weather", {{"city", "Bonn"}}, id}, {"search", {{"city", "Jena"}}, other}});
      out.push_back(probe::tool_message(id, "get_weather", "rain"));
      out.push_back(probe::tool_message(other, "search", "snow"));
    }
    say("answer " + number, {});
  }
  return out;
}

TEST_CASE("a transcript of the corpus' templates is what rendering all messages gives, message by message") {
  const auto corpus = test::Corpus::open();
  if (!corpus) return;
  const std::vector<test::AnalysedTemplate> all = chosen_templates(*corpus);
  const bool verbose = std::getenv("RONDO_VERBOSE") != nullptr;
  Tally total;
  long templates = 0;
  long growing = 0;
  for (const test::AnalysedTemplate& from : all) {
    Tally tally;
    for (const bool has_tools : {false, true}) {
      chat::Conversation base;
      base.add_generation_prompt = !has_tools;
      if (has_tools) base.tools = json::parse(kTools).value();
      const auto model = model_of(from, std::move(base));
      for (const bool reasons : {false, true}) {
        for (const bool has_system : {false, true}) {
          const json::Array messages = long_conversation(from.format->input, has_system, reasons);
          play(model, messages, reasons ? 3 : 1, from.name, tally);
        }
      }
    }
    ++templates;
    growing += tally.incremental > 0 ? 1 : 0;
    total.add(tally);
    if (verbose) MESSAGE(from.name << ": " << tally.to_string());
  }
  MESSAGE(templates << " templates, " << growing << " of them grow; " << total.to_string());
  CHECK(templates > 10);
  CHECK(growing * 2 > templates);
}

TEST_CASE("a transcript of the corpus' conversations is what rendering all messages gives, message by message") {
  const auto corpus = test::Corpus::open();
  if (!corpus) return;
  const std::vector<test::AnalysedTemplate> all = chosen_templates(*corpus);
  const std::size_t step = is_full_test() ? 1 : all.size() * corpus->conversations().size() / 16 + 1;
  Tally total;
  std::size_t at = 0;
  for (const test::AnalysedTemplate& from : all) {
    std::map<std::string, std::shared_ptr<const TranscriptModel>> models;  // by tools and variables
    for (const test::CorpusConversation& item : corpus->conversations()) {
      if (at++ % step != 0) continue;
      chat::Conversation base;
      if (!item.tools.is_null()) base.tools = item.tools;
      if (!item.documents.is_null()) base.documents = item.documents;
      base.kwargs = item.kwargs;
      base.add_generation_prompt = at % 2 == 0;
      const std::string key = json::to_compact(item.tools) + json::to_compact(item.documents) +
                              json::to_compact(json::Value(item.kwargs)) + (base.add_generation_prompt ? "1" : "0");
      auto& model = models[key];
      if (!model) model = model_of(from, std::move(base));
      // Twice over: the second time there is something to leave out.
      json::Array messages = item.messages;
      for (const json::Value& message : item.messages) {
        if (message.find_string("role") != "system") messages.push_back(message);
      }
      play(model, messages, 1, from.name + " " + item.id, total);
    }
  }
  MESSAGE(total.to_string());
  CHECK(total.full > 0);
}

// What a template may do with messages that are not the one it writes: statements at the begin of each iteration, and what is
// written behind all of them.
struct Quirk {
  const char* before;  // the loop over messages
  const char* iteration;
  const char* behind;
};
constexpr Quirk kQuirks[] = {
    {"", "", ""},
    {"", "", ""},
    {"", "{{ loop.index }}", ""},
    {"{%- set q = namespace(long=false) -%}",
     "{%- if m.content and m.content | length > 30 -%}{%- set q.long = true -%}{%- endif -%}",
     "{%- if q.long -%}LONG{%- endif -%}"},
    {"{%- set q = namespace(last='') -%}", "{%- if m.role == 'user' -%}{%- set q.last = m.content[:2] -%}{%- endif -%}",
     "{{ q.last }}"},
    {"", "", "{{ messages | length % 3 }}"},
    {"", "{%- if loop.last -%}LAST{%- endif -%}", ""},
    {"", "{%- if loop.previtem is defined and loop.previtem.role == m.role -%}+{%- endif -%}", ""},
    {"", "{%- if loop.index0 > 1 -%}{{ messages[loop.index0 - 2].role }}{%- endif -%}", ""},
    {"", "{%- if loop.last -%}{{ messages[0].content }}{%- endif -%}", ""},
    {"", "{%- if loop.index0 < messages | length - 4 -%}OLD{%- endif -%}", ""},
    {"{%- set q = namespace(sum=0) -%}", "{%- set q.sum = q.sum + (m.content or '') | length -%}", "{{ q.sum }}"},
    {"{%- set q = namespace(seen=false) -%}", "{%- set q.seen = q.seen or 'z' in (m.content or '') -%}",
     "{%- if q.seen -%}Z{%- endif -%}"},
    {"{%- set results = messages | selectattr('role', 'equalto', 'tool') | list | length -%}", "",
     "{%- if results > 3 -%}R{%- endif -%}"},
    {"{%- set first = messages | selectattr('role', 'equalto', 'user') | first -%}", "", "{{ first.content }}"},
    {"", "{%- if loop.index > 7 -%}7{%- endif -%}", ""},
    {"{%- set q = namespace(prev='') -%}",
     "{%- if m.content and m.content == q.prev -%}SAME{%- endif -%}{%- set q.prev = m.content -%}", ""},
    {"", "{%- if loop.revindex <= 3 -%}NEAR{%- endif -%}", ""},
    {"{%- set q = namespace(last=-1) -%}{%- for m in messages -%}{%- if m.role == 'user' and not 'z' in m.content -%}"
     "{%- set q.last = loop.index0 -%}{%- endif -%}{%- endfor -%}",
     "{%- if loop.index0 > q.last -%}*{%- endif -%}", ""},
    {"{%- set q = namespace(name='') -%}",
     "{%- if m.role == 'tool' and q.name == '' -%}{%- set q.name = m.content -%}{%- endif -%}", "{{ q.name }}"},
    {"{%- set q = namespace(n=0) -%}", "{%- if m.role == 'tool' -%}{%- set q.n = q.n + 1 -%}{%- endif -%}",
     "{%- if q.n % 2 == 1 -%}ODD{%- endif -%}"},
};

std::string with_quirk(const test::TemplateShape& shape, const Quirk& quirk) {
  std::string text = test::template_text(shape);
  const std::string loop = "{%- for m in messages -%}\n";
  const std::size_t at = text.rfind(loop);
  REQUIRE(at != std::string::npos);
  text.insert(at + loop.size(), std::string(quirk.iteration) + "\n");
  text.insert(at, std::string(quirk.before) + "\n");
  return text + quirk.behind;
}

json::Array random_conversation(test::Random& random, const format::Format& format, const test::TemplateShape& shape,
                                std::uint64_t seed) {
  const char* const words[] = {"hm",      "why", "a z word",
                               "<think>", "x",   "a question that is longer than thirty letters"};
  json::Array out;
  if (random.one_in(2)) out.push_back(probe::plain_message("system", "Be brief."));
  const std::size_t size = 8 + random.below(24);
  while (out.size() < size) {
    out.push_back(probe::plain_message("user", random.pick(words)));
    for (std::size_t steps = random.below(5); shape.has_calls && steps > 0; --steps) {
      json::Value said = test::message_of(format, test::random_message(shape, seed + out.size()));
      const json::Value* calls = said.find("tool_calls");
      const std::size_t count = calls == nullptr || !calls->is_array() ? 0 : calls->as_array().size();
      std::vector<json::Value> ids;
      for (std::size_t i = 0; i < count; ++i) {
        const json::Value* id = calls->as_array()[i].find("id");
        ids.push_back(id == nullptr ? json::Value(probe::call_id(i)) : *id);
      }
      out.push_back(std::move(said));
      for (const json::Value& id : ids)
        out.push_back(probe::tool_message(id.is_string() ? id.as_string() : "", "search", random.pick(words)));
      if (count == 0) break;
    }
    if (out.back().find_string("role") != "assistant" || !random.one_in(8))
      out.push_back(probe::plain_message("assistant", random.pick(words)));
  }
  return out;
}

TEST_CASE("a transcript of random templates is what rendering all messages gives, whatever they look back at") {
  const std::uint64_t count = env_number("RONDO_TRANSCRIPTS", is_full_test() ? 5000 : 24);
  const std::uint64_t first = env_number("RONDO_SEED", 1);
  std::map<std::size_t, Tally> tallies;  // by quirk
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    test::Random random(seed);
    const test::TemplateShape shape = test::random_shape(seed);
    const std::size_t quirk = seed % std::size(kQuirks);
    const std::string source = with_quirk(shape, kQuirks[quirk]);
    auto compiled = jinja::Template::compile(source, {}, "generated");
    REQUIRE_MESSAGE(compiled.ok(), source);
    // The format of the shape alone: a quirk makes it no other one.
    auto plain = jinja::Template::compile(test::template_text(shape), {}, "generated");
    const auto format = analysis::analyse(*plain.value(), {});
    REQUIRE(format.ok());
    chat::Conversation base;
    base.add_generation_prompt = random.one_in(2);
    const auto model =
        model_of({"seed " + std::to_string(seed), compiled.value(), format.value(), {}, {}}, std::move(base));
    for (std::uint64_t i = 0; i < 2; ++i) {
      play(model, random_conversation(random, *format.value(), shape, seed * 100 + i * 50), 1 + random.below(3),
           "seed " + std::to_string(seed) + "\n" + source, tallies[quirk]);
    }
  }
  std::string report;
  for (const auto& [quirk, tally] : tallies)
    report += std::string(kQuirks[quirk].iteration) + kQuirks[quirk].behind + ": " + tally.to_string() + "\n";
  MESSAGE(report);
  CHECK(tallies[0].incremental > 0);
}

}  // namespace
}  // namespace rondo
