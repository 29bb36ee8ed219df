#include "tests/support/format_laws.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "analysis/message_rules.h"
#include "base/utf8.h"
#include "format/units.h"
#include "grammar/matcher.h"
#include "grammar/turn.h"
#include "json/parse.h"
#include "json/print.h"
#include "parse/parser.h"
#include "render/bridge.h"
#include "template/chat_template.h"
#include "tests/support/byte_tokenizer.h"
#include "tests/support/parsed.h"
#include "tests/support/random_message.h"
#include "tests/support/read_back.h"
#include "tests/support/read_law.h"

namespace rondo::test {
namespace {

using parse::EventKind;

tmpl::ApplyOptions apply_options() {
  tmpl::ApplyOptions options;
  options.now = jinja::LocalTime{2026, 3, 14, 15, 9, 26};
  return options;
}

// A law's question: the message, as the template wrote it.
struct Question {
  const Specimen& specimen;
  const MessageParts& wanted;
  json::Value message;
  json::Value tools;
  jinja::Rendered full;
  WrittenTurn turn;
};

const json::Value& user_message() {
  static const json::Value kMessage = json::Object{{"role", "user"}, {"content", "Hi."}};
  return kMessage;
}

// "" or why the template does not show the message behind its prompt.
std::string write(Question& question) {
  chat::Conversation conversation;
  conversation.messages = json::Array{user_message()};
  conversation.tools = question.tools;
  const jinja::Template& chat_template = *question.specimen.chat_template;
  conversation.add_generation_prompt = true;
  const auto prompt = tmpl::apply(chat_template, conversation, apply_options());
  conversation.add_generation_prompt = false;
  conversation.messages.push_back(question.message);
  auto full = tmpl::apply(chat_template, conversation, apply_options());
  if (!prompt.ok()) return "no prompt: " + prompt.error().to_string();
  if (!full.ok()) return "no turn: " + full.error().to_string();
  const std::string& start = prompt.value().text.bytes();
  const std::string& text = full.value().text.bytes();
  if (!text.starts_with(start)) return "the turn does not begin with its prompt";
  question.turn = {start, text.substr(start.size())};
  question.full = std::move(full).value();
  return "";
}

parse::Options parse_options(const Question& question) {
  parse::Options options;
  options.tools = question.tools;
  options.prompt_tail = question.turn.prompt;
  return options;
}

std::string shown(std::string_view text) { return json::to_compact(json::Value(text)); }

// ---- Reading

std::string wrong_ids(const Question& question, const chat::AssistantMessage& got) {
  if (!question.specimen.shape.writes_ids()) return "";
  const json::Array& calls = question.message.find("tool_calls")->as_array();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::string wanted(*calls[i].find_string("id"));
    if (got.tool_calls[i].id != wanted) return "id " + got.tool_calls[i].id.value_or("none") + " for " + wanted;
  }
  return "";
}

std::string misread(const Question& question) {
  const auto got = parse::parse(question.specimen.format, parse_options(question), question.turn.text);
  REQUIRE(got.ok());
  std::string wrong = difference(question.wanted, got.value(), question.specimen.format->trims);
  if (wrong.empty() && !question.wanted.calls.empty()) wrong = wrong_ids(question, got.value());
  return wrong.empty() ? "" : wrong + "; all of it: " + parse::testing::show(got.value());
}

// What is trimmed without need is lost as well.
std::string needless_trims(const Specimen& specimen) {
  const format::Trims& trims = specimen.format->trims;
  if ((trims.content_begin || trims.content_end) && !specimen.shape.trims_content)
    return "content is said to be trimmed";
  if ((trims.reasoning_begin || trims.reasoning_end) && !specimen.shape.trims_reasoning)
    return "reasoning is said to be trimmed";
  return "";
}

std::string check_reading(const Question& question, bool is_excused) {
  const std::string wrong = misread(question);
  const bool is_lost = !wrong.empty() && is_told(*question.specimen.format, question.wanted);
  if (is_excused) return is_lost ? "" : wrong;
  return is_lost ? wrong : needless_trims(question.specimen);
}

// ---- Pieces

// Events of one kind that follow each other are one.
std::string read_in(const Question& question, const std::vector<std::string>& pieces) {
  parse::Parser parser(question.specimen.format, parse_options(question));
  std::string out;
  std::optional<parse::Event> last;
  std::size_t covered = 0;
  const auto flush = [&] {
    if (last) out += std::to_string(static_cast<int>(last->kind)) + shown(last->text) + std::to_string(last->end) + " ";
  };
  const auto take = [&](std::span<const parse::Event> events) {
    for (const parse::Event& event : events) {
      if (event.begin != covered) out += "(gap)";
      covered = event.end;
      const bool is_start = event.kind == EventKind::kCallStart || event.kind == EventKind::kCallEnd;
      if (last && last->kind == event.kind && last->call == event.call && !is_start) {
        last->text += event.text;
        last->end = event.end;
        continue;
      }
      flush();
      last = event;
    }
  };
  for (const std::string& piece : pieces) take(parser.feed(piece));
  take(parser.close());
  flush();
  return out + "\n" + parse::testing::show(parser.finish().value());
}

std::string check_pieces(const Question& question, std::uint64_t seed) {
  const std::string& text = question.turn.text;
  const std::string whole = read_in(question, {text});
  std::vector<std::string> bytes;
  for (const char byte : text) bytes.emplace_back(1, byte);
  if (const std::string got = read_in(question, bytes); got != whole) return "byte by byte " + got + "\nwhole " + whole;
  Random random(seed);
  for (int i = 0; i < 2 && !text.empty(); ++i) {
    std::size_t first = random.below(text.size());
    std::size_t second = random.below(text.size());
    if (first > second) std::swap(first, second);
    const std::vector<std::string> pieces = {text.substr(0, first), text.substr(first, second - first),
                                             text.substr(second)};
    const std::string got = read_in(question, pieces);
    if (got == whole) continue;
    std::string objection = "cut ";
    for (const std::string& part : {shown(pieces[0]), shown(pieces[1]), ": " + got, "\nwhole " + whole})
      objection += part;
    return objection;
  }
  return "";
}

// ---- Grammars

// Up to the end of the stop.
std::string sampled_text(const Question& question) {
  const std::string& text = question.turn.text;
  return text.substr(0, text.size() - question.specimen.shape.gap.size());
}

Result<grammar::TurnGrammar> grammar_of(const Question& question, grammar::ToolChoice choice) {
  grammar::TurnOptions options;
  options.tools = question.tools;
  options.prompt_tail = question.turn.prompt;
  options.choice = choice;
  options.laziness = grammar::Laziness::kNever;
  return grammar::turn_grammar(*question.specimen.format, options);
}

std::string check_grammar(const Question& question) {
  const std::string text = sampled_text(question);
  for (const auto choice : {grammar::ToolChoice::kAuto, grammar::ToolChoice::kRequired}) {
    if (choice == grammar::ToolChoice::kRequired && question.wanted.calls.empty()) continue;
    const char* name = choice == grammar::ToolChoice::kAuto ? "auto" : "required";
    const auto made = grammar_of(question, choice);
    if (!made.ok()) return std::string(name) + ": " + made.error().to_string();
    if (!made.value().is_needed || grammar::accepts(made.value().grammar, text)) continue;
    grammar::Matcher matcher(made.value().grammar);
    std::size_t at = 0;
    for (std::size_t size = 0; at < text.size(); at += size) {
      size = utf8::decode(text, at).size;
      if (!matcher.feed(std::string_view(text).substr(at, size))) break;
    }
    return std::string(name) + ": refused at " + std::to_string(at) + ", before " + shown(text.substr(at, 60));
  }
  return "";
}

std::string check_samples(const Question& question, std::uint64_t seed) {
  static const json::Value kTools = tools_of_every_type();
  constexpr std::size_t kTexts = 1;
  ReadTally tally;
  for (const GrammarQuestion& asked : grammar_questions(question.specimen.format, kTools, question.turn.prompt))
    count_readings(asked, kTexts, seed, tally);
  return tally.objections.empty() ? "" : tally.objections.front();
}

// Offsets in the turn of visible characters that the template itself wrote around a call: those behind the name of the last
// call, and of a single call all of them.  A damaged call in front of a whole one is text, which may stand there.  Where
// strings stand without quotes, what parts two arguments may be part of the first.
std::vector<std::size_t> structure_of(const Question& question) {
  const TemplateShape& shape = question.specimen.shape;
  const std::string& text = question.turn.text;
  const std::size_t prompt = question.turn.prompt.size();
  const std::size_t name = text.rfind(question.wanted.names.back());
  if (name == std::string::npos) return {};
  const std::string opener = format::numbered(shape.calls_begin(), 1);
  std::size_t from = name;
  if (question.wanted.calls.size() == 1 && !opener.empty()) from = std::min(from, text.rfind(opener, name));
  const std::size_t end = text.size() - shape.gap.size() - shape.end_of(true).size();
  std::vector<std::size_t> out;
  std::size_t first_argument = end;
  std::size_t last_argument = end;
  std::size_t at = 0;
  for (const text::Run& run : question.full.text.runs()) {
    const std::size_t begin = at - std::min(at, prompt);
    at += run.size;
    if (at <= prompt || begin < from || begin >= end) continue;
    if (run.kind != text::RunKind::kLiteral) {
      if (begin > name) first_argument = std::min(first_argument, begin);
      last_argument = begin;
      continue;
    }
    for (std::size_t i = begin; i < std::min(end, at - prompt); ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      if (byte > ' ' && (byte & 0xC0) != 0x80) out.push_back(i);
    }
  }
  if (shape.has_raw_values())
    std::erase_if(out, [&](std::size_t i) { return i > first_argument && i < last_argument; });
  return out;
}

// Whether the text is that of another message: one that the template writes so, or, where content stands behind calls, one
// whose content is the rest of what closed them.
bool is_other_message(const Question& question, const std::string& text) {
  const auto got = parse::parse(question.specimen.format, parse_options(question), text);
  REQUIRE(got.ok());
  MessageParts other;
  other.reasoning = got.value().reasoning.value_or("");
  other.content = got.value().content;
  other.names.clear();
  for (const chat::ToolCall& call : got.value().tool_calls) {
    const auto arguments = json::parse(call.arguments);
    if (!arguments.ok() || !arguments.value().is_object()) return false;
    other.names.push_back(call.name);
    other.calls.push_back(arguments.value().as_object());
  }
  if (question.specimen.shape.content_behind && other.content != question.wanted.content &&
      other.calls == question.wanted.calls)
    return true;
  Question again{question.specimen, other, message_of(*question.specimen.format, other), question.tools, {}, {}};
  return write(again).empty() && sampled_text(again) == text;
}

std::string check_refusal(const Question& question, std::uint64_t seed) {
  const auto made = grammar_of(question, grammar::ToolChoice::kRequired);
  if (!made.ok()) return made.error().to_string();
  const std::string text = sampled_text(question);
  const std::vector<std::size_t> places = structure_of(question);
  if (places.empty()) return "";
  Random random(seed);
  for (int i = 0; i < 4; ++i) {
    const std::size_t at = places[random.below(places.size())];
    std::string damaged = text;
    damaged.erase(at, utf8::decode(text, at).size);
    if (grammar::accepts(made.value().grammar, damaged) && !is_other_message(question, damaged))
      return "accepted without the character at " + std::to_string(at) + ": " + shown(damaged);
  }
  return "";
}

// ---- Bridges

// The marks that vocabularies have as tokens, and what ends a turn.
std::vector<std::string> tokens_of(const TemplateShape& shape) {
  std::vector<std::string> out;
  const auto add = [&out](std::string_view text) {
    const bool has_counter = format::before_counter(text) != text;  // no token is numbered
    if (!text.empty() && !has_counter && std::ranges::find(out, text) == out.end()) out.emplace_back(text);
  };
  add(format::trimmed(shape.stop));
  add(format::trimmed(shape.call_stop));
  TemplateShape copy = shape;
  for (const std::string* mark : marks_of(copy)) {
    for (std::size_t at = mark->find("<|"); at != std::string::npos; at = mark->find("<|", at + 1)) {
      const std::size_t end = mark->find("|>", at);
      if (end != std::string::npos) add(std::string_view(*mark).substr(at, end + 2 - at));
    }
  }
  return out;
}

std::vector<tokenizer::TokenId> ids_of(const std::vector<tokenizer::Piece>& pieces) {
  std::vector<tokenizer::TokenId> out;
  for (const tokenizer::Piece& piece : pieces) out.push_back(piece.id);
  return out;
}

json::Array messages_behind(const render::ParsedCompletion& said) {
  json::Array out;
  for (std::size_t i = 0; i < said.message.tool_calls.size(); ++i) {
    json::Object result{{"role", "tool"}, {"content", "fine " + std::to_string(i)}};
    result.set("tool_call_id", said.message.tool_calls[i].id.value_or("abcdef00" + std::to_string(i)));
    result.set("name", said.message.tool_calls[i].name);
    out.push_back(std::move(result));
  }
  if (out.empty()) out.push_back(json::Object{{"role", "user"}, {"content", "Go on."}});
  return out;
}

chat::Conversation conversation_with(const json::Value& tools) {
  chat::Conversation out;
  out.tools = tools;
  return out;
}

// The laws of ids: a template with a tokenizer of its marks, and the conversation's first messages.
class BridgeLaw {
 public:
  BridgeLaw(Law law, const Question& question)
      : law_(law),
        question_(question),
        tokens_(tokens_of(question.specimen.shape)),
        vocabulary_(byte_tokenizer(tokens_, std::string(format::trimmed(question.specimen.shape.stop)))),
        options_(apply_options()),
        base_(conversation_with(question.tools)) {}

