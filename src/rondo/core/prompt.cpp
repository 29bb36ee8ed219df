#include "core/prompt.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "chat/reasoning_fields.h"
#include "core/continued_calls.h"
#include "format/escapes.h"
#include "format/units.h"
#include "parse/parser.h"
#include "render/turn.h"

namespace rondo::core {
namespace {

using format::trimmed;

constexpr std::string_view kCallsField = "tool_calls";

// The text of a content or of a reasoning field: a string, or parts that are all text.  nullopt if it is neither.
std::optional<std::string> text_of(const json::Value* value) {
  if (value == nullptr || value->is_null()) return "";
  if (value->is_string()) return value->as_string();
  if (!value->is_array()) return std::nullopt;
  std::string out;
  for (const json::Value& part : value->as_array()) {
    const auto text = part.find_string("text");
    if (!text) return std::nullopt;
    out += *text;
  }
  return out;
}

std::string last_place(const chat::Conversation& conversation) {
  return "messages[" + std::to_string(conversation.messages.size() - 1) + "]";
}

// The conversation that the continued message, its last, answers.  REQUIRES: there is such a message.
chat::Conversation without_last(const chat::Conversation& conversation) {
  chat::Conversation before = conversation;
  before.messages.pop_back();
  before.continue_final_message.reset();
  before.add_generation_prompt = true;
  return before;
}

// Writes the last message of a conversation after the prompt for an answer.
class Writer {
 public:
  Writer(const Prepared& prepared, const chat::Conversation& conversation, std::shared_ptr<const format::Format> format,
         jinja::Rendered prompt)
      : prepared_(prepared),
        conversation_(conversation),
        shared_format_(std::move(format)),
        format_(*shared_format_),
        message_(conversation.messages.back()),
        out_(std::move(prompt)) {
    const std::size_t index = conversation.messages.size() - 1;
    path_ = out_.origins.paths.index(out_.origins.paths.variable("messages"), index);
    context_ = out_.origins.contexts.intern({.message = static_cast<std::int32_t>(index)});
    tail_ = end_of_earlier_data(out_, static_cast<std::int32_t>(index));
  }

  [[nodiscard]] Result<jinja::Rendered> write(std::string_view field);

 private:
  void write_literal(std::string_view text) {
    out_.text.append(text::Text::made(text::RunKind::kComputed, text, text::PathId::kNone, context_, {}));
  }
  void write_data(std::string_view text, std::string_view field) {
    out_.text.append(text::Text::data(text, out_.origins.paths.member(path_, field), context_));
  }
  [[nodiscard]] std::string_view tail() const { return std::string_view(out_.text.bytes()).substr(tail_); }
  [[nodiscard]] bool is_reasoning_open() const;
  void cut_closed_reasoning();
  Status write_reasoning(bool stays_open);
  Status write_content();
  Status write_calls();

