#include "tests/support/agreement.h"

#include <doctest/doctest.h>

#include <optional>
#include <set>
#include <vector>

#include "audit/blame.h"
#include "json/print.h"
#include "render/lossy.h"
#include "replay/diff.h"
#include "replay/replay.h"
#include "tests/support/replays.h"

namespace rondo::test {
namespace {

using audit::AuditContext;
using audit::Played;
using audit::Stage;
using audit::Step;
using audit::Subject;

constexpr std::string_view kOfTemplate = "template: ";

// Kind, line and field; the field only where there is one.
std::string told(std::string_view kind, std::int32_t line, std::string_view path) {
  return std::string(kind) + " line " + std::to_string(line) + " " + std::string(path);
}

class Agreement {
 public:
  Agreement(const Subject& subject, const Stage& stage) : subject_(subject), stage_(stage) {}

  causes::Cause compare(const Played& played, const std::string& name, AgreementCounts& counts) const {
    const Step& step = *played.broken;
    const causes::Cause cause = audit::find_break(stage_, played).cause;
    const AuditContext context = stage_.context(played.with_tools);
    ++counts.events;
    std::set<std::string> tellers;
    const auto check = [&](const std::string& who, const std::string& said, const std::string& wanted) {
      ++counts.compared;
      tellers.insert(who);
      if (said == wanted) return;
      ++counts.differing;
      MESSAGE(subject_.chat_template->name() << " " << name << ", " << who << ": " << said << ", check: " << wanted);
    };
    compare_with_lossy(context, step, cause, check);
    compare_with_bridge(context, step, cause, check);
    compare_with_diff(context, step, cause, check);
    const bool has_bridge = tellers.contains("lossy") || tellers.contains("bridge");
    if (has_bridge && tellers.contains("diff") && tellers.contains("replay")) ++counts.told_by_all;
    return cause;
  }

 private:
  // What the template changes of its own writing.
  template <typename Check>
  void compare_with_lossy(const AuditContext& context, const Step& step, const causes::Cause& cause,
                          const Check& check) const {
    if (!is_own(step)) return;
    const auto found = render::find_lossy(context.turn(), *context.format, step.history, step.kept, step.following, {});
    if (found.empty()) return;
    const render::LossyFinding& finding = found.front();
    const std::string path = cause.path.empty() ? "" : finding.place;
    check("lossy", told(to_string(finding.cause), finding.line, path),
          told(to_string(cause.kind), cause.place.line, cause.path));
  }

  // What a bridge tells of the same cause, with the ids that were sampled.
  template <typename Check>
  void compare_with_bridge(const AuditContext& context, const Step& step, const causes::Cause& cause,
                           const Check& check) const {
    if (step.kept != render::history_message(step.said, step.following)) return;
    const render::TurnProfile profile = render::probe_turns(context.turn());
    render::BridgeRequest request{.prompt_ids = step.prompt_ids,
                                  .completion_ids = step.completion_ids,
                                  .completion = &step.said,
                                  .messages = step.history,
                                  .new_messages = step.following,
                                  .format = &*context.format};
    const auto bridged = render::bridge(context.turn(), profile, request);
    if (!bridged.ok()) return;
    const std::string wanted = told(to_string(cause.kind), cause.place.line, cause.path);
    std::string others;
    for (const render::LossyFinding& finding : bridged.value().lossy) {
      if (finding.message != cause.message) continue;
      const std::string path = cause.path.empty() ? "" : finding.place;
      const std::string said = told(to_string(finding.cause), finding.line, path);
      if (finding.cause == cause.kind) return check("bridge", said, wanted);
      // What the bridge put in place of a turn's end is no change of the template's.
      if (finding.cause == causes::CauseKind::kReplacedClose) continue;
      others += (others.empty() ? "" : "; ") + said;
    }
    if (is_own(step) && !others.empty()) check("bridge", others, wanted);
  }

