#include "core/places.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "template/chat_template.h"

namespace rondo::core {
namespace {

std::string in_message(std::size_t message, std::string_view field) {
  return "messages[" + std::to_string(message) + "]." + std::string(field);
}

}  // namespace

TemplateLines::TemplateLines(const jinja::Template& chat_template) : source_(chat_template.source()) {
  begins_.push_back(0);
  for (std::size_t i = 0; i < source_.size(); ++i) {
    if (source_[i] == '\n') begins_.push_back(i + 1);
  }
}

std::string_view TemplateLines::line(std::size_t line) const {
  const std::size_t begin = begins_[line - 1];
  const std::size_t end = line < begins_.size() ? begins_[line] - 1 : source_.size();
  return source_.substr(begin, end - begin);
}

std::size_t TemplateLines::offset_of(const text::Literal& at) const {
  const auto line = static_cast<std::size_t>(std::max(at.line, 1));
  if (line > begins_.size()) return source_.size();
  return std::min(begins_[line - 1] + static_cast<std::size_t>(std::max(at.column, 1) - 1), source_.size());
}

TemplatePlace TemplateLines::place(const text::Literal& at) const {
  const auto number = static_cast<std::size_t>(std::max(at.line, 0));
  if (number == 0 || number > begins_.size()) return {at.line, at.column};
  const std::size_t bytes = offset_of(at) - begins_[number - 1];
  return {at.line, static_cast<std::int64_t>(utf8::length(source_.substr(begins_[number - 1], bytes))) + 1};
}

bool TemplateLines::is_text(const text::Literal& literal, std::string_view bytes) const {
  return literal.line > 0 && source_.substr(offset_of(literal), bytes.size()) == bytes;
}

TemplatePlace TemplateLines::place(const text::Literal& literal, std::string_view bytes, std::size_t offset) const {
  if (offset == 0 || !is_text(literal, bytes.substr(0, offset))) return place(literal);
  const std::string_view before = bytes.substr(0, offset);
  const std::size_t newline = before.rfind('\n');
  text::Literal moved = literal;
  moved.line += static_cast<std::int32_t>(std::count(before.begin(), before.end(), '\n'));
  moved.column = newline == std::string_view::npos ? literal.column + static_cast<std::int32_t>(offset)
                                                   : static_cast<std::int32_t>(offset - newline);
  return place(moved);
}

std::string_view TemplateLines::condition_line(const text::Literal& at) const {
  std::size_t begin = offset_of(at);
  while (begin > 0) {
    const std::size_t before = source_.find_last_not_of(" \t", begin - 1);
    if (before == std::string_view::npos || source_[before] != '(') break;
    begin = before;
  }
  return source_.substr(begin, source_.find('\n', begin) - begin);
}

std::string_view OriginNamer::literal_bytes(const text::Run& run) const {
  const auto index = static_cast<std::size_t>(run.literal());
  return index < literal_texts_.size() ? std::string_view(literal_texts_[index]) : std::string_view();
}

std::int32_t OriginNamer::message(std::int32_t index) const {
  if (index < 0) return index;
  return static_cast<std::int32_t>(tmpl::sent_index(shaping_, static_cast<std::size_t>(index)));
}

OriginNamer::Sent OriginNamer::sent(text::PathId path) const {
  Sent out{.path = aliased(path)};
  const std::int32_t index = origins_.paths.message(path);
  const std::size_t begin = out.path.find('.');
  if (index < 0 || shaping_.changes.empty() || begin == std::string::npos) return out;
  const auto message = static_cast<std::size_t>(this->message(index));
  const std::string below = out.path.substr(begin + 1);
  out.is_reshaped = tmpl::change_at(shaping_, message, below) != nullptr;
  out.path = in_message(message, tmpl::sent_path(shaping_, message, below));
  return out;
}

const tmpl::MessageChange* OriginNamer::front_of(const text::Run& run) const {
  const text::PathTable& paths = origins_.paths;
  const std::int32_t index = paths.message(run.path());
  constexpr std::size_t kFieldDepth = 3;  // messages, [i], field
  if (index < 0 || shaping_.changes.empty() || paths.depth(run.path()) != kFieldDepth ||
      paths.step_kind(run.path()) != text::PathTable::StepKind::kMember || paths.step_name(run.path()) != "content") {
    return nullptr;
  }
  return tmpl::front_of_content(shaping_, static_cast<std::size_t>(message(index)));
}

std::vector<text::Run> OriginNamer::runs() const {
  std::vector<text::Run> out;
  out.reserve(text_.runs().size());
  for (const text::Run& run : text_.runs()) add_pieces(run, out);
  return out;
}

std::optional<text::Run> OriginNamer::run_at(std::size_t byte) const {
  const auto all = text_.runs();
  if (all.empty()) return std::nullopt;
  std::size_t begin = 0;
  auto run = all.begin();
  for (; run + 1 != all.end() && byte >= begin + run->size; ++run) begin += run->size;
  std::vector<text::Run> pieces;
  add_pieces(*run, pieces);
  auto piece = pieces.begin();
  for (; piece + 1 != pieces.end() && byte >= begin + piece->size; ++piece) begin += piece->size;
  return *piece;
}

void OriginNamer::add_pieces(text::Run run, std::vector<text::Run>& out) const {
  const tmpl::MessageChange* change = run.kind == text::RunKind::kData ? front_of(run) : nullptr;
  if (change != nullptr) {
    const tmpl::ContentFront& front = *change->front;
    for (const std::size_t end : {front.open, front.open + front.text, front.open + front.text + front.close}) {
      if (end <= run.source_offset || end >= run.source_offset + std::size_t{run.size}) continue;
      text::Run piece = run;
      piece.size = piece.source_size = static_cast<std::uint32_t>(end - run.source_offset);
      out.push_back(piece);
      run.source_offset += piece.size;
      run.size -= piece.size;
      run.source_size = run.size;
    }
  }
  out.push_back(run);
}

OriginNamer::Sent OriginNamer::sent(const text::Run& run) const {
  Sent out = sent(run.path());
  const tmpl::MessageChange* change = front_of(run);
  if (change == nullptr) return out;
  const tmpl::ContentFront& front = *change->front;
  const std::size_t text_end = front.open + front.text;
  const std::size_t begin = run.source_offset;
  const std::size_t end = begin + run.source_size;
  if (begin >= text_end + front.close) {
    out.shift = text_end + front.close;
  } else if (begin >= front.open && end <= text_end) {
    out.shift = front.open;
    out.path = in_message(change->message, change->sent);
  } else {
    out.is_reshaped = true;  // a mark, or text that was escaped together with one
    if (end <= text_end + front.close) out.path = in_message(change->message, change->sent);
  }
  return out;
}

// Reasoning may reach the template under another name than the client used.
std::string OriginNamer::aliased(text::PathId path) const {
  const text::PathTable& paths = origins_.paths;
  std::string name = paths.to_string(path);
  constexpr std::size_t kFieldDepth = 3;  // messages, [i], field
  const text::PathId field = paths.prefix(path, kFieldDepth);
  const auto message = static_cast<std::size_t>(paths.message(path));
  if (paths.depth(field) != kFieldDepth || paths.step_kind(field) != text::PathTable::StepKind::kMember ||
      message >= messages_.size()) {
    return name;
  }
  const std::string_view alias = paths.step_name(field);
  const json::Value* own = messages_[message].find(alias);
  const std::string_view sent = tmpl::reasoning_field(messages_[message]);
  const bool is_sent = own != nullptr && !own->is_null();
  if (is_sent || sent.empty() || (alias != "reasoning_content" && alias != "thinking")) return name;
  const std::size_t end = paths.to_string(field).size();
  return name.replace(end - alias.size(), alias.size(), sent);
}

NamedOrigin OriginNamer::name(const text::Run& run) const {
  NamedOrigin out;
  if (run.kind == text::RunKind::kLiteral) {
    out.from = "template";
    const auto index = static_cast<std::size_t>(run.literal());
    if (index < origins_.literals.size()) {
      out.place = lines_.place(origins_.literals[index], literal_bytes(run), run.source_offset);
    }
    return out;
  }
  if (run.expression > 0 && run.expression <= expressions_.size()) {
    out.place = lines_.place(expressions_[run.expression - 1U]);
  }
  if (run.path() == text::PathId::kNone) {
    out.from = origins_.chains.contains(run.chain, "strftime") ? "time" : "template";
    return out;
  }
  const std::string_view root = origins_.paths.root(run.path());
  if (root == "bos_token" || root == "eos_token") {
    out.from = "special";
    return out;
  }
  out.from = root == "messages" ? "message" : root == "tools" ? "tools" : root == "documents" ? "documents" : "kwargs";
  Sent sent = this->sent(run);
  out.path = std::move(sent.path);
  out.is_reshaped = sent.is_reshaped;
  out.shift = sent.shift;
  return out;
}

}  // namespace rondo::core
