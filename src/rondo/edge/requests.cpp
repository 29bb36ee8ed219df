#include "edge/requests.h"

#include <array>
#include <set>
#include <utility>

namespace rondo::edge {
namespace {

Error bad_file(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message)}; }

constexpr std::array<std::string_view, 2> kIntegers = {"top_k", "max_generate_length"};
constexpr std::array<std::string_view, 2> kNumbers = {"temperature", "top_p"};
constexpr std::array<std::string_view, 3> kLeftAlone = {"context_cache_lookup_policy", "context_cache_commit_policy",
                                                        "guided_decoding"};

// Reads members of one object and keeps the first complaint.
class Members {
 public:
  Members(const json::Object& object, std::string place, std::optional<Error>& error)
      : object_(object), place_(std::move(place)), error_(error) {}

  const json::Value* value(std::string_view name) {
    known_.insert(name);
    return object_.find(name);
  }
  void flag(std::string_view name, bool& out) {
    const json::Value* found = value(name);
    if (found == nullptr) return;
    if (found->is_bool()) {
      out = found->as_bool();
    } else {
      complain(name, "a boolean", *found);
    }
  }
  std::optional<std::string> text(std::string_view name) {
    const json::Value* found = value(name);
    if (found == nullptr) return std::nullopt;
    if (found->is_string()) return found->as_string();
    complain(name, "a string", *found);
    return std::nullopt;
  }
  void number(std::string_view name, bool is_integer) {
    const json::Value* found = value(name);
    if (found == nullptr) return;
    if (is_integer ? found->kind() != json::Kind::kInteger : !found->is_number())
      complain(name, is_integer ? "an integer" : "a number", *found);
  }
  void complain(std::string_view name, std::string_view expected, const json::Value& found) {
    fail(place_ + std::string(name) + " must be " + std::string(expected) + ", found " +
         std::string(json::describe(found.kind())));
  }
  void fail(std::string message) {
    if (!error_) error_ = bad_file(std::move(message));
  }
  // Reports members that nobody read.
  void remark_unknown(std::vector<std::string>& out) const {
    for (const json::Member& member : object_) {
      if (!known_.contains(member.key)) out.push_back(place_ + member.key + " is not a member of the format");
    }
  }
  [[nodiscard]] const std::string& place() const { return place_; }

 private:
  const json::Object& object_;
  std::string place_;
  std::optional<Error>& error_;
  std::set<std::string_view> known_;
};

Request read_request(Members& members) {
  Request out;
  if (const json::Value* messages = members.value("messages")) {
    out.messages = *messages;
  } else {
    members.fail(members.place() + "messages is missing");
  }
  out.lora_name = members.text("lora_name");
  members.flag("save_system_prompt_kv_cache", out.save_system_prompt_kv_cache);
  members.flag("disable_spec_decode", out.disable_spec_decode);
  return out;
}

void read_settings(Members& top, RequestFile& out) {
  if (const json::Value* size = top.value("batch_size")) {
    const auto number = size->kind() == json::Kind::kInteger ? size->to_int64() : std::nullopt;
    if (size->kind() != json::Kind::kInteger) {
      top.complain("batch_size", "an integer", *size);
    } else if (!number || *number < 1) {
      top.fail("batch_size must be at least 1, found " + size->number());
    } else {
      out.batch_size = static_cast<std::size_t>(*number);
    }
  }
  for (const std::string_view name : kIntegers) top.number(name, true);
  for (const std::string_view name : kNumbers) top.number(name, false);
  for (const std::string_view name : kLeftAlone) (void)top.value(name);
  top.flag("apply_chat_template", out.options.apply_chat_template);
  top.flag("add_generation_prompt", out.options.add_generation_prompt);
  top.flag("enable_thinking", out.options.enable_thinking);
  out.options.default_system_prompt = top.text("default_system_prompt");
}

// Checks that all names are defined, and that each batch has one adapter.
void check_adapters(Members& top, const RequestFile& file) {
  const json::Value* weights = top.value("available_lora_weights");
  if (weights != nullptr && !weights->is_object()) return top.complain("available_lora_weights", "an object", *weights);
  for (std::size_t i = 0; i < file.requests.size(); ++i) {
    const auto& name = file.requests[i].lora_name;
    const std::string place = "requests[" + std::to_string(i) + "].lora_name";
    if (name && !name->empty() && (weights == nullptr || weights->find(*name) == nullptr))
      return top.fail(place + ": available_lora_weights has no `" + *name + "`");
    const std::size_t first = i - i % file.batch_size;
    if (name.value_or("") != file.requests[first].lora_name.value_or("")) {
      return top.fail(place + ": different LoRA weights within the same batch are not supported; requests[" +
                      std::to_string(first) + "] has others");
    }
  }
}

}  // namespace

Result<RequestFile> read_requests(const json::Value& file) {
  if (!file.is_object())
    return bad_file("a request file must be an object, found " + std::string(json::describe(file.kind())));
  RequestFile out;
  std::optional<Error> error;
  Members top(file.as_object(), "", error);
  read_settings(top, out);
  const json::Value* requests = top.value("requests");
  if (requests == nullptr && file.find("messages") != nullptr) {
    out.requests.push_back(read_request(top));
  } else if (requests == nullptr) {
    top.fail("requests is missing");
  } else if (!requests->is_array()) {
    top.complain("requests", "an array", *requests);
  } else {
    for (const json::Value& request : requests->as_array()) {
      const std::string place = "requests[" + std::to_string(out.requests.size()) + "]";
      if (!request.is_object()) {
        top.complain(place, "an object", request);
        break;
      }
      Members members(request.as_object(), place + ".", error);
      out.requests.push_back(read_request(members));
      members.remark_unknown(out.remarks);
    }
  }
  check_adapters(top, out);
  top.remark_unknown(out.remarks);
  if (error) return *error;
  return out;
}

Result<std::vector<Formatted>> format_all(const EdgeTemplate& edge_template, const RequestFile& file) {
  std::vector<Formatted> out;
  for (std::size_t i = 0; i < file.requests.size(); ++i) {
    auto formatted =
        format(edge_template, file.requests[i].messages, file.options, "requests[" + std::to_string(i) + "].messages");
    if (!formatted.ok()) return formatted.error();
    out.push_back(std::move(formatted).value());
  }
  return out;
}

}  // namespace rondo::edge
