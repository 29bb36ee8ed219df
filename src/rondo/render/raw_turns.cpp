#include "render/raw_turns.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "format/units.h"
#include "json/parse.h"
#include "render/bridge.h"
#include "render/join.h"
#include "render/suffix.h"
#include "render/token_text.h"

namespace rondo::render {
namespace {

using tokenizer::Piece;
using tokenizer::TokenId;

constexpr std::string_view kIdsField = "raw_ids";
constexpr std::string_view kTextField = "raw";

std::string place_of(std::size_t message, std::string_view field) {
  return "messages[" + std::to_string(message) + "]." + std::string(field);
}

// The message, or the field of it that the completion came from.
std::string place_of(const RawTurn& turn) {
  if (turn.completion.index() == 2) return "messages[" + std::to_string(turn.message) + "]";
  return place_of(turn.message, turn.completion.index() == 0 ? kIdsField : kTextField);
}

Result<std::vector<TokenId>> read_ids(const json::Value& value, const std::string& place) {
  const Error wrong = Error(ErrorCode::kInvalidArgument,
                            place + " must be an array of token ids, found " + std::string(describe(value.kind())));
  if (!value.is_array()) return wrong;
  std::vector<TokenId> ids;
  ids.reserve(value.as_array().size());
  for (const json::Value& item : value.as_array()) {
    const std::optional<std::int64_t> id = item.to_int64();
    if (!id || *id < 0 || *id > std::numeric_limits<TokenId>::max())
      return Error(ErrorCode::kInvalidArgument, place + "[" + std::to_string(ids.size()) + "] is no token id");
    ids.push_back(static_cast<TokenId>(*id));
  }
  return ids;
}

// The message's text: all of its parts that are text.
std::string content_of(const json::Value& message) {
  const json::Value* content = message.find("content");
  if (content == nullptr) return "";
  if (content->is_string()) return content->as_string();
  std::string text;
  if (content->is_array()) {
    for (const json::Value& part : content->as_array()) text += part.find_string("text").value_or("");
  }
  return text;
}

// A call's arguments as a value, even if they are given as text.
json::Value arguments_of(const json::Value& arguments) {
  if (!arguments.is_string()) return arguments;
  Result<json::Value> parsed = json::parse(arguments.as_string());
  return parsed.ok() ? std::move(parsed).value() : arguments;
}

bool same_call(const json::Value& given, const chat::ToolCall& said) {
  const json::Value* function = given.find(chat::kCallFunctionKey);
  const json::Value& call = function == nullptr ? given : *function;
  const json::Value* arguments = call.find("arguments");
  return call.find_string("name") == said.name &&
         arguments_of(arguments == nullptr ? json::Value(json::Object()) : *arguments) ==
             arguments_of(json::Value(said.arguments));
}

// The field of `message` that differs from what its completion says; "" if there is none.  Clients drop reasoning and
// trim text.
std::string_view other_field(const json::Value& message, const chat::AssistantMessage& said) {
  if (format::trimmed(content_of(message)) != format::trimmed(said.content)) return "content";
  const json::Value* calls = message.find("tool_calls");
  const json::Array none;
  const json::Array& given = calls == nullptr || !calls->is_array() ? none : calls->as_array();
  return std::ranges::equal(given, said.tool_calls, same_call) ? "" : "tool_calls";
}

// If the model wrote no ids for its calls, the calls get the ids that the message gives them.
void take_ids(const json::Value& message, chat::AssistantMessage& said) {
  const json::Value* calls = message.find("tool_calls");
  if (calls == nullptr || !calls->is_array() || calls->as_array().size() != said.tool_calls.size()) return;
  for (std::size_t i = 0; i < said.tool_calls.size(); ++i) {
    const auto id = calls->as_array()[i].find_string("id");
    if (!said.tool_calls[i].id && id) said.tool_calls[i].id = std::string(*id);
  }
}

// Keeps the first `count` ids.
void truncate(Encoded& out, std::size_t count) {
  out.text.resize(count == 0 ? 0 : out.ends[count - 1]);
  out.ids.resize(count);
  for (auto* offsets : {&out.begins, &out.ends}) offsets->resize(count);
  for (auto* messages : {&out.message_indices, &out.samplers}) messages->resize(count);
  for (auto* mask : {&out.content_mask, &out.straddles, &out.sampled_mask, &out.generation_mask}) mask->resize(count);
  out.origins.resize(count);
  std::erase_if(out.fields, [count](const FieldSpan& field) { return field.ids.begin >= count; });
  if (!out.fields.empty()) out.fields.back().ids.end = std::min(out.fields.back().ids.end, count);
}

class RawPrompt {
 public:
  RawPrompt(const TurnContext& context, const RawReading& reading, ContentSpecials specials)
      : context_(context), reading_(reading), specials_(specials), messages_(context.base.messages) {
    out_.has_generation_blocks = context.chat_template.has_generation_block();
  }

