#include "replay/prompt_maker.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "analysis/message_rules.h"
#include "causes/sampled.h"
#include "chat/reasoning_fields.h"
#include "format/units.h"
#include "json/parse.h"
#include "json/print.h"
#include "render/encode.h"
#include "render/join.h"

namespace rondo::replay {
namespace {

using tokenizer::Piece;
using tokenizer::TokenId;

// Replaces JSON that a serialiser wrote by the characters that were sent, if they differ.
void put_own_spelling(std::string& text, const json::Value& answer) {
  const json::Value* calls = answer.find("tool_calls");
  if (calls == nullptr || !calls->is_array()) return;
  std::size_t from = 0;
  for (const json::Value& call : calls->as_array()) {
    const json::Value* arguments = chat::function_of(call).find("arguments");
    if (arguments == nullptr || !arguments->is_string()) continue;
    const auto parsed = json::parse(arguments->as_string());
    if (!parsed.ok() || !parsed.value().is_object()) continue;
    const std::string written = json::to_python(parsed.value(), {});
    const std::size_t at = text.find(written, from);
    if (at == std::string::npos) continue;
    text.replace(at, written.size(), arguments->as_string());
    from = at + arguments->as_string().size();
  }
}

std::string_view without_space_behind(std::string_view text) {
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end + 1);
}

// How many pieces there are up to and including the token that closes the turn.  That is the last one that ends
// generation, else the last special one, else the last added one; without any, all pieces count.  Of several
// consecutive ones that end generation, the first counts.
std::size_t pieces_up_to_stop(const tokenizer::Tokenizer& tokenizer, const render::TurnProfile& profile,
                              const std::vector<Piece>& pieces) {
  std::size_t count = pieces.size();
  int best = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const TokenId id = pieces[i].id;
    if (!tokenizer.is_added(id)) continue;
    const int rank = profile.is_stop(id) ? 3 : tokenizer.is_special(id) ? 2 : 1;
    if (rank < best) continue;
    best = rank;
    count = i + 1;
  }
  for (std::size_t i = count; best == 3 && i > 1; --i) {
    const TokenId id = pieces[i - 2].id;
    if (profile.is_stop(id)) count = i - 1;
    const bool is_space = tokenizer.token_bytes(id).find_first_not_of(" \t\r\n") == std::string_view::npos;
    if (!profile.is_stop(id) && !is_space) break;
  }
  return count;
}

}  // namespace

std::size_t common_prefix(std::string_view a, std::string_view b) {
  const std::size_t shorter = std::min(a.size(), b.size());
  std::size_t at = 0;
  for (constexpr std::size_t kStep = 64; at + kStep <= shorter; at += kStep) {
    if (std::memcmp(a.data() + at, b.data() + at, kStep) != 0) break;
  }
  while (at < shorter && a[at] == b[at]) ++at;
  return at;
}

PromptMaker::PromptMaker(Parts parts) : parts_(std::move(parts)) {
  is_barrier_.resize(static_cast<std::size_t>(parts_.tokenizer->vocab_size()), 0);
  for (const tokenizer::AddedToken& token : parts_.tokenizer->added_tokens()) {
    longest_added_ = std::max(longest_added_, token.content.size());
    is_barrier_[static_cast<std::size_t>(token.id)] = !token.normalized && !token.single_word ? 1 : 0;
  }
  chat::Conversation base;
  base.bos_token = parts_.bos_token;
  base.eos_token = parts_.eos_token;
  base.kwargs = parts_.kwargs;
  profile_ = render::probe_turns({*parts_.chat_template, *parts_.tokenizer, base, parts_.apply});
  analysis::Options options;
  options.bos_token = parts_.bos_token;
  options.eos_token = parts_.eos_token;
  options.kwargs = parts_.kwargs;
  options.now = parts_.apply.now;
  options.limits = parts_.apply.limits;
  rules_ = analysis::find_message_rules(*parts_.chat_template, options, *parts_.format);
  // Engines put a line end between parts.  They parse arguments even for a template that accepts them as they were
  // sent.
  rules_.part_separator = "\n";
  if (rules_.arguments == tmpl::MessageRules::Arguments::kAny)
    rules_.arguments = tmpl::MessageRules::Arguments::kObject;
  reads_clock_ = parts_.chat_template->source().find("strftime_now") != std::string::npos;
}

