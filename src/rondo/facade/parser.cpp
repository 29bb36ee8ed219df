#include "rondo/parser.h"

#include <utility>

#include "core/stream.h"
#include "facade/convert.h"
#include "json/print.h"

namespace rondo {
namespace {

std::optional<ParseEvent::Kind> kind_of(parse::EventKind kind) {
  switch (kind) {
    case parse::EventKind::kMarker: return std::nullopt;
    case parse::EventKind::kContent: return ParseEvent::Kind::kContent;
    case parse::EventKind::kReasoning: return ParseEvent::Kind::kReasoning;
    case parse::EventKind::kCallStart: return ParseEvent::Kind::kCallStart;
    case parse::EventKind::kCallId: return ParseEvent::Kind::kCallId;
    case parse::EventKind::kArguments: return ParseEvent::Kind::kArguments;
    case parse::EventKind::kCallEnd: return ParseEvent::Kind::kCallEnd;
  }
  return std::nullopt;
}

}  // namespace

struct Parser::State {
  core::ParserStream stream;
};

namespace {

// The events without the format's own syntax.
std::vector<ParseEvent> shown(const core::ParserStream::Events& events) {
  std::vector<ParseEvent> out;
  for (const parse::Event& event : events) {
    if (const auto kind = kind_of(event.kind)) out.push_back({*kind, event.text, event.call, event.id});
  }
  return out;
}

}  // namespace

Parser::Parser(std::unique_ptr<State> state) : state_(std::move(state)) {}
Parser::~Parser() = default;
Parser::Parser(Parser&&) noexcept = default;
Parser& Parser::operator=(Parser&&) noexcept = default;

Result<Parser> Parser::start(const Model& model, const Chat& chat) {
  auto call = facade::call_of(chat);
  if (!call.ok()) return call.error();
  const std::shared_ptr<const core::Model>& inner = Access::model(model);
  auto parser = inner->parser(call.value(), {});
  if (!parser.ok()) return parser.error();
  return Parser(std::unique_ptr<State>(new State{{inner, std::move(parser).value()}}));
}

Result<std::vector<ParseEvent>> Parser::feed(const std::vector<std::int32_t>& ids) {
  if (state_->stream.is_closed()) return Error(ErrorCode::kInvalidArgument, "the parser is closed");
  const auto events = state_->stream.feed(ids);
  if (!events.ok()) return events.error();
  return shown(events.value());
}

Result<std::vector<ParseEvent>> Parser::feed(std::string_view text) {
  if (state_->stream.is_closed()) return Error(ErrorCode::kInvalidArgument, "the parser is closed");
  return shown(state_->stream.feed(text));
}

std::vector<ParseEvent> Parser::close() { return shown(state_->stream.close()); }

Parsed Parser::message() const { return facade::parsed_of(state_->stream.parser().message()); }

std::string Parser::partial_arguments(std::size_t index) const {
  const parse::PartialValue* value = state_->stream.arguments(index);
  return value != nullptr ? json::to_compact(value->value()) : "null";
}

std::optional<std::string> Parser::open_argument(std::size_t index) const {
  const parse::PartialValue* value = state_->stream.arguments(index);
  return value != nullptr ? value->open_path() : std::nullopt;
}

Parsed Parser::finish() {
  static_cast<void>(close());
  return message();
}

}  // namespace rondo
