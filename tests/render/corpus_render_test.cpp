// Every template of the corpus against every conversation, as transformers renders it; with the small corpus, as jinja2 does in
// the environment that transformers gives it.
//
// The recorded results stand in the corpus's folder render.  A line has the conversation `c` and the set of variables `k`, and
// text and hash (`t`, `h`) or class and message of the error (`e`, `m`); a text stands where its hash does first.  With the
// suffix 0 the same without aliases of reasoning, with x by a lenient engine; `g` are the generation blocks.  Without
// RONDO_TEST_FULL a sample of the cases is taken.  RONDO_TEST_ROW=TEXT takes only rows with TEXT in their id, RONDO_TEST_VERBOSE=1 shows
// every difference, RONDO_TEST_VERBOSE=listing the templates' instructions too.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/utf8.h"
#include "jinja/template.h"
#include "json/parse.h"
#include "template/chat_template.h"
#include "tests/support/corpus.h"
#include "tests/support/origin_law.h"

namespace rondo {
namespace {

// Every n-th case.
constexpr std::size_t kStepLlama = 7;
constexpr std::size_t kStepOther = 31;
constexpr std::size_t kStepOwn = 2;  // of the small corpus invented templates

bool full() { return std::getenv("RONDO_TEST_FULL") != nullptr; }

// What the reference made of a case.
struct Expected {
  bool present = false;
  bool is_error = false;
  std::string text;   // or the message
  std::string error;  // the class
};

// Text or error under the field names with `suffix`; texts are given once per file and remembered by their hash.
Expected expected(const json::Value& line, const std::string& suffix, std::map<std::string, std::string>& texts) {
  Expected out;
  if (const auto error = line.find_string("e" + suffix)) {
    out.present = out.is_error = true;
    out.error = *error;
    out.text = line.find_string("m" + suffix).value_or("");
  } else if (const auto hash = line.find_string("h" + suffix)) {
    out.present = true;
    std::string& known = texts[std::string(*hash)];
    if (const auto text = line.find_string("t" + suffix)) known = *text;
    out.text = known;
  }
  return out;
}

std::string excerpt(const std::string& text, std::size_t at) {
  const std::size_t begin = at < 40 ? 0 : at - 40;
  return text::quoted(text.substr(begin, 90));
}

// "" if equal, else how they differ.
std::string difference(const Expected& want, const Result<jinja::Rendered>& got) {
  if (want.is_error) {
    if (got.ok()) return "rendered, but the reference raises " + want.error + ": " + want.text;
    if (want.error == "TemplateError" && got.error().message.substr(0, 300) != want.text) {
      // Messages are recorded up to 300 characters.
      const std::string cut = got.error().message.substr(0, utf8::offset_of(got.error().message, 300));
      if (cut != want.text) return "raised " + text::quoted(got.error().message) + ", not " + text::quoted(want.text);
    }
    return {};
  }
  if (!got.ok()) return got.error().to_string();
  const std::string& bytes = got.value().text.bytes();
  if (bytes != want.text) {
    const auto at = static_cast<std::size_t>(
        std::mismatch(bytes.begin(), bytes.end(), want.text.begin(), want.text.end()).first - bytes.begin());
    return "byte " + std::to_string(at) + ": " + excerpt(bytes, at) + "\n      reference " + excerpt(want.text, at);
  }
  if (const auto broken = got.value().text.verify(got.value().origins)) return "verify: " + *broken;
  return {};
}

// The generation blocks in characters, as the reference gives them.
std::string spans_difference(const json::Value* spans, const jinja::Rendered& rendered) {
  if (spans == nullptr) return {};
  std::string want;
  std::string got;
  for (const json::Value& span : spans->as_array()) {
    want += span.as_array()[0].number() + "-" + span.as_array()[1].number() + " ";
  }
  const std::string_view bytes = rendered.text.bytes();
  for (const auto& [begin, end] : rendered.generation_blocks) {
    got += std::to_string(utf8::length(bytes.substr(0, begin))) + "-" +
           std::to_string(utf8::length(bytes.substr(0, end))) + " ";
  }
  return want == got ? std::string() : "generation blocks " + got + "not " + want;
}

struct Score {
  std::size_t equal = 0;
  std::size_t all = 0;
  std::string first_failure;
  void count(const std::string& what, const std::string& failure) {
    ++all;
    if (failure.empty()) {
      ++equal;
    } else if (first_failure.empty() || std::getenv("RONDO_TEST_VERBOSE") != nullptr) {
      first_failure += "\n    " + what + ": " + failure;
    }
  }
};

// A conversation under a row's kwargs set.
chat::Conversation prepare(const test::Corpus& corpus, const test::CorpusRow& row, const test::CorpusConversation& item,
                           const std::string& set) {
  chat::Conversation out = corpus.conversation(row, item);
  out.messages = item.messages;
  if (set == "continue") {
    out.continue_final_message = "content";
    return out;
  }
  for (const json::Value& candidate : row.kwargs_sets) {
    if (candidate.find_string("name") != set) continue;
    for (const json::Member& member : candidate.find("kwargs")->as_object()) {
      json::Value value = member.value;
      if (value.is_string() && value.as_string() == "$tools") {
        value = out.tools ? *out.tools : json::Value();
        out.tools.reset();
      }
      if (out.kwargs.find(member.key) == nullptr) out.kwargs.set(member.key, value);
    }
  }
  return out;
}

void run_line(const test::Corpus& corpus, const test::CorpusRow& row, const jinja::Template& chat_template,
              const json::Value& line, std::map<std::string, std::string>& texts, bool render, Score& score) {
  const Expected main = expected(line, "", texts);
  const Expected unaliased = expected(line, "0", texts);
  const Expected lenient = expected(line, "x", texts);
  if (!render) return;
  const std::string id(*line.find_string("c"));
  const std::string set(*line.find_string("k"));
  const auto item = std::find_if(corpus.conversations().begin(), corpus.conversations().end(),
                                 [&](const auto& candidate) { return candidate.id == id; });
  if (item == corpus.conversations().end()) return;
  const chat::Conversation conversation = prepare(corpus, row, *item, set);
  const std::string what = row.id + " " + id + " " + set;
  tmpl::ApplyOptions options;
  options.now = test::kClock;
  options.strict = true;
  const auto strict = tmpl::apply(chat_template, conversation, options);
  std::string failure = difference(main, strict);
  if (failure.empty() && strict.ok()) failure = spans_difference(line.find("g"), strict.value());
  if (failure.empty() && strict.ok()) {
    failure = test::broken_origin(strict.value(), tmpl::template_variables(conversation));
  }
  score.count(what + " strict", failure);
  jinja::RenderOptions parts;
  parts.strict = true;
  parts.now = test::kClock;
  const json::Object input = tmpl::template_variables(conversation);
  const auto in_parts = chat_template.render(input, parts);
  score.count(what + " whole dumps", test::whole_difference(chat_template, input, parts, in_parts));
  options.strict = false;
  if (lenient.present) {
    score.count(what + " lenient", difference(lenient, tmpl::apply(chat_template, conversation, options)));
  } else if (!main.is_error) {
    score.count(what + " lenient", difference(main, tmpl::apply(chat_template, conversation, options)));
  }
  if (unaliased.present) {
    json::Object variables = tmpl::template_variables(conversation);
    variables.set("messages", conversation.messages);
    jinja::RenderOptions plain;
    plain.strict = true;
    plain.now = test::kClock;
    score.count(what + " unaliased", difference(unaliased, chat_template.render(variables, plain)));
  }
}

Score run_row(const test::Corpus& corpus, const test::CorpusRow& row, std::size_t step) {
  Score score;
  const auto source = files::read(row.template_path);
  REQUIRE_MESSAGE(source.ok(), source.error().to_string());
  const auto compiled = jinja::Template::compile(source.value(), {}, row.id);
  std::map<std::string, std::string> texts;
  std::size_t number = 0;
  for (const std::string& text : test::read_xz_lines(test::corpus_folder() + "/render/" + row.id + ".jsonl.xz")) {
    const auto line = json::parse(text);
    REQUIRE_MESSAGE(line.ok(), line.error().to_string());
    const bool taken = full() || ++number % step == 0;
    if (compiled.ok()) {
      run_line(corpus, row, *compiled.value(), line.value(), texts, taken, score);
    } else {
      // A template that does not load raises in every case.
      score.count(row.id, line.value().find("e") != nullptr ? std::string() : compiled.error().to_string());
    }
  }
  if (const char* verbose = std::getenv("RONDO_TEST_VERBOSE"); verbose != nullptr && compiled.ok()) {
    if (std::string(verbose) == "listing") MESSAGE(compiled.value()->disassemble());
  }
  return score;
}

bool is_llama_template(const test::CorpusRow& row) {
  return row.template_path.find("/templates/llamacpp-") != std::string::npos;
}

void run(bool llama) {
  const auto corpus = test::Corpus::open();
  if (!corpus) return;
  const char* only = std::getenv("RONDO_TEST_ROW");
  Score total;
  for (const test::CorpusRow& row : corpus->rows()) {
    if (is_llama_template(row) != llama || (only != nullptr && row.id.find(only) == std::string::npos)) continue;
    const Score score = run_row(*corpus, row, llama ? kStepLlama : test::is_small_corpus() ? kStepOwn : kStepOther);
    total.equal += score.equal;
    total.all += score.all;
    if (score.equal != score.all) {
      MESSAGE(row.id << ": " << score.equal << " of " << score.all << " equal; first:" << score.first_failure);
    }
  }
  MESSAGE(total.equal << " of " << total.all << " cases equal");
  if (only == nullptr) CHECK(total.all > 1000);
  CHECK(total.equal == total.all);
}

}  // namespace

TEST_CASE("000:91-92: templates that llama.cpp ships render as the reference renders them") { run(true); }

TEST_CASE("000:5-7: all other templates of the corpus render as the reference renders them") { run(false); }

}  // namespace rondo