  Verdict check(std::uint64_t seed) const {
    const json::Array messages{user_message()};
    const auto rendered = render::render_messages(context_, messages, true);
    if (!rendered.ok()) return {true, rendered.error().to_string()};
    const Ids prompt = encoded(rendered.value(), rendered.value().text.size());
    const Ids turn = encoded(question_.full, question_.turn.prompt.size() + sampled_text(question_).size());
    if (turn.size() < prompt.size() || !std::equal(prompt.begin(), prompt.end(), turn.begin()))
      return {true, "the prompt's ids are no beginning"};
    const Ids completion(turn.begin() + static_cast<std::ptrdiff_t>(prompt.size()), turn.end());
    Verdict whole = extend(prompt, completion, true);
    if (!whole.objection.empty() || law_ == Law::kReadsIds) return whole;
    // Of a completion that is cut off only the old ids and what the template says of the new turns can be told.
    const std::size_t size = Random(seed).below(completion.size() + 1);
    const Verdict cut =
        extend(prompt, Ids(completion.begin(), completion.begin() + static_cast<std::ptrdiff_t>(size)), false);
    if (!cut.objection.empty()) return {true, "cut off behind " + std::to_string(size) + " tokens: " + cut.objection};
    return whole;
  }

 private:
  using Ids = std::vector<tokenizer::TokenId>;

