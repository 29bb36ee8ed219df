#include "tokenizer/decoder.h"

#include <optional>

#include "base/utf8.h"
#include "tokenizer/byte_level.h"
#include "unicode/classes.h"

namespace rondo::tokenizer {
namespace {

std::optional<char> fallback_byte(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return std::nullopt;
  unsigned value = 0;
  for (const char c : token.substr(3, 2)) {
    unsigned digit = 0;
    if (c >= '0' && c <= '9')
      digit = static_cast<unsigned>(c - '0');
    else if (c >= 'A' && c <= 'F')
      digit = static_cast<unsigned>(c - 'A' + 10);
    else if (c >= 'a' && c <= 'f')
      digit = static_cast<unsigned>(c - 'a' + 10);
    else
      return std::nullopt;
    value = value * 16 + digit;
  }
  return static_cast<char>(value);
}

std::string replaced(std::string_view text, const std::string& from, std::string_view to) {
  std::string out;
  std::size_t at = 0;
  while (!from.empty()) {
    const std::size_t found = text.find(from, at);
    if (found == std::string_view::npos) break;
    out.append(text.substr(at, found - at)).append(to);
    at = found + from.size();
  }
  return out.append(text.substr(at));
}

std::string replaced(std::string_view text, const Decoder::ReplaceRegex& step) {
  const std::string valid = utf8::to_valid(text);
  std::string shadow;
  const bool substituted = unicode::substitute_newer(valid, shadow);
  std::vector<Range> matches;
  step.from->find_all(substituted ? shadow : valid, {0, static_cast<std::uint32_t>(valid.size())}, matches);
  std::string out;
  std::size_t at = 0;
  for (const Range match : matches) {
    out.append(valid, at, match.begin - at).append(step.to);
    at = match.end;
  }
  return out.append(valid, at);
}

// A token of the byte-level alphabet; others stand for their own bytes.
std::string spelled_bytes(std::string_view token) {
  auto bytes = byte_level::to_bytes(token);
  return bytes ? std::move(*bytes) : std::string(token);
}

Error unsupported(const std::string& message) {
  Error error;
  error.code = ErrorCode::kTokenizer;
  error.message = message;
  return error;
}

std::size_t number(const json::Value& description, std::string_view key) {
  const json::Value* value = description.find(key);
  const auto found = value == nullptr ? std::nullopt : value->to_int64();
  return found && *found > 0 ? static_cast<std::size_t>(*found) : 0;
}

Status add_replace(const json::Value& description, Decoder& to) {
  const json::Value* pattern = description.find("pattern");
  const auto content = description.find_string("content");
  if (pattern == nullptr || !content) return unsupported("the decoder `Replace` lacks a pattern or a content");
  if (const auto text = pattern->find_string("String")) {
    to.add(Decoder::Replace{std::string(*text), std::string(*content)});
    return Done{};
  }
  const auto source = pattern->find_string("Regex");
  if (!source) return unsupported("the pattern of the decoder `Replace` is of an unknown kind");
  Result<Regex> regex = Regex::compile(*source);
  if (!regex.ok()) return regex.error();
  to.add(Decoder::ReplaceRegex{std::make_shared<const Regex>(std::move(regex).value()), std::string(*content)});
  return Done{};
}

Status add_metaspace(const json::Value& description, Decoder& to) {
  Decoder::Metaspace step;
  step.replacement = std::string(description.find_string("replacement").value_or("\u2581"));
  if (const auto scheme = description.find_string("prepend_scheme")) {
    step.drop_first = *scheme != "never";
  } else if (const json::Value* prefix = description.find("add_prefix_space"); prefix != nullptr && prefix->is_bool()) {
    step.drop_first = prefix->as_bool();
  }
  to.add(std::move(step));
  return Done{};
}

Status add_steps(const json::Value& description, int depth, Decoder& to) {
  const auto type = description.find_string("type");
  if (!type || depth > 32) return unsupported("a decoder has no type");
  if (*type == "Sequence") {
    const json::Value* members = description.find("decoders");
    if (members == nullptr || !members->is_array()) return unsupported("the decoder `Sequence` has no list");
    for (const json::Value& member : members->as_array()) {
      if (Status status = add_steps(member, depth + 1, to); !status.ok()) return status;
    }
    return Done{};
  }
  if (*type == "Replace") return add_replace(description, to);
  if (*type == "Metaspace") return add_metaspace(description, to);
  if (*type == "ByteLevel")
    to.add(Decoder::Bytes{});
  else if (*type == "ByteFallback")
    to.add(Decoder::ByteFallback{});
  else if (*type == "Fuse")
    to.add(Decoder::Fuse{});
  else if (*type == "Strip")
    to.add(Decoder::Strip{std::string(description.find_string("content").value_or(" ")), number(description, "start"),
                          number(description, "stop")});
  else
    return unsupported("the decoder `" + std::string(*type) + "` is not supported");
  return Done{};
}

}  // namespace

Result<Decoder> Decoder::from_json(const json::Value* description) {
  Decoder made;
  if (description == nullptr || description->is_null()) {
    made.add(Join{});
    return made;
  }
  if (Status status = add_steps(*description, 0, made); !status.ok()) return status.error();
  return made;
}

std::string Decoder::inner_bytes(std::string_view text) const {
  std::string bytes(text);
  for (const Step& step : steps_) {
    if (std::holds_alternative<Bytes>(step)) {
      bytes = spelled_bytes(bytes);
    } else if (std::holds_alternative<ByteFallback>(step)) {
      if (const auto byte = fallback_byte(bytes)) return std::string(1, *byte);
    } else if (const auto* replace = std::get_if<Replace>(&step)) {
      bytes = replaced(bytes, replace->from, replace->to);
    } else if (const auto* regex = std::get_if<ReplaceRegex>(&step)) {
      bytes = replaced(bytes, *regex);
    } else if (const auto* space = std::get_if<Metaspace>(&step)) {
      bytes = replaced(bytes, space->replacement, " ");
    } else if (std::holds_alternative<Fuse>(step)) {
      break;  // what follows concerns the whole text
    }
  }
  return bytes;
}

Decoder::Run::Run(const Decoder& decoder) : decoder_(decoder), states_(decoder.steps_.size()) {
  bool fused = false;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    states_[i].fused = fused;
    fused =
        fused || std::holds_alternative<Fuse>(decoder.steps_[i]) || std::holds_alternative<Bytes>(decoder.steps_[i]);
  }
}

