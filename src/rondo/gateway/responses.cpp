#include "gateway/responses.h"

#include <algorithm>
#include <utility>

#include "apis/items.h"
#include "apis/stored_responses.h"
#include "chat/api_parts.h"
#include "gateway/background.h"
#include "gateway/passing.h"
#include "gateway/turn_run.h"
#include "json/print.h"
#include "spans/keys.h"

namespace rondo::gateway {
namespace {

using State = Service::State;

// Adds what the client wants to see besides (`include`), as far as it was kept.  Returns sentences about the rest.
apis::Outcome<std::vector<std::string>> include(const net::ServerRequest& http, json::Array& items) {
  std::vector<std::string> words = net::query_values(http.query, "include");
  for (std::string& word : net::query_values(http.query, "include[]")) words.push_back(std::move(word));
  const auto unknown = std::ranges::find_if_not(words, [](const std::string& word) { return apis::is_include(word); });
  if (unknown != words.end())
    return apis::invalid("include", "`include` names `" + *unknown + "`, which the API does not have");
  const auto wants = [&words](std::string_view word) { return std::ranges::find(words, word) != words.end(); };
  for (json::Value& item : items) {
    const std::string id = chat::first_text(item, {"id"});
    const auto key = spans::key_in(id);
    const bool lacks_secret = item.find_string("type") == "reasoning" && item.find("encrypted_content") == nullptr;
    if (wants("reasoning.encrypted_content") && lacks_secret && key)
      item.as_object().set("encrypted_content", spans::mint_id("sig", *key, spans::index_in(id).value_or(0)));
  }
  std::vector<std::string> warnings;
  if (wants("message.output_text.logprobs"))
    warnings.emplace_back("`include`: a reply has the log probabilities that its own request asked for");
  return warnings;
}

net::Reply input_items(const Archive& archive, const ResponseRecord& record, const net::ServerRequest& http) {
  auto items = archive.items_before(record);
  if (!items.ok()) return fault_reply(kResponsesApi, items.fault());
  for (const json::Value& item : record.input) items.value().push_back(item);
  return page_reply(std::move(items.value()), http);
}

Answer show(State& state, const Archive& archive, ResponseRecord record, const net::ServerRequest& http) {
  record = looked_after(state, archive, std::move(record));
  json::Array none;
  json::Value* output = record.body.as_object().find("output");
  const bool has_output = output != nullptr && output->is_array();
  const auto warnings = include(http, has_output ? output->as_array() : none);
  if (!warnings.ok()) return fault_reply(kResponsesApi, warnings.fault());
  net::Headers headers;
  add_warnings(warnings.value(), headers);
  if (net::query_value(http.query, "stream") != "true") return json_reply(200, record.body, std::move(headers));
  const auto asked = query_number(http, "starting_after");
  if (!asked.ok()) return fault_reply(kResponsesApi, asked.fault());
  return [&state, record = std::move(record), after = asked.value().value_or(-1)](net::Exchange exchange) {
    stream_again(state, record, after, std::move(exchange));
  };
}

Answer remove(State& state, const Archive& archive, ResponseRecord record) {
  record = looked_after(state, archive, std::move(record));
  json::Value body = apis::deleted_body(record.id(), "response");
  if (!record.has_ended()) {
    // The gateway that runs the response also removes what it has.
    std::vector<spans::StoredObject> wish;
    wish.push_back(archive.wish_object(record, "delete", state.parts.now_ms()));
    return put_and_answer(state, archive, std::move(wish), std::move(body));
  }
  if (const auto erased = archive.erase_response(record); !erased.ok())
    return fault_reply(kResponsesApi, erased.fault());
  return json_reply(200, body);
}

apis::Outcome<bool> is_deleted(const Archive& archive, const ResponseRecord& record) {
  if (record.has_ended()) return false;
  const auto wish = archive.wish(record.id());
  if (!wish.ok()) return wish.fault();
  return wish.value() == "delete";
}

// Turns the model's answer to the request for a summary into a compaction.
class CompactingSink final : public ReplySink {
 public:
  CompactingSink(json::Array input, std::shared_ptr<ReplySink> to) : input_(std::move(input)), to_(std::move(to)) {}
  [[nodiscard]] bool takes_events() const override { return false; }
  void start(const net::Headers&) override {}
  void send(std::span<const apis::StreamEvent>) override {}
  void refuse(chat::Api api, const apis::Fault& fault) override { to_->refuse(api, fault); }
  void on_gone(std::function<void()> task) override { to_->on_gone(std::move(task)); }

