// Edge JSON: the chat template of TensorRT Edge-LLM, `processed_chat_template.json`, as plain data.
//
//   auto loaded = edge::load("engine/processed_chat_template.json");
//   loaded.value().find_role("user")->prefix
//
// Unknown members of the file are kept and written again.  Immutable data; knows nothing about Jinja.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "rondo/result.h"

namespace rondo::edge {

// Known files have a kilobyte; a much larger file is not a template.
inline constexpr std::size_t kMaxFileBytes = std::size_t{16} << 20U;

inline constexpr std::string_view kSystem = "system";
inline constexpr std::string_view kUser = "user";
inline constexpr std::string_view kAssistant = "assistant";
inline constexpr std::string_view kImage = "image";
inline constexpr std::string_view kVideo = "video";

struct Role {
  std::string name;
  std::string prefix;
  std::string suffix;
  json::Object unknown = {};  // further members
};

// What is written for a part that is not text.
struct ContentType {
  std::string name;
  std::string format;  // "": such parts are left out
  json::Object unknown = {};
};

struct EdgeTemplate {
  std::string model_path;
  std::vector<Role> roles;  // including system, user and assistant
  std::vector<ContentType> content_types;
  std::string generation_prompt;
  std::optional<std::string> generation_prompt_thinking;
  std::string default_system_prompt;
  json::Object unknown;

  [[nodiscard]] const Role* find_role(std::string_view name) const;
  [[nodiscard]] const ContentType* find_content_type(std::string_view name) const;
};

// A fault in a file, or a remark about it.
struct Finding {
  enum class Kind : std::uint8_t { kUnreadable, kMissing, kWrongType, kBadText, kUnknown, kRemark };
  Kind kind = Kind::kUnreadable;
  std::string path;       // "roles.user.prefix"; "" for the whole file
  std::string sentence;   // in our words
  std::string reference;  // what the exporter says about it; "" if nothing
  int line = 0;           // of the value, or of the object that lacks it; 0: unknown
  int column = 0;         // in bytes

  [[nodiscard]] bool is_error() const { return kind != Kind::kUnknown && kind != Kind::kRemark; }
};

struct Validated {
  std::optional<EdgeTemplate> edge_template;  // nullopt if there is an error
  std::vector<Finding> findings;              // in file order
};
[[nodiscard]] Validated validate(std::string_view text);

// Fails with the first error of validate(): kJson or kLimit if the text is not JSON, otherwise kInvalidArgument.
// `source` names the text.
[[nodiscard]] Result<EdgeTemplate> parse(std::string_view text, const std::string& source);
// Reads and parses a file.  Also fails with kNotFound, and with kLimit beyond kMaxFileBytes.
[[nodiscard]] Result<EdgeTemplate> load(const std::string& path);

// Writes all members; the optional thinking prompt only if there is one; then the unknown members.
[[nodiscard]] json::Value to_json(const EdgeTemplate& edge_template);
[[nodiscard]] Status save(const EdgeTemplate& edge_template, const std::string& path);

[[nodiscard]] std::string_view to_string(Finding::Kind kind);

// {"level", "kind", "path", "message", "line"?, "column"?, "reference"?}
[[nodiscard]] json::Value to_json(const Finding& finding);

// Returns the text of such a file.  Fails with kNotFound, or with kLimit beyond kMaxFileBytes.
[[nodiscard]] Result<std::string> read_file(const std::string& path);

}  // namespace rondo::edge
