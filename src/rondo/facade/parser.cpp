#include "rondo/parser.h"

#include <utility>

#include "core/stream.h"
#include "facade/convert.h"
#include "json/print.h"
#include "parse/partial_value.h"

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
  std::vector<std::unique_ptr<parse::PartialValue>> arguments;  // of each call so far

  // The events without the format's own syntax.
  std::vector<ParseEvent> take(const core::ParserStream::Events& events) {
    std::vector<ParseEvent> out;
    for (const parse::Event& event : events) {
      const auto kind = kind_of(event.kind);
      if (!kind) continue;
      if (*kind == ParseEvent::Kind::kCallStart) arguments.push_back(std::make_unique<parse::PartialValue>());
      if (*kind == ParseEvent::Kind::kArguments) arguments[event.call]->feed(event.text);
      out.push_back({*kind, event.text, event.call, event.id});
    }
    return out;
  }
};

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
  return Parser(std::unique_ptr<State>(new State{{inner, std::move(parser).value()}, {}}));
}

Result<std::vector<ParseEvent>> Parser::feed(const std::vector<std::int32_t>& ids) {
  if (state_->stream.is_closed()) return Error(ErrorCode::kInvalidArgument, "the parser is closed");
  const auto events = state_->stream.feed(ids);
  if (!events.ok()) return events.error();
  return state_->take(events.value());
}

Result<std::vector<ParseEvent>> Parser::feed(std::string_view text) {
  if (state_->stream.is_closed()) return Error(ErrorCode::kInvalidArgument, "the parser is closed");
  return state_->take(state_->stream.feed(text));
}

std::vector<ParseEvent> Parser::close() { return state_->take(state_->stream.close()); }

Parsed Parser::message() const { return facade::parsed_of(state_->stream.parser().message()); }

std::string Parser::partial_arguments(std::size_t index) const {
  return index < state_->arguments.size() ? json::to_compact(state_->arguments[index]->value()) : "null";
}

Parsed Parser::finish() {
  static_cast<void>(close());
  return message();
}

}  // namespace rondo