  // Starts with the text that the first raw turn was sampled after: the messages before it.
  Status start(std::size_t count) {
    const json::Array before(messages_.begin(), messages_.begin() + static_cast<std::ptrdiff_t>(count));
    const Result<jinja::Rendered> rendered = render_messages(context_, before, true);
    if (!rendered.ok()) return rendered.error();
    const jinja::Rendered& full = rendered.value();
    const auto pieces = encode_range(context_, full, 0, full.text.size(), specials_);
    add_pieces(out_, full, {0, full.text.size()}, pieces, sampled_extents(context_, full, before));
    prompt_tail_ = prompt_tail(full, 0, pieces);
    return Done{};
  }

  // Starts with known ids instead.
  Status start(std::span<const TokenId> known) {
    TokenText text(context_.tokenizer);
    const auto take = [this](const parse::Piece& piece) { out_.text += piece.bytes; };
    if (Status fed = text.feed(known, take); !fed.ok()) return fed;
    text.finish(take);
    out_.ids.assign(known.begin(), known.end());
    std::uint32_t begin = 0;
    for (const std::uint32_t end : text.ends()) {
      out_.begins.push_back(begin);
      out_.ends.push_back(end);
      begin = end;
    }
    is_known_prompt_ = true;
    const std::size_t size = known.size();
    out_.message_indices.resize(size, text::kNoMessage);
    out_.content_mask.resize(size);
    out_.straddles.resize(size);
    out_.sampled_mask.resize(size);
    out_.samplers.resize(size, text::kNoMessage);
    out_.generation_mask.resize(size);
    out_.origins.resize(size, OriginKind::kTemplate);
    return Done{};
  }

  // Adds the turn, and what follows it up to message `end`.
  Status take(const RawTurn& turn, std::size_t end) {
    const auto* written = std::get_if<WrittenTurn>(&turn.completion);
    if (written != nullptr && written->replaced > 0) put_header(*written);
    prompt_size_ = out_.ids.size();
    own_generation_prompt(turn);
    const std::vector<Piece> pieces =
        written == nullptr
            ? std::vector<Piece>()
            : encode_range(context_, *written->rendered, written->extent.begin, written->extent.end, specials_);
    const std::vector<TokenId> sampled = written == nullptr ? sampled_of(turn) : ids_of(pieces);
    Result<ParsedCompletion> said = reading_.reader.read(reading_.profile, out_.ids, sampled, known_tail());
    if (!said.ok()) return at(said.error(), turn);
    const json::Value& message = messages_[turn.message];
    const std::string_view other = written == nullptr ? other_field(message, said.value().message) : "";
    if (!other.empty())
      out_.notes.push_back(place_of(turn.message, other) +
                           " is not what the turn's completion says; the completion stands");
    take_ids(message, said.value().message);
    if (written != nullptr) {
      add_pieces(out_, *written->rendered, written->extent, pieces, {written->extent});
    } else if (Status added = add_sampled(turn, sampled, said.value()); !added.ok()) {
      return added;
    }
    if (turn.message + 1 == messages_.size() && !context_.base.add_generation_prompt) return Done{};
    return close(turn, said.value(), end);
  }

