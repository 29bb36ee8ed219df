#include "tester/checks.h"

#include <algorithm>

#include "audit/messages.h"
#include "base/printing.h"
#include "base/utf8.h"

namespace rondo::tester {
namespace {

std::string call_name(std::size_t index) { return "call " + std::to_string(index + 1); }

// Compares one field of what was read.
void compare(const std::string& what, std::string_view expected, std::string_view got, Findings& out) {
  if (expected != got) out.fail(what + " is another one", difference(expected, got));
}

void compare_call(const ExpectedCall& expected, const chat::ToolCall& got, const std::string& what, Findings& out) {
  if (expected.name) compare("the name of " + what, *expected.name, got.name, out);
  if (expected.id) compare("the id of " + what, *expected.id, got.id.value_or(""), out);
  if (expected.arguments) {
    const json::Value& value = *expected.arguments;
    const std::string wanted = value.is_string() ? canonical_arguments(value.as_string()) : audit::canonical(value);
    const std::string found = canonical_arguments(got.arguments);
    if (wanted != found) out.fail("the arguments of " + what + " are others", difference(wanted, found));
  }
  if (const std::string_view status = chat::to_string(got.status); status != expected.status) {
    std::string why;
    for (const chat::CallProblem& problem : got.problems) why += "; " + problem.sentence;
    out.fail("the status of " + what + " is " + std::string(status) + ", expected " + expected.status + why);
  }
}

void compare_calls(const std::vector<ExpectedCall>& expected, const chat::AssistantMessage& got, Findings& out) {
  if (expected.size() != got.tool_calls.size()) {
    return out.fail("there are " + std::to_string(got.tool_calls.size()) + " tool calls, expected " +
                        std::to_string(expected.size()),
                    {{ShownLine::Kind::kGot, quoted(to_text(got))}});
  }
  for (std::size_t i = 0; i < expected.size(); ++i) compare_call(expected[i], got.tool_calls[i], call_name(i), out);
}

std::string up_to(std::string_view text, std::size_t at) {
  constexpr std::size_t kShownBytes = 60;
  return quoted(utf8::tail(text.substr(0, at), kShownBytes));
}

}  // namespace

void Findings::begin(std::string check, int line) {
  if (std::ranges::find(result_.checks, check) == result_.checks.end()) result_.checks.push_back(check);
  check_ = std::move(check);
  line_ = line;
}

std::string Findings::about(const std::string& sentence) const {
  return subject_.empty() ? sentence : subject_ + ": " + sentence;
}

void Findings::fail(const std::string& sentence, std::vector<ShownLine> shown) {
  result_.failures.push_back({check_, about(sentence), std::move(shown), line_});
}

void Findings::fail(const std::string& sentence, const Error& error) {
  Error told = error;
  told.source.clear();
  std::vector<ShownLine> shown;
  std::string text = told.to_string();
  for (std::size_t at = 0; at != std::string::npos;) {
    const std::size_t end = text.find('\n', at);
    shown.push_back({ShownLine::Kind::kNote, printing::printable(text.substr(at, end - at), false)});
    at = end == std::string::npos ? end : end + 1;
  }
  fail(sentence, std::move(shown));
}

void Findings::note(const std::string& sentence) { result_.notes.push_back(about(sentence)); }

void check_pieces(const Bench& bench, const Turn& turn, Findings& out) {
  const auto read = [&](const std::vector<std::string_view>& pieces) -> Result<Reading> {
    auto parser = bench.parser(turn);
    if (!parser.ok()) return parser.error();
    return read_in_pieces(std::move(parser).value(), pieces);
  };
  const auto whole = read({turn.text});
  if (!whole.ok()) return out.fail("no parser can be made", whole.error());
  const std::string expected = to_text(whole.value().message);
  for (const Cut& cut : cuts_of(turn.text)) {
    const auto reading = read(cut.pieces);
    if (!reading.ok()) return out.fail("no parser can be made", reading.error());
    const Reading& found = reading.value();
    const std::string where = "in " + cut.name + " the text is read as another message";
    if (const std::string got = to_text(found.message); got != expected)
      return out.fail(where, difference(expected, got));
    if (found.events != expected)
      return out.fail("in " + cut.name + " the parts that were told are not the message",
                      difference(expected, found.events));
    if (!found.taken_back.empty()) return out.fail("in " + cut.name + ": " + found.taken_back);
  }
}

namespace {

// Removes the words with which the prompt itself begins the reasoning, because no message holds them.
void drop_begun(const chat::AssistantMessage& begun, chat::AssistantMessage& read) {
  if (begun.reasoning && read.reasoning && read.reasoning->starts_with(*begun.reasoning))
    read.reasoning->erase(0, begun.reasoning->size());
}

}  // namespace

void check_roundtrip(const Bench& bench, const Turn& turn, const json::Value& message, Findings& out) {
  auto parser = bench.parser(turn);
  if (!parser.ok()) return out.fail("no parser can be made", parser.error());
  const auto format = bench.format(turn.call);
  const std::string field = format.ok() ? format.value()->input.reasoning_field : "";
  const std::string expected = to_text(comparable(meant(message, field)));
  auto unfed = bench.parser(turn);
  if (!unfed.ok()) return out.fail("no parser can be made", unfed.error());
  chat::AssistantMessage read = read_in_pieces(std::move(parser).value(), {turn.text}).message;
  drop_begun(unfed.value().message(), read);
  const std::string got = to_text(comparable(std::move(read)));
  if (expected == got) return;
  std::vector<ShownLine> shown = difference(expected, got);
  shown.push_back({ShownLine::Kind::kNote, "read from " + quoted(turn.text)});
  out.fail("the message that is read from its own turn is another one", std::move(shown));
}

void check_parsed(const Bench& bench, const Turn& turn, const ParsedExpectation& expected, Findings& out) {
  auto parser = bench.parser(turn);
  if (!parser.ok()) return out.fail("no parser can be made", parser.error());
  const Reading reading = read_in_pieces(std::move(parser).value(), {turn.text});
  const chat::AssistantMessage& got = reading.message;
  if (expected.content) compare("the content", *expected.content, got.content, out);
  if (expected.reasoning && expected.reasoning->is_null() && got.reasoning)
    out.fail("there is reasoning, expected none: " + quoted(*got.reasoning));
  if (expected.reasoning && expected.reasoning->is_string()) {
    if (!got.reasoning) {
      out.fail("there is no reasoning, expected " + quoted(expected.reasoning->as_string()));
    } else {
      compare("the reasoning", expected.reasoning->as_string(), *got.reasoning, out);
    }
  }
  if (expected.calls) compare_calls(*expected.calls, got, out);
  if (expected.complete && *expected.complete != got.complete)
    out.fail(got.complete ? "the message is complete, expected one that is not"
                          : "the message is not complete, expected one that is");
  if (const std::string_view place = to_string(reading.place); expected.place && *expected.place != place)
    out.fail("behind the text the place is " + std::string(place) + ", expected " + *expected.place);
}

void check_accepts(const Bench& bench, const Turn& turn, std::string_view text, Findings& out) {
  bool is_bound = false;
  const auto at = bench.refused_at(turn, text, is_bound);
  if (!at.ok()) return out.fail("no grammar can be made", at.error());
  if (!at.value()) return;
  const std::size_t byte = *at.value();
  out.fail(byte == text.size()
               ? "the grammar wants more behind " + up_to(text, byte)
               : "the grammar refuses byte " + std::to_string(byte) + ", " +
                     quoted(text.substr(byte, utf8::decode(text, byte).size)) + ", behind " + up_to(text, byte));
}

void check_refuses(const Bench& bench, const Turn& turn, std::string_view text, Findings& out) {
  bool is_bound = false;
  const auto at = bench.refused_at(turn, text, is_bound);
  if (!at.ok()) return out.fail("no grammar can be made", at.error());
  if (at.value()) return;
  out.fail(is_bound ? "the grammar accepts " + quoted(text)
                    : "nothing is constrained without tools or a response schema, so nothing is refused");
}

void check_bridge(const Bench& bench, const Turn& turn, const BridgeExpectation& expected, Findings& out) {
  const auto crossed = bench.cross(turn, expected.new_messages);
  if (!crossed.ok()) return out.fail("there is no bridge", crossed.error());
  const Crossing& crossing = crossed.value();
  if (expected.appended) {
    if (*expected.appended != crossing.appended)
      out.fail("the bridge appends another text", difference(*expected.appended, crossing.appended));
    return;
  }
  const std::string& again = crossing.again->text();
  if (again == crossing.bridged || (expected.may_differ && crossing.agrees)) return;
  const Writers writers = crossing.again->writers();
  std::vector<ShownLine> shown = difference(again, crossing.bridged, {.expected = &writers});
  for (const std::string& lossy : crossing.lossy)
    shown.push_back({ShownLine::Kind::kNote, printing::printable(lossy, false)});
  out.fail(crossing.agrees ? "a re-render would change what the model has seen; the bridge keeps it (`may_differ`)"
                           : "the bridge is not what a re-render writes",
           std::move(shown));
}

}  // namespace rondo::tester
