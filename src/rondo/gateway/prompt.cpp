#include "gateway/prompt.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "apis/truncation.h"
#include "gateway/engine_terms.h"

namespace rondo::gateway {
namespace {

// The part of the context that a shortened prompt leaves to the reply, unless the client wants less.  It is more than a
// reply usually takes, so that not each turn of a conversation moves the beginning of its prompt.
constexpr std::size_t kRoomShare = 4;

class PromptMaker {
 public:
  PromptMaker(Service::State& state, ReadRequest& read, const spans::Scope& scope)
      : state_(state), read_(read), scope_(scope) {
    const apis::SessionHints& hints = read.request.session;
    const std::string& named = hints.session.empty() ? hints.group : hints.session;
    if (!named.empty()) session_ = spans::Spans::session(scope, named);
  }

  apis::Outcome<Prompt> run() {
    note_documents();
    const std::size_t context = read_.model->serving->capabilities().context_tokens;
    const bool may_drop = read_.request.responses.truncate && context > 0;
    std::size_t dropped = 0;
    while (true) {
      AskedCall asked = call_of(state_, *read_.model, read_.request);
      auto plan = plan_of(take_conversation(asked.call));
      if (may_drop && plan.ok() && plan.value().ids.size() >= context) {
        const std::size_t count = shorten(plan.value(), context);
        dropped += count;
        if (count > 0) continue;
      }
      // Some templates do not begin with any role.
      const bool is_refused = !plan.ok() && plan.error().code == ErrorCode::kTemplateRaised;
      if (dropped > 0 && is_refused) {
        const std::size_t count = drop(std::vector<std::size_t>(read_.request.messages.size(), 1), 1);
        dropped += count;
        if (count > 0) continue;
      }
      if (!plan.ok()) return fault_of(plan.error());
      if (auto fault = unwritten(*read_.model, read_.request, plan.value())) return *std::move(fault);
      if (dropped > 0) {
        read_.request.warnings.push_back("`truncation`: the oldest " + std::to_string(dropped) +
                                         " messages were left out, because the prompt was too long");
      }
      Prompt out{.asked = std::move(asked), .plan = std::move(plan).value()};
      const auto most = most_prompt_tokens(read_.request.cut, *read_.model, read_.request.max_tokens);
      out.is_cut = most && out.plan.ids.size() > *most;
      if (out.is_cut) out.plan = cut(out.plan, *most);
      return out;
    }
  }

 private:
  // A template that does not name the variable cannot show it.
  void note_documents() {
    const auto& documents = read_.request.documents;
    if (!documents || !documents->is_array() || documents->as_array().empty()) return;
    if (read_.model->model->template_text(read_.request.tools.has_value()).find("documents") != std::string::npos)
      return;
    read_.request.warnings.emplace_back("`documents` was left out: the model's template has no place for documents");
  }

  // Takes the conversation for the plan.  It leaves one message, because what is asked of the model afterwards depends on
  // the form of a conversation, which an empty one does not have.
  static core::Call take_conversation(core::Call& call) {
    json::Array messages = std::exchange(call.conversation.messages, {});
    core::Call out = call;
    if (!messages.empty()) call.conversation.messages.push_back(messages.back());
    out.conversation.messages = std::move(messages);
    return out;
  }

  Result<spans::Plan> plan_of(core::Call call) {
    spans::PlanRequest asked{.call = std::move(call), .session = session_, .retention = state_.parts.options.retention};
    for (const chat::EchoedKey& echo : read_.request.echoed) asked.echoed.push_back({echo.message, echo.key});
    return state_.parts.spans->plan(*read_.model->model, scope_, std::move(asked));
  }