  template <typename Check>
  void compare_with_diff(const AuditContext& context, const Step& step, const causes::Cause& cause,
                         const Check& check) const {
    const replay::PromptMaker maker({.chat_template = subject_.chat_template,
                                     .tokenizer = subject_.tokenizer,
                                     .format = context.format,
                                     .bos_token = subject_.base.bos_token,
                                     .eos_token = subject_.base.eos_token,
                                     .kwargs = context.base.kwargs,
                                     .apply = subject_.options});
    chat::ApiRequest before;
    before.messages = step.history;
    before.tools = context.base.tools;
    chat::ApiRequest after = before;
    after.messages.push_back(step.kept);
    after.messages.insert(after.messages.end(), step.following.begin(), step.following.end());
    if (!is_sampled_alike(maker, before, after, step)) return;
    const std::string wanted = told(to_string(cause.kind), cause.place.line, cause.path);
    const auto told_of = [&](const replay::FoundCause& found) {
      const bool is_template = found.name.starts_with(kOfTemplate);
      const std::string_view kind = std::string_view(found.name).substr(is_template ? kOfTemplate.size() : 0);
      return told(kind, found.line, cause.path.empty() ? "" : found.path);
    };
    if (const auto diff = diff_requests(maker, before, after); diff.ok() && diff.value().breaks)
      check("diff", told_of(diff.value().cause), wanted);
    for (const bool has_reply : {false, true}) {
      const auto replayed = replay(maker.parts(), before, after, has_reply ? &step.kept : nullptr);
      if (replayed) check(has_reply ? "replay with the reply" : "replay", told_of(*replayed), wanted);
    }
  }

  // Whether the messages are in the template's own form, and say what was sampled.
  [[nodiscard]] static bool is_sampled_alike(const replay::PromptMaker& maker, const chat::ApiRequest& before,
                                             const chat::ApiRequest& after, const Step& step) {
    const replay::Sheet whole = maker.sheet(after.messages, after.tools, {}, std::nullopt);
    if (replay::PromptMaker::messages_of(whole) != after.messages) return false;
    replay::Sheet sheet = maker.sheet(before.messages, before.tools, {}, std::nullopt);
    const auto prompt = maker.prompt(sheet, nullptr);
    if (!prompt.ok() || prompt.value().text != step.prompt.text.bytes()) return false;
    const auto ids = maker.sampled(sheet, prompt.value(), step.kept);
    const auto text = maker.parts().tokenizer->decode(ids, {});
    return text.ok() && !ids.empty() && text.value() == step.sampled.text;
  }

  // The only cause of a log with both requests, and with the reply to the first if there is one.
  [[nodiscard]] static std::optional<replay::FoundCause> replay(const replay::PromptMaker::Parts& parts,
                                                                const chat::ApiRequest& before,
                                                                const chat::ApiRequest& after,
                                                                const json::Value* reply) {
    std::vector<std::string> lines;
    for (const chat::ApiRequest* request : {&before, &after}) {
      json::Object body{{"model", "m"}, {"messages", request->messages}};
      if (request->tools) body.set("tools", *request->tools);
      json::Object entry{{"request", std::move(body)}};
      if (reply != nullptr && request == &before)
        entry.set("response", json::Object{{"choices", json::Array{json::Object{{"message", *reply}}}}});
      lines.push_back(json::to_compact(json::Value(std::move(entry))));
    }
    const replay::ReplayReport report = replay_of(parts, {}, lines);
    if (report.causes.size() != 1) return std::nullopt;
    const replay::ReplayCause& cause = report.causes.front();
    return replay::FoundCause{cause.name, cause.examples.front().path, cause.examples.front().sentence, "", "",
                              cause.line};
  }

  // Whether the turn was sampled as the template writes it while it is the last one.
  [[nodiscard]] static bool is_own(const Step& step) {
    const std::string seen = step.seen();
    const std::size_t stop_size = step.sampled.text.size() - step.sampled.stop_begin;
    return step.alone && step.alone->text.bytes().starts_with(seen.substr(0, seen.size() - stop_size));
  }

  const Subject& subject_;
  const Stage& stage_;
};

}  // namespace

bool is_event(const Played& played) { return played.broken && played.broken->again; }

causes::Cause compare_tellers(const Subject& subject, const Stage& stage, const Played& played, const std::string& name,
                              AgreementCounts& counts) {
  return Agreement(subject, stage).compare(played, name, counts);
}

}  // namespace rondo::test
