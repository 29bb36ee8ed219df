#include "text/text.h"

#include <algorithm>
#include <cassert>
#include <utility>
#include <vector>

#include "base/hex.h"
#include "text/dumps.h"

namespace rondo::text {
namespace {

std::string describe_context(const Context& context, const Origins& origins) {
  std::string out;
  if (context.message != kNoMessage) out += " message " + std::to_string(context.message);
  if (context.guard != kNoMessage) out += " guard " + std::to_string(context.guard);
  if (context.element != PathId::kNone) out += " in " + origins.paths.to_string(context.element);
  if (context.generation_prompt) out += " generation-prompt";
  if (context.generation_block) out += " generation-block";
  return out;
}

}  // namespace

Text Text::literal(std::string_view bytes, LiteralId id, std::uint32_t offset, ContextId context) {
  Text out;
  Run run;
  run.kind = RunKind::kLiteral;
  run.origin = static_cast<std::uint32_t>(id);
  run.source_offset = offset;
  run.context = context;
  out.append(bytes, run);
  return out;
}

Text Text::data(std::string_view bytes, PathId path, ContextId context) {
  Text out;
  Run run;
  run.kind = RunKind::kData;
  run.origin = static_cast<std::uint32_t>(path);
  run.context = context;
  out.append(bytes, run);
  return out;
}

Text Text::made(RunKind kind, std::string_view bytes, PathId path, ContextId context, ChainId chain) {
  assert(!has_source(kind));
  Text out;
  Run run;
  run.kind = kind;
  run.origin = static_cast<std::uint32_t>(path);
  run.context = context;
  run.chain = chain;
  out.append(bytes, run);
  return out;
}

void Text::append(const Text& other) {
  // Appending to itself would read runs while it adds to them.
  if (&other == this) {
    Text doubled = other;
    doubled.append(other);
    *this = std::move(doubled);
    return;
  }
  bytes_.append(other.bytes_);
  if (runs_.empty()) {
    runs_ = other.runs_;
    return;
  }
  for (const Run& run : other.runs()) append_run(run);
}

void Text::append(const Text& other, std::size_t begin, std::size_t end) {
  assert(begin <= end && end <= other.size() && &other != this);
  bytes_.append(other.bytes_, begin, end - begin);
  std::size_t at = 0;
  for (const Run& run : other.runs()) {
    if (at >= end) break;
    const std::size_t first = at < begin ? begin - at : 0;
    const std::size_t last = at + run.size > end ? end - at : run.size;
    at += run.size;
    if (first >= last) continue;
    // Half a dump cannot be read again, so callers take dumps apart before they cut.
    assert(run.kind != RunKind::kDump || last - first == run.size);
    Run part = run;
    part.size = static_cast<std::uint32_t>(last - first);
    // Copied bytes correspond one to one to their source.  Made ones come from the whole source.
    if (has_source(run.kind)) {
      part.source_offset += static_cast<std::uint32_t>(first);
      part.source_size = part.size;
    }
    append_run(part);
  }
}

void Text::reserve(std::size_t bytes, std::size_t runs) {
  bytes_.reserve(bytes);
  if (runs > runs_.size()) runs_.make_room(runs - runs_.size());
}

Text Text::slice(std::size_t begin, std::size_t end) const {
  Text out;
  out.append(*this, begin, end);
  return out;
}

void Text::map_runs(const std::function<void(Run&)>& change) {
  for (Run& run : runs_.all()) {
    [[maybe_unused]] const std::uint32_t size = run.size;
    change(run);
    assert(run.size == size);
  }
}

bool Text::has_dumps() const {
  return std::ranges::any_of(runs(), [](const Run& run) { return run.kind == RunKind::kDump; });
}

void Text::take_dumps_apart(PathTable& paths) {
  if (!has_dumps()) return;
  const std::vector<Run> parts = parts_of(bytes_, runs(), paths);
  // Built anew, because append_run() may join a part with the run before it.
  RunList whole;
  whole.make_room(parts.size());
  std::swap(whole, runs_);
  for (const Run& part : parts) append_run(part);
}

std::string_view to_string(RunKind kind) {
  switch (kind) {
    case RunKind::kLiteral: return "literal";
    case RunKind::kData: return "data";
    case RunKind::kEscaped: return "escaped";
    case RunKind::kScalar: return "scalar";
    case RunKind::kSerialiser: return "serialiser";
    case RunKind::kComputed: return "computed";
    case RunKind::kDump: return "dump";
  }
  return "unknown";
}

std::string quoted(std::string_view bytes) {
  std::string out = "\"";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (byte < 0x20 || byte == 0x7F) {
      out += "\\x";
      hex::append(out, byte, 2);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string Text::to_string(const Origins& origins) const {
  std::string out;
  std::size_t at = 0;
  for (const Run& run : runs()) {
    out += "[" + std::to_string(at) + "," + std::to_string(at + run.size) + ") ";
    out += text::to_string(run.kind);
    if (run.kind == RunKind::kLiteral) {
      const Literal& literal = origins.literals[run.origin];
      out += " " + std::to_string(literal.line) + ":" + std::to_string(literal.column);
    } else if (run.path() != PathId::kNone) {
      out += " " + origins.paths.to_string(run.path());
    }
    if (run.kind == RunKind::kData || run.kind == RunKind::kEscaped) {
      out += "[" + std::to_string(run.source_offset) + "," + std::to_string(run.source_offset + run.source_size) + ")";
    }
    out += " " + quoted(std::string_view(bytes_).substr(at, run.size));
    out += describe_context(origins.contexts.at(run.context), origins);
    if (run.chain != ChainId::kNone) out += " via " + origins.chains.to_string(run.chain);
    out += '\n';
    at += run.size;
  }
  return out;
}

std::optional<std::string> Text::verify(const Origins& origins) const {
  std::size_t at = 0;
  for (const Run& run : runs()) {
    const std::string where = "run at byte " + std::to_string(at) + ": ";
    if (run.size == 0) return where + "is empty";
    const bool exists =
        run.kind == RunKind::kLiteral ? run.origin < origins.literals.size() : origins.paths.contains(run.path());
    if (!exists) return where + "origin id " + std::to_string(run.origin) + " does not exist";
    if (static_cast<std::size_t>(run.context) >= origins.contexts.size()) return where + "context id does not exist";
    if (static_cast<std::size_t>(run.chain) >= origins.chains.size()) return where + "chain id does not exist";
    if (has_source(run.kind) && run.source_size != run.size)
      return where + "copied bytes differ in number from their source";
    at += run.size;
  }
  if (at != bytes_.size())
    return "runs cover " + std::to_string(at) + " of " + std::to_string(bytes_.size()) + " bytes";
  return std::nullopt;
}

}  // namespace rondo::text
