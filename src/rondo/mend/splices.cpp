#include "mend/splices.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "render/turn.h"

namespace rondo::mend {
namespace {

constexpr std::size_t kAlike = 10;      // bytes that must agree where the two texts meet again
constexpr std::size_t kBack = 32;       // how far before the difference a splice may begin
constexpr std::size_t kMostText = 400;  // of new text
constexpr std::size_t kMostGone = 400;
constexpr std::size_t kMostChanged = 240;  // new and old bytes, if there are both

// The two texts from one place on.
struct Rests {
  std::string_view seen;
  std::string_view again;

  // Whether they continue alike after these bytes.
  [[nodiscard]] bool meet(std::size_t come, std::size_t go) const {
    if (come > seen.size() || go > again.size()) return false;
    const std::string_view rest = seen.substr(come);
    return !rest.empty() && again.substr(go).starts_with(rest.substr(0, kAlike));
  }
};

class Splicer {
 public:
  Splicer(const audit::Step& step, const format::Format& format)
      : step_(step),
        format_(format),
        seen_(step.seen()),
        again_(step.again->text.bytes()),
        index_(static_cast<std::int32_t>(step.history.size())) {}

  std::vector<Splice> run() {
    const std::size_t at = common_bytes(seen_, again_);
    if (at >= seen_.size()) return {};
    for (const std::size_t begin : beginnings(at)) add_from(begin);
    return std::move(out_);
  }

 private:
  // The difference itself, and places shortly before it: two different markers may share their first characters.
  [[nodiscard]] std::vector<std::size_t> beginnings(std::size_t at) const {
    std::vector<std::size_t> out;
    std::size_t begin = 0;
    std::size_t literals = 0;  // where the literals before the difference begin
    for (const text::Run& run : step_.again->text.runs()) {
      if (begin > at) break;
      if (begin + kBack >= at) out.push_back(begin);
      if (run.kind != text::RunKind::kLiteral) literals = std::min(at, begin + run.size);
      begin += run.size;
    }
    std::erase_if(out, [&](std::size_t place) { return place < literals; });
    std::ranges::reverse(out);
    // Inside a literal, a marker begins with a bracket and must not be cut in two.
    const std::size_t bracket = at == 0 ? std::string::npos : seen_.rfind('<', at - 1);
    const bool is_inside =
        bracket != std::string::npos && bracket + kBack >= at && seen_.find_first_of("> \n", bracket) >= at;
    if (is_inside && bracket >= literals) out.push_back(bracket);
    if (!is_inside) out.push_back(at);
    std::vector<std::size_t> once;
    for (const std::size_t place : out) {
      if (std::ranges::find(once, place) == once.end() && !(is_inside && place > bracket)) once.push_back(place);
    }
    return once;
  }

  void add_from(std::size_t begin) {
    const Rests rests{std::string_view(seen_).substr(begin), std::string_view(again_).substr(begin)};
    add_insertion(begin, rests);
    add_deletion(begin, rests);
    add_change(begin, rests);
    add_to_data(begin, rests);
    add_close(begin, rests);
  }

  void add_insertion(std::size_t begin, const Rests& rests) {
    for (std::size_t come = 1; come < rests.seen.size(); ++come) {
      if (rests.meet(come, 0)) return add(begin, come, 0);
    }
  }

  void add_deletion(std::size_t begin, const Rests& rests) {
    for (std::size_t go = 1; go <= std::min(kMostGone, rests.again.size()); ++go) {
      if (rests.meet(0, go)) return add(begin, 0, go);
    }
  }

  void add_change(std::size_t begin, const Rests& rests) {
    for (std::size_t total = 2; total <= kMostChanged; ++total) {
      for (std::size_t come = 1; come < total; ++come) {
        if (rests.meet(come, total - come)) return add(begin, come, total - come);
      }
    }
  }

