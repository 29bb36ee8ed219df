#include "gateway/threads.h"

#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "chat/api_parts.h"
#include "gateway/state.h"

namespace rondo::gateway {
namespace {

// What a thread keeps from its first request.
constexpr std::array<std::string_view, 2> kThreadFields = {"system", "tools"};

bool has_field(const json::Object& body, std::string_view key) {
  const json::Value* value = body.find(key);
  return value != nullptr && !value->is_null();
}

void add_messages(json::Array& to, json::Array from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

apis::Outcome<ThreadInput> continue_thread(const Archive& archive, const std::string& id, json::Object& body) {
  for (const std::string_view key : kThreadFields) {
    if (has_field(body, key))
      return apis::invalid(std::string(key), "`" + std::string(key) + "` is kept by the thread: a request that " +
                                                 "continues it must not have it");
  }
  ThreadInput out{.is_kept = true, .before = {}, .own = body.find("messages")->as_array(), .fields = {}};
  if (out.own.empty()) return apis::invalid("messages", "`messages` must not be empty: what continues the thread?");
  auto turns = archive.thread(id);
  if (!turns.ok()) return turns.fault();
  if (turns.value().empty()) return apis::thread_not_found(id);
  for (const json::Member& field : turns.value().front().fields) body.set(field.key, field.value);
  json::Array all;
  for (ThreadTurn& turn : turns.value()) {
    out.before.push_back(std::move(turn.id));
    add_messages(all, std::move(turn.messages));
  }
  add_messages(all, out.own);
  body.set("messages", std::move(all));
  return out;
}

// Stores the turn before the end of its reply is sent.
class ThreadSink final : public HoldingSink {
 public:
  ThreadSink(std::shared_ptr<Service::State> state, std::string tenant, ThreadInput thread,
             std::shared_ptr<ReplySink> to)
      : HoldingSink(std::move(to)), state_(std::move(state)), tenant_(std::move(tenant)), thread_(std::move(thread)) {}

  void finish(WholeReply reply) override {
    if (reply.fault) return to_->finish(std::move(reply));
    const Archive archive(*state_->parts.spans, tenant_);
    const json::Value* content = reply.body.find("content");
    ThreadTurn turn{.id = chat::first_text(reply.body, {"id"}),
                    .messages = std::move(thread_.own),
                    .before = std::move(thread_.before),
                    .fields = std::move(thread_.fields)};
    turn.messages.emplace_back(
        json::Object{{"role", "assistant"}, {"content", content == nullptr ? json::Value("") : *content}});
    std::vector<spans::StoredObject> objects;
    objects.push_back(archive.thread_object(turn, state_->parts.now_ms()));
    const auto end = [to = to_, last = std::move(last_), reply = std::move(reply)]() mutable {
      if (!last.empty()) to->send(last);
      to->finish(std::move(reply));
    };
    const auto task = std::make_shared<std::function<void()>>(end);
    archive.put(std::move(objects), [&loop = state_->loop, task](const Status&) { loop.post([task] { (*task)(); }); });
  }

 private:
  [[nodiscard]] bool begins_end(const apis::StreamEvent& event) const override { return event.name == "message_stop"; }

  std::shared_ptr<Service::State> state_;
  std::string tenant_;
  ThreadInput thread_;
};

}  // namespace

apis::Outcome<ThreadInput> resolve_thread(const Archive& archive, json::Object& body) {
  const json::Value* thread = body.find("thread");
  const json::Value* messages = body.find("messages");
  // What is malformed is refused by read().
  if (thread == nullptr || !thread->is_object() || messages == nullptr || !messages->is_array()) return ThreadInput();
  const std::string type = chat::first_text(*thread, {"type"});
  const std::string id = chat::first_text(*thread, {"previous_message_id"});
  if (type == "continue" && !id.empty()) return continue_thread(archive, id, body);
  ThreadInput out;
  if (type != "create") return out;
  out.is_kept = true;
  out.own = messages->as_array();
  for (const std::string_view key : kThreadFields) {
    if (has_field(body, key)) out.fields.set(key, *body.find(key));
  }
  return out;
}

apis::Fault unthreadable(const apis::GenerateRequest& request) {
  return apis::thread_unsupported("thread", apis::quoted_place(request.media) + " is not text: no thread can hold it");
}

std::shared_ptr<ReplySink> thread_sink(Service::State& state, const ReadRequest& read, std::shared_ptr<ReplySink> to) {
  return std::make_shared<ThreadSink>(state.shared_from_this(), read.visit->tenant, read.thread, std::move(to));
}

}  // namespace rondo::gateway
