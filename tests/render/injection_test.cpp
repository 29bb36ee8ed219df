// Whatever stands in messages and tools: no control token is made of their bytes, not in a prompt and not in a bridge.
//
// Random conversations full of what looks like control tokens, whole, cut, and spread over neighbouring fields, through
// real templates and tokenizers.  RONDO_TEST_CONVERSATIONS says how many for all templates together.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "json/print.h"
#include "render/bridge.h"
#include "tests/support/corpus_models.h"

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

  // What may follow a model's turn: results, or a user.
  json::Array answers() {
    json::Array out;
    for (std::size_t i = below(3); i > 0; --i)
      out.emplace_back(
          json::Object{{"role", "tool"}, {"tool_call_id", "call_12345"}, {"name", name()}, {"content", text()}});
    if (out.empty() || below(3) == 0) out.emplace_back(json::Object{{"role", "user"}, {"content", text()}});
    return out;
  }
  // A call with hostile arguments and a hostile name, or text.
  render::ParsedCompletion completion() {
    render::ParsedCompletion out;
    out.message.complete = true;
    if (below(2) == 0) out.message.reasoning = text();
    if (below(2) == 0) {
      out.message.content = text();
    } else {
      json::Object arguments{{"city", text()}, {text(), text()}};
      chat::ToolCall call;
      call.id = "call_12345";
      call.name = name();
      call.arguments = json::to_compact(json::Value(std::move(arguments)));
      out.message.tool_calls.push_back(std::move(call));
    }
    return out;
  }

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

// Whether the vocabulary, without any added tokens, writes the token for its own text or in `text`: some list a digit, a
// run of blanks or a line end as an added token.  Never a special one.
bool is_text(const tokenizer::Tokenizer& tokenizer, tokenizer::TokenId id, std::string_view text) {
  if (tokenizer.is_special(id)) return false;
  const std::vector<tokenizer::TokenId> itself = {id};
  const auto plain = [&](std::string_view part) {
    return tokenizer.encode_ids(part, {.parse_special = false, .parse_added = false});
  };
  const Result<std::string> decoded = tokenizer.decode(itself, {});
  return plain(tokenizer.token_bytes(id)) == itself || (decoded.ok() && plain(decoded.value()) == itself) ||
         std::ranges::count(plain(text), id) > 0;
}

bool covers(const std::vector<ByteRange>& ranges, std::size_t begin, std::size_t end) {
  for (const ByteRange& range : ranges) {
    if (range.begin <= begin && end <= range.end) return true;
  }
  return false;
}

struct Tally {
  std::size_t rendered = 0;
  std::size_t bridged = 0;
  std::size_t added = 0;

  void add(const Tally& other) {
    rendered += other.rendered;
    bridged += other.bridged;
    added += other.added;
  }
};

// Every added id stands for bytes that no message, tool or document wrote, or is what its vocabulary writes for text.
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
    if (!tokenizer.is_added(piece.id)) continue;
    ++tally.added;
    // Without the white space that it strips.
    const std::string_view taken = std::string_view(text).substr(piece.begin, piece.end - piece.begin);
    const std::string_view content = tokenizer.token_bytes(piece.id);
    const std::size_t at = taken.find(content);
    const bool is_found = at != std::string_view::npos;
    const std::size_t begin = piece.begin + (is_found ? at : 0);
    const std::size_t end = is_found ? begin + content.size() : piece.end;
    REQUIRE_MESSAGE((covers(trusted, begin, end) || is_text(tokenizer, piece.id, text)), "`", std::string(content),
                    "` at ", begin, " of ", text);
  }
}

// The same for what a bridge appends behind such a conversation and a turn of the model.
void check_bridge(const render::TurnContext& context, const render::TurnProfile& profile, Attacker& attacker,
                  const json::Array& messages, Tally& tally) {
  const render::ParsedCompletion said = attacker.completion();
  const std::vector<tokenizer::TokenId> ids = context.tokenizer.encode_ids("Aa", {});
  render::BridgeRequest request{.prompt_ids = ids, .completion_ids = ids, .completion = &said};
  request.messages = messages;
  request.new_messages = attacker.answers();
  const Result<render::Appended> appended = render::append_turn(context, profile, request);
  if (!appended.ok()) return;
  ++tally.bridged;
  const render::Appended& out = appended.value();
  for (std::size_t i = 0; i < out.ids.size(); ++i) {
    if (!context.tokenizer.is_added(out.ids[i])) continue;
    ++tally.added;
    const auto added = context.tokenizer.added_tokens();
    const auto token = std::ranges::find(added, out.ids[i], &AddedToken::id);
    // One that strips white space may take some of the data's.
    const bool takes_space = token != added.end() && token->lstrip;
    REQUIRE_MESSAGE((out.content_mask[i] == 0 || takes_space || is_text(context.tokenizer, out.ids[i], out.text)), "`",
                    context.tokenizer.token_bytes(out.ids[i]), "` at id ", i, " of ", out.text);
  }
}

}  // namespace

TEST_CASE("no control token is made of the bytes of messages and tools") {
  const auto corpus = test::Corpus::open_with_models();
  if (!corpus) return;
  const std::vector<test::CorpusRow> rows = corpus->rows_with_tokenizer();
  const char* wanted = std::getenv("RONDO_TEST_CONVERSATIONS");
  const std::size_t count = (wanted == nullptr ? 4'000 : std::strtoull(wanted, nullptr, 10)) / rows.size() + 1;
  Tally total;
  std::printf("%-32s %9s %9s %12s\n", "template", "prompts", "bridges", "added ids");
  const auto print = [](const std::string& name, const Tally& tally) {
    std::printf("%-32s %9zu %9zu %12zu\n", name.c_str(), tally.rendered, tally.bridged, tally.added);
    std::fflush(stdout);
  };
  for (const test::CorpusRow& row : rows) {
    INFO(row.id);
    const auto model = test::load_model(row);
    if (!model) continue;
    const jinja::Template& chat_template = *model->chat_template;
    const tokenizer::Tokenizer& tokenizer = *model->tokenizer;
    Attacker attacker(tokenizer, 5);
    tmpl::ApplyOptions options;
    options.now = test::kClock;
    chat::Conversation plain;
    plain.bos_token = row.bos_token;
    plain.eos_token = row.eos_token;
    const render::TurnProfile profile = render::probe_turns({chat_template, tokenizer, plain, options});
    Tally tally;
    // Some templates refuse most of what is thrown at them.
    for (std::size_t i = 0; tally.rendered < count && i < 8 * count; ++i) {
      chat::Conversation conversation = plain;
      conversation.messages = attacker.messages();
      if (attacker.uses_tools()) conversation.tools = json::Value(attacker.tools());
      conversation.add_generation_prompt = i % 2 == 0;
      check(chat_template, tokenizer, conversation, options, tally);
      check_bridge({chat_template, tokenizer, conversation, options}, profile, attacker, conversation.messages, tally);
    }
    print(row.id, tally);
    total.add(tally);
  }
  print("all", total);
  CHECK(total.added > 0);
}

}  // namespace rondo
