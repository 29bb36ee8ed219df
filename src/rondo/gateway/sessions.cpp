// Reads what is kept of sessions: lists, ids with their owners, rows for a trainer.
#include "gateway/sessions.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/hex.h"
#include "base/shared_text.h"
#include "gateway/diagnostics.h"
#include "json/parse.h"
#include "json/print.h"

namespace rondo::gateway {
namespace {

using spans::Digest;
using spans::Turn;

constexpr std::string_view kBase = "/rondo/v1/sessions";

std::optional<Digest> digest_of_hex(std::string_view text) {
  Digest digest;
  if (text.size() != 2 * digest.bytes.size()) return std::nullopt;
  for (std::size_t i = 0; i < digest.bytes.size(); ++i) {
    const std::optional<char> byte = hex::byte(text, 2 * i);
    if (!byte) return std::nullopt;
    digest.bytes[i] = static_cast<std::uint8_t>(*byte);
  }
  return digest;
}

std::string id_of(const spans::TurnKey& key) { return spans::mint_id("turn", key, 0); }

// The index of each turn's parent in the session; -1 if it has none.
std::vector<std::int64_t> parents_of(const std::vector<Turn>& turns) {
  std::map<spans::TurnKey, std::int64_t> places;
  std::vector<std::int64_t> parents;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const auto found = turns[i].parent ? places.find(*turns[i].parent) : places.end();
    parents.push_back(found == places.end() ? -1 : found->second);
    places[turns[i].key] = static_cast<std::int64_t>(i);
  }
  return parents;
}

// Turns without a continuation.  Each ends a branch.
std::vector<std::size_t> leaves_of(const std::vector<std::int64_t>& parents) {
  const std::set<std::int64_t> inner(parents.begin(), parents.end());
  std::vector<std::size_t> leaves;
  for (std::size_t i = 0; i < parents.size(); ++i) {
    if (!inner.contains(static_cast<std::int64_t>(i))) leaves.push_back(i);
  }
  return leaves;
}

json::Value facts_of(const Turn& turn, const char* name) {
  const auto facts = json::parse(turn.facts);
  const json::Value* value = facts.ok() ? facts.value().find(name) : nullptr;
  return value != nullptr ? *value : json::Value();
}

std::int64_t count_of(const Turn& turn, const char* name) { return facts_of(turn, name).to_int64().value_or(0); }

json::Value turn_row(const Turn& turn, std::size_t index, std::int64_t parent) {
  return json::Object{{"index", index},
                      {"id", id_of(turn.key)},
                      {"parent", parent < 0 ? json::Value() : json::Value(parent)},
                      {"request_id", facts_of(turn, "request_id")},
                      {"api", facts_of(turn, "api")},
                      {"how", facts_of(turn, "how")},
                      {"prompt_tokens", turn.prompt.size()},
                      {"expected", count_of(turn, "expected")},
                      {"cached", facts_of(turn, "cached")},
                      {"appended", count_of(turn, "appended")},
                      {"rendered", count_of(turn, "rendered")},
                      {"completion_tokens", turn.completion.size()},
                      {"finish", json::name_in(spans::kFinishNames, turn.finish)},
                      {"inexact", turn.inexact},
                      {"cause", facts_of(turn, "cause")},
                      {"notes", facts_of(turn, "notes")},
                      {"time", turn.time_ms}};
}

// Whether the prompt itself broke.  What an engine did not hold any more is no fault of the prompt.
bool is_break(const json::Value& cause) {
  const std::string_view name = cause.find_string("name").value_or("");
  return !name.empty() && !is_of_engine(name);
}

json::Value session_row(const spans::SessionInfo& info, const std::string& model, const std::vector<Turn>& turns) {
  const std::vector<std::int64_t> parents = parents_of(turns);
  std::size_t prompt = 0;
  std::int64_t cached = 0;
  std::size_t breaks = 0;
  for (const Turn& turn : turns) {
    prompt += turn.prompt.size();
    cached += count_of(turn, "cached");
    breaks += is_break(facts_of(turn, "cause")) ? 1 : 0;
  }
  return json::Object{{"id", spans::to_hex(info.session)},
                      {"name", info.name},
                      {"model", model},
                      {"turns", info.turns},
                      {"branches", leaves_of(parents).size()},
                      {"prompt_tokens", prompt},
                      {"cached_tokens", cached},
                      {"breaks", breaks},
                      {"first", info.first_ms},
                      {"last", info.last_ms},
                      {"order", info.order}};
}

json::Array ids_json(std::span<const spans::TokenId> ids) {
  json::Array out;
  for (const spans::TokenId id : ids) out.emplace_back(static_cast<std::int64_t>(id));
  return out;
}

// The role of each message that owners refer to; the reply's role is the last.
json::Array roles_of(const Turn& turn) {
  json::Array roles;
  for (const SharedText& message : turn.messages) {
    const auto read = json::parse(message);
    roles.emplace_back(read.ok() ? read.value().find_string("role").value_or("") : "");
  }
  roles.emplace_back("assistant");
  return roles;
}

// The text that each id adds.  If an id ends inside a character, the id that completes the character has its text.
json::Array texts_of(const Turn& turn, const core::Model& model) {
  json::Array texts;
  if (model.tokenizer() == nullptr) return texts;
  tokenizer::Tokenizer::Stream stream(*model.tokenizer());
  const std::vector<spans::TokenId> ids = turn.ids();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    auto next = stream.next(ids[i]);
    std::string text = next.ok() ? std::move(next).value() : "";
    if (i + 1 == ids.size()) text += stream.finish();
    texts.emplace_back(std::move(text));
  }
  return texts;
}

