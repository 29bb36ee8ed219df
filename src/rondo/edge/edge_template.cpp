#include "edge/edge_template.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/files.h"
#include "base/printing.h"
#include "base/utf8.h"
#include "json/parse.h"
#include "json/print.h"

namespace rondo::edge {
namespace {

constexpr std::array<std::string_view, 3> kRequiredRoles = {kSystem, kUser, kAssistant};
constexpr std::size_t kShownPath = 120;  // of a path, which contains names from the file

// What Python calls a value of that kind.
std::string_view python_type(json::Kind kind) {
  switch (kind) {
    case json::Kind::kNull: return "NoneType";
    case json::Kind::kBool: return "bool";
    case json::Kind::kInteger: return "int";
    case json::Kind::kFloat: return "float";
    case json::Kind::kString: return "str";
    case json::Kind::kArray: return "list";
    case json::Kind::kObject: return "dict";
  }
  return "";
}

std::string joined(const std::string& path, std::string_view name) {
  std::string out = path.empty() ? std::string(name) : path + "." + std::string(name);
  return out.size() <= kShownPath ? out : std::string(utf8::head(out, kShownPath)) + "...";
}

// Reads a file once, and records what it contains and what is wrong with it.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Validated read() {
    auto parsed = json::parse(text_);
    if (!parsed.ok()) {
      const Error& error = parsed.error();
      out_.findings.push_back({Finding::Kind::kUnreadable, "", "the file is not JSON: " + error.message,
                               "Invalid JSON in chat template file", error.line, error.column});
      return std::move(out_);
    }
    EdgeTemplate result;
    read_top(parsed.value(), result);
    if (std::ranges::none_of(out_.findings, &Finding::is_error)) out_.edge_template = std::move(result);
    return std::move(out_);
  }

 private:
  void add(Finding::Kind kind, const json::Value& at, std::string path, std::string sentence,
           std::string reference = {}) {
    const std::string_view before = text_.substr(0, at.source().begin);
    const std::size_t newline = before.rfind('\n');
    const std::size_t line_begin = newline == std::string_view::npos ? 0 : newline + 1;
    const int line = 1 + static_cast<int>(std::ranges::count(before, '\n'));
    out_.findings.push_back({kind, std::move(path), std::move(sentence), std::move(reference), line,
                             static_cast<int>(before.size() - line_begin) + 1});
  }

  void wrong_type(const json::Value& found, const std::string& path, json::Kind expected) {
    const std::string name = path.empty() ? "the file" : "`" + printing::excerpt(path) + "`";
    const std::string quoted = path.empty() ? "chat template" : "'" + path + "'";
    add(Finding::Kind::kWrongType, found, path,
        name + " must be " + std::string(json::describe(expected)) + ", found " +
            std::string(json::describe(found.kind())),
        quoted + " must be " + std::string(python_type(expected)) + ", got " + std::string(python_type(found.kind())));
  }

  bool is_object(const json::Value& found, const std::string& path) {
    if (found.is_object()) return true;
    wrong_type(found, path, json::Kind::kObject);
    return false;
  }

  // False if `object` lacks any of the members; one finding names them all.
  bool has_all(const json::Value& object, const std::string& path, std::span<const std::string_view> names) {
    std::string ours;
    std::string reference;
    for (const std::string_view name : names) {
      if (object.find(name) != nullptr) continue;
      const std::string full = joined(path, name);
      ours += (ours.empty() ? "`" : ", `") + printing::excerpt(full) + "`";
      reference += (reference.empty() ? "'" : ", '") + full + "'";
    }
    if (ours.empty()) return true;
    const bool is_one = ours.find(',') == std::string::npos;
    add(Finding::Kind::kMissing, object, path,
        std::string(is_one ? "the required member " : "the required members ") + ours +
            (is_one ? " is missing" : " are missing"),
        "Missing required keys: [" + reference + "]");
    return false;
  }

