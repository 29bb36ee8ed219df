#include "edge/proof.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "base/utf8.h"
#include "edge/format.h"
#include "probe/messages.h"
#include "text/text.h"

namespace rondo::edge {
namespace {

constexpr std::size_t kShown = 40;            // bytes of a text in a sentence
constexpr std::size_t kLongestConstant = 80;  // of constants that messages are tried with
constexpr std::size_t kMostConstants = 400;
constexpr std::size_t kMostSearched = 16;
constexpr std::size_t kMostExcepted = 24;  // for one role; with more, nothing is promised about texts

std::string quoted(std::string_view text) {
  const bool is_long = text.size() > kShown;
  std::string out = text::quoted(utf8::to_valid(utf8::head(text, kShown)));
  return is_long ? out + "..." : out;
}

// "the template writes ... where Edge JSON writes ...", from a little before the first difference.
std::string difference(std::string_view jinja, std::string_view edge) {
  constexpr std::size_t kBefore = 8;
  std::size_t same = 0;
  while (same < jinja.size() && same < edge.size() && jinja[same] == edge[same]) ++same;
  const std::size_t from = utf8::boundary(jinja, same > kBefore ? same - kBefore : 0);
  return "the template writes " + quoted(jinja.substr(from)) + ", Edge JSON " +
         quoted(edge.substr(std::min(from, edge.size())));
}

}  // namespace

std::optional<std::string> Proof::refute(const EdgeTemplate& edge_template, const std::vector<Sample>& samples) {
  for (const Sample& sample : samples) {
    ++compared_;
    const FormatOptions options{.add_generation_prompt = sample.setting.generation_prompt,
                                .enable_thinking = sample.setting.thinking};
    const auto edge = format(edge_template, json::Value(sample.messages), options);
    if (!edge.ok()) return edge.error().message;
    const auto jinja = renders_.text(sample.messages, sample.setting);
    if (!jinja.ok()) return "the template refuses such messages: " + jinja.error().message;
    if (jinja.value() != edge.value().complete) return difference(jinja.value(), edge.value().complete);
  }
  return std::nullopt;
}

std::optional<std::string> Proof::refute(const EdgeTemplate& edge_template, const Kind& kind,
                                         const SampleParts& parts) {
  return refute(edge_template, samples_of(kind, renders_.reads_time(), parts));
}

std::optional<Kind> base_kind(Proof& proof, const EdgeTemplate& edge_template) {
  for (const Turns turns : {Turns::kAlternate, Turns::kOne}) {
    for (const SystemUse system : {SystemUse::kEither, SystemUse::kLead, SystemUse::kNone}) {
      Kind kind;
      kind.turns = turns;
      kind.system = system;
      if (!proof.refute(edge_template, kind)) return kind;
    }
  }
  return std::nullopt;
}

int rank(const std::optional<Kind>& kind) {
  if (!kind) return 0;
  const int system = kind->system == SystemUse::kEither ? 3 : kind->system == SystemUse::kLead ? 2 : 1;
  return kind->turns == Turns::kOne ? system : 3 + system;
}

namespace {

class Widening {
 public:
  Widening(Proof& proof, const EdgeTemplate& edge_template, Kind kind, std::vector<std::string>& losses)
      : proof_(proof), edge_(edge_template), kind_(std::move(kind)), losses_(losses) {}

  Kind widen() {
    systems();
    settings();
    orders();
    find_searched();
    for (const char role : roles()) texts(role);
    if (!try_with([](Kind& kind) { kind.text_parts = true; }, {.orders = false, .texts = false, .media = false}))
      lose("contents that are lists of text parts");
    media(kImage, &Kind::images);
    media(kVideo, &Kind::videos);
    return std::move(kind_);
  }

 private:
  // Keeps the change if it holds; otherwise `why_` says how it fails.  `parts`: what the change alters.
  bool try_with(const std::function<void(Kind&)>& change, const SampleParts& parts = {}) {
    Kind wider = kind_;
    change(wider);
    why_ = proof_.refute(edge_, wider, parts);
    if (why_) return false;
    kind_ = std::move(wider);
    return true;
  }
  void lose(const std::string& what) { losses_.push_back(what + ": " + why_.value_or("")); }

  [[nodiscard]] std::string roles() const {
    std::string out = kind_.system == SystemUse::kNone ? "u" : "su";
    if (kind_.turns != Turns::kOne) out += 'a';
    return out;
  }

  // Finds what the base kind lacks, for its sentence.
  void systems() {
    if (kind_.turns == Turns::kOne && !try_with([](Kind& kind) { kind.turns = Turns::kAlternate; }))
      lose("conversations of more than one turn");
    if (kind_.system == SystemUse::kEither) return;
    const bool lacks_system = kind_.system == SystemUse::kNone;
    (void)try_with([](Kind& kind) { kind.system = SystemUse::kEither; });
    lose(lacks_system ? "system messages" : "conversations without a system message");
  }

  void settings() {
    constexpr SampleParts kOrdersAlone{.texts = false, .text_parts = false, .media = false};
    const bool can_think = !proof_.renders().thinking_variable().empty();
    if (can_think && !try_with([](Kind& kind) { kind.thinking = true; }, kOrdersAlone))
      lose("`" + proof_.renders().thinking_variable() + "` set to true");
    if (!try_with([](Kind& kind) { kind.without_prompt = true; }, kOrdersAlone))
      lose("prompts without the generation prompt");
  }

