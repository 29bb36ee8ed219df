// Parses what a model wrote, at once or while it is written.
#include <utility>

#include "base/utf8.h"
#include "capi/requests.h"
#include "json/print.h"
#include "protocol/readers.h"

namespace rondo::capi {
namespace {

struct ParseInput {
  core::Call call;
  core::ParseCall options;
};

Outcome<ParseInput> read_input(const Library& library, Fields& fields) {
  ParseInput out;
  out.call = read_call(library, fields, false);
  protocol::ParseFields asked = protocol::read_parse(fields, out.call.conversation.tools);
  if (asked.corrections) fields.fail("`corrections` belong to the options of the model");
  if (Status status = fields.finish(); !status.ok()) return status.error();
  out.options = std::move(asked.call);
  return out;
}

std::string json_text(const chat::AssistantMessage& message) {
  return json::to_compact(protocol::message_to_json(message));
}

Outcome<ResultObject> parse_text(const Library& library, const core::Model& model, const rondo_chat* chat,
                                 rondo_text given) {
  auto text = view_of(given, "text");
  if (!text.ok()) return text.failure();
  auto request = request_of(chat);
  if (!request.ok()) return request.failure();
  Fields fields(request.value());
  auto input = read_input(library, fields);
  if (!input.ok()) return input.failure();
  auto parser = model.parser(input.value().call, input.value().options);
  if (!parser.ok()) return parser.error();
  static_cast<void>(parser.value().feed(text.value()));  // only the message is needed here
  const auto message = parser.value().finish();
  if (!message.ok()) return message.error();
  ResultObject out;
  out.json = json_text(message.value());
  return out;
}

Outcome<ResultObject> parse_ids(const Library& library, const core::Model& model, const rondo_chat* chat,
                                rondo_ids given) {
  auto ids = span_of(given, "ids");
  if (!ids.ok()) return ids.failure();
  auto request = request_of(chat);
  if (!request.ok()) return request.failure();
  Fields fields(request.value());
  auto input = read_input(library, fields);
  if (!input.ok()) return input.failure();
  input.value().options.by_spelling = false;
  const auto parsed = model.parse_ids(input.value().call, std::move(input.value().options), ids.value());
  if (!parsed.ok()) return parsed.error();
  ResultObject out;
  out.json = json_text(parsed.value().message);
  out.text = utf8::to_valid(parsed.value().text);
  return out;
}

Outcome<std::shared_ptr<ParserObject>> start_parser(const Library& library, rondo_model handle,
                                                    const rondo_chat* chat) {
  auto object = object_of(library, handle);
  if (!object.ok()) return object.failure();
  const std::shared_ptr<const core::Model>& model = object.value()->model;
  auto request = request_of(chat);
  if (!request.ok()) return request.failure();
  Fields fields(request.value());
  const bool by_spelling = fields.flag("by_spelling", model->tokenizer() == nullptr);
  auto input = read_input(library, fields);
  if (!input.ok()) return input.failure();
  input.value().options.by_spelling = by_spelling;
  auto parser = model->parser(input.value().call, input.value().options);
  if (!parser.ok()) return parser.error();
  return std::shared_ptr<ParserObject>(new ParserObject{{}, core::ParserStream(model, std::move(parser).value())});
}

// Leaves out the format's own syntax.
core::ParserStream::Events shown(core::ParserStream::Events events) {
  std::erase_if(events, [](const parse::Event& event) { return event.kind == parse::EventKind::kMarker; });
  return events;
}

Outcome<ResultObject> feed_ids(core::ParserStream& stream, rondo_ids given) {
  auto ids = span_of(given, "ids");
  if (!ids.ok()) return ids.failure();
  if (stream.is_closed()) return invalid("the parser has ended");
  if (!stream.takes_ids()) return Error(ErrorCode::kUnsupported, "the model brings no tokenizer; feed text");
  auto events = stream.feed(ids.value());
  if (!events.ok()) return events.error();
  ResultObject out;
  out.events = shown(std::move(events).value());
  return out;
}

Outcome<ResultObject> feed_text(core::ParserStream& stream, rondo_text given) {
  auto text = view_of(given, "text");
  if (!text.ok()) return text.failure();
  if (stream.is_closed()) return invalid("the parser has ended");
  ResultObject out;
  out.events = shown(stream.feed(text.value()));
  return out;
}

Outcome<ResultObject> message_of(const core::ParserStream& stream) {
  ResultObject out;
  out.json = json_text(stream.parser().message());
  out.text = stream.text();
  return out;
}

Outcome<ResultObject> arguments_of(const core::ParserStream& stream, std::size_t index) {
  const parse::PartialValue* value = stream.arguments(index);
  if (value == nullptr) return invalid("the message has no call " + std::to_string(index) + " so far");
  const std::optional<std::string> open = value->open_path();
  ResultObject out;
  out.text = json::to_compact(value->value());
  out.json = json::to_compact(json::Object{{"open", open ? json::Value(*open) : json::Value()}});
  return out;
}

Outcome<ResultObject> end_of(core::ParserStream& stream) {
  ResultObject out;
  out.events = shown(stream.close());
  const auto message = stream.parser().finish();
  if (!message.ok()) return message.error();
  out.json = json_text(message.value());
  out.text = stream.text();
  return out;
}

}  // namespace
extern "C" {

rondo_status rondo_parse(rondo_library* library, rondo_model model, const rondo_chat* chat, rondo_text text,
                         rondo_result* result, rondo_error* error) {
  return answer(library, model, result, error, [&](const Library& open, const ModelObject& object) {
    return parse_text(open, *object.model, chat, text);
  });
}

rondo_status rondo_parse_ids(rondo_library* library, rondo_model model, const rondo_chat* chat, rondo_ids ids,
                             rondo_result* result, rondo_error* error) {
  return answer(library, model, result, error, [&](const Library& open, const ModelObject& object) {
    return parse_ids(open, *object.model, chat, ids);
  });
}

rondo_status rondo_parser_open(rondo_library* library, rondo_model model, const rondo_chat* chat, rondo_parser* parser,
                               rondo_error* error) {
  return open_handle(library, parser, error, [&](const Library& open) { return start_parser(open, model, chat); });
}

rondo_status rondo_parser_feed_ids(rondo_library* library, rondo_parser parser, rondo_ids ids, rondo_result* result,
                                   rondo_error* error) {
  return answer_alone(library, parser, result, error,
                      [&](core::ParserStream& stream) { return feed_ids(stream, ids); });
}

rondo_status rondo_parser_feed_text(rondo_library* library, rondo_parser parser, rondo_text text, rondo_result* result,
                                    rondo_error* error) {
  return answer_alone(library, parser, result, error,
                      [&](core::ParserStream& stream) { return feed_text(stream, text); });
}

rondo_status rondo_parser_message(rondo_library* library, rondo_parser parser, rondo_result* result,
                                  rondo_error* error) {
  return answer_alone(library, parser, result, error, message_of);
}

rondo_status rondo_parser_arguments(rondo_library* library, rondo_parser parser, size_t index, rondo_result* result,
                                    rondo_error* error) {
  return answer_alone(library, parser, result, error,
                      [&](const core::ParserStream& stream) { return arguments_of(stream, index); });
}

rondo_status rondo_parser_end(rondo_library* library, rondo_parser parser, rondo_result* result, rondo_error* error) {
  return answer_alone(library, parser, result, error, end_of);
}

rondo_status rondo_parser_close(rondo_library* library, rondo_parser parser) { return close_handle(library, parser); }

}  // extern "C"

}  // namespace rondo::capi
