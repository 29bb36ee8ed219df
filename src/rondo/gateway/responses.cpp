#include "gateway/responses.h"

#include <charconv>
#include <utility>

#include "apis/items.h"
#include "apis/stored_responses.h"
#include "chat/api_parts.h"
#include "gateway/background.h"
#include "gateway/turn_run.h"
#include "spans/keys.h"

namespace rondo::gateway {
namespace {

using Exchange = net::Exchange;
using State = Service::State;

void input_items(const Archive& archive, const ResponseRecord& record, Exchange exchange) {
  auto items = archive.items_before(record);
  if (!items.ok()) return answer_fault(exchange, kResponsesApi, items.fault());
  for (const json::Value& item : record.input) items.value().push_back(item);
  answer_page(items.value(), std::move(exchange));
}

void show(State& state, const Archive& archive, ResponseRecord record, Exchange exchange) {
  const net::ServerRequest& http = exchange.request();
  record = looked_after(state, archive, std::move(record));
  if (query_value(http.query, "stream") != "true") return answer_json(exchange, 200, record.body);
  std::int64_t after = -1;
  const std::string_view text = query_value(http.query, "starting_after");
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), after);
  if (!text.empty() && (error != std::errc() || stopped != text.data() + text.size()))
    return answer_fault(exchange, kResponsesApi, apis::invalid("starting_after", "`starting_after` must be a number"));
  const std::string tenant = tenant_of(http);
  stream_again(state.shared_from_this(), tenant, std::move(record), after, std::move(exchange));
}

void remove(State& state, const Archive& archive, ResponseRecord record, Exchange exchange) {
  record = looked_after(state, archive, std::move(record));
  if (!record.has_ended()) {
    // The gateway that runs it takes away what it has, too.
    std::vector<spans::StoredObject> wish;
    wish.push_back(archive.wish_object(record, "delete", state.parts.now_ms()));
    archive.put(std::move(wish), {});
  } else if (const auto erased = archive.erase_response(record); !erased.ok()) {
    return answer_fault(exchange, kResponsesApi, erased.fault());
  }
  answer_json(exchange, 200, apis::deleted_body(record.id(), "response"));
}

bool is_deleted(const Archive& archive, const ResponseRecord& record) {
  if (record.has_ended()) return false;
  const auto wish = archive.wish(record.id());
  return wish.ok() && wish.value() == "delete";
}

// What the model answers to the wish for a summary becomes a compaction.
class CompactingOutlet final : public Outlet {
 public:
  CompactingOutlet(json::Array input, std::shared_ptr<Outlet> to) : input_(std::move(input)), to_(std::move(to)) {}
  void answer(int status, const json::Value& body, const net::Headers& headers) override {
    std::string summary;
    for (const json::Value& item : body.find("output")->as_array()) {
      const json::Value* content = item.find("content");
      if (item.find_string("type") != "message" || content == nullptr) continue;
      for (const json::Value& part : content->as_array()) summary += chat::first_text(part, {"text"});
    }
    const std::string id = chat::first_text(body, {"id"});
    const spans::TurnKey key = spans::key_in(id).value_or(spans::TurnKey());
    name_input(input_, id);
    json::Array output = apis::compacted_items(spans::mint_id("cmp", key, 0), input_, summary);
    to_->answer(status,
                apis::compaction_body(id, body.find("created_at")->to_int64().value_or(0), std::move(output),
                                      *body.find("usage")),
                headers);
  }
  void refuse(chat::Api api, const apis::Fault& fault) override { to_->refuse(api, fault); }
  void start(const net::Headers&) override {}
  void send(const std::vector<apis::StreamEvent>&) override {}
  void finish() override {}
  void on_gone(std::function<void()> task) override { to_->on_gone(std::move(task)); }

 private:
  json::Array input_;
  std::shared_ptr<Outlet> to_;
};

}  // namespace