Sheet PromptMaker::sheet(const json::Array& messages, const std::optional<json::Value>& tools,
                         const json::Object& kwargs, std::optional<jinja::LocalTime> now) const {
  chat::Conversation conversation;
  conversation.tools = tools;
  if (conversation.tools) tmpl::shape_tools(*conversation.tools, rules_.tools);
  conversation.bos_token = parts_.bos_token;
  conversation.eos_token = parts_.eos_token;
  conversation.kwargs = parts_.kwargs;
  for (const json::Member& member : kwargs) conversation.kwargs.set(member.key, member.value);
  json::Array own;
  own.reserve(messages.size() + 1);
  own.insert(own.end(), messages.begin(), messages.end());
  tmpl::shape(own, rules_);
  return {tmpl::template_variables(conversation, std::move(own), true), now ? now : parts_.apply.now};
}

json::Array& PromptMaker::messages_of(Sheet& sheet) { return sheet.variables.find("messages")->as_array(); }
const json::Array& PromptMaker::messages_of(const Sheet& sheet) { return sheet.variables.find("messages")->as_array(); }

std::string PromptMaker::sent_place(std::string place, const json::Array& messages) const {
  constexpr std::string_view kArray = "messages[";
  const std::size_t end = place.find("].");
  std::size_t index = 0;
  if (!place.starts_with(kArray) || end == std::string::npos ||
      std::from_chars(place.data() + kArray.size(), place.data() + end, index).ec != std::errc())
    return place;
  json::Array own = messages;
  const tmpl::Shaping shaping = tmpl::shape(own, rules_);
  index = tmpl::sent_index(shaping, index);
  if (index >= messages.size()) return place;
  std::string field = tmpl::sent_path(shaping, index, std::string_view(place).substr(end + 2));
  // The template finds reasoning under each of its names.
  const std::string_view reasoning = tmpl::reasoning_field(messages[index]);
  if (!reasoning.empty() && chat::is_reasoning_field(field)) field = reasoning;
  return std::string(kArray) + std::to_string(index) + "]." + field;
}

chat::Conversation PromptMaker::base_of(const Sheet& sheet) const {
  chat::Conversation base;
  for (const json::Member& member : sheet.variables) {
    if (member.key == "messages" || member.key == "add_generation_prompt") continue;
    if (member.key == "tools" || member.key == "documents") {
      if (!member.value.is_null()) (member.key == "tools" ? base.tools : base.documents) = member.value;
    } else if (member.key == "bos_token" && member.value.is_string()) {
      base.bos_token = member.value.as_string();
    } else if (member.key == "eos_token" && member.value.is_string()) {
      base.eos_token = member.value.as_string();
    } else {
      base.kwargs.set(member.key, member.value);
    }
  }
  return base;
}

Result<jinja::Rendered> PromptMaker::render(const Sheet& sheet, bool origins) const {
  jinja::RenderOptions options;
  options.strict = parts_.apply.strict;
  options.now = sheet.now;
  options.origins = origins;
  options.limits = parts_.apply.limits;
  return parts_.chat_template->render(sheet.variables, options);
}

Result<jinja::Rendered> PromptMaker::trace(const Sheet& sheet, bool add_generation_prompt) const {
  if (add_generation_prompt) return render(sheet, true);
  Sheet other = sheet;
  other.variables.set("add_generation_prompt", false);
  return render(other, true);
}

// How many ids of `known` remain if only the first `common` bytes do.  The last id kept is before an added token that
// ends early enough that nothing after it matters: an added token is found whatever precedes it, and no merge crosses
// it.
std::optional<std::size_t> PromptMaker::restart(const Prompt& known, std::size_t common) const {
  if (common <= longest_added_) return std::nullopt;
  const auto behind = std::ranges::upper_bound(known.ends, common - longest_added_);
  for (auto at = static_cast<std::size_t>(behind - known.ends.begin()); at > 1; --at) {
    if (is_barrier_[static_cast<std::size_t>(known.ids[at - 1])] != 0) return at - 1;
  }
  return std::nullopt;
}

Result<Prompt> PromptMaker::prompt(const Sheet& sheet, const Prompt* known) const {
  auto rendered = render(sheet, false);
  if (!rendered.ok()) return rendered.error();
  Prompt out;
  out.text = rendered.value().text.bytes();
  std::optional<std::size_t> kept;
  if (known != nullptr) kept = restart(*known, common_prefix(known->text, out.text));
  std::size_t begin = kept ? known->ends[*kept - 1] : 0;
  std::vector<Piece> pieces = parts_.tokenizer->encode(std::string_view(out.text).substr(begin), {});
  if (kept && (pieces.empty() || pieces.front().id != known->ids[*kept])) {
    kept.reset();
    begin = 0;
    pieces = parts_.tokenizer->encode(out.text, {});
  }
  out.ids.reserve(kept.value_or(0) + pieces.size());
  out.ends.reserve(kept.value_or(0) + pieces.size());
  if (kept) {
    const auto count = static_cast<std::ptrdiff_t>(*kept);
    out.ids.assign(known->ids.begin(), known->ids.begin() + count);
    out.ends.assign(known->ends.begin(), known->ends.begin() + count);
  }
  for (const Piece& piece : pieces) {
    out.ids.push_back(piece.id);
    out.ends.push_back(piece.end + static_cast<std::uint32_t>(begin));
  }
  return out;
}

