// Reads `tool_choice` of the three APIs.
#include <algorithm>

#include "apis/request_parts.h"
#include "chat/api_parts.h"

namespace rondo::apis {
namespace {

using Mode = ToolChoice::Mode;

class ChoiceReader {
 public:
  ChoiceReader(GenerateRequest& request, std::optional<Fault>& fault) : request_(request), fault_(fault) {}

  void read(const json::Value& choice) {
    if (choice.is_string()) return word(choice.as_string());
    if (!choice.is_object())
      return refuse("must be a string or an object, found " + std::string(describe(choice.kind())), "invalid_type");
    Fields members(&choice, "tool_choice.", fault_);
    check_choice_types(members);
    if (fault_) return;
    const std::string type = chat::first_text(choice, {"type"});
    if (choice.is_true("disable_parallel_tool_use")) request_.tool_choice.parallel = false;
    if (type == "allowed_tools") return allowed(choice);
    if (type == "auto" || type == "none" || type == "any") return word(type == "any" ? "required" : type);
    const std::string name = name_of(choice);
    if (name.empty()) return refuse_nameless(choice, type);
    request_.tool_choice.mode = Mode::kRequired;
    allow(name, type);
  }

 private:
  void refuse(const std::string& message, std::string code = "invalid_value") {
    if (!fault_) fault_ = invalid("tool_choice", "`tool_choice` " + message, std::move(code));
  }

  void refuse_nameless(const json::Value& choice, const std::string& type) {
    const bool is_known = type == "function" || type == "custom" || type == "tool";
    if (!type.empty() && !is_known) return refuse("of type `" + type + "` is not known here");
    std::string member = type.empty() ? "type" : "name";
    if (is_known && choice.find(type) != nullptr) member = type + ".name";
    Fields(&choice, "tool_choice.", fault_).refuse_missing(member);
  }

  void word(std::string_view mode) {
    if (mode == "none") {
      request_.tool_choice.mode = Mode::kNone;
    } else if (mode == "required") {
      request_.tool_choice.mode = Mode::kRequired;
      if (request_.tool_table.empty()) refuse("asks for a call, but there are no tools");
    } else if (mode != "auto") {
      refuse("must be `none`, `auto` or `required`, found `" + std::string(mode) + "`");
    }
  }

  // {"type": "function", "name"}, {"type": "function", "function": {"name"}}, {"type": "custom", ...}, {"type": "tool",
  // "name"}.
  static std::string name_of(const json::Value& choice) {
    for (const std::string_view key : {"function", "custom"}) {
      if (const json::Value* inner = choice.find(key); inner != nullptr) return chat::first_text(*inner, {"name"});
    }
    return chat::flat_name(chat::first_text(choice, {"namespace"}), chat::first_text(choice, {"name"}));
  }

  void allow(const std::string& name, const std::string& type) {
    // Clients also name a tool of a namespace by its short name.
    const auto is_meant = [&](const chat::ApiTool& tool) { return tool.name == name || tool.client_name == name; };
    const auto found = std::ranges::find_if(request_.tool_table, is_meant);
    if (found == request_.tool_table.end()) return refuse("names `" + name + "`, which is none of the tools");
    const bool is_custom = found->kind == chat::ApiTool::Kind::kCustom;
    if (is_custom ? type == "function" : type == "custom")
      return refuse("names `" + name + "` as a tool of type `" + type + "`, which it is not");
    request_.tool_choice.only.push_back(found->name);
  }

  void allowed(const json::Value& choice) {
    const json::Value* nested = choice.find("allowed_tools");
    const json::Value& list = nested != nullptr && nested->is_object() ? *nested : choice;
    word(list.find_string("mode").value_or("auto"));
    const json::Value* tools = list.find("tools");
    if (tools == nullptr || !tools->is_array())
      return refuse("must list the allowed tools", "missing_required_parameter");
    for (const json::Value& tool : tools->as_array()) {
      const std::string name = name_of(tool);
      if (name.empty()) {
        request_.warnings.push_back("the allowed tool `" + chat::first_text(tool, {"type"}) +
                                    "` of the server was left out");
      } else {
        allow(name, chat::first_text(tool, {"type"}));
      }
    }
    if (!request_.tool_choice.only.empty()) return;
    if (request_.tool_choice.mode == Mode::kRequired)
      return refuse("asks for a call of one of the allowed tools, but there are none");
    request_.tool_choice.mode = Mode::kNone;
  }

  GenerateRequest& request_;
  std::optional<Fault>& fault_;
};

}  // namespace

void read_tool_choice(const json::Value& choice, GenerateRequest& out, std::optional<Fault>& fault) {
  ChoiceReader(out, fault).read(choice);
}

}  // namespace rondo::apis