std::shared_ptr<Outlet> kept(const std::shared_ptr<State>& state, const ReadRequest& read, std::shared_ptr<Outlet> to) {
  const apis::ResponsesState& wanted = read.request.responses;
  if (!wanted.store && wanted.conversation.empty()) return to;
  return keeping_outlet(keeping_of(state, read), std::move(to));
}

void answer_page(const json::Array& items, Exchange exchange) {
  const std::string& query = exchange.request().query;
  auto asked = apis::page_query([&](std::string_view name) { return net::query_value(query, name).value_or(""); });
  if (!asked.ok()) return answer_fault(exchange, kResponsesApi, asked.fault());
  const auto page = apis::page_of(items, asked.value());
  if (!page.ok()) return answer_fault(exchange, kResponsesApi, page.fault());
  answer_json(exchange, 200, page.value());
}

void create_response(State& state, Exchange exchange) {
  auto read = read_request(state, kResponsesApi, exchange.request());
  if (!read.ok()) return answer_fault(exchange, kResponsesApi, read.fault());
  const std::shared_ptr<State> shared = state.shared_from_this();
  std::shared_ptr<Outlet> outlet = http_outlet(std::move(exchange));
  if (read.value().request.responses.background) {
    outlet = background_outlet(keeping_of(shared, read.value()), std::move(outlet), read.value().request.stream);
    read.value().request.stream = true;
  } else {
    outlet = kept(shared, read.value(), std::move(outlet));
  }
  std::make_shared<TurnRun>(shared, std::move(read).value(), std::move(outlet))->begin();
}

void compact_responses(State& state, Exchange exchange) {
  const net::ServerRequest& http = exchange.request();
  auto body = apis::parse_body(http.body);
  if (!body.ok()) return answer_fault(exchange, kResponsesApi, body.fault());
  if (!body.value().is_object())
    return answer_fault(exchange, kResponsesApi, apis::invalid("", "the body must be an object", "invalid_type"));
  const auto resolved = resolve_input(Archive(*state.parts.spans, tenant_of(http)), body.value(), {});
  if (!resolved.ok()) return answer_fault(exchange, kResponsesApi, resolved.fault());
  json::Array input = apis::input_items(body.value());
  const net::Headers headers = http.headers;
  const auto header = [&](std::string_view name) { return std::string(headers.find(name).value_or("")); };
  auto read = read_parts(state, kResponsesApi,
                         {.body = apis::summary_request(body.value()), .headers = header, .tenant = tenant_of(http)});
  if (!read.ok()) return answer_fault(exchange, kResponsesApi, read.fault());
  auto outlet = std::make_shared<CompactingOutlet>(std::move(input), http_outlet(std::move(exchange)));
  std::make_shared<TurnRun>(state.shared_from_this(), std::move(read).value(), std::move(outlet))->begin();
}

void answer_response(State& state, Exchange exchange) {
  const net::ServerRequest& http = exchange.request();
  const auto [id, below] = parts_behind(http.path, "/v1/responses/");
  const std::string tenant = tenant_of(http);
  const Archive archive(*state.parts.spans, tenant);
  auto found = archive.response(id);
  if (!found.ok()) return answer_fault(exchange, kResponsesApi, found.fault());
  // One that still runs, though it was deleted, is gone as well.
  if (!found.value() || is_deleted(archive, *found.value()))
    return answer_fault(exchange, kResponsesApi, apis::not_found("response", id));
  ResponseRecord& record = *found.value();
  const auto is = [&](std::string_view method, std::string_view path) {
    return http.method == method && below == path;
  };
  if (is("GET", "")) return show(state, archive, std::move(record), std::move(exchange));
  if (is("DELETE", "")) return remove(state, archive, std::move(record), std::move(exchange));
  if (is("GET", "input_items")) return input_items(archive, record, std::move(exchange));
  if (is("POST", "cancel"))
    return cancel_response(state.shared_from_this(), tenant, std::move(record), std::move(exchange));
  answer_fault(exchange, kResponsesApi,
               {.kind = apis::FaultKind::kNotFound, .message = "there is no such address: " + http.path});
}

}  // namespace rondo::gateway
