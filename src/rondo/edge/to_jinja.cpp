#include "edge/to_jinja.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/hex.h"
#include "edge/format.h"
#include "json/parse.h"
#include "json/print.h"

namespace rondo::edge {
namespace {

constexpr std::string_view kCommentOpen = "{#- edge ";
constexpr std::string_view kCommentClose = " #}";

// Parts of these types never use a format of that name.
bool is_out_of_reach(std::string_view type) { return type == "text" || content_type_of(type) != type; }

std::string write(std::string_view text) { return text.empty() ? "" : "{{- " + jinja_constant(text) + " }}"; }

// JSON without `#`, which would end the comment.
std::string for_comment(const json::Value& value) {
  std::string out;
  for (const char c : json::to_compact(value)) {
    if (c == '#') {
      out += "\\u0023";
    } else {
      out += c;
    }
  }
  return out;
}

json::Object rest_of(const EdgeTemplate& edge_template) {
  json::Object rest = edge_template.unknown;
  const auto& thinking = edge_template.generation_prompt_thinking;
  if (thinking && (thinking->empty() || *thinking == edge_template.generation_prompt))
    rest.set("generation_prompt_thinking", *thinking);
  const auto add = [&rest](std::string_view list, const auto& entries) {
    json::Object out;
    for (const auto& entry : entries) {
      if (!entry.unknown.empty()) out.set(entry.name, entry.unknown);
    }
    if (!out.empty()) rest.set(list, std::move(out));
  };
  add("roles", edge_template.roles);
  add("content_types", edge_template.content_types);
  return rest;
}

std::string comment(const EdgeTemplate& edge_template) {
  json::Object out{{"model_path", edge_template.model_path}};
  json::Array roles;
  for (const Role& role : edge_template.roles) {
    if (role.name != kSystem && role.name != kUser && role.name != kAssistant) roles.emplace_back(role.name);
  }
  if (!roles.empty()) out.set("roles", std::move(roles));
  json::Object types;
  for (const ContentType& type : edge_template.content_types)
    types.set(type.name, is_out_of_reach(type.name) ? json::Value(type.format) : json::Value());
  if (!types.empty()) out.set("content_types", std::move(types));
  if (json::Object rest = rest_of(edge_template); !rest.empty()) out.set("rest", std::move(rest));
  return std::string(kCommentOpen) + for_comment(out) + std::string(kCommentClose) + "\n";
}

// The content of `message`; `is_lead` is true for a first system message.
std::string body(const EdgeTemplate& edge_template) {
  std::string out =
      "    {%- if message.content is string %}\n"
      "        {{- message.content }}\n"
      "    {%- elif message.content %}\n"
      "        {%- for part in message.content %}\n"
      "            {%- if part.type == \"text\" %}\n"
      "                {{- part.text }}\n";
  bool has_image = false;
  std::string formats;
  for (const ContentType& type : edge_template.content_types) {
    if (type.format.empty() || is_out_of_reach(type.name)) continue;
    std::string test = "part.type == " + jinja_constant(type.name);
    if (type.name == kImage) test = "part.type in [\"image\", \"image_url\"]";
    has_image = has_image || type.name == kImage;
    formats += "            {%- elif " + test + " %}\n                " + write(type.format) + "\n";
  }
  if (!formats.empty()) {
    out += "            {%- elif is_lead %}\n";
    out += formats;
  }
  return out +
         "            {%- endif %}\n"
         "        {%- endfor %}\n"
         "    {%- endif %}\n";
}

// A role's branch, from its condition to the text after the content.
std::string branch(const Role& role, const std::string& content, bool is_first) {
  std::string out =
      std::string("    {%- ") + (is_first ? "if" : "elif") + " message.role == " + jinja_constant(role.name) + " %}\n";
  if (!role.prefix.empty()) out += "    " + write(role.prefix) + "\n";
  out += content;
  if (!role.suffix.empty()) out += "    " + write(role.suffix) + "\n";
  return out;
}

std::string generation_prompt(const EdgeTemplate& edge_template) {
  const std::string plain = write(edge_template.generation_prompt);
  const std::string thinking = write(edge_template.generation_prompt_thinking.value_or(""));
  if (plain.empty() && thinking.empty()) return "";
  std::string out = "{%- if add_generation_prompt %}\n";
  if (thinking.empty() || thinking == plain) {
    out += "    " + plain + "\n";
  } else {
    out += "    {%- if enable_thinking is defined and enable_thinking %}\n        " + thinking + "\n";
    if (!plain.empty()) out += "    {%- else %}\n        " + plain + "\n";
    out += "    {%- endif %}\n";
  }
  return out + "{%- endif %}\n";
}

}  // namespace

std::string jinja_constant(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20U || byte == 0x7fU) {
      out += "\\x";
      hex::append(out, byte, 2);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string to_jinja(const EdgeTemplate& edge_template) {
  std::string out = comment(edge_template);
  out += "{%- if not messages %}\n    {{- raise_exception(\"there must be at least one message\") }}\n{%- endif %}\n";
  const Role* system = edge_template.find_role(kSystem);
  if (!edge_template.default_system_prompt.empty() && system != nullptr) {
    out += "{%- if messages[0].role != \"system\" %}\n    " +
           write(system->prefix + edge_template.default_system_prompt + system->suffix) + "\n{%- endif %}\n";
  }
  out += "{%- for message in messages %}\n";
  std::string content = body(edge_template);
  // A first system message consists of text only.
  if (content.find("is_lead") != std::string::npos)
    out += "    {%- set is_lead = loop.first and message.role == \"system\" %}\n";
  bool is_first = true;
  for (const Role& role : edge_template.roles) out += branch(role, content, std::exchange(is_first, false));
  out += "    {%- endif %}\n{%- endfor %}\n";
  return out + generation_prompt(edge_template);
}

std::optional<Unseen> unseen_of(std::string_view jinja_source) {
  if (!jinja_source.starts_with(kCommentOpen)) return std::nullopt;
  jinja_source.remove_prefix(kCommentOpen.size());
  const std::size_t end = jinja_source.find(kCommentClose);
  if (end == std::string_view::npos) return std::nullopt;
  const auto parsed = json::parse(jinja_source.substr(0, end));
  if (!parsed.ok() || !parsed.value().is_object()) return std::nullopt;
  const json::Value& found = parsed.value();
  Unseen out;
  out.model_path = found.find_string("model_path").value_or("");
  if (const json::Value* roles = found.find("roles"); roles != nullptr && roles->is_array()) {
    for (const json::Value& role : roles->as_array()) {
      if (role.is_string()) out.roles.push_back(role.as_string());
    }
  }
  const auto object = [&found](std::string_view name) {
    const json::Value* value = found.find(name);
    return value != nullptr && value->is_object() ? value->as_object() : json::Object();
  };
  out.content_types = object("content_types");
  out.rest = object("rest");
  return out;
}

}  // namespace rondo::edge