  // Takes the ids that `truncate_prompt_tokens` leaves of a prompt.  No conversation continues from a turn that lacks
  // messages, so nothing of the whole plan says where the turn belongs but its session.
  [[nodiscard]] spans::Plan cut(const spans::Plan& whole, std::size_t most) const {
    const bool keeps_beginning = read_.request.cut.keeps_beginning;
    const auto part = [&](const auto& row) {
      const auto size = static_cast<std::ptrdiff_t>(most);
      const auto from = keeps_beginning ? row.begin() : row.end() - size;
      return std::vector(from, from + size);
    };
    spans::Plan out;
    out.ids = part(whole.ids);
    out.owners = part(whole.owners);
    out.sampled = part(whole.sampled);
    out.expected = keeps_beginning ? std::min(whole.expected, most) : 0;
    out.rendered = most;
    out.now = whole.now;
    out.notes = whole.notes;
    out.shaped = whole.shaped;
    out.prefill = keeps_beginning ? 0 : std::min(whole.prefill, most);
    out.context = whole.context;
    out.filing.session = whole.filing.session;
    out.asked.messages = whole.asked.messages;
    const spans::TurnKey unique{.bytes = state_.parts.random()};
    out.asked.seen.context = scope_.hash('c', unique.view());
    out.asked.seen.chain = {out.asked.seen.context};
    return out;
  }

  std::size_t drop(const std::vector<std::size_t>& sizes, std::size_t tokens) {
    return apis::drop_oldest(read_.request, sizes, tokens);
  }

  std::size_t shorten(const spans::Plan& plan, std::size_t context) {
    std::vector<std::size_t> sizes(read_.request.messages.size());
    for (const std::int32_t owner : plan.owners) {
      if (owner >= 0 && static_cast<std::size_t>(owner) < sizes.size()) ++sizes[static_cast<std::size_t>(owner)];
    }
    std::size_t room = std::max<std::size_t>(1, context / kRoomShare);
    if (read_.request.max_tokens) room = std::min(room, static_cast<std::size_t>(*read_.request.max_tokens));
    return drop(sizes, plan.ids.size() + room - context);
  }

  [[nodiscard]] apis::Fault fault_of(const Error& error) const {
    apis::Fault fault = fault_of_plan(error);
    const bool is_of_template = error.code == ErrorCode::kTemplateRaised || error.code == ErrorCode::kTemplateError;
    if (!is_of_template) return fault;
    if (error.code == ErrorCode::kTemplateRaised && name_role(fault)) return fault;
    fault.param = fails_without_tools() ? read_.request.api == kResponsesApi ? "input" : "messages" : "tools";
    const char* what = error.code == ErrorCode::kTemplateRaised ? "refuses" : "failed on";
    fault.message = std::string("the model's template ") + what + " `" + fault.param + "`: " + fault.message;
    return fault;
  }

  [[nodiscard]] bool fails_without_tools() const {
    if (!read_.request.tools) return true;
    core::Call call = call_of(state_, *read_.model, read_.request).call;
    call.conversation.tools.reset();
    return !read_.model->model->render(call).ok();
  }

  // Names the message whose role the template does not know, if it raised because of that.  Returns whether it did.
  [[nodiscard]] bool name_role(apis::Fault& fault) const {
    const apis::GenerateRequest& request = read_.request;
    const auto& known = read_.model->model->compared_roles(request.tools.has_value());
    for (std::size_t i = 0; i < request.messages.size() && !known.empty(); ++i) {
      const auto role = request.messages[i].find_string("role");
      if (!role || std::ranges::find(known, *role) != known.end()) continue;
      fault.param = apis::place_of(request, i, "role");
      fault.message = apis::quoted_place(fault.param) + ": " + fault.message;
      return true;
    }
    return false;
  }

  Service::State& state_;
  ReadRequest& read_;
  const spans::Scope& scope_;
  std::optional<spans::Digest> session_;  // that the client names
};

}  // namespace

apis::Outcome<Prompt> make_prompt(Service::State& state, ReadRequest& read, const spans::Scope& scope) {
  return PromptMaker(state, read, scope).run();
}

}  // namespace rondo::gateway