  const Prepared& prepared_;
  const chat::Conversation& conversation_;
  std::shared_ptr<const format::Format> shared_format_;
  const format::Format& format_;  // points to the same format
  const json::Value& message_;
  jinja::Rendered out_;
  text::PathId path_ = text::PathId::kNone;  // of the message
  text::ContextId context_ = text::ContextId::kNone;
  std::size_t tail_ = 0;  // the prompt for the answer begins here or before
  bool wrote_reasoning_ = false;
};

bool Writer::is_reasoning_open() const {
  parse::Options options;
  options.prompt_tail = tail();
  const parse::Parser parser(shared_format_, std::move(options));
  return parser.place() == parse::Place::kReasoning;
}

// Removes what the prompt says to show that there is no reasoning.
void Writer::cut_closed_reasoning() {
  const std::string_view close = trimmed(format_.reasoning.close);
  const std::size_t header = format_.header.empty() ? 0 : tail().rfind(format_.header);
  if (close.empty() || header == std::string_view::npos) return;
  const std::size_t begin = tail_ + header + format_.header.size();
  const std::string_view open = trimmed(format_.reasoning.open);
  const std::size_t at = out_.text.bytes().find(open.empty() ? close : open, begin);
  if (at == std::string::npos || out_.text.bytes().find(close, at) == std::string::npos) return;
  out_.text = out_.text.slice(0, at);
}

Status Writer::write_reasoning(bool stays_open) {
  const std::string_view alias = tmpl::reasoning_field(message_);
  const std::string field = alias.empty() ? format_.input.reasoning_field : std::string(alias);
  const auto text = text_of(message_.find(field));
  if (!text) return Error(ErrorCode::kTemplateError, last_place(conversation_) + "." + field + " is no text");
  const bool is_open = is_reasoning_open();
  if (text->empty() && !stays_open) {
    if (is_open) write_literal(format_.reasoning.close);
    return Done{};
  }
  if (!format_.reasoning.present)
    return Error(ErrorCode::kTemplateError,
                 last_place(conversation_) + "." + field + " has no place: the template never writes reasoning");
  // Words with which the prompt begins the reasoning may be part of the given text.
  const bool has_words = format_.reasoning.begins_text && text->starts_with(trimmed(format_.reasoning.open));
  if (!is_open) cut_closed_reasoning();
  if (!is_open && !has_words) write_literal(format_.reasoning.open);
  if (is_open && has_words && tail().ends_with(format_.reasoning.open))
    out_.text = out_.text.slice(0, out_.text.size() - format_.reasoning.open.size());
  write_data(format::escaped(*text, format_.reasoning.escapes), field);
  if (!stays_open) write_literal(format_.reasoning.close);
  wrote_reasoning_ = true;
  return Done{};
}

Status Writer::write_content() {
  const auto text = text_of(message_.find("content"));
  if (!text) return Error(ErrorCode::kTemplateError, last_place(conversation_) + ".content is not all text");
  const std::string_view open = trimmed(format_.content.open);
  const bool is_open = !open.empty() && trimmed(tail()).ends_with(open);
  // White space before content stands only where the turn begins.
  const bool is_blank_inside = wrote_reasoning_ && open.empty();
  if (!is_open && !is_blank_inside) write_literal(format_.content.open);
  write_data(format::escaped(*text, format_.content.escapes), "content");
  return Done{};
}

Status Writer::write_calls() {
  if (const auto content = text_of(message_.find("content")); !content || !content->empty()) {
    if (Status written = write_content(); !written.ok()) return written;
    write_literal(format_.content.close);
  }
  auto calls = continued_calls(prepared_, conversation_, format_);
  if (!calls.ok()) return calls.error();
  for (const CallPart& part : calls.value()) {
    if (part.is_data) {
      write_data(part.text, kCallsField);
    } else {
      write_literal(part.text);
    }
  }
  return Done{};
}

Result<jinja::Rendered> Writer::write(std::string_view field) {
  const bool is_reasoning = field != "content" && field != kCallsField;
  if (Status written = write_reasoning(is_reasoning); !written.ok()) return written.error();
  if (is_reasoning) return std::move(out_);
  const Status written = field == "content" ? write_content() : write_calls();
  if (!written.ok()) return written.error();
  return std::move(out_);
}

// --- Whether the template does it ------------------------------------------------------------------------------------

// Why the template itself does not write the message as given; "" if it does.
struct Fault {
  std::string what;
  bool leaves_out_reasoning = false;
};
Fault fault_in(const chat::Conversation& conversation, const jinja::Rendered& rendered) {
  const std::string& field = *conversation.continue_final_message;
  const json::Value& message = conversation.messages.back();
  const json::Value* value = message.find(field);
  if (value == nullptr) return {};
  const std::string_view bytes = rendered.text.bytes();
  const auto text = text_of(value);
  if (text && !bytes.ends_with(*text)) return {"trims " + field};
  const std::string_view alias = tmpl::reasoning_field(message);
  if (field != "content" || alias.empty()) return {};
  const auto reasoning = text_of(message.find(alias));
  const auto begin = end_of_earlier_data(rendered, static_cast<std::int32_t>(conversation.messages.size()) - 1);
  if (!reasoning || bytes.find(trimmed(*reasoning), begin) != std::string_view::npos) return {};
  return {"leaves out " + std::string(alias), true};
}

// Splits a prompt whose last message is continued: what comes before that message, and its own text.  `begin` is where
// the data of earlier messages ends.
PromptTail split_continued(const Prepared& prepared, const chat::Conversation& conversation,
                           const jinja::Rendered& rendered, std::size_t begin, const std::string& format_header) {
  const std::string& text = rendered.text.bytes();
  tmpl::ApplyOptions options = prepared.options;
  options.origins = false;
  const auto before = tmpl::apply(*prepared.chat_template, without_last(conversation), options);
  const std::size_t end = before.ok() ? before.value().text.size() : 0;
  const bool is_prefix = before.ok() && end >= begin && text.starts_with(before.value().text.bytes());
  const auto extent = render::data_extent(rendered, static_cast<std::int32_t>(conversation.messages.size()) - 1);
  const std::size_t data = extent ? extent->begin : text.size();
  const std::string_view lead = std::string_view(text).substr(begin, std::max(begin, data) - begin);
  const std::size_t header = format::is_blank(format_header) ? std::string_view::npos : lead.rfind(format_header);
  const bool has_header = header != std::string_view::npos;
  // White space that the template writes before the message is not part of the message.
  const std::size_t front = is_prefix ? end : has_header ? begin + header + format_header.size() : data;
  if (front < data && format::is_blank(std::string_view(text).substr(front, data - front)))
    return PromptTail{text.substr(begin, front - begin), text.substr(data)};
  const std::size_t split = is_prefix ? end : has_header ? text.size() : data;
  return PromptTail{text.substr(begin, split - begin), text.substr(split)};
}

std::string given_reasoning(const json::Value& message, const format::Format& format) {
  const std::string_view alias = tmpl::reasoning_field(message);
  const json::Value* value = message.find(alias.empty() ? format.input.reasoning_field : alias);
  return text_of(value).value_or("");
}

// Whether the prompt's own text of the continued message reads as what was given.
bool reads_as_given(const Prepared& prepared, const chat::Conversation& conversation, const jinja::Rendered& rendered,
                    const std::shared_ptr<const format::Format>& format) {
  const std::string& field = *conversation.continue_final_message;
  const json::Value& given = conversation.messages.back();
  const auto content = text_of(given.find("content"));
  if (field == kCallsField || !content) return true;
  const std::size_t begin = end_of_earlier_data(rendered, static_cast<std::int32_t>(conversation.messages.size()) - 1);
  const PromptTail tail = split_continued(prepared, conversation, rendered, begin, format->header);
  parse::Parser parser(parse::compile(format, {}), tail.text, tail.begun);
  (void)parser.close();
  const chat::AssistantMessage& read = parser.message();
  const std::string read_reasoning = read.reasoning.value_or("");
  const std::string reasoning = given_reasoning(given, *format);
  // The prompt may begin the reasoning with words of its own.
  const bool same_reasoning = trimmed(reasoning).empty() ? format::is_blank(read_reasoning)
                                                         : trimmed(read_reasoning).ends_with(trimmed(reasoning));
  return same_reasoning && trimmed(read.content) == (field == "content" ? trimmed(*content) : "");
}

Result<jinja::Rendered> build(const Prepared& prepared, const chat::Conversation& conversation,
                              tmpl::ApplyOptions options, const std::shared_ptr<const format::Format>& format) {
  options.origins = true;
  options.whole_dumps = false;
  auto prompt = tmpl::apply(*prepared.chat_template, without_last(conversation), options);
  if (!prompt.ok()) return prompt.error();
  Writer writer(prepared, conversation, format, std::move(prompt).value());
  return writer.write(*conversation.continue_final_message);
}

// Notes about the fields that follow the continued reasoning and are left out.
std::vector<std::string> left_out(const chat::Conversation& conversation) {
  std::vector<std::string> notes;
  const std::string& field = *conversation.continue_final_message;
  if (field == "content" || field == kCallsField) return notes;
  for (const std::string_view other : {std::string_view("content"), kCallsField}) {
    if (chat::is_filled(conversation.messages.back().find(other)))
      notes.push_back(last_place(conversation) + "." + std::string(other) +
                      " is not in the prompt: it would stand behind the reasoning that is continued");
  }
  return notes;
}

// The conversation without reasoning that the template never writes, if something else than that keeps the template
// from continuing the message.  A note says so.
chat::Conversation without_odd_reasoning(const chat::Conversation& conversation, const Fault& fault,
                                         const format::Format& format, std::vector<std::string>& notes) {
  chat::Conversation out = conversation;
  const std::string alias(tmpl::reasoning_field(conversation.messages.back()));
  const bool is_odd = !format.reasoning.present && !alias.empty() && *conversation.continue_final_message != alias;
  if (!is_odd || fault.leaves_out_reasoning) return out;
  for (const std::string_view name : chat::kReasoningFields) out.messages.back().as_object().erase(name);
  notes.push_back(last_place(conversation) + "." + alias +
                  " is not in the prompt: the template never writes reasoning");
  return out;
}

bool is_field_of(std::string_view field, const format::Format& format) {
  return field == "content" || field == kCallsField || chat::is_reasoning_field(field) ||
         (!field.empty() && field == format.input.reasoning_field);
}

// The prompt of a conversation whose last message is continued: as the template writes it (`rendered`) if that is what was
// given, otherwise as the format does.
Result<Prompt> continued(const Prepared& prepared, const chat::Conversation& conversation,
                         Result<jinja::Rendered> rendered, const tmpl::ApplyOptions& options,
                         const FormatSource& source) {
  const auto format = source();
  if (!format.ok()) return format.error();
  std::vector<std::string> notes = left_out(conversation);
  Fault fault =
      rendered.ok() ? fault_in(conversation, rendered.value()) : Fault{"refuses it (" + rendered.error().message + ")"};
  const bool is_misread =
      fault.what.empty() && !reads_as_given(prepared, conversation, rendered.value(), format.value());
  if (fault.what.empty() && !is_misread) return Prompt{std::move(rendered).value(), std::move(notes)};

  const std::string& field = *conversation.continue_final_message;
  const std::string place = last_place(conversation) + "." + field;
  std::vector<std::string> more = notes;
  const chat::Conversation writable = without_odd_reasoning(conversation, fault, *format.value(), more);
  auto built = is_field_of(field, *format.value()) ? build(prepared, writable, options, format.value())
                                                   : Result<jinja::Rendered>(Error(ErrorCode::kTemplateError, ""));
  if (is_misread) {
    const bool is_better = built.ok() && reads_as_given(prepared, conversation, built.value(), format.value());
    if (!is_better) return Prompt{std::move(rendered).value(), std::move(notes)};
    fault.what = "writes it where it reads as something else";
  }
  if (built.ok()) {
    more.insert(more.begin(), place + " is continued as the format writes it: the template " + fault.what);
    return Prompt{std::move(built).value(), std::move(more)};
  }
  if (rendered.ok()) {
    notes.insert(notes.begin(), place + " is not continued as given: the template " + fault.what);
    return Prompt{std::move(rendered).value(), std::move(notes)};
  }
  Error error = rendered.error();
  if (!built.error().message.empty()) error.message += "; " + built.error().message;
  return error;
}

// The format's record of what the template writes for an answer if `kwargs` has these switches.
std::string usual_prompt(const format::Format& format, const json::Object& kwargs) {
  std::string_view name = "default";
  for (const char* field : {"enable_thinking", "thinking"}) {
    const json::Value* value = kwargs.find(field);
    if (value != nullptr && value->is_bool()) name = value->as_bool() ? "on" : "off";
  }
  const format::GenerationPrompt* prompt = format.generation_prompt(name);
  return prompt != nullptr ? prompt->text : "";
}

}  // namespace

std::size_t end_of_earlier_data(const jinja::Rendered& rendered, std::int32_t below) {
  std::size_t at = 0;
  std::size_t end = 0;
  for (const text::Run& run : rendered.text.runs()) {
    at += run.size;
    const text::PathId path = run.path();
    if (path == text::PathId::kNone) continue;
    const std::int32_t message = rendered.origins.paths.message(path);
    const std::string_view root = rendered.origins.paths.root(path);
    if (message == text::kNoMessage ? root == "tools" || root == "documents" : message < below) end = at;
  }
  return end;
}

Result<Prompt> make_prompt(const Prepared& prepared, const chat::Conversation& conversation,
                           const tmpl::ApplyOptions& options, const FormatSource& format) {
  const bool may_build = conversation.continue_final_message && !conversation.add_generation_prompt &&
                         !options.strict && !conversation.messages.empty() &&
                         conversation.kwargs.find("messages") == nullptr &&
                         conversation.messages.back().find_string("role") == "assistant";
  tmpl::ApplyOptions first = options;
  first.origins = first.origins || may_build;
  auto rendered = tmpl::apply(*prepared.chat_template, conversation, first);
  if (rendered.ok() ? !may_build : !may_build || rendered.error().code == ErrorCode::kLimit) {
    if (!rendered.ok()) return rendered.error();
    return Prompt{std::move(rendered).value(), {}};
  }
  const std::string& field = *conversation.continue_final_message;
  const json::Value* value = conversation.messages.back().find(field);
  if (value != nullptr && !value->is_null())
    return continued(prepared, conversation, std::move(rendered), options, format);
  if (!rendered.ok()) return rendered.error();
  return Prompt{std::move(rendered).value(), left_out(conversation)};
}

Result<PromptTail> decoded_tail(const tokenizer::Tokenizer& tokenizer, std::span<const tokenizer::TokenId> ids,
                                const format::Format* format) {
  auto text = tokenizer.decode(ids, {});
  if (!text.ok()) return text.error();
  PromptTail out{std::move(text).value(), ""};
  if (format == nullptr) return out;
  const auto& prompts = format->generation_prompts;
  const auto is_shown = [&](const format::GenerationPrompt& prompt) {
    return !prompt.text.empty() && out.text.ends_with(prompt.text);
  };
  if (std::ranges::any_of(prompts, is_shown)) return out;
  std::string found;
  for (const format::GenerationPrompt& prompt : prompts) {
    if (prompt.text.size() <= found.size()) continue;
    const auto written = tokenizer.encode_ids(prompt.text, {.parse_special = true, .parse_added = true});
    const bool is_end = written.size() <= ids.size() && std::ranges::equal(written, ids.last(written.size()));
    if (is_end) found = prompt.text;
  }
  if (!found.empty()) out.text = std::move(found);
  return out;
}

Result<PromptTail> prompt_tail(const Prepared& prepared, chat::Conversation conversation, bool has_messages,
                               const std::shared_ptr<const format::Format>& format) {
  const bool continues = conversation.continue_final_message.has_value();
  if (!has_messages && !continues) conversation.messages = {json::Object{{"role", "user"}, {"content", "Hello"}}};
  const auto made = make_prompt(prepared, conversation, prepared.options, [&] { return format; });
  if (!made.ok()) {
    if (continues) return made.error();
    // A template may refuse the conversation, or never end (some recurse without end for a tool of an odd type).  It
    // still writes the prompt for an answer as it does elsewhere.
    return PromptTail{usual_prompt(*format, conversation.kwargs), ""};
  }
  const std::string& text = made.value().rendered.text.bytes();
  const auto count = static_cast<std::int32_t>(conversation.messages.size());
  const std::size_t begin = end_of_earlier_data(made.value().rendered, continues ? count - 1 : count);
  if (continues && !conversation.messages.empty())
    return split_continued(prepared, conversation, made.value().rendered, begin, format->header);
  return PromptTail{text.substr(begin), ""};
}

}  // namespace rondo::core
