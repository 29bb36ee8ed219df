// rondo::Model: requests to the facade in C++ clothes.
#include "rondo/model.h"

#include <utility>

#include "api/requests.h"
#include "api/service.h"
#include "json/print.h"

namespace rondo {
namespace {

json::Value ids_value(const std::vector<std::int32_t>& ids) {
  json::Array out;
  out.reserve(ids.size());
  for (const std::int32_t id : ids) out.emplace_back(static_cast<std::int64_t>(id));
  return out;
}

template <typename Number>
std::vector<Number> numbers(const json::Value& reply, const char* field) {
  std::vector<Number> out;
  const json::Value* values = reply.find(field);
  if (values == nullptr || !values->is_array()) return out;
  out.reserve(values->as_array().size());
  for (const json::Value& value : values->as_array()) out.push_back(static_cast<Number>(value.to_int64().value_or(0)));
  return out;
}

std::string text_of(const json::Value& value, const char* field) {
  return std::string(value.find_string(field).value_or(""));
}

ParsedCall call_of(const json::Value& value) {
  ParsedCall call;
  if (const auto id = value.find_string("id")) call.id = std::string(*id);
  call.name = text_of(value, "name");
  call.arguments = text_of(value, "arguments");
  call.status = std::string(value.find_string("status").value_or("ok"));
  return call;
}

int number_of(const json::Value* value) {
  return value == nullptr ? 0 : static_cast<int>(value->to_int64().value_or(0));
}

std::vector<CheckFinding> findings_of(const json::Value& report, const char* field) {
  std::vector<CheckFinding> out;
  for (const json::Value& value : report.find(field)->as_array()) {
    CheckFinding& finding = out.emplace_back();
    finding.rule = text_of(value, "rule");
    finding.level = text_of(value, "level");
    finding.sentence = text_of(value, "sentence");
    if (const json::Value* place = value.find("place")) {
      finding.line = number_of(place->find("line"));
      finding.column = number_of(place->find("column"));
    }
    finding.path = text_of(value, "path");
    finding.lost_tokens = static_cast<std::size_t>(number_of(value.find("lost_tokens")));
    for (const json::Value& remedy : value.find("remedies")->as_array())
      finding.remedies.push_back(text_of(remedy, "sentence"));
  }
  return out;
}

}  // namespace

struct Model::State {
  std::string template_path;
  std::string tokenizer_path;
  api::Service service{{}};

  [[nodiscard]] Result<json::Object> request(const char* op, const Chat& chat) const {
    json::Object out{{"op", op}, {"template_file", template_path}, {"tokenizer", tokenizer_path}, {"mode", "lenient"}};
    for (const auto& [field, text] : {std::pair{"messages", &chat.messages}, std::pair{"tools", &chat.tools},
                                      std::pair{"documents", &chat.documents}, std::pair{"kwargs", &chat.kwargs}}) {
      if (Status status = api::set_json(out, field, *text); !status.ok()) return status.error();
    }
    if (!chat.now.empty()) out.set("now", chat.now);
    if (!chat.continue_field.empty()) out.set("continue_final_message", chat.continue_field);
    out.set("add_generation_prompt", chat.add_generation_prompt && chat.continue_field.empty());
    return out;
  }