  void finish(WholeReply reply) override {
    std::string summary;
    for (const json::Value& item : reply.body.find("output")->as_array()) {
      const json::Value* content = item.find("content");
      if (item.find_string("type") != "message" || content == nullptr) continue;
      for (const json::Value& part : content->as_array()) summary += chat::first_text(part, {"text"});
    }
    const std::string id = chat::first_text(reply.body, {"id"});
    const spans::TurnKey key = spans::key_in(id).value_or(spans::TurnKey());
    name_input(input_, id);
    json::Array output = apis::compacted_items(spans::mint_id("cmp", key, 0), input_, summary);
    reply.body = apis::compaction_body(id, reply.body.find("created_at")->to_int64().value_or(0), std::move(output),
                                       *reply.body.find("usage"));
    to_->finish(std::move(reply));
  }

 private:
  json::Array input_;
  std::shared_ptr<ReplySink> to_;
};

// The request for a summary, and the items to be summarised.
struct Compaction {
  ReadRequest read;
  json::Array input;
};

apis::Outcome<Compaction> read_compaction(State& state, const net::ServerRequest& http) {
  RequestParts parts = parts_of(http);
  auto body = apis::parse_body(parts.text);
  if (!body.ok()) return body.fault();
  if (!body.value().is_object()) return apis::invalid("", "the body must be an object", "invalid_type");
  if (auto fault = apis::check_compaction(body.value())) return *std::move(fault);
  const auto resolved = resolve_input(Archive(*state.parts.spans, parts.visit->tenant), body.value(), nullptr);
  if (!resolved.ok()) return resolved.fault();
  const std::string text = json::to_compact(apis::summary_request(body.value()));
  parts.text = text;
  parts.places = resolved.value().places;
  auto read = read_parts(state, kResponsesApi, parts);
  if (!read.ok()) return read.fault();
  return Compaction{.read = std::move(read.value()), .input = apis::input_items(body.value())};
}

}  // namespace

std::shared_ptr<ReplySink> response_sink(State& state, const ReadRequest& read, std::shared_ptr<ReplySink> to) {
  const apis::ResponsesState& wanted = read.request.responses;
  if (wanted.background) return background_sink(keeping_of(state, read), std::move(to));
  if (!wanted.store && wanted.conversation.empty()) return to;
  return keeping_sink(keeping_of(state, read), std::move(to));
}

net::Reply page_reply(json::Array items, const net::ServerRequest& http) {
  if (const auto added = include(http, items); !added.ok()) return fault_reply(kResponsesApi, added.fault());
  auto asked = apis::page_query([&](std::string_view name) { return net::query_value(http.query, name).value_or(""); });
  if (!asked.ok()) return fault_reply(kResponsesApi, asked.fault());
  const auto page = apis::page_of(items, asked.value());
  if (!page.ok()) return fault_reply(kResponsesApi, page.fault());
  return json_reply(200, page.value());
}

void compact_responses(State& state, net::Exchange exchange) {
  const auto read = [&state](const net::ServerRequest& http) { return read_compaction(state, http); };
  const auto run = [&state](Compaction asked, Streams::Ticket ticket, net::Exchange exchange) {
    asked.read.ticket = std::move(ticket);
    auto sink = std::make_shared<CompactingSink>(std::move(asked.input), http_sink(std::move(exchange), false));
    if (is_passed(asked.read)) return pass_response(state.shared_from_this(), std::move(asked.read), std::move(sink));
    std::make_shared<TurnRun>(state.shared_from_this(), std::move(asked.read), std::move(sink))->begin();
  };
  read_then_run<Compaction>(state, kResponsesApi, std::move(exchange), read, run);
}

Answer answer_response(State& state, const net::ServerRequest& http) {
  const auto [id, below] = parts_behind(http.path, "/v1/responses/");
  const Archive archive(*state.parts.spans, visit_of(http)->tenant);
  auto found = archive.response(id);
  if (!found.ok()) return fault_reply(kResponsesApi, found.fault());
  if (!found.value()) return fault_reply(kResponsesApi, apis::not_found("response", id));
  // A response that still runs although it was deleted counts as gone.
  const auto deleted = is_deleted(archive, *found.value());
  if (!deleted.ok()) return fault_reply(kResponsesApi, deleted.fault());
  if (deleted.value()) return fault_reply(kResponsesApi, apis::not_found("response", id));
  ResponseRecord& record = *found.value();
  const auto is = [&](std::string_view method, std::string_view path) {
    return method_of(http) == method && below == path;
  };
  if (is("GET", "")) return show(state, archive, std::move(record), http);
  if (is("DELETE", "")) return remove(state, archive, std::move(record));
  if (is("GET", "input_items")) return input_items(archive, record, http);
  return cancel_response(state, archive, std::move(record));
}

}  // namespace rondo::gateway
