#include "apis/response_progress.h"

#include <string_view>
#include <utility>

#include "json/parse.h"

namespace rondo::apis {
namespace {

// The member that a delta adds to.
std::string_view delta_key(std::string_view event) {
  if (event.find("function_call_arguments") != std::string_view::npos) return "arguments";
  if (event.find("custom_tool_call_input") != std::string_view::npos) return "input";
  return event.find("refusal") != std::string_view::npos ? "refusal" : "text";
}

json::Value copy_of(const json::Value& value, std::string_view key) {
  const json::Value* found = value.find(key);
  return found == nullptr ? json::Value() : *found;
}

json::Array* output_in(json::Value& body) {
  json::Value* output = body.as_object().find("output");
  return output != nullptr && output->is_array() ? &output->as_array() : nullptr;
}

}  // namespace

void ResponseProgress::add(const StreamEvent& event) {
  const std::string_view name = event.name;
  if (!name.starts_with("response.") || (name.ends_with(".done") && name != "response.output_item.done")) return;
  const auto parsed = json::parse(event.data);
  if (!parsed.ok()) return;
  const json::Value& said = parsed.value();
  if (const json::Value* response = said.find("response"); response != nullptr && response->is_object()) {
    body_ = *response;
    open_.reset();
  } else if (name == "response.output_item.added") {
    open_.emplace().item = copy_of(said, "item");
  } else if (name == "response.output_item.done") {
    if (json::Array* output = output_in(body_)) output->push_back(copy_of(said, "item"));
    open_.reset();
  } else if (open_ && name.ends_with("_part.added")) {
    open_->list = name == "response.reasoning_summary_part.added" ? "summary" : "content";
    open_->part = copy_of(said, "part");
  } else if (open_ && name.ends_with(".delta")) {
    open_->key = delta_key(name);
    open_->text += said.find_string("delta").value_or("");
  }
}

json::Value ResponseProgress::body() const {
  json::Value out = body_;
  json::Array* output = output_in(out);
  if (!open_ || output == nullptr || !open_->item.is_object()) return out;
  json::Value item = open_->item;
  if (open_->part.is_object()) {
    json::Value part = open_->part;
    if (!open_->key.empty()) part.as_object().set(open_->key, open_->text);
    item.as_object().set(open_->list, json::Array{std::move(part)});
  } else if (!open_->key.empty()) {
    item.as_object().set(open_->key, open_->text);
  }
  output->push_back(std::move(item));
  return out;
}

json::Value given_up(const json::Value& body, const std::string& status, const std::string& message) {
  json::Value out = body;
  out.as_object().set("status", status);
  if (status == "failed") out.as_object().set("error", json::Object{{"code", "server_error"}, {"message", message}});
  json::Array* output = output_in(out);
  if (output == nullptr) return out;
  for (json::Value& item : *output) {
    if (item.find_string("status") == "in_progress") item.as_object().set("status", "incomplete");
  }
  return out;
}

}  // namespace rondo::apis
