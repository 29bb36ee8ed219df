#include "gateway/keeping.h"

#include <utility>

#include "apis/stored_responses.h"
#include "json/parse.h"
#include "json/print.h"

namespace rondo::gateway {
namespace {

class KeepingOutlet final : public Outlet {
 public:
  KeepingOutlet(Keeping keeping, std::shared_ptr<Outlet> to) : keeping_(std::move(keeping)), to_(std::move(to)) {}

  void begin(const apis::GenerateRequest& request, const apis::ReplyMeta& meta) override { to_->begin(request, meta); }
  void refuse(chat::Api api, const apis::Fault& fault) override { to_->refuse(api, fault); }
  void start(const net::Headers& headers) override { to_->start(headers); }
  void on_gone(std::function<void()> task) override { to_->on_gone(std::move(task)); }

  void answer(int status, const json::Value& body, const net::Headers& headers) override {
    keeping_.put(keeping_.objects(keeping_.record(body)),
                 [to = to_, status, body, headers](const std::optional<apis::Fault>& fault) {
                   if (fault) return to->refuse(chat::Api::kResponses, *fault);
                   to->answer(status, body, headers);
                 });
  }

  void send(const std::vector<apis::StreamEvent>& events) override {
    std::vector<apis::StreamEvent> now;
    for (const apis::StreamEvent& event : events) {
      if (!held_ && apis::is_terminal(event)) held_ = std::make_shared<Held>();
      (held_ ? held_->events : now).push_back(event);
    }
    if (!now.empty()) to_->send(now);
    if (!held_ || is_put_) return;
    is_put_ = true;
    keeping_.put(keeping_.objects(keeping_.record(response_in(held_->events.front()))),
                 [to = to_, held = held_](const std::optional<apis::Fault>& fault) {
                   if (fault) held->events.front() = failed_instead(held->events.front(), *fault);
                   held->is_kept = true;
                   held->release(*to);
                 });
  }

  void finish() override {
    if (!held_) return to_->finish();
    held_->is_finished = true;
    held_->release(*to_);
  }

 private:
  // The end of the stream, until it may be sent.
  struct Held {
    std::vector<apis::StreamEvent> events;
    bool is_kept = false;
    bool is_finished = false;
    void release(Outlet& to) const {
      if (!is_kept || !is_finished) return;
      to.send(events);
      to.finish();
    }
  };

  Keeping keeping_;
  std::shared_ptr<Outlet> to_;
  std::shared_ptr<Held> held_;
  bool is_put_ = false;
};

}  // namespace

ResponseRecord Keeping::record(const json::Value& body) const {
  ResponseRecord out;
  out.body = body;
  out.input = input.own;
  name_input(out.input, out.id());
  out.before = input.before;
  out.conversation = conversation;
  return out;
}

std::vector<spans::StoredObject> Keeping::objects(const ResponseRecord& record) const {
  std::vector<spans::StoredObject> out;
  if (!record.body.is_object()) return out;
  const Archive where = archive();
  if (store) out.push_back(where.response_object(record, now_ms()));
  const bool is_whole = record.status() == "completed" || record.status() == "incomplete";
  if (conversation.empty() || !is_whole) return out;
  for (const json::Value& item : record.input) out.push_back(where.item_object(conversation, item, now_ms()));
  for (const json::Value& item : record.output()) out.push_back(where.item_object(conversation, item, now_ms()));
  return out;
}

void Keeping::put(std::vector<spans::StoredObject> objects,
                  std::function<void(const std::optional<apis::Fault>&)> then) const {
  if (objects.empty()) return then(std::nullopt);
  archive().put(std::move(objects), [&loop = state->loop, then = std::move(then)](const Status& kept) {
    std::optional<apis::Fault> fault;
    if (!kept.ok()) fault = apis::Fault{.message = "the response could not be stored: " + kept.error().message};
    loop.post([then, fault] { then(fault); });
  });
}

Keeping keeping_of(const std::shared_ptr<Service::State>& state, const ReadRequest& read) {
  return {.state = state,
          .tenant = read.tenant,
          .input = read.input,
          .conversation = read.request.responses.conversation,
          .store = read.request.responses.store};
}

json::Value response_in(const apis::StreamEvent& event) {
  auto parsed = json::parse(event.data);
  const json::Value* response = parsed.ok() ? parsed.value().find("response") : nullptr;
  return response == nullptr ? json::Value() : *response;
}

apis::StreamEvent failed_instead(const apis::StreamEvent& last, const apis::Fault& fault) {
  auto parsed = json::parse(last.data);
  if (!parsed.ok() || !parsed.value().is_object()) return last;
  json::Object& event = parsed.value().as_object();
  event.set("type", "response.failed");
  if (json::Value* response = event.find("response"); response != nullptr && response->is_object()) {
    response->as_object().set("status", "failed");
    response->as_object().set("error", json::Object{{"code", "server_error"}, {"message", fault.message}});
  }
  return {"response.failed", json::to_compact(parsed.value())};
}

std::shared_ptr<Outlet> keeping_outlet(Keeping keeping, std::shared_ptr<Outlet> to) {
  return std::make_shared<KeepingOutlet>(std::move(keeping), std::move(to));
}

}  // namespace rondo::gateway