json::Value tokens_of(const Turn& turn, const core::Model& model, bool with_texts) {
  json::Array owners;
  json::Array sampled;
  json::Array logprobs;
  for (std::size_t i = 0; i < turn.prompt.size(); ++i) {
    owners.emplace_back(static_cast<std::int64_t>(turn.owners[i]));
    sampled.emplace_back(turn.sampled[i] != 0);
    logprobs.emplace_back();
  }
  for (std::size_t i = 0; i < turn.completion.size(); ++i) {
    owners.emplace_back(static_cast<std::int64_t>(turn.messages.size()));
    sampled.emplace_back(true);
    logprobs.push_back(i < turn.logprobs.size() ? json::Value(static_cast<double>(turn.logprobs[i])) : json::Value());
  }
  json::Object out{{"ids", ids_json(turn.ids())},     {"owners", std::move(owners)},
                   {"roles", roles_of(turn)},         {"sampled", std::move(sampled)},
                   {"logprobs", std::move(logprobs)}, {"prompt_tokens", turn.prompt.size()}};
  if (with_texts) out.set("texts", texts_of(turn, model));
  return out;
}

// A branch as a trainer reads it.  All sampled ids count, whichever turn sampled them.
json::Value training_row(const std::vector<Turn>& turns, const std::vector<std::int64_t>& parents, std::size_t leaf) {
  const Turn& last = turns[leaf];
  json::Array mask;
  for (const std::uint8_t sampled : last.sampled) mask.emplace_back(static_cast<std::int64_t>(sampled));
  for (std::size_t i = 0; i < last.completion.size(); ++i) mask.emplace_back(1);
  // The log probabilities of earlier turns are at their completions, as far as the prompt still contains those.
  std::vector<json::Value> logprobs(last.prompt.size() + last.completion.size());
  std::vector<std::size_t> path;
  for (auto at = static_cast<std::int64_t>(leaf); at >= 0; at = parents[static_cast<std::size_t>(at)])
    path.push_back(static_cast<std::size_t>(at));
  std::reverse(path.begin(), path.end());
  const std::vector<spans::TokenId> ids = last.ids();
  json::Array indices;
  for (const std::size_t index : path) {
    indices.emplace_back(static_cast<std::int64_t>(index));
    const Turn& turn = turns[index];
    const std::size_t begin = turn.prompt.size();
    const bool stands =
        begin + turn.completion.size() <= ids.size() &&
        std::equal(turn.completion.begin(), turn.completion.end(), ids.begin() + static_cast<std::ptrdiff_t>(begin));
    for (std::size_t i = 0; stands && i < turn.logprobs.size(); ++i)
      logprobs[begin + i] = json::Value(static_cast<double>(turn.logprobs[i]));
  }
  return json::Object{{"ids", ids_json(ids)},
                      {"loss_mask", std::move(mask)},
                      {"logprobs", json::Array(logprobs.begin(), logprobs.end())},
                      {"turns", std::move(indices)}};
}

// Whoever watches sessions asks again and again, so only sessions that continued are read anew.
Result<json::Value> known_row(Service::State& state, const spans::Scope& scope, const spans::SessionInfo& info,
                              const std::string& model) {
  SessionRows& rows = state.shared->session_rows;
  if (auto known = rows.find(scope.id(), info)) return *std::move(known);
  const auto turns = state.parts.spans->turns(scope, info.session);
  if (!turns.ok()) return turns.error();
  json::Value row = session_row(info, model, turns.value());
  rows.keep(scope.id(), info, row);
  return row;
}

constexpr std::size_t kMostListed = 1000;

net::Reply refusal_of(const apis::Fault& fault) { return fault_reply(chat::Api::kChat, fault); }

// The order of the session with this id, whichever model it is of.
Result<std::optional<std::uint64_t>> order_of(Service::State& state, const std::string& tenant, std::string_view id) {
  const std::optional<Digest> session = digest_of_hex(id);
  if (!session) return std::optional<std::uint64_t>();
  for (const ServedModel& model : state.parts.models) {
    const spans::Scope scope = state.parts.spans->scope(tenant, model.name);
    std::uint64_t after = 0;
    while (true) {
      const auto page = state.parts.spans->store().sessions(scope.id(), kMostListed, after);
      if (!page.ok()) return page.error();
      for (const spans::SessionInfo& info : page.value()) {
        if (info.session == *session) return std::optional(info.order);
      }
      if (page.value().size() < kMostListed) break;
      after = page.value().back().order;
    }
  }
  return std::optional<std::uint64_t>();
}

