#include "text/dumps.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "base/hex.h"

namespace rondo::text {
namespace {

// What may follow a number, true, false, null, NaN or Infinity.
bool ends_scalar(char c) { return c == ',' || c == ']' || c == '}' || c == ' ' || c == '\n' || c == '\t' || c == ':'; }

// The size of the escape at the beginning of `text`, which stands for one character.
std::size_t escape_size(std::string_view text) {
  const std::size_t size = text.size() > 1 && text[1] == 'u' ? 6 : 2;
  return std::min(size, text.size());
}

char unescaped(std::string_view escape) {
  constexpr std::string_view kLetters = "nrtbf";
  constexpr std::string_view kBytes = "\n\r\t\b\f";
  if (escape.size() < 2) return '\\';
  if (const std::size_t at = kLetters.find(escape[1]); at != std::string_view::npos) return kBytes[at];
  if (escape[1] != 'u') return escape[1];
  unsigned value = 0;
  for (const char c : escape.substr(2)) { value = value * 16 + hex::digit(c).value_or(0); }
  return static_cast<char>(value);
}

}  // namespace

// Writes the runs.
class DumpReader::Writer {
 public:
  Writer(std::string_view bytes, const Run& dump, std::vector<Run>& out) : bytes_(bytes), dump_(dump), out_(out) {}

  // All text up to `end` is structure of the value at `path`.
  void structure(std::size_t end, PathId path) {
    if (end == at_) return;
    if (path == structure_) {
      out_.back().size += static_cast<std::uint32_t>(end - at_);
    } else {
      add(RunKind::kSerialiser, path, end);
      structure_ = path;
    }
    at_ = end;
  }
  void scalar(std::size_t end, PathId path) {
    add(RunKind::kScalar, path, end);
    at_ = end;
    structure_ = kNoStructure;
  }
  // The inside of a string, up to `end`.
  void string(std::size_t end, PathId path, bool has_escapes) {
    if (at_ == end) return;
    std::uint32_t offset = 0;
    while (at_ < end) {
      const std::size_t escape = has_escapes ? std::min(bytes_.find('\\', at_), end) : end;
      if (escape != at_) {
        Run& run = add(RunKind::kData, path, escape);
        run.source_offset = offset;
        run.source_size = run.size;
        offset += run.size;
        at_ = escape;
      }
      if (at_ == end) break;
      const std::size_t behind = at_ + escape_size(bytes_.substr(at_, end - at_));
      Run& run = add(RunKind::kEscaped, path, behind);
      run.source_offset = offset++;
      run.source_size = 1;
      at_ = behind;
    }
    structure_ = kNoStructure;
  }

 private:
  static constexpr auto kNoStructure = static_cast<PathId>(~0U);

  Run& add(RunKind kind, PathId path, std::size_t end) {
    Run& run = out_.emplace_back();
    run.size = static_cast<std::uint32_t>(end - at_);
    run.origin = static_cast<std::uint32_t>(path);
    run.context = dump_.context;
    run.chain = dump_.chain;
    run.kind = kind;
    run.expression = dump_.expression;
    return run;
  }