  [[nodiscard]] Encoded& out() { return out_; }

 private:
  // nullopt for known ids: it is unknown where their tail begins.
  [[nodiscard]] std::optional<std::size_t> known_tail() const {
    return is_known_prompt_ ? std::nullopt : std::optional(prompt_tail_);
  }

  [[nodiscard]] std::vector<TokenId> sampled_of(const RawTurn& turn) const {
    if (const auto* ids = std::get_if<std::vector<TokenId>>(&turn.completion)) return *ids;
    return ids_of(encode_behind(context_.tokenizer, out_.ids, std::get<std::string>(turn.completion), nullptr));
  }

  static Error at(Error error, const RawTurn& turn) {
    error.source = place_of(turn);
    return error;
  }

  // Replaces the end of the generation prompt by the turn's own header.
  void put_header(const WrittenTurn& turn) {
    const std::size_t cut = out_.text.size() - std::min(turn.replaced, out_.text.size());
    // An id that holds bytes from both sides goes too.
    const auto kept = static_cast<std::size_t>(std::ranges::upper_bound(out_.ends, cut) - out_.ends.begin());
    const std::size_t dropped = out_.ids.size() - kept;
    truncate(out_, kept);
    const std::size_t again = cut - std::min(cut, out_.text.size());
    const Extent header{turn.header_begin - std::min(again, turn.header_begin), turn.extent.begin};
    const auto pieces = encode_range(context_, *turn.rendered, header.begin, header.end, specials_);
    add_pieces(out_, *turn.rendered, header, pieces, {});
    prompt_tail_ = prompt_tail_ - std::min(prompt_tail_, dropped) + pieces.size();
  }

  // The generation prompt that a turn was sampled after becomes the turn's header.
  void own_generation_prompt(const RawTurn& turn) {
    std::vector<std::int32_t>& owners = out_.message_indices;
    const std::size_t behind_data = owners.size() - std::min(prompt_tail_, owners.size());
    for (std::size_t i = owners.size(); i > behind_data && owners[i - 1] == text::kNoMessage; --i)
      owners[i - 1] = static_cast<std::int32_t>(turn.message);
  }

  Status add_sampled(const RawTurn& turn, const std::vector<TokenId>& sampled, const ParsedCompletion& said) {
    const auto offset = static_cast<std::uint32_t>(out_.text.size());
    TokenText text(context_.tokenizer);
    const auto take = [this](const parse::Piece& piece) { out_.text += piece.bytes; };
    if (Status fed = text.feed(sampled, take); !fed.ok()) return fed;
    text.finish(take);
    const auto index = static_cast<std::int32_t>(turn.message);
    const std::size_t first = out_.ids.size();
    out_.ids.insert(out_.ids.end(), sampled.begin(), sampled.end());
    std::uint32_t begin = 0;
    auto data = said.data.begin();
    for (const std::uint32_t end : text.ends()) {
      while (data != said.data.end() && data->end <= begin) ++data;
      const bool is_data = data != said.data.end() && data->begin <= begin;
      const bool is_mixed = data != said.data.end() && (is_data ? data->end < end : data->begin < end);
      out_.begins.push_back(offset + begin);
      out_.ends.push_back(offset + end);
      out_.content_mask.push_back(is_data ? 1 : 0);
      out_.straddles.push_back(is_mixed ? 1 : 0);
      begin = end;
    }
    const std::size_t size = out_.ids.size();
    out_.message_indices.resize(size, index);
    out_.samplers.resize(size, index);
    out_.sampled_mask.resize(size, 1);
    out_.generation_mask.resize(size, context_.chat_template.has_generation_block() ? 1 : 0);
    out_.origins.resize(size, OriginKind::kMessage);
    if (size > first) out_.fields.push_back({{first, size}, index, place_of(turn)});
    return Done{};
  }

