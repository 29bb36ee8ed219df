#include "render/explain.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "probe/places.h"

namespace rondo::render {
namespace {

constexpr std::size_t kShownTokens = 12;

std::string decode_some(const tokenizer::Tokenizer& tokenizer, std::span<const tokenizer::TokenId> ids) {
  const Result<std::string> text = tokenizer.decode(ids.first(std::min(ids.size(), kShownTokens)), {});
  return text.ok() ? text.value() : "";
}

// Decisions of two renders correspond when the same condition was evaluated for the same input element, and as often
// before.
class DecisionKeys {
 public:
  using Key = std::tuple<std::uint32_t, std::string, std::int32_t, std::uint32_t>;

  explicit DecisionKeys(const jinja::Rendered& rendered) : rendered_(rendered) {}

  // REQUIRES: called once for each decision, in order.
  Key next(const jinja::Decision& decision) {
    const text::Context& context = rendered_.origins.contexts.at(decision.context);
    Key key{decision.node, rendered_.origins.paths.to_string(context.element), context.message, {}};
    std::get<3>(key) = seen_[key]++;
    return key;
  }

 private:
  const jinja::Rendered& rendered_;
  std::map<Key, std::uint32_t> seen_;
};

std::string outcome(bool value) { return value ? "true" : "false"; }

// The place is rewritten text: a serialised value, a printed scalar, an escaped string.
bool is_rewritten(const text::Run& run) {
  return run.kind == text::RunKind::kSerialiser || run.kind == text::RunKind::kScalar ||
         run.kind == text::RunKind::kEscaped;
}

const jinja::Strip* strip_of_message(const jinja::Rendered& rendered, std::int32_t message) {
  for (const jinja::Strip& strip : rendered.strips) {
    if (rendered.origins.paths.message(strip.path) == message) return &strip;
  }
  return nullptr;
}

void explain(const TurnContext& context, const jinja::Rendered& rerendered, const jinja::Rendered* before,
             const text::Run* run, Break& out) {
  const bool only_spacing =
      out.kept.find_first_not_of(" \t\r\n") == std::string::npos || out.kept.front() == '\n' || out.kept.front() == ' ';
  const jinja::Strip* strip = strip_of_message(rerendered, out.message);
  if (strip != nullptr && only_spacing) {
    out.line = strip->line;
    out.cause = "line " + std::to_string(strip->line) + " cuts characters off " +
                rerendered.origins.paths.to_string(strip->path);
    return;
  }
  if (run != nullptr && is_rewritten(*run)) {
    out.cause =
        rerendered.origins.paths.to_string(run->path()) + " is written again by the template's serialiser, not copied";
    return;
  }
  if (before != nullptr) {
    const jinja::Decision* flip = first_flip(*before, rerendered, out.message);
    if (flip != nullptr) {
      out.line = flip->line;
      out.column = flip->column;
      out.cause = "line " + std::to_string(flip->line) + " `" + source_line(context.chat_template, flip->line) +
                  "` was " + outcome(!flip->outcome) + ", now " + outcome(flip->outcome);
      return;
    }
  }
  out.cause = out.line > 0 ? "line " + std::to_string(out.line) + " writes text that the model did not write"
                           : "the model's own spelling is not kept";
}

}  // namespace

std::string source_line(const jinja::Template& chat_template, std::int32_t line) {
  const std::string_view source = chat_template.source();
  std::size_t begin = 0;
  for (std::int32_t i = 1; i < line; ++i) {
    begin = source.find('\n', begin);
    if (begin == std::string_view::npos) return "";
    ++begin;
  }
  std::string_view text = source.substr(begin, source.find('\n', begin) - begin);
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\r") - first + 1));
}

std::string describe_origin(const jinja::Rendered& rendered, std::size_t at) {
  const text::Run* run = probe::spot_at(rendered, at).run;
  if (run == nullptr) return "end of the prompt";
  if (run->kind == text::RunKind::kLiteral) {
    return "template line " + std::to_string(rendered.origins.literals[run->origin].line);
  }
  std::string out = rendered.origins.paths.to_string(run->path());
  if (out.empty()) return "computed by the template";
  if (run->chain != text::ChainId::kNone) out += " via " + rendered.origins.chains.to_string(run->chain);
  return out;
}

std::vector<const jinja::Decision*> flips(const jinja::Rendered& before, const jinja::Rendered& after) {
  std::map<DecisionKeys::Key, bool> earlier;
  DecisionKeys before_keys(before);
  for (const jinja::Decision& decision : before.decisions) {
    earlier.emplace(before_keys.next(decision), decision.outcome);
  }
  std::vector<const jinja::Decision*> out;
  DecisionKeys after_keys(after);
  for (const jinja::Decision& decision : after.decisions) {
    const auto found = earlier.find(after_keys.next(decision));
    if (found != earlier.end() && found->second != decision.outcome) out.push_back(&decision);
  }
  return out;
}

const jinja::Decision* first_flip(const jinja::Rendered& before, const jinja::Rendered& after, std::int32_t message) {
  const std::vector<const jinja::Decision*> all = flips(before, after);
  const auto wanted = std::ranges::find_if(all, [&](const jinja::Decision* decision) {
    return message == text::kNoMessage || after.origins.contexts.at(decision->context).message == message;
  });
  if (wanted != all.end()) return *wanted;
  return all.empty() ? nullptr : all.front();
}

std::optional<Break> find_break(const TurnContext& context, std::span<const tokenizer::TokenId> old_ids,
                                const jinja::Rendered& rerendered, std::span<const tokenizer::Piece> pieces,
                                const jinja::Rendered* before) {
  std::size_t common = 0;
  while (common < old_ids.size() && common < pieces.size() && old_ids[common] == pieces[common].id) ++common;
  if (common == old_ids.size()) return std::nullopt;
  Break out;
  out.kept_tokens = common;
  out.byte = common < pieces.size() ? pieces[common].begin : rerendered.text.size();
  out.kept = decode_some(context.tokenizer, old_ids.subspan(common));
  out.rerendered = rerendered.text.bytes().substr(out.byte, std::max<std::size_t>(out.kept.size(), 24));
  out.place = describe_origin(rerendered, out.byte);
  const text::Run* run = probe::spot_at(rerendered, out.byte).run;
  if (run != nullptr) {
    out.message = owner(*run, rerendered.origins);
    if (run->kind == text::RunKind::kLiteral) {
      out.line = rerendered.origins.literals[run->origin].line;
      out.column = rerendered.origins.literals[run->origin].column;
    }
  }
  explain(context, rerendered, before, run, out);
  return out;
}

}  // namespace rondo::render
