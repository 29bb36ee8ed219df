#include "api/formats.h"

#include <algorithm>
#include <utility>

#include "analysis/analyse.h"
#include "api/profile.h"

namespace rondo::api {
namespace {

// What stands for the messages that a request leaves out.
json::Array one_user_message() { return {json::Object{{"role", "user"}, {"content", "Hello"}}}; }

// Offset behind the last byte that came from `messages[i]` with i < `below`, or from the tools or documents.
std::size_t end_of_earlier_data(const jinja::Rendered& rendered, std::int32_t below) {
  std::size_t at = 0;
  std::size_t end = 0;
  for (const text::Run& run : rendered.text.runs()) {
    at += run.size;
    const text::PathId path = run.path();
    if (path == text::PathId::kNone) continue;
    const std::int32_t message = rendered.origins.paths.message(path);
    const std::string_view root = rendered.origins.paths.root(path);
    if (message == text::kNoMessage ? root == "tools" || root == "documents" : message < below) end = at;
  }
  return end;
}

}  // namespace

Memo<format::Format>::Made inferred_format(Memo<format::Format>& formats, const Prepared& prepared,
                                           const chat::Conversation& conversation) {
  chat::Conversation base = without_messages(conversation);
  base.tools.reset();  // the analysis brings tools of its own
  base.documents.reset();
  return formats.get(derived_key(prepared, base), [&]() -> Memo<format::Format>::Made {
    analysis::Options options;
    options.bos_token = base.bos_token;
    options.eos_token = base.eos_token;
    options.kwargs = base.kwargs;
    options.now = prepared.options.now;
    options.tokenizer = prepared.tokenizer.get();
    options.limits = prepared.options.limits;
    return analysis::analyse(*prepared.chat_template, options);
  });
}

Result<std::string> prompt_tail(const Prepared& prepared, chat::Conversation conversation, bool has_messages) {
  if (!has_messages && !conversation.continue_final_message) conversation.messages = one_user_message();
  auto rendered = tmpl::apply(*prepared.chat_template, conversation, prepared.options);
  if (!rendered.ok()) {
    // A template that refuses the stand-in says nothing about the prompt.
    if (!has_messages && rendered.error().code != ErrorCode::kLimit) return std::string();
    return rendered.error();
  }
  const auto count = static_cast<std::int32_t>(conversation.messages.size());
  const std::int32_t below = conversation.continue_final_message ? count - 1 : count;
  return rendered.value().text.bytes().substr(end_of_earlier_data(rendered.value(), below));
}

}  // namespace rondo::api