  // Extends to the next field of the message that both texts show.
  void add_to_data(std::size_t begin, const Rests& rests) {
    const std::size_t prompt = step_.prompt.text.size();
    const audit::Regions now = audit::find_regions(*step_.again, format_, index_, {begin, again_.size()});
    const audit::Regions& then = step_.sampled.regions;
    const auto add_field = [&](const std::optional<render::Extent>& seen, const std::optional<render::Extent>& again) {
      if (!seen || !again || prompt + seen->begin < begin) return;
      const std::size_t come = prompt + seen->begin - begin;
      if (come + again->begin > 0 && rests.meet(come, again->begin)) add(begin, come, again->begin);
    };
    add_field(then.reasoning, now.reasoning);
    add_field(then.content, now.content);
    if (!then.calls.empty() && !now.calls.empty()) add_field(then.calls.front(), now.calls.front());
  }

  // Extends to the end of the turn, and replaces what history writes there.
  void add_close(std::size_t begin, const Rests& rests) {
    std::size_t at = 0;
    std::size_t end = begin;
    for (const text::Run& run : step_.again->text.runs()) {
      at += run.size;
      if (at > begin && render::owner(run, step_.again->origins) == index_) end = at;
    }
    add(begin, rests.seen.size(), 0);
    if (end > begin) add(begin, rests.seen.size(), end - begin);
  }

  void add(std::size_t begin, std::size_t come, std::size_t go) {
    auto pieces = pieces_of(begin, begin + come);
    if (!pieces || go > kMostGone) return;
    Splice made{begin, begin + go, *std::move(pieces), 0, begin + come == seen_.size()};
    const std::size_t prompt = step_.prompt.text.size();
    if (begin < prompt) made.prompt_bytes = std::min(prompt, begin + come) - begin;
    const auto is_same = [&](const Splice& other) {
      return other.begin == made.begin && other.end == made.end && other.is_close == made.is_close &&
             std::ranges::equal(other.pieces, made.pieces, [](const SplicePiece& a, const SplicePiece& b) {
               return a.kind == b.kind && a.text == b.text;
             });
    };
    if (std::ranges::none_of(out_, is_same)) out_.push_back(std::move(made));
  }

  // What was seen in [begin, end); nullopt if that includes a part of a field, or calls.
  [[nodiscard]] std::optional<std::vector<SplicePiece>> pieces_of(std::size_t begin, std::size_t end) const {
    const std::size_t prompt = step_.prompt.text.size();
    const audit::Regions& regions = step_.sampled.regions;
    std::vector<SplicePiece> out;
    std::vector<std::pair<render::Extent, SplicePiece::Kind>> fields;
    if (regions.reasoning) fields.emplace_back(*regions.reasoning, SplicePiece::Kind::kReasoning);
    if (regions.content) fields.emplace_back(*regions.content, SplicePiece::Kind::kContent);
    std::ranges::sort(fields, {}, [](const auto& field) { return field.first.begin; });
    const auto touches = [&](const render::Extent& extent) {
      return prompt + extent.begin < end && prompt + extent.end > begin;
    };
    if (std::ranges::any_of(regions.calls, touches)) return std::nullopt;
    std::size_t from = begin;
    std::size_t text = 0;
    const auto add_text = [&](std::size_t to) {
      if (to > from) out.push_back({SplicePiece::Kind::kText, seen_.substr(from, to - from)});
      text += to - from;
    };
    for (const auto& [extent, kind] : fields) {
      if (!touches(extent)) continue;
      if (prompt + extent.begin < begin || prompt + extent.end > end) return std::nullopt;
      add_text(prompt + extent.begin);
      out.push_back({kind, ""});
      from = prompt + extent.end;
    }
    add_text(end);
    if (text > kMostText) return std::nullopt;
    return out;
  }

  const audit::Step& step_;
  const format::Format& format_;
  const std::string seen_;
  const std::string& again_;
  const std::int32_t index_;
  std::vector<Splice> out_;
};

}  // namespace

std::vector<Splice> splices_of(const audit::Step& step, const format::Format& format) {
  return Splicer(step, format).run();
}

std::size_t common_bytes(const std::string& seen, const std::string& again) {
  return static_cast<std::size_t>(std::ranges::mismatch(seen, again).in1 - seen.begin());
}

}  // namespace rondo::mend
