// Plans and keeps the turns of a conversation, without a server.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "spans/memory_store.h"
#include "spans/spans.h"
#include "tests/support/core_models.h"
#include "tests/support/json.h"

namespace rondo::testing {

// A gateway for a model that says what it is told to.
struct SpanGateway {
  std::shared_ptr<const core::Model> model = core::testing::memory_model();
  spans::MemoryStore store;
  spans::Spans spans{store, {1, 2, 3}};
  spans::Scope scope = spans.scope("tenant", "model");
  std::uint8_t keys = 0;
  json::Array messages;                           // of the conversation, as the client keeps it
  spans::Finish broken = spans::Finish::kLength;  // how replies without a stop end

  spans::Plan plan(const json::Array& request, const char* tools = nullptr) {
    spans::PlanRequest out;
    out.call = core::testing::call_of("[]");
    out.call.conversation.messages = request;
    if (tools != nullptr) out.call.conversation.tools = parsed(tools);
    return plan(std::move(out));
  }
  spans::Plan plan(spans::PlanRequest request) {
    auto made = spans.plan(*model, scope, std::move(request));
    REQUIRE_MESSAGE(made.ok(), made.error().to_string());
    CHECK(made.value().owners.size() == made.value().ids.size());
    CHECK(made.value().sampled.size() == made.value().ids.size());
    return std::move(made).value();
  }
  spans::Plan plan() { return plan(messages); }
  spans::TurnKey keep(const spans::Plan& plan, const std::string& text, const std::string& message,
                      bool reasoned = false) {
    spans::NewReply reply;
    reply.key.bytes = {++keys};
    reply.completion = model->tokenize(text, true).value();
    reply.finish = text.ends_with("~fin~") ? spans::Finish::kStop : broken;
    reply.message = message;
    reply.reasoned = reasoned;
    bool kept = false;
    const spans::TurnKey key = reply.key;
    REQUIRE(spans.keep(scope, plan, std::move(reply), [&kept](const Status& done) { kept = done.ok(); }).ok());
    CHECK(kept);
    return key;
  }
  // A turn of the conversation, and what follows it.
  spans::TurnKey say(const std::string& text, const std::string& message, const std::string& next) {
    const spans::TurnKey key = keep(plan(), text, message, text.find("mull") != std::string::npos);
    messages.push_back(parsed(message));
    messages.push_back(parsed(next));
    return key;
  }
  [[nodiscard]] std::string text(const spans::Plan& plan) const { return model->detokenize(plan.ids, false).value(); }
  std::vector<spans::TokenId> ids_of(const spans::TurnKey& key) { return spans.turn(scope, key).value()->ids(); }
};

}  // namespace rondo::testing
