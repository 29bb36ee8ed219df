// Finds what a template writes for a call without arguments, where it leaves the arguments out.
#include "analysis/parts.h"
#include "analysis/written.h"
#include "json/print.h"

namespace rondo::analysis {
namespace {

using Kind = format::CallPiece::Kind;

// Returns the first variant with one call; nullptr if there is none.
const std::pair<const Parts, Variant>* variant_with_call(const Evidence& evidence) {
  for (const auto& entry : evidence.variants) {
    if (entry.first.calls == 1) return &entry;
  }
  return nullptr;
}

// Returns the text of the pieces from `begin` on, with `arguments` in their place, and then the text that closes the call.
std::string closing_behind(const format::Calls& calls, std::vector<format::CallPiece>::const_iterator begin,
                           std::string_view arguments) {
  std::string out;
  for (auto piece = begin; piece != calls.pieces.end(); ++piece) {
    if (piece->kind == Kind::kArguments) out += arguments;
    out += piece->marker();
  }
  return out + calls.call_close;
}

// Returns what comes behind the only call of `turn`, whose last slot is a part of the call; nullopt if the call does not
// end as `calls` says.
std::optional<std::string> behind_call(const Turn& turn, const format::Calls& calls) {
  std::string rest = counted(turn, turn.last_of_call(0), turn.tokens.size()).text;
  if (calls.arguments == format::ArgumentStyle::kParameters) rest = without_prefix(rest, calls.parameters.close);
  const auto arguments = std::ranges::find(calls.pieces, Kind::kArguments, &format::CallPiece::kind);
  const std::string closing = closing_behind(calls, arguments + 1, "");
  if (!rest.starts_with(closing)) return std::nullopt;
  return rest.substr(closing.size());
}

}  // namespace

format::Calls with_bare_calls(const Evidence& evidence, format::Calls calls) {
  const auto* usual = variant_with_call(evidence);
  if (usual == nullptr) return calls;
  ProbeMessage message = message_of(usual->first);
  message.calls.front().arguments = json::Object{};
  const auto bare = evidence.ask(message, usual->second.setting);
  const std::size_t name = bare ? bare->last(SlotKind::kName, 0) : kNone;
  if (name == kNone || bare->has(SlotKind::kArguments, 0)) return calls;
  if (calls.envelope != format::Envelope::kTags) {
    const bool has_key = !calls.roles.arguments.empty();  // not where the name is the key
    calls.omits_arguments =
        has_key && !contains(bare->literals(), json::to_compact(json::Value(calls.roles.arguments.back())));
    return calls;
  }
  const auto behind = behind_call(usual->second.turn, calls);
  const std::size_t last = bare->last_of_call(0);
  const auto behind_name = calls.behind_name();
  if (behind_name == calls.pieces.begin()) return calls;
  const bool is_id = bare->tokens[last].kind == SlotKind::kId && (behind_name - 1)->kind == Kind::kId;
  const std::string written = counted(*bare, last, bare->tokens.size()).text;
  if (!behind || !written.ends_with(*behind) || (last != name && !is_id)) return calls;
  const std::string close = written.substr(0, written.size() - behind->size());
  const bool is_json = calls.arguments != format::ArgumentStyle::kParameters;
  const std::string usual_close = closing_behind(calls, behind_name, is_json ? "{}" : "");
  if (close == usual_close || format::is_blank(close)) return calls;
  calls.omits_arguments = true;
  calls.bare_close = close;
  return calls;
}

}  // namespace rondo::analysis