// What the template writes for the sheet's last message, after the prompt without it.
std::optional<std::string> PromptMaker::turn_text(const Sheet& sheet, const Prompt& prompt,
                                                  const jinja::Rendered& rendered) const {
  const std::string& text = rendered.text.bytes();
  if (text.starts_with(prompt.text)) return text.substr(prompt.text.size());
  // History writes the turn differently from how the generation prompt opens it.
  const json::Array& messages = messages_of(sheet);
  const chat::Conversation base = base_of(sheet);
  const render::TurnContext context{*parts_.chat_template, *parts_.tokenizer, base, parts_.apply};
  const std::vector<render::SampledExtent> extents = render::sampled_extents(context, rendered, messages);
  if (extents.empty() || extents.back().message != static_cast<std::int32_t>(messages.size()) - 1) return std::nullopt;
  return text.substr(extents.back().begin, extents.back().end - extents.back().begin);
}

// Whether the template writes the reasoning of the sheet's last message.
bool PromptMaker::writes_reasoning(const Sheet& sheet, std::string_view reasoning,
                                   const jinja::Rendered& traced) const {
  const std::string& text = traced.text.bytes();
  if (rules_.reasoning_in_content) return text.find(format::trimmed(reasoning)) != std::string::npos;
  // The template may trim, escape or indent it, so its origin tells and not its text.
  const auto last = static_cast<std::int32_t>(messages_of(sheet).size()) - 1;
  return causes::find_regions(traced, *parts_.format, last, {0, text.size()}).reasoning.has_value();
}

std::vector<TokenId> PromptMaker::sampled(Sheet& sheet, const Prompt& prompt, const json::Value& answer) const {
  json::Array& messages = messages_of(sheet);
  json::Array one{answer};
  tmpl::shape(one, rules_);
  json::Object aliased = tmpl::template_variables(chat::Conversation{}, std::move(one), false);
  messages.push_back(std::move(aliased.find("messages")->as_array().front()));
  sheet.variables.set("add_generation_prompt", false);
  const format::Reasoning& markers = parts_.format->reasoning;
  const std::string_view reasoning = answer.find_string(tmpl::reasoning_field(answer)).value_or("");
  const bool may_be_lost = markers.present && !format::is_blank(reasoning);
  // Origins take time, and tell only of reasoning, or where history does not go on behind the prompt.
  Result<jinja::Rendered> rendered = render(sheet, may_be_lost);
  if (rendered.ok() && !may_be_lost && !rendered.value().text.bytes().starts_with(prompt.text))
    rendered = render(sheet, true);
  std::optional<std::string> text = rendered.ok() ? turn_text(sheet, prompt, rendered.value()) : std::nullopt;
  const bool is_lost = text && may_be_lost && !writes_reasoning(sheet, reasoning, rendered.value());
  messages.pop_back();
  sheet.variables.set("add_generation_prompt", true);
  if (!text) return {};
  put_own_spelling(*text, answer);
  if (is_lost) {
    const bool is_open = without_space_behind(prompt.text).ends_with(without_space_behind(markers.open));
    *text = (is_open ? "" : markers.open) + std::string(reasoning) + markers.close + *text;
  }
  const std::vector<Piece> pieces = render::encode_behind(*parts_.tokenizer, prompt.ids, *text, nullptr);
  std::vector<TokenId> out;
  const std::size_t count = pieces_up_to_stop(*parts_.tokenizer, profile_, pieces);
  out.reserve(count);
  for (std::size_t i = 0; i < count; ++i) out.push_back(pieces[i].id);
  // The turn was ended, whatever the template writes for it.
  const auto is_stop = [this](TokenId id) { return profile_.is_stop(id); };
  if (!out.empty() && profile_.plain.marker && std::ranges::none_of(out, is_stop))
    out.push_back(profile_.plain.marker->id);
  return out;
}

}  // namespace rondo::replay