  [[nodiscard]] Ids encoded(const jinja::Rendered& rendered, std::size_t end) const {
    return ids_of(render::encode_range(context_, rendered, 0, end, render::ContentSpecials::kText));
  }

  [[nodiscard]] Verdict extend(const Ids& prompt, const Ids& completion, bool is_whole) const {
    const render::CompletionReader reader(question_.specimen.format, *vocabulary_, question_.tools);
    const auto said = reader.read(profile_, prompt, completion);
    if (!said.ok()) return {true, "not read: " + said.error().to_string()};
    const std::string wrong = difference(question_.wanted, said.value().message, question_.specimen.format->trims);
    const bool is_explained = wrong.empty() || may_stop_early(*question_.specimen.format, question_.wanted);
    if (law_ == Law::kReadsIds)
      return {true, is_explained ? "" : wrong + "; all of it: " + parse::testing::show(said.value().message)};
    // What cannot be read is counted as that alone.
    if (is_whole && !wrong.empty()) return {false, ""};
    json::Array messages{user_message()};
    render::BridgeRequest request;
    request.prompt_ids = prompt;
    request.completion_ids = completion;
    request.completion = &said.value();
    request.messages = messages;
    request.new_messages = messages_behind(said.value());
    request.find_lossy = false;
    const auto bridged = render::bridge(context_, profile_, request);
    messages.push_back(render::history_message(said.value(), request.new_messages));
    messages.insert(messages.end(), request.new_messages.begin(), request.new_messages.end());
    const auto again = render::render_messages(context_, messages, true);
    if (!again.ok()) return {false, ""};
    if (!bridged.ok()) return {true, "no bridge: " + bridged.error().to_string()};
    Ids old = prompt;
    old.insert(old.end(), completion.begin(), completion.end());
    const Ids& ids = bridged.value().ids;
    if (ids.size() < old.size() || !std::equal(old.begin(), old.end(), ids.begin())) return {true, "old ids changed"};
    const std::string& text = again.value().text.bytes();
    if (!is_whole) {
      const std::string_view opening = std::string_view(text).substr(text.rfind(question_.specimen.shape.header.open));
      return {true, bridged.value().appended_text.ends_with(opening) ? "" : shown(bridged.value().appended_text)};
    }
    const Ids all = encoded(again.value(), text.size());
    if (all.size() < old.size() || !std::equal(old.begin(), old.end(), all.begin())) return {false, ""};
    if (all == ids) return {true, ""};
    const auto rest = vocabulary_->decode(Ids(all.begin() + static_cast<std::ptrdiff_t>(old.size()), all.end()), {});
    return {true, "appended " + shown(bridged.value().appended_text) + " for " + shown(rest.ok() ? rest.value() : "?")};
  }