  // nullopt if it is absent or not a text.
  std::optional<std::string> text(const json::Value& object, const std::string& path, std::string_view name) {
    const json::Value* found = object.find(name);
    if (found == nullptr) return std::nullopt;
    const std::string full = joined(path, name);
    if (!found->is_string()) {
      wrong_type(*found, full, json::Kind::kString);
      return std::nullopt;
    }
    if (!utf8::is_valid(found->as_string())) {
      add(Finding::Kind::kBadText, *found, full,
          "`" + printing::excerpt(full) + "` holds half of a surrogate pair, which is not a character");
      return std::nullopt;
    }
    return found->as_string();
  }

  // The members other than `known`, which are kept.
  json::Object unknown(const json::Value& object, const std::string& path, std::span<const std::string_view> known) {
    json::Object out;
    for (const json::Member& member : object.as_object()) {
      if (std::ranges::find(known, member.key) != known.end()) continue;
      const std::string full = joined(path, utf8::to_valid(member.key));
      add(Finding::Kind::kUnknown, member.value, full,
          "`" + printing::excerpt(full) + "` is not a member of the format; it is kept");
      out.set(member.key, member.value);
    }
    return out;
  }

  void read_roles(const json::Value& roles, EdgeTemplate& out) {
    if (!is_object(roles, "roles")) return;
    (void)has_all(roles, "roles", kRequiredRoles);
    const auto read = [&](std::string_view name, const json::Value& value) {
      constexpr std::array<std::string_view, 2> kMembers = {"prefix", "suffix"};
      const std::string path = joined("roles", utf8::to_valid(name));
      if (!is_object(value, path)) return;
      (void)has_all(value, path, kMembers);
      Role role{std::string(name), text(value, path, "prefix").value_or(""), text(value, path, "suffix").value_or("")};
      role.unknown = unknown(value, path, kMembers);
      out.roles.push_back(std::move(role));
    };
    for (const std::string_view name : kRequiredRoles) {
      if (const json::Value* value = roles.find(name)) read(name, *value);
    }
    for (const json::Member& member : roles.as_object()) {
      if (std::ranges::find(kRequiredRoles, member.key) != kRequiredRoles.end()) continue;
      check_name(member, "roles");
      read(member.key, member.value);
    }
  }

  // Names become text of a template.
  void check_name(const json::Member& member, const std::string& path) {
    if (utf8::is_valid(member.key)) return;
    add(Finding::Kind::kBadText, member.value, path,
        "a name in `" + path + "` holds half of a surrogate pair, which is not a character");
  }

  void read_content_types(const json::Value& types, EdgeTemplate& out) {
    if (!is_object(types, "content_types")) return;
    for (const json::Member& member : types.as_object()) {
      constexpr std::array<std::string_view, 1> kMembers = {"format"};
      const std::string path = joined("content_types", utf8::to_valid(member.key));
      check_name(member, "content_types");
      if (!is_object(member.value, path)) continue;
      ContentType type{member.key, text(member.value, path, "format").value_or("")};
      if (type.format.empty() && (member.value.find("format") == nullptr || member.value.find_string("format"))) {
        add(Finding::Kind::kRemark, member.value, path,
            "`" + printing::excerpt(path + ".format") + "` is " +
                (member.value.find("format") == nullptr ? "missing" : "empty") + ": parts of that type are left out",
            member.value.find("format") == nullptr ? "Missing required keys: ['" + path + ".format']" : "");
      }
      type.unknown = unknown(member.value, path, kMembers);
      out.content_types.push_back(std::move(type));
    }
  }

  void read_top(const json::Value& top, EdgeTemplate& out) {
    constexpr std::array<std::string_view, 1> kRequired = {"roles"};
    constexpr std::array<std::string_view, 6> kMembers = {
        "model_path",           "roles", "content_types", "generation_prompt", "generation_prompt_thinking",
        "default_system_prompt"};
    if (!is_object(top, "")) return;
    (void)has_all(top, "", kRequired);
    out.model_path = text(top, "", "model_path").value_or("");
    if (const json::Value* roles = top.find("roles")) read_roles(*roles, out);
    if (const json::Value* types = top.find("content_types")) read_content_types(*types, out);
    out.generation_prompt = text(top, "", "generation_prompt").value_or("");
    out.generation_prompt_thinking = text(top, "", "generation_prompt_thinking");
    out.default_system_prompt = text(top, "", "default_system_prompt").value_or("");
    out.unknown = unknown(top, "", kMembers);
  }