  // Writes what a bridge writes after the turn.
  Status close(const RawTurn& turn, const ParsedCompletion& said, std::size_t end) {
    const std::span<const TokenId> ids = out_.ids;
    BridgeRequest request;
    // The ids move in memory while more are added.
    const std::vector<TokenId> prompt(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(prompt_size_));
    const std::vector<TokenId> completion(ids.begin() + static_cast<std::ptrdiff_t>(prompt_size_), ids.end());
    request.prompt_ids = prompt;
    request.completion_ids = completion;
    request.completion = &said;
    request.messages = std::span<const json::Value>(messages_).first(turn.message);
    const auto begin = messages_.begin() + static_cast<std::ptrdiff_t>(turn.message);
    request.new_messages.assign(begin + 1, messages_.begin() + static_cast<std::ptrdiff_t>(end));
    request.specials = specials_;
    request.allow_turns = true;
    request.add_generation_prompt = end < messages_.size() || context_.base.add_generation_prompt;
    Result<Appended> appended = append_turn(context_, reading_.profile, request, &out_);
    if (!appended.ok()) return appended.error();
    prompt_tail_ = appended.value().prompt_tail;
    is_known_prompt_ = false;
    const std::string place = "messages[" + std::to_string(turn.message) + "]: ";
    for (const std::string& note : appended.value().notes) out_.notes.push_back(place + note);
    for (const LossyFinding& finding : appended.value().lossy) out_.notes.push_back(place + finding.what);
    return Done{};
  }

  const TurnContext& context_;
  const RawReading& reading_;
  ContentSpecials specials_;
  const json::Array& messages_;
  Encoded out_;
  std::size_t prompt_size_ = 0;
  std::size_t prompt_tail_ = 0;
  bool is_known_prompt_ = false;
};

}  // namespace

Result<std::vector<RawTurn>> take_raw_turns(json::Array& messages) {
  std::vector<RawTurn> turns;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (!messages[i].is_object() || messages[i].find_string("role") != "assistant") continue;
    RawTurn turn{i, {}};
    json::Object& message = messages[i].as_object();
    const json::Value* ids = message.find(kIdsField);
    const json::Value* text = message.find(kTextField);
    if (text != nullptr && !text->is_string() && !text->is_null())
      return Error(ErrorCode::kInvalidArgument,
                   place_of(i, kTextField) + " must be a text, found " + std::string(describe(text->kind())));
    const bool has_ids = ids != nullptr && !ids->is_null();
    if (has_ids) {
      Result<std::vector<TokenId>> read = read_ids(*ids, place_of(i, kIdsField));
      if (!read.ok()) return read.error();
      turn.completion = std::move(read).value();
    } else if (text != nullptr && text->is_string()) {
      turn.completion = text->as_string();
    }
    if (has_ids || turn.completion.index() == 1) turns.push_back(std::move(turn));
    message.erase(kIdsField);
    message.erase(kTextField);
  }
  return turns;
}

Result<Encoded> encode_raw(const TurnContext& context, const RawReading& reading, const std::vector<RawTurn>& turns,
                           ContentSpecials specials, std::span<const TokenId> behind) {
  const chat::Conversation& conversation = context.base;
  if (conversation.continue_final_message && turns.back().message + 1 != conversation.messages.size())
    return Error(ErrorCode::kInvalidArgument,
                 "a conversation with raw turns can be continued only where its last message is one of them");
  RawPrompt prompt(context, reading, specials);
  const Status started = behind.empty() ? prompt.start(turns.front().message) : prompt.start(behind);
  if (!started.ok()) return started.error();
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const std::size_t end = i + 1 < turns.size() ? turns[i + 1].message : conversation.messages.size();
    if (Status taken = prompt.take(turns[i], end); !taken.ok()) return taken.error();
  }
  return std::move(prompt.out());
}

}  // namespace rondo::render