net::Reply list(Service::State& state, const std::string& tenant, const net::ServerRequest& http) {
  constexpr std::int64_t kUsual = 20;
  const auto asked = query_number(http, "limit");
  if (!asked.ok()) return refusal_of(asked.fault());
  if (asked.value().value_or(kUsual) < 1) return refusal_of(apis::invalid("limit", "`limit` must be at least 1"));
  const auto limit = static_cast<std::size_t>(
      std::clamp<std::int64_t>(asked.value().value_or(kUsual), 1, static_cast<std::int64_t>(kMostListed)));
  std::uint64_t after = 0;
  if (const std::string last = net::query_value(http.query, "after").value_or(""); !last.empty()) {
    const auto order = order_of(state, tenant, last);
    if (!order.ok()) return refusal_of(fault_of_store(order.error()));
    if (!order.value()) return refusal_of(apis::invalid("after", "`after`: there is no session `" + last + "`"));
    after = *order.value();
  }
  std::vector<std::pair<spans::SessionInfo, const ServedModel*>> found;
  for (const ServedModel& model : state.parts.models) {
    const spans::Scope scope = state.parts.spans->scope(tenant, model.name);
    auto sessions = state.parts.spans->store().sessions(scope.id(), limit, after);
    if (!sessions.ok()) return refusal_of(fault_of_store(sessions.error()));
    for (spans::SessionInfo& info : sessions.value()) found.emplace_back(std::move(info), &model);
  }
  std::ranges::sort(found, std::ranges::greater(), [](const auto& one) { return one.first.order; });
  if (found.size() > limit) found.resize(limit);
  json::Array rows;
  for (const auto& [info, model] : found) {
    auto row = known_row(state, state.parts.spans->scope(tenant, model->name), info, model->name);
    if (!row.ok()) return refusal_of(fault_of_store(row.error()));
    rows.push_back(std::move(row).value());
  }
  return json_reply(200, json::Object{{"sessions", std::move(rows)}});
}

net::Reply tokens_reply(const std::string& id, const std::vector<Turn>& turns, const core::Model& model,
                        const net::ServerRequest& http) {
  const auto last = static_cast<std::int64_t>(turns.size()) - 1;
  const auto asked = query_number(http, "turn");
  if (!asked.ok()) return refusal_of(asked.fault());
  const std::int64_t turn = asked.value().value_or(last);
  if (turn < 0) return refusal_of(apis::invalid("turn", "`turn` must not be negative"));
  if (turn > last) {
    return refusal_of({.kind = apis::FaultKind::kNotFound,
                       .message = "the session `" + id + "` has no turn " + std::to_string(turn) +
                                  ": its last one is " + std::to_string(last),
                       .param = "turn",
                       .code = "not_found"});
  }
  const bool with_texts = net::query_value(http.query, "texts") == "1";
  return json_reply(200, tokens_of(turns[static_cast<std::size_t>(turn)], model, with_texts));
}

}  // namespace

net::Reply sessions_reply(Service::State& state, const net::ServerRequest& http) {
  const std::string tenant = visit_of(http)->tenant;
  if (http.path == kBase) return list(state, tenant, http);
  const auto [id, below] = parts_behind(http.path, std::string(kBase) + "/");
  for (const ServedModel& model : state.parts.models) {
    const spans::Scope scope = state.parts.spans->scope(tenant, model.name);
    // Finds it by its id, or by the name that clients use for it.
    const Digest session = digest_of_hex(id).value_or(spans::Spans::session(scope, id));
    const auto kept = state.parts.spans->turns(scope, session);
    if (!kept.ok()) return refusal_of(fault_of_store(kept.error()));
    if (kept.value().empty()) continue;
    const std::vector<Turn>& turns = kept.value();
    const std::vector<std::int64_t> parents = parents_of(turns);
    if (http.method == "DELETE" && below.empty()) {
      const auto erased = state.parts.spans->store().erase(scope.id(), session);
      if (!erased.ok()) return refusal_of(fault_of_store(erased.error()));
      return json_reply(200, json::Object{{"id", spans::to_hex(session)}, {"deleted", true}});
    }
    if (below.empty()) {
      json::Array rows;
      for (std::size_t i = 0; i < turns.size(); ++i) rows.push_back(turn_row(turns[i], i, parents[i]));
      return json_reply(
          200, json::Object{{"id", spans::to_hex(session)}, {"model", model.name}, {"turns", std::move(rows)}});
    }
    if (below == "tokens") return tokens_reply(id, turns, *model.model, http);
    std::string lines;
    for (const std::size_t leaf : leaves_of(parents))
      lines += json::to_compact(training_row(turns, parents, leaf)) + "\n";
    return {.status = 200, .headers = {{"content-type", "application/jsonl"}}, .body = std::move(lines)};
  }
  return refusal_of(apis::not_found("session", id));
}

}  // namespace rondo::gateway