  [[nodiscard]] Result<json::Value> run(const char* op, const Chat& chat) const {
    auto made = request(op, chat);
    if (!made.ok()) return made.error();
    return service.run(std::move(made).value());
  }
};

Model::Model(std::shared_ptr<const State> state) : state_(std::move(state)) {}

Result<Model> Model::load(const std::string& path) { return load(path, path); }

Result<Model> Model::load(const std::string& template_path, const std::string& tokenizer_path) {
  auto state = std::make_shared<State>();
  state->template_path = template_path;
  state->tokenizer_path = tokenizer_path;
  // Small requests load both; what they answer does not matter.
  auto tokenizer =
      state->service.run(json::Object{{"op", "detokenize"}, {"tokenizer", tokenizer_path}, {"ids", json::Array{}}});
  if (!tokenizer.ok()) return tokenizer.error();
  auto stop = state->run("stop", {});
  if (!stop.ok()) return stop.error();
  return Model(std::move(state));
}

Result<std::string> Model::render(const Chat& chat) const {
  auto reply = state_->run("render", chat);
  if (!reply.ok()) return reply.error();
  return text_of(reply.value(), "text");
}

Result<Encoded> Model::encode(const Chat& chat) const {
  auto request = state_->request("encode", chat);
  if (!request.ok()) return request.error();
  request.value().set("raw_turns", chat.raw_turns);
  auto reply = state_->service.run(std::move(request).value());
  if (!reply.ok()) return reply.error();
  Encoded out{numbers<std::int32_t>(reply.value(), "ids"),
              numbers<std::int32_t>(reply.value(), "message_indices"),
              numbers<std::uint8_t>(reply.value(), "content_mask"),
              numbers<std::uint8_t>(reply.value(), "sampled_mask"),
              {}};
  if (const json::Value* notes = reply.value().find("notes"); notes != nullptr && notes->is_array()) {
    for (const json::Value& note : notes->as_array()) out.notes.push_back(note.as_string());
  }
  return out;
}

Result<Bridged> Model::bridge(const Chat& chat, const Bridge& bridge) const {
  auto request = state_->request("bridge", chat);
  if (!request.ok()) return request.error();
  request.value().set("prompt_ids", ids_value(bridge.prompt_ids));
  request.value().set("completion_ids", ids_value(bridge.completion_ids));
  request.value().set("lossy", bridge.allow_lossy);
  if (Status status = api::set_json(request.value(), "new_messages", bridge.new_messages); !status.ok())
    return status.error();
  auto reply = state_->service.run(std::move(request).value());
  if (!reply.ok()) return reply.error();
  Bridged out;
  out.ids = numbers<std::int32_t>(reply.value(), "ids");
  out.message_indices = numbers<std::int32_t>(reply.value(), "message_indices");
  out.appended = static_cast<std::size_t>(reply.value().find("appended")->to_int64().value_or(0));
  if (const json::Value* findings = reply.value().find("lossy"); findings != nullptr && findings->is_array()) {
    for (const json::Value& finding : findings->as_array()) out.lossy.push_back(text_of(finding, "what"));
  }
  return out;
}

Result<Parsed> Model::parse(const Chat& chat, const std::string& text) const {
  auto request = state_->request("parse", chat);
  if (!request.ok()) return request.error();
  request.value().set("text", text);
  auto reply = state_->service.run(std::move(request).value());
  if (!reply.ok()) return reply.error();
  Parsed out;
  out.content = text_of(reply.value(), "content");
  if (const auto reasoning = reply.value().find_string("reasoning_content")) out.reasoning = std::string(*reasoning);
  for (const json::Value& call : reply.value().find("tool_calls")->as_array()) out.tool_calls.push_back(call_of(call));
  out.complete = reply.value().find("complete")->as_bool();
  return out;
}

Result<Checked> Model::check(const Chat& chat) const {
  json::Object request{{"op", "check"},
                       {"template_file", state_->template_path},
                       {"tokenizer", state_->tokenizer_path},
                       {"mode", "lenient"}};
  if (Status status = api::set_json(request, "kwargs", chat.kwargs); !status.ok()) return status.error();
  if (!chat.now.empty()) request.set("now", chat.now);
  auto reply = state_->service.run(std::move(request));
  if (!reply.ok()) return reply.error();
  return Checked{text_of(reply.value(), "worst"), findings_of(reply.value(), "findings"),
                 findings_of(reply.value(), "notes"), json::to_compact(reply.value())};
}

Result<std::vector<std::int32_t>> Model::stop_ids() const {
  auto reply = state_->run("stop", {});
  if (!reply.ok()) return reply.error();
  return numbers<std::int32_t>(reply.value(), "stop_ids");
}

Result<std::vector<std::int32_t>> Model::tokenize(const std::string& text) const {
  auto reply =
      state_->service.run(json::Object{{"op", "tokenize"}, {"tokenizer", state_->tokenizer_path}, {"text", text}});
  if (!reply.ok()) return reply.error();
  return numbers<std::int32_t>(reply.value(), "ids");
}

Result<std::string> Model::detokenize(const std::vector<std::int32_t>& ids) const {
  json::Object request{{"op", "detokenize"}, {"tokenizer", state_->tokenizer_path}};
  request.set("ids", ids_value(ids));
  auto reply = state_->service.run(request);
  if (!reply.ok()) return reply.error();
  return text_of(reply.value(), "text");
}

}  // namespace rondo
