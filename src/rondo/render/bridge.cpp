#include "render/bridge.h"

#include <algorithm>
#include <array>

#include "json/parse.h"
#include "render/lossy.h"

namespace rondo::render {
namespace {

using tokenizer::Piece;
using tokenizer::TokenId;

Error failure(ErrorCode code, std::string message) {
  Error error;
  error.code = code;
  error.message = std::move(message);
  return error;
}

// The answers to an assistant turn's calls among the new messages, each usable once.
class ToolResults {
 public:
  explicit ToolResults(const json::Array& messages) {
    for (const json::Value& message : messages) {
      if (message.find_string("role") == "tool") open_.push_back(&message);
    }
  }

  // The result that answers a call of `name`: the first one with that name, else the first one left; nullptr if none.
  const json::Value* take(std::string_view name) {
    auto found =
        std::find_if(open_.begin(), open_.end(), [&](const json::Value* m) { return m->find_string("name") == name; });
    if (found == open_.end()) found = open_.begin();
    if (found == open_.end()) return nullptr;
    const json::Value* result = *found;
    open_.erase(found);
    return result;
  }

 private:
  std::vector<const json::Value*> open_;
};

// Nine letters and digits: the strictest rule that templates check ids by.
std::string made_up_id(std::size_t index) {
  std::string digits = std::to_string(index % 1000);
  return "rondo0" + std::string(3 - digits.size(), '0') + digits;
}

json::Value call_message(std::string_view id, std::string_view name, json::Value arguments) {
  json::Object function;
  function.set("name", name);
  function.set("arguments", std::move(arguments));
  json::Object call;
  call.set("id", id);
  call.set("type", "function");
  call.set("function", std::move(function));
  return call;
}

std::string_view reasoning_field(const ParsedCompletion& completion) {
  return completion.input.reasoning_field.empty() ? std::string_view("reasoning_content")
                                                  : completion.input.reasoning_field;
}

json::Value arguments_value(const std::string& arguments, bool as_text) {
  if (as_text) return arguments;
  const Result<json::Value> parsed = json::parse(arguments);
  return parsed.ok() && parsed.value().is_object() ? parsed.value() : json::Value(arguments);
}

json::Array history_calls(const ParsedCompletion& completion, const json::Array& new_messages) {
  ToolResults results(new_messages);
  json::Array calls;
  for (const chat::ToolCall& call : completion.message.tool_calls) {
    const json::Value* result = results.take(call.name);
    std::string id = made_up_id(calls.size());
    if (call.id) {
      id = *call.id;
    } else if (result != nullptr) {
      id = result->find_string("tool_call_id").value_or(id);
    }
    calls.push_back(call_message(id, call.name, arguments_value(call.arguments, completion.input.arguments_as_text)));
  }
  return calls;
}

// A message of the completion's kind without its text: same calls (names and ids), placeholder arguments, content and
// reasoning where the completion has some.
json::Value placeholder(const ParsedCompletion& completion, const json::Array& new_messages,
                        const json::Value& arguments, const json::Value& no_content) {
  const chat::AssistantMessage& parsed = completion.message;
  json::Object message;
  message.set("role", "assistant");
  json::Array calls = history_calls(completion, new_messages);
  if (calls.empty()) {
    // Results without a call that could be read: the template still needs one to answer.
    ToolResults results(new_messages);
    while (const json::Value* result = results.take("")) {
      const std::string id(result->find_string("tool_call_id").value_or(made_up_id(calls.size())));
      calls.push_back(call_message(id, result->find_string("name").value_or("unknown"), arguments));
    }
  } else {
    for (json::Value& call : calls) call.as_object().find("function")->as_object().set("arguments", arguments);
  }
  const bool has_content = parsed.content.find_first_not_of(" \t\r\n") != std::string::npos;
  message.set("content", has_content || calls.empty() ? json::Value("ZZ") : no_content);
  if (parsed.reasoning && !parsed.reasoning->empty()) message.set(reasoning_field(completion), "YY");
  if (!calls.empty()) message.set("tool_calls", std::move(calls));
  return message;
}

// The render that the appended text is cut out of, with the position of the placeholder.
struct SuffixRender {
  jinja::Rendered full;
  TurnClose close;
  std::int32_t index = 0;  // of the assistant message
};

// Templates differ in the shapes they accept, so several placeholders are tried; the first that renders serves.
Result<SuffixRender> render_suffix(const TurnContext& context, const PlainClose& plain, const BridgeRequest& request,
                                   const json::Array& history) {
  json::Object object_arguments;
  object_arguments.set("z", "Z");
  const std::array<json::Value, 2> arguments = {json::Value(object_arguments), json::Value(R"({"z": "Z"})")};
  const std::array<json::Value, 2> no_content = {json::Value(""), json::Value()};
  Error last = failure(ErrorCode::kCannotBridge, "the template writes nothing that ends an assistant turn");
  for (const json::Value& argument : arguments) {
    for (const json::Value& empty : no_content) {
      json::Array messages = history;
      messages.push_back(placeholder(*request.completion, request.new_messages, argument, empty));
      messages.insert(messages.end(), request.new_messages.begin(), request.new_messages.end());
      Result<jinja::Rendered> full = render_messages(context, messages, true);
      if (!full.ok()) {
        last = full.error();
        continue;
      }
      const auto index = static_cast<std::int32_t>(history.size());
      const auto close = find_turn_close(context, plain, messages, full.value(), index);
      if (close) return SuffixRender{std::move(full).value(), *close, index};
    }
  }
  return last;
}

// Ids of template text that is not part of a render (closers, a stop token).
void append_text(const TurnContext& context, std::string_view text, Bridged& out) {
  for (const Piece& piece : context.tokenizer.encode(text, {})) {
    out.ids.push_back(piece.id);
    out.message_indices.push_back(text::kNoMessage);
  }
  out.appended_text += text;
}

// The pieces of `suffix.full` from byte `begin` on.  The history close before it is tokenized along, because some
// tokenizers treat the start of a text differently from what follows a token.
std::vector<Piece> suffix_pieces(const TurnContext& context, const SuffixRender& suffix, std::size_t begin,
                                 ContentSpecials specials) {
  const std::size_t lead = begin == suffix.close.suffix_begin ? suffix.close.history_close.size() : 0;
  std::vector<Piece> pieces = encode_range(context, suffix.full, begin - lead, suffix.full.text.size(), specials);
  std::erase_if(pieces, [lead](const Piece& piece) { return piece.begin < lead; });
  for (Piece& piece : pieces) {
    piece.begin -= static_cast<std::uint32_t>(lead);
    piece.end -= static_cast<std::uint32_t>(lead);
  }
  return pieces;
}

// How the sampled completion ends, in terms of stop tokens.
struct SampledEnd {
  std::optional<TokenId> stop;        // the last stop token in it
  std::span<const TokenId> trailing;  // what was sampled behind that
};

SampledEnd sampled_end(const TurnProfile& profile, std::span<const TokenId> completion) {
  for (std::size_t i = completion.size(); i > 0; --i) {
    if (profile.is_stop(completion[i - 1])) return {completion[i - 1], completion.subspan(i)};
  }
  return {std::nullopt, {}};
}

bool ends_with_literal_stop(const TurnContext& context, const TurnClose& close, std::span<const TokenId> completion) {
  if (close.stop_id || close.stop.empty()) return false;
  const Result<std::string> text = context.tokenizer.decode(completion, {});
  return text.ok() && text.value().ends_with(close.stop);
}

bool opens_a_turn(const TurnContext& context, std::span<const TokenId> ids) {
  return std::any_of(ids.begin(), ids.end(), [&](TokenId id) { return context.tokenizer.is_added(id); });
}

// Number of leading `pieces` that were already sampled behind the stop token.
std::size_t already_sampled(std::span<const TokenId> trailing, std::span<const Piece> pieces) {
  if (trailing.empty() || trailing.size() > pieces.size()) return 0;
  const bool same = std::equal(trailing.begin(), trailing.end(), pieces.begin(),
                               [](TokenId id, const Piece& piece) { return id == piece.id; });
  return same ? trailing.size() : 0;
}

// What the template writes between plain content and the stop.
std::string plain_closers(const PlainClose& plain) {
  return plain.marker ? plain.text.substr(0, plain.marker->begin) : std::string();
}

// Closes what a cut-off completion left open.  The closers of reasoning and calls are the format's business; those of
// plain content are read off the template.
void close_turn(const TurnContext& context, const PlainClose& plain, const BridgeRequest& request,
                const TurnClose& close, Bridged& out) {
  std::string text = request.completion->closing_text;
  if (request.completion->message.tool_calls.empty() && text.empty()) {
    const std::string closers = plain_closers(plain);
    const Result<std::string> sampled = context.tokenizer.decode(request.completion_ids, {});
    if (!sampled.ok() || !sampled.value().ends_with(closers)) text = closers;
  }
  if (!text.empty())
    out.notes.push_back("the completion was cut off; " + text::quoted(text) + " closes what it left open");
  if (!close.stop_opens_next) {
    text += close.stop;
    out.notes.push_back("the completion has no stop token; " + text::quoted(close.stop) + " was added");
  }
  append_text(context, text, out);
}

void append_suffix(const TurnContext& context, const TurnProfile& profile, const BridgeRequest& request,
                   const SuffixRender& suffix, Bridged& out) {
  const TurnClose& close = suffix.close;
  const SampledEnd end = sampled_end(profile, request.completion_ids);
  const bool closed = end.stop.has_value() || ends_with_literal_stop(context, close, request.completion_ids);
  std::size_t begin = close.suffix_begin;
  if (!closed) close_turn(context, profile.plain, request, close, out);
  // Where the stop is the opener of the next turn it must stand there once: the sampled one serves if it fits.
  const bool fits = end.stop && close.stop_id && *end.stop == *close.stop_id && end.trailing.empty();
  if (close.stop_opens_next && !fits) begin -= close.history_close.size();
  const std::vector<Piece> pieces = suffix_pieces(context, suffix, begin, request.specials);
  const std::size_t skipped = already_sampled(end.trailing, pieces);
  if (skipped == 0 && opens_a_turn(context, end.trailing) && !close.stop_opens_next) {
    append_text(context, close.stop, out);
    out.notes.push_back("the completion opened another turn behind its stop token; " + text::quoted(close.stop) +
                        " closes it");
  }
  const std::vector<std::int32_t> owners = piece_owners(suffix.full, begin, pieces);
  for (std::size_t i = skipped; i < pieces.size(); ++i) {
    out.ids.push_back(pieces[i].id);
    out.message_indices.push_back(std::max(owners[i] - suffix.index - 1, text::kNoMessage));
  }
  const std::size_t from = begin + (skipped == 0 ? 0 : pieces[skipped - 1].end);
  out.appended_text += suffix.full.text.bytes().substr(from);
}

json::Array stand_in_history() {
  json::Object user;
  user.set("role", "user");
  user.set("content", "Hq");
  return {json::Value(std::move(user))};
}

}  // namespace

json::Value history_message(const ParsedCompletion& completion, const json::Array& new_messages) {
  const chat::AssistantMessage& message = completion.message;
  json::Object out;
  out.set("role", "assistant");
  json::Array calls = history_calls(completion, new_messages);
  if (!message.content.empty() || calls.empty() || completion.input.no_content == format::NoContent::kEmpty) {
    out.set("content", message.content);
  } else if (completion.input.no_content == format::NoContent::kNull) {
    out.set("content", nullptr);
  }
  if (message.reasoning) out.set(reasoning_field(completion), *message.reasoning);
  if (!calls.empty()) out.set("tool_calls", std::move(calls));
  return out;
}

Result<Bridged> bridge(const TurnContext& context, const TurnProfile& profile, const BridgeRequest& request) {
  for (std::size_t i = 0; i < request.new_messages.size(); ++i) {
    if (request.new_messages[i].find_string("role") == "assistant") {
      return failure(ErrorCode::kInvalidArgument, "new_messages[" + std::to_string(i) +
                                                      "] has the role `assistant`; sampled turns are never rendered");
    }
  }
  const json::Array history = request.messages ? *request.messages : stand_in_history();
  Result<SuffixRender> suffix = render_suffix(context, profile.plain, request, history);
  if (!suffix.ok()) return suffix.error();

  Bridged out;
  out.ids.assign(request.prompt_ids.begin(), request.prompt_ids.end());
  out.ids.insert(out.ids.end(), request.completion_ids.begin(), request.completion_ids.end());
  const std::size_t old_size = out.ids.size();
  out.message_indices.assign(old_size, text::kNoMessage);
  append_suffix(context, profile, request, suffix.value(), out);
  out.appended = out.ids.size() - old_size;
  out.lossy =
      find_lossy(context, history, history_message(*request.completion, request.new_messages), request.new_messages);
  return out;
}

}  // namespace rondo::render
