// Checks which calls the results of Chat and Messages answer.
#include <string>
#include <unordered_set>

#include "apis/request_parts.h"
#include "chat/results.h"

namespace rondo::apis {
namespace {

constexpr std::string_view kResultId = "tool_call_id";

std::string id_in(const json::Value& result) { return std::string(result.find_string(kResultId).value_or("")); }

bool has_older_call(const json::Value& message) {
  const json::Value* call = message.find("function_call");
  return call != nullptr && call->is_object();
}

class ResultChecks {
 public:
  explicit ResultChecks(const GenerateRequest& request) : request_(request) {}

  std::optional<Fault> run() {
    for (std::size_t i = 0; i < request_.messages.size(); ++i) {
      const json::Value& message = request_.messages[i];
      const auto role = message.find_string("role");
      if (role == "assistant") read_calls(message);
      if (role == "tool" && !has_calls_ && request_.api == chat::Api::kChat && id_in(message).empty())
        return callless(i);
      if (role != "tool") continue;
      auto fault = id_in(message).empty() ? check_nameless(i) : check_id(i);
      if (fault) return fault;
    }
    return std::nullopt;
  }

 private:
  void read_calls(const json::Value& message) {
    const auto calls = chat::open_calls(message);
    for (const chat::OpenCall& call : calls) {
      if (call.id && !call.id->empty()) {
        ids_.emplace(*call.id);
      } else {
        has_nameless_ = true;
      }
    }
    open_ = calls.size();
    has_calls_ = has_calls_ || !calls.empty() || has_older_call(message);
  }

  // Calls without an id are answered in their order, whatever ids their results have.
  [[nodiscard]] std::optional<Fault> check_id(std::size_t message) const {
    const std::string id = id_in(request_.messages[message]);
    if (has_nameless_ || ids_.contains(id)) return std::nullopt;
    if (request_.api == chat::Api::kMessages) return unexpected(message, id);
    const std::string place = place_of(request_, message, kResultId);
    return invalid(place, "`" + place + "`: no call before it has the id `" + id + "`");
  }

  // In the words of the Chat API.
  [[nodiscard]] Fault callless(std::size_t message) const {
    const std::string place = place_of(request_, message);
    return invalid(
        place + ".role",
        "`" + place + "`: messages with role 'tool' must be a response to a preceding message with 'tool_calls'");
  }

  // In the words of the Messages API.
  [[nodiscard]] Fault unexpected(std::size_t message, const std::string& id) const {
    constexpr std::string_view kText = ".content";
    std::string block = client_path(request_, "messages[" + std::to_string(message) + "]" + std::string(kText));
    if (block.ends_with(kText)) block.resize(block.size() - kText.size());
    return invalid(
        block + ".tool_use_id",
        "`" + block + "`: unexpected `tool_use_id` found in `tool_result` blocks: " + id +
            ". Each `tool_result` block must have a corresponding `tool_use` block in the previous message.");
  }

  // Older clients send no ids at all, and then the order tells.  Beside results with ids it does not.
  [[nodiscard]] std::optional<Fault> check_nameless(std::size_t message) const {
    const json::Array& messages = request_.messages;
    if (open_ < 2 || has_nameless_ || messages[message].find_string("name")) return std::nullopt;
    const auto is_named = [&](std::size_t at) {
      return messages[at].find_string("role") == "tool" && !id_in(messages[at]).empty();
    };
    const bool is_mixed = is_named(message - 1) || (message + 1 < messages.size() && is_named(message + 1));
    if (!is_mixed) return std::nullopt;
    const std::string place = place_of(request_, message, kResultId);
    return invalid(place, "`" + place + "` is missing, and there are several calls", "missing_required_parameter");
  }

  const GenerateRequest& request_;
  std::unordered_set<std::string> ids_;
  bool has_calls_ = false;     // whether there is a call before
  bool has_nameless_ = false;  // whether a call before has no id
  std::size_t open_ = 0;       // calls of the last reply
};

}  // namespace

std::optional<Fault> check_answered_calls(const GenerateRequest& request) { return ResultChecks(request).run(); }

}  // namespace rondo::apis