  std::string_view text_;
  Validated out_;
};

void append(json::Object& out, const json::Object& more) {
  for (const json::Member& member : more) out.set(member.key, member.value);
}

}  // namespace

const Role* EdgeTemplate::find_role(std::string_view name) const {
  const auto found = std::ranges::find(roles, name, &Role::name);
  return found == roles.end() ? nullptr : &*found;
}

const ContentType* EdgeTemplate::find_content_type(std::string_view name) const {
  const auto found = std::ranges::find(content_types, name, &ContentType::name);
  return found == content_types.end() ? nullptr : &*found;
}

Validated validate(std::string_view text) {
  if (text.size() > kMaxFileBytes) {
    Validated out;
    out.findings.push_back(
        {Finding::Kind::kUnreadable, "",
         "the file has " + std::to_string(text.size()) + " bytes, a template at most " + std::to_string(kMaxFileBytes),
         "", 0, 0});
    return out;
  }
  return Reader(text).read();
}

Result<EdgeTemplate> parse(std::string_view text, const std::string& source) {
  Validated validated = validate(text);
  if (validated.edge_template) return *std::move(validated.edge_template);
  const Finding& first = *std::ranges::find_if(validated.findings, &Finding::is_error);
  const bool is_json = first.kind != Finding::Kind::kUnreadable;
  const ErrorCode unreadable = text.size() > kMaxFileBytes ? ErrorCode::kLimit : ErrorCode::kJson;
  return Error(is_json ? ErrorCode::kInvalidArgument : unreadable, first.sentence, source).at(first.line, first.column);
}

json::Value to_json(const Finding& finding) {
  json::Object out{{"level", finding.is_error() ? "error" : "note"},
                   {"kind", to_string(finding.kind)},
                   {"path", finding.path},
                   {"message", finding.sentence}};
  if (finding.line > 0) {
    out.set("line", finding.line);
    out.set("column", finding.column);
  }
  if (!finding.reference.empty()) out.set("reference", finding.reference);
  return out;
}

Result<std::string> read_file(const std::string& path) { return files::read(path, kMaxFileBytes); }

Result<EdgeTemplate> load(const std::string& path) {
  auto text = read_file(path);
  if (!text.ok()) return text.error();
  return parse(text.value(), path);
}

json::Value to_json(const EdgeTemplate& edge_template) {
  json::Object roles;
  for (const Role& role : edge_template.roles) {
    json::Object value{{"prefix", role.prefix}, {"suffix", role.suffix}};
    append(value, role.unknown);
    roles.set(role.name, std::move(value));
  }
  json::Object types;
  for (const ContentType& type : edge_template.content_types) {
    json::Object value{{"format", type.format}};
    append(value, type.unknown);
    types.set(type.name, std::move(value));
  }
  json::Object out{{"model_path", edge_template.model_path}};
  out.set("roles", std::move(roles));
  out.set("content_types", std::move(types));
  out.set("generation_prompt", edge_template.generation_prompt);
  if (edge_template.generation_prompt_thinking)
    out.set("generation_prompt_thinking", *edge_template.generation_prompt_thinking);
  out.set("default_system_prompt", edge_template.default_system_prompt);
  append(out, edge_template.unknown);
  return out;
}

Status save(const EdgeTemplate& edge_template, const std::string& path) {
  return files::write(path, json::to_pretty(to_json(edge_template)) + "\n");
}

std::string_view to_string(Finding::Kind kind) {
  switch (kind) {
    case Finding::Kind::kUnreadable: return "unreadable";
    case Finding::Kind::kMissing: return "missing";
    case Finding::Kind::kWrongType: return "wrong_type";
    case Finding::Kind::kBadText: return "bad_text";
    case Finding::Kind::kUnknown: return "unknown";
    case Finding::Kind::kRemark: return "remark";
  }
  return "";
}

}  // namespace rondo::edge