  std::string_view bytes_;
  const Run& dump_;
  std::vector<Run>& out_;
  std::size_t at_ = 0;
  PathId structure_ = kNoStructure;  // the last run is structure of this path
};

DumpReader::Token DumpReader::string_at(std::string_view bytes, std::size_t at) {
  Token out;
  out.begin = static_cast<std::uint32_t>(at);
  out.kind = Kind::kString;
  for (++at; at < bytes.size() && bytes[at] != '"'; ++at) {
    if (bytes[at] != '\\') continue;
    out.has_escapes = true;
    ++at;
  }
  out.end = static_cast<std::uint32_t>(std::min(at + 1, bytes.size()));
  return out;
}

void DumpReader::close(std::size_t end) {
  if (containers_.empty()) return;
  Token& container = tokens_[containers_.back()];
  container.end = static_cast<std::uint32_t>(end);
  container.behind = static_cast<std::uint32_t>(tokens_.size());
  containers_.pop_back();
}

DumpReader::Token DumpReader::token_at(std::string_view bytes, std::size_t at, bool is_key) {
  const char c = bytes[at];
  Token token;
  if (c == '"') {
    token = string_at(bytes, at);
    if (is_key) token.kind = Kind::kKey;
    return token;
  }
  token.begin = static_cast<std::uint32_t>(at);
  std::size_t end = at + 1;
  if (c == '{' || c == '[') {
    token.kind = c == '{' ? Kind::kObject : Kind::kArray;
  } else {
    while (end < bytes.size() && !ends_scalar(bytes[end])) ++end;
  }
  token.end = static_cast<std::uint32_t>(end);
  return token;
}

void DumpReader::add(Token token) {
  if (token.kind != Kind::kKey && !containers_.empty()) ++tokens_[containers_.back()].count;
  token.behind = static_cast<std::uint32_t>(tokens_.size() + 1);
  if (token.kind == Kind::kObject || token.kind == Kind::kArray)
    containers_.push_back(static_cast<std::uint32_t>(tokens_.size()));
  tokens_.push_back(token);
}

void DumpReader::scan(std::string_view bytes) {
  tokens_.clear();
  containers_.clear();
  bool is_key_next = false;
  for (std::size_t at = 0; at < bytes.size();) {
    const char c = bytes[at];
    if (c == '}' || c == ']') {
      close(++at);
      is_key_next = false;
      continue;
    }
    if (ends_scalar(c)) {
      if (c == ',') is_key_next = !containers_.empty() && tokens_[containers_.back()].kind == Kind::kObject;
      ++at;
      continue;
    }
    const Token token = token_at(bytes, at, is_key_next);
    at = token.end;
    is_key_next = c == '{';
    add(token);
  }
  while (!containers_.empty()) close(bytes.size());
}

std::string_view DumpReader::key(const Token& token, std::string_view bytes) {
  const std::string_view written = bytes.substr(token.begin + 1, token.end - token.begin - 2);
  if (!token.has_escapes) return written;
  std::string& out = unescaped_.emplace_back();
  for (std::size_t at = 0; at < written.size();) {
    const std::size_t size = written[at] == '\\' ? escape_size(written.substr(at)) : 1;
    out += size == 1 ? written[at] : unescaped(written.substr(at, size));
    at += size;
  }
  return out;
}

DumpReader::Open DumpReader::open(std::uint32_t token, PathId path, std::string_view bytes, PathTable& paths) {
  const Token& container = tokens_[token];
  Open out{token, path, PathId::kNone, 0};
  if (container.kind == Kind::kArray) {
    out.first = paths.indices(path, container.count);
    return out;
  }
  names_.clear();
  for (std::uint32_t key_token = token + 1; key_token < container.behind;) {
    names_.push_back(key(tokens_[key_token], bytes));
    key_token = tokens_[key_token + 1].behind;
  }
  out.first = paths.members(path, names_.size(), [&](std::size_t i) { return names_[i]; });
  return out;
}

PathId DumpReader::part_path(Open& around, const Token& token, std::string_view bytes, PathTable& paths) {
  const std::uint32_t index = around.next++;
  const auto part = static_cast<PathId>(static_cast<std::uint32_t>(around.first) + index);
  if (around.first != PathId::kNone) return part;
  return token.kind == Kind::kKey ? paths.member(around.path, key(token, bytes)) : paths.index(around.path, index);
}

void DumpReader::read(std::string_view bytes, const Run& dump, PathTable& paths, std::vector<Run>& out) {
  assert(dump.kind == RunKind::kDump && dump.size == bytes.size());
  scan(bytes);
  unescaped_.clear();
  open_.clear();
  Writer writer(bytes, dump, out);
  PathId path = dump.path();  // of the next value
  for (std::uint32_t i = 0; i < tokens_.size(); ++i) {
    const Token& token = tokens_[i];
    if (!open_.empty()) writer.structure(token.begin, open_.back().path);
    const bool is_value_of_key = i != 0 && tokens_[i - 1].kind == Kind::kKey;
    if (!open_.empty() && !is_value_of_key) path = part_path(open_.back(), token, bytes, paths);
    switch (token.kind) {
      case Kind::kKey: {
        const Open& around = open_.back();
        const bool is_enumerated = around.first != PathId::kNone;
        writer.structure(token.begin + 1, around.path);
        writer.string(token.end - 1,
                      is_enumerated ? paths.key_of_member(path) : paths.key_of(around.path, key(token, bytes)),
                      token.has_escapes);
        writer.structure(token.end, around.path);
        break;
      }
      case Kind::kString:
        writer.structure(token.begin + 1, path);
        writer.string(token.end - 1, path, token.has_escapes);
        writer.structure(token.end, path);
        break;
      case Kind::kScalar: writer.scalar(token.end, path); break;
      case Kind::kObject:
      case Kind::kArray:
        writer.structure(token.begin + 1, path);
        open_.push_back(open(i, path, bytes, paths));
        break;
    }
    while (!open_.empty() && tokens_[open_.back().token].behind == i + 1) {
      writer.structure(tokens_[open_.back().token].end, open_.back().path);
      open_.pop_back();
    }
  }
}

std::size_t count_parts(std::span<const Run> runs) {
  std::size_t count = 0;
  for (const Run& run : runs) count += run.kind == RunKind::kDump ? run.source_size : 1;
  return count;
}

std::vector<Run> parts_of(std::string_view bytes, std::span<const Run> runs, PathTable& paths) {
  std::vector<Run> parts;
  parts.reserve(count_parts(runs));
  DumpReader reader;
  std::size_t at = 0;
  for (const Run& run : runs) {
    if (run.kind == RunKind::kDump) {
      reader.read(bytes.substr(at, run.size), run, paths, parts);
    } else {
      parts.push_back(run);
    }
    at += run.size;
  }
  return parts;
}

}  // namespace rondo::text
