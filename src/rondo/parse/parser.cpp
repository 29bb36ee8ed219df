#include "parse/parser.h"

#include <cassert>

#include "parse/machine.h"

namespace rondo::parse {

class Parser::State {
 public:
  std::unique_ptr<Machine> machine;
};

std::shared_ptr<const Syntax> compile(std::shared_ptr<const format::Format> format, Options options) {
  assert(format != nullptr);
  return std::make_shared<const Syntax>(std::move(format), std::move(options));
}

Parser::Parser(std::shared_ptr<const format::Format> format, Options options) : state_(std::make_unique<State>()) {
  const std::string prompt_tail = std::move(options.prompt_tail);
  state_->machine = Machine::make(compile(std::move(format), std::move(options)), prompt_tail);
}

Parser::Parser(std::shared_ptr<const Syntax> syntax, std::string_view prompt_tail, std::string_view begun)
    : state_(std::make_unique<State>()) {
  assert(syntax != nullptr);
  state_->machine = Machine::make(std::move(syntax), prompt_tail, begun);
}

Parser::~Parser() = default;
Parser::Parser(Parser&&) noexcept = default;
Parser& Parser::operator=(Parser&&) noexcept = default;

std::span<const Event> Parser::feed(std::string_view text) {
  state_->machine->forget_events();
  state_->machine->feed(text);
  return state_->machine->events();
}

std::span<const Event> Parser::feed(std::span<const Piece> pieces) {
  state_->machine->forget_events();
  for (const Piece& piece : pieces) {
    if (piece.is_special) {
      state_->machine->feed_special(piece.bytes);
    } else {
      state_->machine->feed(piece.bytes, Machine::Input::kTokenText);
    }
  }
  return state_->machine->events();
}

std::span<const Event> Parser::close() {
  state_->machine->forget_events();
  state_->machine->close();
  return state_->machine->events();
}

const chat::AssistantMessage& Parser::message() const { return state_->machine->message(); }

Result<chat::AssistantMessage> Parser::finish() {
  state_->machine->close();
  if (state_->machine->options().strict && state_->machine->mistake()) return *state_->machine->mistake();
  return state_->machine->message();
}

Place Parser::place() const { return state_->machine->place(); }
bool Parser::ended() const { return state_->machine->ended(); }
bool Parser::ends_turn(std::string_view text, std::string_view stop) const {
  return state_->machine->syntax().ends_turn(text, stop);
}
std::string Parser::closing_text() const { return state_->machine->closing_text(); }
bool Parser::closes_from_end() const { return state_->machine->closes_from_end(); }

Result<chat::AssistantMessage> parse(std::shared_ptr<const format::Format> format, Options options,
                                     std::string_view text) {
  Parser parser(std::move(format), std::move(options));
  (void)parser.feed(text);
  return parser.finish();
}

}  // namespace rondo::parse
