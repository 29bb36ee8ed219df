// No promise of an export is false: for the templates of the corpus, random conversations of the promised kind are the same
// text through Edge JSON and through the Jinja template.
//
// The conversations are made here, and not as those by which an export is proven.  RONDO_EDGE=N makes N of them for every
// template of the corpus, else a sample of the templates gets a few.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/edge.h"
#include "core/model.h"
#include "edge/format.h"
#include "edge/to_jinja.h"
#include "json/print.h"
#include "tests/support/corpus.h"

namespace rondo {
namespace {

constexpr std::size_t kStep = 61;  // of the templates, without RONDO_EDGE
constexpr std::size_t kSmallStep = 17;
constexpr std::size_t kConversations = 60;

std::size_t wanted_conversations() {
  const char* const value = std::getenv("RONDO_EDGE");
  return value == nullptr ? 0 : std::strtoul(value, nullptr, 10);
}

class Random {
 public:
  Random(const edge::Kind& kind, std::string_view source, unsigned seed)
      : kind_(kind), source_(source), engine_(seed) {}

  struct Made {
    json::Array messages;
    bool generation_prompt = true;
    bool thinking = false;
  };

  Made make() {
    Made out;
    std::string roles = order();
    std::size_t media = kind_.several_media ? 100 : 1;
    for (const char role : roles) {
      json::Object message{{"role", edge::role_name(role)}};
      message.set("content", content(role, media));
      out.messages.emplace_back(std::move(message));
    }
    out.generation_prompt = !kind_.without_prompt || chance(70);
    out.thinking = kind_.thinking && chance(50);
    return out;
  }

  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(engine_); }
  bool chance(std::size_t percent) { return below(100) < percent; }

 private:
  std::string order() {
    std::string out;
    const bool leads =
        kind_.system == edge::SystemUse::kLead || (kind_.system == edge::SystemUse::kEither && chance(50));
    if (leads) out += 's';
    if (kind_.turns == edge::Turns::kOne) return out + "u";
    const std::size_t most = chance(3) ? kind_.max_messages : 2 + below(9);
    std::size_t turns = 1 + below(std::max<std::size_t>(most - out.size(), 2) - 1);
    for (std::size_t i = 0; i < turns; ++i) {
      const bool alternates = kind_.turns == edge::Turns::kAlternate || chance(50);
      out += alternates ? (i % 2 == 0 ? 'u' : 'a') : (chance(50) ? 'u' : 'a');
    }
    if (out.back() != 'u' && !kind_.ends_with_answer) {
      if (out.size() < kind_.max_messages) {
        out += 'u';
      } else {
        out.back() = 'u';
        if (kind_.turns == edge::Turns::kAlternate) out.erase(out.size() - 2, 1);
      }
    }
    while (kind_.later_system && kind_.system != edge::SystemUse::kNone && out.size() < kind_.max_messages &&
           chance(30)) {
      const std::size_t first = leads ? 1 : 2;
      if (out.size() > first)
        out.insert(first + below(out.size() - first), 1, 's');
      else
        break;
    }
    return out;
  }

  std::string piece() {
    static const std::vector<std::string> kPieces = {
        "a",        "Zebra", "7",    "42",   " ",  " ",     "\n",   "\n\n",     "\t",           "\r\n",
        ".",        ",",     "!",    "\"",   "'",  "\\",    "{",    "}",        "{{",           "%}",
        "<",        ">",     "<|",   "|>",   "[",  "]",     "#",    "\xc3\xa9", "\xe6\xbc\xa2", "\xf0\x9f\x99\x82",
        "\xc2\xa0", "None",  "null", "true", "</", "think", "tool", "user",     "system",       "assistant",
        ":",        "-",     "_",    "&amp;"};
    if (chance(20) && source_.size() > 40) {
      // Some of the template itself.
      std::size_t at = below(source_.size() - 20);
      while (at > 0 && (static_cast<unsigned char>(source_[at]) & 0xC0U) == 0x80U) --at;
      std::size_t end = at + 1 + below(20);
      while (end < source_.size() && (static_cast<unsigned char>(source_[end]) & 0xC0U) == 0x80U) ++end;
      return std::string(source_.substr(at, end - at));
    }
    return kPieces[below(kPieces.size())];
  }

  std::string any_text() {
    std::string out;
    const std::size_t pieces = chance(2) ? 300 : below(9);
    for (std::size_t i = 0; i < pieces; ++i) out += piece();
    return out;
  }

  std::string words() {
    std::string out;
    for (std::size_t i = 0, n = 1 + below(6); i < n; ++i) {
      if (i > 0) out += ' ';
      for (std::size_t c = 0, m = 1 + below(7); c < m; ++c)
        out += "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"[below(62)];
    }
    return out;
  }

  std::string text_of(const edge::Speaker& speaker) {
    for (int tries = 0; tries < 50; ++tries) {
      std::string out = speaker.texts == edge::Texts::kWords ? words() : any_text();
      if (speaker.texts == edge::Texts::kInner) out = "q" + out + "z";
      if (speaker.texts == edge::Texts::kEnds && out.find_first_not_of(" \t\r\n\xc2\xa0") == std::string::npos)
        out += "q";
      if (is_allowed(speaker, out)) return out;
    }
    return "q";
  }

  static bool is_allowed(const edge::Speaker& speaker, const std::string& text) {
    return std::ranges::none_of(speaker.except,
                                [&](const std::string& other) { return text.find(other) != std::string::npos; });
  }