  Law law_;
  const Question& question_;
  std::vector<std::string> tokens_;
  std::shared_ptr<const tokenizer::Tokenizer> vocabulary_;
  tmpl::ApplyOptions options_;
  chat::Conversation base_;
  render::TurnContext context_{*question_.specimen.chat_template, *vocabulary_, base_, options_};
  render::TurnProfile profile_ = render::probe_turns(context_);
};

// ---- History

// Behind the prompt's own words of reasoning the parser's message has them; a template that trims has said so.
std::string check_return(const Question& question) {
  const auto got = parse::parse(question.specimen.format, parse_options(question), question.turn.text);
  REQUIRE(got.ok());
  chat::Conversation conversation;
  conversation.messages = json::Array{user_message(), chat::to_history(got.value(), 0)};
  conversation.tools = question.tools;
  tmpl::shape(conversation.messages, question.specimen.rules);
  const auto again = tmpl::apply(*question.specimen.chat_template, conversation, apply_options());
  if (!again.ok()) return again.error().to_string();
  const std::string wanted = question.turn.prompt + question.turn.text;
  const std::string& text = again.value().text.bytes();
  return text == wanted ? "" : shown(text) + " for " + shown(wanted);
}

// ---- JSON

std::string check_travel(const format::Format& format) {
  const std::string out = json::to_compact(format::to_json(format));
  const auto back = format::from_json(json::parse(out).value());
  if (!back.ok()) return back.error().to_string() + " in " + out;
  const std::string again = json::to_compact(format::to_json(back.value()));
  return again == out && back.value().to_string() == format.to_string() ? "" : "other JSON: " + again + " for " + out;
}

}  // namespace

