#include "tokenizer/normalizer.h"

#include "base/utf8.h"
#include "unicode/case.h"
#include "unicode/classes.h"

namespace rondo::tokenizer {
namespace {

Error unsupported(const std::string& message) {
  Error error;
  error.code = ErrorCode::kTokenizer;
  error.message = message;
  return error;
}

bool flag(const json::Value& description, std::string_view key, bool otherwise) {
  const json::Value* value = description.find(key);
  return value != nullptr && value->is_bool() ? value->as_bool() : otherwise;
}

std::uint32_t size_of(const Aligned& text) { return static_cast<std::uint32_t>(text.text().size()); }

Aligned run(const Normalizer::Unicode& step, Aligned text) {
  if (unicode::is_normalised(text.text(), step.form)) return text;
  AlignedBuilder out(text);
  std::string bytes;
  for (const unicode::Normalised& unit : unicode::normalise_aligned(text.text(), step.form)) {
    bytes.clear();
    utf8::append(bytes, unit.code_point);
    out.put(bytes, {unit.begin, unit.end});
  }
  return out.finish();
}

Aligned replace_all(const Aligned& text, const std::vector<Range>& matches, const std::string& to) {
  AlignedBuilder out(text);
  std::uint32_t at = 0;
  for (const Range match : matches) {
    out.copy({at, match.begin});
    out.put(to, match);
    at = match.end;
  }
  out.copy({at, size_of(text)});
  return out.finish();
}

Aligned run(const Normalizer::ReplaceText& step, Aligned text) {
  std::vector<Range> matches;
  const std::string_view view = text.text();
  for (std::size_t at = view.find(step.from); at != std::string_view::npos && !step.from.empty();
       at = view.find(step.from, at + step.from.size())) {
    matches.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + step.from.size())});
  }
  return matches.empty() ? std::move(text) : replace_all(text, matches, step.to);
}

Aligned run(const Normalizer::ReplaceRegex& step, Aligned text) {
  std::vector<Range> matches;
  std::string shadow;
  const bool substituted = unicode::substitute_newer(text.text(), shadow);
  step.from.find_all(substituted ? std::string_view(shadow) : text.text(), {0, size_of(text)}, matches);
  return matches.empty() ? std::move(text) : replace_all(text, matches, step.to);
}

Aligned run(const Normalizer::Prepend& step, Aligned text) {
  if (text.text().empty()) return text;
  AlignedBuilder out(text);
  out.put(step.text, {0, 0});
  out.copy({0, size_of(text)});
  return out.finish();
}

Aligned run(const Normalizer::Strip& step, Aligned text) {
  const std::string_view view = text.text();
  std::uint32_t begin = 0;
  std::uint32_t end = size_of(text);
  while (step.left && begin < end) {
    const utf8::Decoded decoded = utf8::decode(view, begin);
    if (!unicode::is_white_space(decoded.code_point)) break;
    begin += decoded.size;
  }
  while (step.right && begin < end) {
    std::uint32_t last = end - 1;
    while (last > begin && utf8::is_continuation(view[last])) --last;
    if (!unicode::is_white_space(utf8::decode(view, last).code_point)) break;
    end = last;
  }
  if (begin == 0 && end == size_of(text)) return text;
  AlignedBuilder out(text);
  out.copy({begin, end});
  return out.finish();
}

Aligned run(const Normalizer::Lowercase&, const Aligned& text) {
  AlignedBuilder out(text);
  const std::string_view view = text.text();
  std::string lower;
  for (std::uint32_t at = 0; at < view.size();) {
    const utf8::Decoded decoded = utf8::decode(view, at);
    const std::uint32_t end = at + decoded.size;
    const unicode::CaseImage image = unicode::to_lower(decoded.code_point);
    lower.clear();
    for (std::size_t i = 0; i < image.count; ++i) utf8::append(lower, image.code_points[i]);
    out.put(lower, {at, end});
    at = end;
  }
  return out.finish();
}

Aligned run(const Normalizer::StripAccents&, const Aligned& text) {
  AlignedBuilder out(text);
  const std::string_view view = text.text();
  for (std::uint32_t at = 0; at < view.size();) {
    const utf8::Decoded decoded = utf8::decode(view, at);
    const std::uint32_t end = at + decoded.size;
    if (!unicode::is_mark(decoded.code_point)) out.copy({at, end});
    at = end;
  }
  return out.finish();
}

Status add_replace(const json::Value& description, Normalizer& to) {
  const json::Value* pattern = description.find("pattern");
  const auto content = description.find_string("content");
  if (pattern == nullptr || !content) return unsupported("the normalizer `Replace` lacks a pattern or a content");
  if (const auto text = pattern->find_string("String")) {
    to.add(Normalizer::ReplaceText{std::string(*text), std::string(*content)});
    return Done{};
  }
  const auto source = pattern->find_string("Regex");
  if (!source) return unsupported("the pattern of the normalizer `Replace` is of an unknown kind");
  Result<Regex> regex = Regex::compile(*source);
  if (!regex.ok()) return regex.error();
  to.add(Normalizer::ReplaceRegex{std::move(regex).value(), std::string(*content)});
  return Done{};
}

Status add_steps(const json::Value& description, int depth, Normalizer& to) {
  const auto type = description.find_string("type");
  if (!type || depth > 32) return unsupported("a normalizer has no type");
  if (*type == "Sequence") {
    const json::Value* members = description.find("normalizers");
    if (members == nullptr || !members->is_array()) return unsupported("the normalizer `Sequence` has no list");
    for (const json::Value& member : members->as_array()) {
      if (Status status = add_steps(member, depth + 1, to); !status.ok()) return status;
    }
    return Done{};
  }
  if (*type == "NFC")
    to.add(Normalizer::Unicode{unicode::Form::kNfc});
  else if (*type == "NFD")
    to.add(Normalizer::Unicode{unicode::Form::kNfd});
  else if (*type == "NFKC")
    to.add(Normalizer::Unicode{unicode::Form::kNfkc});
  else if (*type == "NFKD")
    to.add(Normalizer::Unicode{unicode::Form::kNfkd});
  else if (*type == "Lowercase")
    to.add(Normalizer::Lowercase{});
  else if (*type == "StripAccents")
    to.add(Normalizer::StripAccents{});
  else if (*type == "Replace")
    return add_replace(description, to);
  else if (*type == "Prepend")
    to.add(Normalizer::Prepend{std::string(description.find_string("prepend").value_or(""))});
  else if (*type == "Strip")
    to.add(Normalizer::Strip{flag(description, "strip_left", true), flag(description, "strip_right", true)});
  else
    return unsupported("the normalizer `" + std::string(*type) + "` is not supported");
  return Done{};
}

}  // namespace

Result<Normalizer> Normalizer::from_json(const json::Value* description) {
  Normalizer made;
  if (description == nullptr || description->is_null()) return made;
  if (Status status = add_steps(*description, 0, made); !status.ok()) return status.error();
  return made;
}

Aligned Normalizer::apply(Aligned text) const {
  for (const Step& step : steps_) {
    text = std::visit([&text](const auto& kind) { return run(kind, std::move(text)); }, step);
  }
  return text;
}

std::string Normalizer::apply(std::string_view text) const { return std::string(apply(Aligned(text, 0)).text()); }

}  // namespace rondo::tokenizer
