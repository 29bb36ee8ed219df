#include "gateway/keeping.h"

#include <utility>

#include "apis/stored_responses.h"
#include "json/parse.h"
#include "json/print.h"

namespace rondo::gateway {
namespace {

class KeepingSink final : public HoldingSink {
 public:
  KeepingSink(Keeping keeping, std::shared_ptr<ReplySink> to)
      : HoldingSink(std::move(to)), keeping_(std::move(keeping)) {}

  void finish(WholeReply reply) override {
    // The event that reports a failure contains the failed response.
    const json::Value body = reply.fault && !last_.empty() ? response_in(last_.front()) : reply.body;
    auto objects = keeping_.objects(keeping_.record(body));
    keeping_.put(std::move(objects), [to = to_, last = std::move(last_),
                                      reply = std::move(reply)](const std::optional<apis::Fault>& fault) mutable {
      if (fault && !to->takes_events()) return to->refuse(kResponsesApi, *fault);
      if (fault && !last.empty()) last.front() = failed_instead(last.front(), *fault);
      if (fault) reply.fault = fault;
      if (!last.empty()) to->send(last);
      to->finish(std::move(reply));
    });
  }

 private:
  [[nodiscard]] bool begins_end(const apis::StreamEvent& event) const override { return apis::is_terminal(event); }

  Keeping keeping_;
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
  const auto task = std::make_shared<decltype(then)>(std::move(then));
  archive().put(std::move(objects), [&loop = state->loop, task](const Status& kept) {
    std::optional<apis::Fault> fault;
    if (!kept.ok()) {
      fault = fault_of_store(kept.error());
      fault->message = "the response could not be stored: " + fault->message;
    }
    loop.post([task, fault] { (*task)(fault); });
  });
}

Keeping keeping_of(Service::State& state, const ReadRequest& read) {
  return {.state = state.shared_from_this(),
          .tenant = read.visit->tenant,
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

Answer put_and_answer(Service::State& state, const Archive& archive, std::vector<spans::StoredObject> objects,
                      json::Value body) {
  return [&loop = state.loop, archive, objects = std::move(objects), body = std::move(body)](net::Exchange exchange) {
    const auto held = std::make_shared<net::Exchange>(std::move(exchange));
    archive.put(objects, [&loop, held, body](const Status& kept) {
      loop.post([held, body, kept] {
        if (!kept.ok()) return answer_fault(*held, kResponsesApi, fault_of_store(kept.error()));
        answer_json(*held, 200, body);
      });
    });
  };
}

std::shared_ptr<ReplySink> keeping_sink(Keeping keeping, std::shared_ptr<ReplySink> to) {
  return std::make_shared<KeepingSink>(std::move(keeping), std::move(to));
}

}  // namespace rondo::gateway
