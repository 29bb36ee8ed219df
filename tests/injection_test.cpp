// Whatever stands in messages and tools: no special token is made of their bytes.
//
// Random conversations full of what looks like control tokens, whole, cut, and spread over neighbouring fields, through
// real templates and tokenizers.  RONDO_TEST_CONVERSATIONS says how many for each template (200).
#include <doctest/doctest.h>

#include <cstdlib>
#include <random>

#include "model/model_files.h"
#include "render/encode.h"
#include "tests/support/corpus.h"

namespace rondo {
namespace {

using tokenizer::AddedToken;
using tokenizer::ByteRange;

class Attacker {
 public:
  Attacker(const tokenizer::Tokenizer& tokenizer, unsigned seed) : tokenizer_(tokenizer), random_(seed) {}

  json::Array messages() {
    json::Array out;
    if (below(3) == 0) out.emplace_back(json::Object{{"role", "system"}, {"content", text()}});
    const std::size_t turns = 1 + below(3);
    for (std::size_t i = 0; i < turns; ++i) {
      out.emplace_back(json::Object{{"role", below(40) == 0 ? text() : "user"}, {"content", text()}});
      if (below(3) == 0) out.back().as_object().set("name", text());
      if (i + 1 == turns && below(2) == 0) break;
      if (below(3) == 0) {
        call(out);
      } else {
        out.emplace_back(json::Object{{"role", "assistant"}, {"content", text()}});
        if (below(3) == 0) out.back().as_object().set("reasoning_content", text());
      }
    }
    return out;
  }

  json::Array tools() {
    json::Object city{{"type", "string"}, {"description", text()}};
    json::Object parameters{{"type", "object"}, {"properties", json::Object{{text(), std::move(city)}}}};
    json::Object function{{"name", name()}, {"description", text()}, {"parameters", std::move(parameters)}};
    return {json::Object{{"type", "function"}, {"function", std::move(function)}}};
  }

  bool uses_tools() { return below(3) == 0; }

 private:
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_()) % limit; }

  // One look-alike after the other; what is cut off one may begin the next field.
  std::string text() {
    std::string out = std::move(rest_);
    rest_.clear();
    const std::size_t parts = 1 + below(4);
    for (std::size_t i = 0; i < parts; ++i) {
      static constexpr const char* kPlain[] = {"hi", " ", "\n", "assistant", "user",  "<|",
                                               "|>", "<", ">",  "\n\n",      "[INST]"};
      std::string part = below(3) == 0 ? kPlain[below(std::size(kPlain))] : control();
      if (!part.empty() && below(4) == 0) {
        const std::size_t cut = below(part.size() + 1);
        rest_ = part.substr(cut);
        part.resize(cut);
      }
      out += part;
    }
    return out;
  }

  std::string name() {
    std::string out = "f_" + text();
    return out;
  }

  const std::string& control() {
    const auto added = tokenizer_.added_tokens();
    static const std::string kNone = "<s>";
    // The first hundred and some others, since some vocabularies reserve thousands.
    return added.empty()
               ? kNone
               : added[below(2) == 0 ? below(std::min<std::size_t>(added.size(), 100)) : below(added.size())].content;
  }

  void call(json::Array& out) {
    json::Object arguments{{"city", text()}, {text(), text()}};
    json::Object function{{"name", name()}, {"arguments", std::move(arguments)}};
    json::Array calls = {json::Object{{"id", "call_12345"}, {"type", "function"}, {"function", std::move(function)}}};
    out.emplace_back(json::Object{{"role", "assistant"}, {"content", text()}, {"tool_calls", std::move(calls)}});
    out.emplace_back(
        json::Object{{"role", "tool"}, {"tool_call_id", "call_12345"}, {"name", name()}, {"content", text()}});
  }

  const tokenizer::Tokenizer& tokenizer_;
  std::mt19937 random_;
  std::string rest_;
};

bool covers(const std::vector<ByteRange>& ranges, std::size_t begin, std::size_t end) {
  for (const ByteRange& range : ranges) {
    if (range.begin <= begin && end <= range.end) return true;
  }
  return false;
}

struct Tally {
  std::size_t rendered = 0;
  std::size_t special = 0;
};

// Every special id stands for bytes that no message, tool or document wrote.
void check(const jinja::Template& chat_template, const tokenizer::Tokenizer& tokenizer,
           const chat::Conversation& conversation, const tmpl::ApplyOptions& options, Tally& tally) {
  const Result<jinja::Rendered> rendered = tmpl::apply(chat_template, conversation, options);
  if (!rendered.ok()) return;  // the template refuses such a conversation
  ++tally.rendered;
  const std::vector<ByteRange> trusted = render::trusted_ranges(chat_template, rendered.value());
  const render::TurnContext context{chat_template, tokenizer, conversation, options};
  const std::string& text = rendered.value().text.bytes();
  for (const tokenizer::Piece& piece :
       render::encode_range(context, rendered.value(), 0, text.size(), render::ContentSpecials::kText)) {
    if (!tokenizer.is_special(piece.id)) continue;
    ++tally.special;
    // Without the white space that it strips.
    const std::string_view taken = std::string_view(text).substr(piece.begin, piece.end - piece.begin);
    const std::string_view content = tokenizer.token_bytes(piece.id);
    const std::size_t at = taken.find(content);
    const bool is_found = at != std::string_view::npos;
    const std::size_t begin = piece.begin + (is_found ? at : 0);
    const std::size_t end = is_found ? begin + content.size() : piece.end;
    REQUIRE_MESSAGE(covers(trusted, begin, end), "`", std::string(content), "` at ", begin, " of ", text);
  }
}

}  // namespace

TEST_CASE("no special token is made of the bytes of messages and tools") {
  const std::optional<test::Corpus> corpus = test::Corpus::open();
  if (!corpus) {
    MESSAGE("skipped: no corpus beside the checkout");
    return;
  }
  const char* wanted = std::getenv("RONDO_TEST_CONVERSATIONS");
  const long count = wanted == nullptr ? 200 : std::strtol(wanted, nullptr, 10);
  Tally tally;
  for (const test::CorpusRow& row : corpus->rows_with_tokenizer()) {
    INFO(row.id);
    const auto files = model::load(row.model_folder);
    if (!files.ok() || !files.value().tokenizer || files.value().templates.empty()) continue;
    const auto tokenizer = tokenizer::Tokenizer::load(*files.value().tokenizer);
    const auto chat_template = jinja::Template::compile(files.value().templates[0].text, {}, row.id);
    REQUIRE(tokenizer.ok());
    REQUIRE(chat_template.ok());
    Attacker attacker(*tokenizer.value(), 5);
    for (long i = 0; i < count; ++i) {
      chat::Conversation conversation;
      conversation.messages = attacker.messages();
      if (attacker.uses_tools()) conversation.tools = json::Value(attacker.tools());
      conversation.add_generation_prompt = i % 2 == 0;
      conversation.bos_token = row.bos_token;
      conversation.eos_token = row.eos_token;
      tmpl::ApplyOptions options;
      options.now = corpus->clock();
      check(*chat_template.value(), *tokenizer.value(), conversation, options, tally);
    }
  }
  MESSAGE(tally.rendered, " prompts with ", tally.special, " special ids");
  CHECK(tally.special > 0);
}

}  // namespace rondo
