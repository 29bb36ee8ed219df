// parse, parse_stream: what a model wrote.
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "parse/parser.h"
#include "protocol/ops.h"
#include "protocol/readers.h"

namespace rondo::protocol {
namespace {

// What parse and parse_stream share.
struct ParseRequest {
  TemplateFields chat_template;
  ConversationFields input;
  ParseFields fields;
};

ParseRequest read_parse_request(Fields& fields) {
  ParseRequest out;
  out.chat_template = read_template(fields, core::TokenizerUse::kOptional);
  out.input = read_conversation(fields, {.add_generation_prompt = true});
  out.fields = read_parse(fields, out.input.conversation.tools);
  return out;
}

Result<parse::Parser> make_parser(const OpContext& context, ParseRequest& request) {
  auto model = context.models.model(request.chat_template, request.fields.corrections);
  if (!model.ok()) return model.error();
  core::Call call = context.models.call(request.chat_template, std::move(request.input));
  return model.value()->parser(call, request.fields.call);
}

// The deltas of one chunk.  Adjacent deltas of one kind are joined.
class Deltas {
 public:
  void add(std::span<const parse::Event> events) {
    for (const parse::Event& event : events) add(event);
  }

  [[nodiscard]] json::Array take() { return std::exchange(entries_, {}); }

  // Appends later entries to those of an earlier chunk.
  static void append(json::Array& earlier, json::Array later) {
    for (json::Value& entry : later) earlier.push_back(std::move(entry));
  }

 private:
  void add(const parse::Event& event) {
    switch (event.kind) {
      case parse::EventKind::kContent: return add_text("content", event.text);
      case parse::EventKind::kReasoning: return add_text("reasoning_content", event.text);
      case parse::EventKind::kCallStart: {
        json::Object call{
            {"index", event.call}, {"id", event.id ? json::Value(*event.id) : json::Value()}, {"name", event.text}};
        return add_call(std::move(call));
      }
      case parse::EventKind::kCallId: return add_call({{"index", event.call}, {"id", event.text}});
      case parse::EventKind::kArguments:
        if (!event.text.empty()) add_call({{"index", event.call}, {"arguments", event.text}});
        return;
      case parse::EventKind::kMarker:
      case parse::EventKind::kCallEnd: return;
    }
  }

  void add_call(json::Object call) { entries_.emplace_back(json::Object{{"tool_call", std::move(call)}}); }

  void add_text(std::string_view field, const std::string& text) {
    if (text.empty()) return;
    if (!entries_.empty()) {
      if (json::Value* last = entries_.back().as_object().find(field)) {
        *last = json::Value(last->as_string() + text);
        return;
      }
    }
    entries_.emplace_back(json::Object{{std::string(field), text}});
  }

  json::Array entries_;
};

void feed_stream(const TextStream& stream, parse::Parser& parser) {
  Deltas deltas;
  const auto report = [&] {
    json::Array entries = deltas.take();
    if (!entries.empty()) stream.on_deltas(json::Value(std::move(entries)));
  };
  while (const std::optional<std::string> piece = stream.next()) {
    deltas.add(parser.feed(*piece));
    report();
  }
  deltas.add(parser.close());
  report();
}

// The message, the text of the ids, and how many of them were read: all up to the stop and with it.
Reply parse_ids(const OpContext& context, ParseRequest& request, const std::vector<tokenizer::TokenId>& ids) {
  auto model = context.models.model(request.chat_template, request.fields.corrections);
  if (!model.ok()) return model.error();
  core::Call call = context.models.call(request.chat_template, std::move(request.input));
  request.fields.call.by_spelling = false;
  const auto parsed = model.value()->parse_ids(call, std::move(request.fields.call), ids);
  if (!parsed.ok()) return parsed.error();
  json::Object reply = message_to_json(parsed.value().message);
  reply.set("text", utf8::to_valid(parsed.value().text));
  reply.set("read_ids", parsed.value().ends.size() + (parsed.value().stopped ? 1 : 0));
  return json::Value(std::move(reply));
}

}  // namespace

Reply op_parse(const OpContext& context, Fields& fields) {
  ParseRequest request = read_parse_request(fields);
  if (fields.value("ids") != nullptr) {
    const std::vector<tokenizer::TokenId> ids = fields.required_ids("ids");
    if (fields.value("text") != nullptr) fields.fail("`text` and `ids` exclude each other");
    if (Status status = fields.finish(); !status.ok()) return status.error();
    return parse_ids(context, request, ids);
  }
  const TextStream* stream = context.options.stream;
  const std::string text = stream == nullptr ? fields.required_text("text") : "";
  if (Status status = fields.finish(); !status.ok()) return status.error();

  auto parser = make_parser(context, request);
  if (!parser.ok()) return parser.error();
  if (stream != nullptr) {
    feed_stream(*stream, parser.value());
  } else {
    (void)parser.value().feed(text);
  }
  auto message = parser.value().finish();
  if (!message.ok()) return message.error();
  return json::Value(message_to_json(message.value()));
}

Reply op_parse_stream(const OpContext& context, Fields& fields) {
  ParseRequest request = read_parse_request(fields);
  const std::vector<std::string> chunks = fields.required_texts("chunks");
  if (Status status = fields.finish(); !status.ok()) return status.error();

  auto parser = make_parser(context, request);
  if (!parser.ok()) return parser.error();
  Deltas deltas;
  json::Array entries;
  for (const std::string& chunk : chunks) {
    deltas.add(parser.value().feed(chunk));
    entries.emplace_back(deltas.take());
  }
  deltas.add(parser.value().close());
  if (!entries.empty()) Deltas::append(entries.back().as_array(), deltas.take());
  auto message = parser.value().finish();
  if (!message.ok()) return message.error();
  return json::Value(json::Object{{"deltas", std::move(entries)}, {"message", message_to_json(message.value())}});
}

}  // namespace rondo::protocol