std::string_view to_string(Law law) {
  switch (law) {
    case Law::kReads: return "reads";
    case Law::kKeepsAll: return "keeps all";
    case Law::kPieces: return "pieces";
    case Law::kAccepts: return "accepts";
    case Law::kIsRead: return "is read";
    case Law::kRefuses: return "refuses";
    case Law::kReadsIds: return "reads ids";
    case Law::kBridges: return "bridges";
    case Law::kReturns: return "returns";
    case Law::kTravels: return "travels";
  }
  return "";
}

Specimen specimen_of(const TemplateShape& shape) { return specimen_of(shape, template_text(shape)); }

Specimen specimen_of(const TemplateShape& shape, const std::string& source) {
  auto compiled = jinja::Template::compile(source, {}, "generated");
  REQUIRE_MESSAGE(compiled.ok(), compiled.error().to_string() << "\n" << source);
  auto format = analysis::analyse(*compiled.value(), {});
  REQUIRE_MESSAGE(format.ok(), format.error().to_string() << "\n" << source);
  return {shape, compiled.value(), format.value(),
          analysis::find_message_rules(*compiled.value(), {}, *format.value())};
}

Verdict check_law(Law law, const Specimen& specimen, const MessageParts& wanted, std::uint64_t seed) {
  if (const auto fault = specimen.format->verify()) return {true, "the format does not fit together: " + *fault};
  if (law == Law::kTravels) return {true, check_travel(*specimen.format)};
  Question question{specimen, wanted, message_of(*specimen.format, wanted), tools_for(wanted), {}, {}};
  // Of a template without calls, or whose turn the grammar would not know, there is nothing to say.
  if ((law == Law::kRefuses || law == Law::kIsRead) && wanted.calls.empty()) return {false, ""};
  // The markup of content behind calls is none of theirs.
  if (law == Law::kRefuses && specimen.shape.content_behind && !wanted.content.empty()) return {false, ""};
  if (const std::string why = write(question); !why.empty()) return {true, why};
  // What cannot be read is counted as that alone.
  const bool needs_reading = law == Law::kAccepts || law == Law::kRefuses || law == Law::kReadsIds ||
                             law == Law::kBridges || law == Law::kReturns;
  if (needs_reading && !misread(question).empty()) return {false, ""};
  switch (law) {
    case Law::kReads: return {true, check_reading(question, true)};
    case Law::kKeepsAll: return {true, check_reading(question, false)};
    case Law::kPieces: return {true, check_pieces(question, seed)};
    case Law::kAccepts: return {true, check_grammar(question)};
    case Law::kIsRead: return {true, check_samples(question, seed)};
    case Law::kRefuses: return {true, check_refusal(question, seed)};
    case Law::kReadsIds:
    case Law::kBridges: return BridgeLaw(law, question).check(seed);
    case Law::kReturns: return {true, check_return(question)};
    default: return {true, ""};
  }
}

}  // namespace rondo::test