// Byte tokens count only together: their text if that is well-formed, else U+FFFD for each.
void Decoder::Run::flush_bytes(std::size_t step, std::string& out) {
  std::string held;
  held.swap(states_[step].held);
  if (held.empty()) return;
  if (utf8::is_valid(held)) return feed(step + 1, std::move(held), out);
  for (std::size_t i = 0; i < held.size(); ++i) {
    std::string bad;
    utf8::append(bad, utf8::kReplacement);
    feed(step + 1, std::move(bad), out);
  }
}

// Passes on what later bytes cannot change any more.
void Decoder::Run::release_bytes(std::size_t step, std::string& out) {
  std::string& held = states_[step].held;
  const std::size_t complete = utf8::complete_prefix(held);
  if (complete == 0) return;
  const std::string_view ready = std::string_view(held).substr(0, complete);
  feed(step + 1, utf8::is_valid(ready) ? std::string(ready) : utf8::to_valid(ready), out);
  held.erase(0, complete);
}

void Decoder::Run::strip(std::size_t step, const Strip& options, std::string text, std::string& out) {
  StepState& state = states_[step];
  if (options.content.empty()) return feed(step + 1, std::move(text), out);
  std::string_view rest = text;
  std::size_t stripped = state.fused ? state.count : 0;
  for (; stripped < options.start && rest.starts_with(options.content); ++stripped)
    rest.remove_prefix(options.content.size());
  if (state.fused) state.count = rest.empty() ? stripped : options.start;
  std::string kept = state.held + std::string(rest);
  state.held.clear();
  std::size_t end = kept.size();
  for (std::size_t i = 0; i < options.stop && std::string_view(kept).substr(0, end).ends_with(options.content); ++i) {
    end -= options.content.size();
  }
  // At the end of the whole text these are stripped; before that they may still turn out to be inside.
  if (state.fused) state.held = kept.substr(end);
  kept.resize(end);
  feed(step + 1, std::move(kept), out);
}

void Decoder::Run::feed(std::size_t step, std::string text, std::string& out) {
  if (step == states_.size()) {
    out += text;
    return;
  }
  StepState& state = states_[step];
  const Step& kind = decoder_.steps_[step];
  if (std::holds_alternative<Bytes>(kind)) {
    state.held += spelled_bytes(text);
    release_bytes(step, out);
  } else if (std::holds_alternative<ByteFallback>(kind)) {
    if (const auto byte = fallback_byte(text)) {
      state.held.push_back(*byte);
      return;
    }
    flush_bytes(step, out);
    feed(step + 1, std::move(text), out);
  } else if (std::holds_alternative<Fuse>(kind)) {
    feed(step + 1, std::move(text), out);
  } else if (std::holds_alternative<Join>(kind)) {
    feed(step + 1, state.count++ == 0 ? std::move(text) : " " + text, out);
  } else if (const auto* space = std::get_if<Metaspace>(&kind)) {
    const bool first = state.count++ == 0 && space->drop_first;
    feed(step + 1, replaced(text, space->replacement, first ? "" : " "), out);
  } else if (const auto* options = std::get_if<Strip>(&kind)) {
    strip(step, *options, std::move(text), out);
  } else if (state.fused) {
    state.held += text;  // a replacement in the whole text needs all of it
  } else if (const auto* replace = std::get_if<Replace>(&kind)) {
    feed(step + 1, replaced(text, replace->from, replace->to), out);
  } else {
    feed(step + 1, replaced(text, std::get<ReplaceRegex>(kind)), out);
  }
}

void Decoder::Run::flush(std::size_t step, std::string& out) {
  const Step& kind = decoder_.steps_[step];
  StepState& state = states_[step];
  if (std::holds_alternative<ByteFallback>(kind)) return flush_bytes(step, out);
  std::string held;
  held.swap(state.held);
  if (held.empty() || std::holds_alternative<Strip>(kind)) return;
  if (std::holds_alternative<Bytes>(kind)) {
    feed(step + 1, utf8::to_valid(held), out);
  } else if (const auto* replace = std::get_if<Replace>(&kind)) {
    feed(step + 1, replaced(held, replace->from, replace->to), out);
  } else if (const auto* regex = std::get_if<ReplaceRegex>(&kind)) {
    feed(step + 1, replaced(held, *regex), out);
  }
}

std::string Decoder::Run::push(std::string_view token) {
  std::string out;
  feed(0, std::string(token), out);
  return out;
}

std::string Decoder::Run::push_bytes(std::string_view bytes) {
  std::string out;
  states_[0].held += bytes;
  release_bytes(0, out);
  return out;
}

std::string Decoder::Run::finish() {
  std::string out;
  for (std::size_t step = 0; step < states_.size(); ++step) flush(step, out);
  return out;
}

}  // namespace rondo::tokenizer