  json::Value content(char role, std::size_t& media) {
    const edge::Speaker& speaker = kind_.speaker(role);
    const bool shows =
        role == 'u' && media > 0 && (kind_.images != edge::Media::kNone || kind_.videos != edge::Media::kNone);
    if (shows && chance(40)) return with_media(speaker, media);
    if (!kind_.text_parts || chance(70)) return text_of(speaker);
    json::Array parts;
    std::string joined;
    for (std::size_t i = 0, n = 1 + below(3); i < n; ++i) {
      const std::string text = text_of(speaker);
      if (!is_allowed(speaker, joined + text)) break;
      parts.emplace_back(json::Object{{"type", "text"}, {"text", text}});
      joined += text;
    }
    return parts;
  }

  json::Value with_media(const edge::Speaker& speaker, std::size_t& media) {
    json::Array parts;
    const bool has_images = kind_.images != edge::Media::kNone;
    const bool is_image = has_images && (kind_.videos == edge::Media::kNone || chance(60));
    const edge::Media where = is_image ? kind_.images : kind_.videos;
    const std::string type = is_image ? "image" : "video";
    const std::size_t count = kind_.several_media ? 1 + below(3) : 1;
    const bool is_behind = where == edge::Media::kAnywhere && chance(50);
    if (is_behind) parts.emplace_back(json::Object{{"type", "text"}, {"text", text_of(speaker)}});
    for (std::size_t i = 0; i < count; ++i) parts.emplace_back(json::Object{{"type", type}, {type, "b.png"}});
    media -= std::min(media, count);
    if (!is_behind || chance(30)) parts.emplace_back(json::Object{{"type", "text"}, {"text", text_of(speaker)}});
    return parts;
  }

  const edge::Kind& kind_;
  std::string_view source_;
  std::mt19937 engine_;
};

struct Tally {
  std::size_t templates = 0;
  std::size_t lossless = 0;
  std::size_t promised = 0;
  std::size_t conversations = 0;
};

void check_promise(const core::Model& model, const core::Call& base, const edge::Exported& exported, std::size_t count,
                   Tally& tally) {
  const std::string source = model.template_text(false);
  Random random(*exported.kind, source, 7);
  for (std::size_t i = 0; i < count; ++i) {
    Random::Made made = random.make();
    core::Call call = base;
    if (random.chance(20)) call.now = jinja::LocalTime{2030, 1, 2, 3, 4, 5};
    call.conversation.messages = made.messages;
    call.conversation.add_generation_prompt = made.generation_prompt;
    if (!exported.thinking_variable.empty()) call.conversation.kwargs.set(exported.thinking_variable, made.thinking);
    const auto jinja = model.render(call);
    const auto edge = edge::format(exported.edge_template, json::Value(made.messages),
                                   {.add_generation_prompt = made.generation_prompt, .enable_thinking = made.thinking});
    ++tally.conversations;
    const bool is_same = jinja.ok() && edge.ok() && jinja.value() == edge.value().complete;
    if (is_same) continue;
    CAPTURE(json::to_compact(json::Value(made.messages)));
    CAPTURE(edge::to_sentence(*exported.kind));
    const std::string by_jinja = jinja.ok() ? jinja.value() : jinja.error().message;
    const std::string by_edge = edge.ok() ? edge.value().complete : edge.error().message;
    const auto differs = std::ranges::mismatch(by_jinja, by_edge).in1;
    const auto at = static_cast<std::size_t>(differs - by_jinja.begin());
    const std::size_t from = at - std::min<std::size_t>(at, 40);
    CAPTURE(by_jinja.substr(from, 120));
    CAPTURE(by_edge.substr(std::min(from, by_edge.size()), 120));
    FAIL_CHECK("a promise is false");
    return;
  }
}

// What an export says is what the template of the export says again.
void check_round_trip(const edge::EdgeTemplate& edge_template) {
  const auto compiled = jinja::Template::compile(edge::to_jinja(edge_template), {}, "imported");
  REQUIRE(compiled.ok());
  const edge::JinjaSource source{*compiled.value(), {}, {}, {}};
  const auto again = edge::export_template(source, "elsewhere");
  REQUIRE(again.ok());
  CHECK(json::to_compact(edge::to_json(again.value().edge_template)) == json::to_compact(edge::to_json(edge_template)));
  CHECK(again.value().lossless);
}

}  // namespace

TEST_CASE("no promise of an export is false, and what it says comes back from Jinja") {
  const auto corpus = test::Corpus::open();
  if (!corpus) return;
  const std::size_t wanted = wanted_conversations();
  const std::size_t step = wanted > 0 ? 1 : test::is_small_corpus() ? kSmallStep : kStep;
  Tally tally;
  std::set<std::string> seen;
  std::size_t number = 0;
  for (const test::CorpusRow& row : corpus->rows()) {
    if (!seen.insert(row.template_path).second || number++ % step != 0) continue;
    CAPTURE(row.id);
    const auto model = core::Model::load({.path = row.template_path});
    if (!model.ok()) continue;  // not all are templates
    core::Call call;
    call.conversation.bos_token = row.bos_token;
    call.conversation.eos_token = row.eos_token;
    call.now = test::kClock;
    const auto exported = core::export_edge(*model.value(), call, "a/model");
    ++tally.templates;
    if (!exported.ok()) continue;
    tally.lossless += exported.value().lossless ? 1 : 0;
    check_round_trip(exported.value().edge_template);
    if (!exported.value().kind) continue;
    ++tally.promised;
    core::Call base;
    base.conversation = call.conversation;
    base.now = call.now;
    check_promise(*model.value(), base, exported.value(), wanted > 0 ? wanted : kConversations, tally);
  }
  MESSAGE(tally.templates << " templates, " << tally.lossless << " lossless, " << tally.promised << " with a promise, "
                          << tally.conversations << " conversations");
  CHECK(tally.promised > 0);
}

}  // namespace rondo
