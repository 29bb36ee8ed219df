#include "demo/demo_driver.h"

#include <algorithm>
#include <utility>

#include "analysis/analyse.h"

namespace rondo::demo {
namespace {

using tokenizer::TokenId;

tmpl::ApplyOptions fixed_day() {
  tmpl::ApplyOptions options;
  options.now =
      jinja::LocalTime{.year = 2026, .month = 5, .day = 11, .hour = 9};  // the conversation is about that week
  return options;
}

}  // namespace

chat::Conversation opening(const DemoData& data, const std::vector<DemoStep>& steps, const json::Object& kwargs,
                           const std::string& user_note) {
  chat::Conversation conversation;
  conversation.messages.emplace_back(json::Object{{"role", "system"}, {"content", data.system}});
  for (json::Value& message : client_messages(steps.front(), nullptr))
    conversation.messages.push_back(std::move(message));
  if (!user_note.empty()) {
    json::Value& last = conversation.messages.back();
    last.as_object().set("content", std::string(last.find_string("content").value_or("")) + user_note);
  }
  conversation.tools = data.tools;
  conversation.kwargs = kwargs;
  return conversation;
}

Result<Driver> Driver::start(const Stage& stage, const chat::Conversation& conversation,
                             const std::vector<DemoStep>& steps, const session::SessionOptions& options) {
  analysis::Options wanted;
  wanted.bos_token = conversation.bos_token;
  wanted.eos_token = conversation.eos_token;
  wanted.kwargs = conversation.kwargs;
  wanted.now = fixed_day().now;
  wanted.tokenizer = stage.tokenizer.get();
  Result<std::shared_ptr<const format::Format>> format = analysis::analyse(*stage.chat_template, wanted);
  if (!format.ok()) return format.error();
  // Twelve turns are too few to find out first which of them need only a window.
  auto model = render::RolloutModel::make({.chat_template = stage.chat_template,
                                           .tokenizer = stage.tokenizer,
                                           .format = std::move(format).value(),
                                           .base = conversation,
                                           .apply = fixed_day(),
                                           .prove_locality = false});
  auto session = session::Session::start(std::move(model), stage.engine, conversation.messages, options);
  if (!session.ok()) return session.error();
  return Driver(std::move(session).value(), steps);
}

Status Driver::prepare(std::size_t index) {
  if (index > 0) {
    const std::vector<TokenId> before(session_.ids().begin(), session_.ids().end());
    const json::Value& said = (*steps_)[index - 1].message;
    if (const Status added = session_.add(client_messages((*steps_)[index], &said)); !added.ok()) return added;
    const std::span<const TokenId> after = session_.ids();
    if (after.size() < before.size() || !std::equal(before.begin(), before.end(), after.begin())) ++bridge_breaks_;
  }
  Result<Script> script = Script::make(session_.rollout().model().context(), session_.messages(), (*steps_)[index]);
  if (!script.ok()) return script.error();
  script_.emplace(std::move(script).value());
  return Done{};
}

}  // namespace rondo::demo
