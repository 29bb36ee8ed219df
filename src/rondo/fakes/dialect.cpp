#include "fakes/dialect.h"

#include <algorithm>
#include <charconv>

#include "json/print.h"
#include "net/sse.h"

namespace rondo::fakes {

std::size_t Running::sampled() const {
  std::size_t count = 0;
  for (const Choice& choice : choices) count += choice.sent;
  return count;
}

net::Reply json_reply(int status, const json::Value& value) {
  return {status, {{"Content-Type", "application/json"}}, json::to_compact(value)};
}

std::string event_of(const json::Value& value) {
  std::string out;
  net::append_sse(out, "", json::to_compact(value));
  return out;
}

json::Value ids_value(std::span<const TokenId> ids) {
  json::Array array;
  for (const TokenId id : ids) array.emplace_back(id);
  return array;
}

std::optional<Ids> ids_in(const json::Value* value) {
  if (value == nullptr || !value->is_array()) return std::nullopt;
  Ids ids;
  for (const json::Value& element : value->as_array()) {
    const auto number = element.kind() == json::Kind::kInteger ? element.to_int64() : std::nullopt;
    if (!number || *number < 0 || !std::in_range<TokenId>(*number)) return std::nullopt;
    ids.push_back(static_cast<TokenId>(*number));
  }
  return ids;
}

std::int64_t integer_in(const json::Value& object, std::string_view key, std::int64_t otherwise) {
  const json::Value* found = object.find(key);
  return found != nullptr && found->kind() == json::Kind::kInteger ? found->to_int64().value_or(otherwise) : otherwise;
}

bool flag_in(const json::Value& object, std::string_view key, bool otherwise) {
  const json::Value* found = object.find(key);
  return found != nullptr && found->is_bool() ? found->as_bool() : otherwise;
}

std::vector<std::string> texts_in(const json::Value* value) {
  std::vector<std::string> texts;
  if (value == nullptr) return texts;
  if (value->is_string()) texts.push_back(value->as_string());
  if (value->is_array()) {
    for (const json::Value& element : value->as_array()) {
      if (element.is_string()) texts.push_back(element.as_string());
    }
  }
  return texts;
}

std::optional<std::uint64_t> seed_in(const json::Value& object, std::string_view key) {
  const json::Value* temperature = object.find("temperature");
  const bool is_greedy = temperature != nullptr && temperature->to_double() == 0.0;
  const std::int64_t seed = integer_in(object, key, -1);
  if (is_greedy || seed < 0) return std::nullopt;
  return static_cast<std::uint64_t>(seed);
}

void read_bias(const json::Value& object, Asked& asked) {
  constexpr double kForbidden = -100;
  const json::Value* bias = object.find("logit_bias");
  if (bias != nullptr && bias->is_object()) {
    for (const json::Member& member : bias->as_object()) {
      TokenId id = -1;
      std::from_chars(member.key.data(), member.key.data() + member.key.size(), id);
      if (member.value.to_double().value_or(0) <= kForbidden) asked.bad.push_back({id});
    }
  }
  if (bias == nullptr || !bias->is_array()) return;
  for (const json::Value& pair : bias->as_array()) {
    if (!pair.is_array() || pair.as_array().size() != 2 || pair.as_array()[1] != json::Value(false)) continue;
    if (const auto id = pair.as_array()[0].to_int64()) asked.bad.push_back({static_cast<TokenId>(*id)});
  }
}

std::string shown_text(const Model& model, const Completion& completion, std::size_t sent) {
  std::string text = model.text_of(std::span(completion.ids).first(sent));
  if (completion.stop == Stop::kStopText) text.resize(std::min(text.find(completion.stop_text), text.size()));
  return text;
}

}  // namespace rondo::fakes