  void orders() {
    if (kind_.turns == Turns::kOne) return;
    if (!try_with([](Kind& kind) { kind.ends_with_answer = true; }))
      lose("conversations that end with an assistant message");
    if (!try_with([](Kind& kind) { kind.turns = Turns::kAny; })) lose("messages whose roles do not alternate");
    if (kind_.system != SystemUse::kNone && !try_with([](Kind& kind) { kind.later_system = true; }))
      lose("system messages behind the first message");
  }

  static void add_constant(std::vector<std::string>& out, std::string_view text) {
    if (text.empty() || text.size() > kLongestConstant) return;
    const bool is_blank = text.find_first_not_of(" \t\r\n") == std::string_view::npos;
    if (!is_blank && std::ranges::find(out, text) == out.end()) out.emplace_back(text);
  }

  // Adds what the template searches in that conversation.
  void add_searched(const json::Array& messages) {
    const auto rendered = proof_.renders().traced(messages, {});
    if (!rendered.ok()) return;
    for (const jinja::Probe& probe : rendered.value().probes) {
      if (searched_.size() < kMostSearched) add_constant(searched_, probe.constant);
    }
  }

  // Finds what the template searches for in texts, including texts that contain such a constant.
  void find_searched() {
    constexpr std::size_t kRounds = 3;
    for (const char role : roles()) add_searched(sample_saying(kind_, role, "word")->messages);
    std::size_t known = 0;
    for (std::size_t round = 0; round < kRounds && known < searched_.size(); ++round) {
      const std::vector<std::string> texts(searched_.begin() + static_cast<std::ptrdiff_t>(known), searched_.end());
      known = searched_.size();
      for (const std::string& text : texts) {
        for (const char role : roles()) add_searched(sample_saying(kind_, role, text)->messages);
      }
    }
    constants_ = searched_;
    for (const std::string& text : proof_.renders().source().chat_template.literal_texts()) {
      if (constants_.size() < kMostConstants) add_constant(constants_, text);
    }
  }

  [[nodiscard]] bool is_excepted(char role, std::string_view text) const {
    const std::vector<std::string>& except = kind_.speaker(role).except;
    return except.size() >= kMostExcepted || std::ranges::any_of(except, [&](const std::string& other) {
             return text.find(other) != std::string_view::npos;
           });
  }

  void except(char role, const std::string& text, std::string_view held) {
    losses_.push_back(std::string(role_name(role)) + " texts that hold " + std::string(held) + ": " + *why_);
    kind_.speaker(role).except.push_back(text);
  }

  // Finds the template's own texts that a message of that role must not contain, as far as texts of that level contain
  // them.
  void constants(char role, Texts level) {
    for (const std::string& text : constants_) {
      if (is_excepted(role, text)) continue;
      if ((why_ = proof_.refute(edge_, samples_with(kind_, role, text, level)))) except(role, text, quoted(text));
    }
  }

  // The same for two constants that it searches for in one text.
  void pairs(char role) {
    for (const std::string& first : searched_) {
      for (const std::string& second : searched_) {
        if (is_excepted(role, first) || is_excepted(role, second)) continue;
        std::string both = first;
        both.append(" b ").append(second);
        const auto sample = sample_saying(kind_, role, both);
        if ((why_ = proof_.refute(edge_, {*sample})))
          except(role, first, std::string(quoted(first)).append(" and ").append(quoted(second)));
      }
    }
  }

  void texts(char role) {
    constexpr std::array<std::pair<Texts, std::string_view>, 3> kLevels = {{
        {Texts::kInner, " texts with other characters than letters and digits"},
        {Texts::kEnds, " texts with white space at their ends"},
        {Texts::kAny, " texts that are empty"},
    }};
    constants(role, Texts::kInner);
    pairs(role);
    for (const auto& [level, what] : kLevels) {
      if (!try_with([&, wanted = level](Kind& kind) { kind.speaker(role).texts = wanted; })) {
        lose(std::string(role_name(role)) + std::string(what));
        break;
      }
      if (level == Texts::kEnds) constants(role, level);
    }
  }

  void media(std::string_view type, Media Kind::* field) {
    const ContentType* found = edge_.find_content_type(type);
    if (found == nullptr || found->format.empty()) return;
    const std::string name = std::string(type) + "s";
    constexpr SampleParts kMediaAlone{.orders = false, .texts = false, .text_parts = false};
    if (!try_with([&](Kind& kind) { kind.*field = Media::kAnywhere; }, kMediaAlone)) {
      lose(name + " behind text");
      if (!try_with([&](Kind& kind) { kind.*field = Media::kLead; }, kMediaAlone)) return lose(name);
    }
    if (!kind_.several_media && !try_with([](Kind& kind) { kind.several_media = true; }, kMediaAlone))
      lose("more than one image or video in a conversation");
  }

  Proof& proof_;
  const EdgeTemplate& edge_;
  Kind kind_;
  std::vector<std::string>& losses_;
  std::optional<std::string> why_;
  std::vector<std::string> searched_;   // constants that the template searches for in texts
  std::vector<std::string> constants_;  // those, and all its other constants
};

}  // namespace

Kind widen(Proof& proof, const EdgeTemplate& edge_template, Kind kind, std::vector<std::string>& losses) {
  return Widening(proof, edge_template, std::move(kind), losses).widen();
}

}  // namespace rondo::edge
