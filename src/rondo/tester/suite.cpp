#include "tester/suite.h"

#include <array>
#include <set>
#include <utility>

#include "base/files.h"
#include "base/printing.h"
#include "core/fields.h"
#include "tester/reader.h"

namespace rondo::tester {
namespace {

// Adds to a case what all cases share.
json::Value with_defaults(const json::Value& own, const json::Object& defaults) {
  json::Object out = defaults;
  for (const json::Member& member : own.as_object()) {
    json::Value* common = out.find(member.key);
    if (member.key == "kwargs" && common != nullptr && common->is_object() && member.value.is_object()) {
      for (const json::Member& kwarg : member.value.as_object()) common->as_object().set(kwarg.key, kwarg.value);
    } else {
      out.set(member.key, member.value);
    }
  }
  json::Value merged(std::move(out));
  merged.set_source(own.source());
  return merged;
}

class CaseReader {
 public:
  CaseReader(const json::Value& value, Problems& problems) : reader_(value, "a case", problems), problems_(problems) {
    out_.line = problems.line(value);
  }

  Case read() {
    out_.name = reader_.text("name").value_or("");
    read_conversation();
    read_asked();
    out_.rendered = expected<RenderedExpectation>("rendered", &CaseReader::rendered);
    out_.ids = expected<std::vector<core::TokenId>>("ids", &CaseReader::ids);
    if (const json::Value* found = reader_.find("sampled"))
      out_.sampled = at(*found, reader_.text("sampled").value_or(""));
    out_.parsed = expected<ParsedExpectation>("parsed", &CaseReader::parsed);
    out_.pieces = flag("pieces");
    out_.bridge = expected<BridgeExpectation>("bridge", &CaseReader::bridge);
    out_.grammar = expected<GrammarExpectation>("grammar", &CaseReader::grammar);
    out_.mask = expected<MaskExpectation>("mask", &CaseReader::mask);
    out_.error = expected<ErrorExpectation>("error", &CaseReader::error);
    out_.roundtrip = flag("roundtrip");
    reader_.finish();
    return std::move(out_);
  }

 private:
  template <typename T>
  [[nodiscard]] Expected<T> at(const json::Value& value, T expected) const {
    return {std::move(expected), problems_.line(value)};
  }

  template <typename T>
  std::optional<Expected<T>> expected(std::string_view key, T (CaseReader::*read)(const json::Value&)) {
    const json::Value* found = reader_.find(key);
    if (found == nullptr) return std::nullopt;
    return at(*found, (this->*read)(*found));
  }

  // A false flag is not an expectation.
  std::optional<Expected<bool>> flag(std::string_view key) {
    const json::Value* found = reader_.find(key);
    const std::optional<bool> is_asked = reader_.flag(key);
    if (!is_asked) return std::nullopt;
    return at(*found, *is_asked);
  }

  void read_conversation() {
    chat::Conversation& conversation = out_.call.conversation;
    if (const json::Value* messages = reader_.find("messages")) {
      if (const Status fits = chat::check_messages(*messages, "messages", chat::RoleCheck::kAsGiven); !fits.ok())
        problems_.add(*messages, fits.error().message);
      if (messages->is_array()) conversation.messages = messages->as_array();
      out_.call.has_messages = true;
    }
    if (auto tools = reader_.objects("tools")) conversation.tools = json::Value(*std::move(tools));
    if (auto documents = reader_.objects("documents")) conversation.documents = json::Value(*std::move(documents));
    if (auto kwargs = reader_.object("kwargs")) conversation.kwargs = *std::move(kwargs);
    conversation.bos_token = reader_.text("bos_token");
    conversation.eos_token = reader_.text("eos_token");
    conversation.continue_final_message = reader_.text("continue");
    const bool is_answered = !conversation.messages.empty() && is_assistant(conversation.messages.back());
    conversation.add_generation_prompt =
        reader_.flag("add_generation_prompt").value_or(!is_answered && !conversation.continue_final_message);
    if (const auto now = reader_.text("now")) {
      out_.call.now = core::parse_time(*now);
      if (!out_.call.now) problems_.add(*reader_.find("now"), "`now` must be a time such as 2026-03-14T15:09:26");
    }
  }

  void read_asked() {
    json::Object asked;
    const json::Value* place = nullptr;
    for (const std::string_view key : {"tool_choice", "parallel_tool_calls", "response_schema", "response_text"}) {
      const json::Value* found = reader_.find(key);
      if (found == nullptr) continue;
      asked.set(key, *found);
      place = found;
    }
    core::Fields fields(asked);
    out_.asked = core::read_asked(fields);
    if (const Status fits = fields.finish(); !fits.ok()) problems_.add(*place, fits.error().message);
  }

  RenderedExpectation rendered(const json::Value& value) {
    if (value.is_string()) return {value.as_string(), {}, {}};
    ObjectReader reader(value, "`rendered`", problems_);
    RenderedExpectation out{reader.text("text"), reader.texts("contains"), reader.texts("excludes")};
    reader.finish();
    return out;
  }

  std::vector<core::TokenId> ids(const json::Value& value) {
    std::vector<core::TokenId> out;
    if (!value.is_array()) problems_.add(value, "`ids` must be a list of integers");
    for (const json::Value& one : value.is_array() ? value.as_array() : json::Array{}) {
      const auto id = one.to_int64();
      if (!id || !std::in_range<core::TokenId>(*id)) problems_.add(one, "`ids` must be a list of integers");
      out.push_back(static_cast<core::TokenId>(id.value_or(0)));
    }
    return out;
  }

  ExpectedCall call(const json::Value& value) {
    ExpectedCall out;
    ObjectReader outer(value, "a tool call", problems_);
    if (const json::Value* type = outer.find("type"); type != nullptr && *type != json::Value("function"))
      problems_.add(*type, "the `type` of a tool call must be function");
    out.id = outer.text("id");
    out.status = outer.choice("status", {"ok", "invalid_json", "unclosed", "malformed", "unknown_tool"}).value_or("ok");
    const auto read = [&out](ObjectReader& reader) {
      out.name = reader.text("name");
      if (const json::Value* found = reader.find("arguments")) out.arguments = *found;
      reader.finish();
    };
    if (const json::Value* function = outer.find("function")) {
      ObjectReader inner(*function, "`function`", problems_);
      read(inner);
      outer.finish();
    } else {
      read(outer);
    }
    return out;
  }

  ParsedExpectation parsed(const json::Value& value) {
    ObjectReader reader(value, "`parsed`", problems_);
    ParsedExpectation out;
    out.content = reader.text("content");
    for (const std::string_view name : {"reasoning_content", "reasoning"}) {
      const json::Value* found = reader.find(name);
      if (found == nullptr) continue;
      if (!found->is_string() && !found->is_null()) problems_.add(*found, "the reasoning must be a text, or null");
      out.reasoning = *found;
    }
    if (const auto calls = reader.objects("tool_calls")) {
      out.calls.emplace();
      for (const json::Value& one : *calls) out.calls->push_back(call(one));
    }
    out.complete = reader.flag("complete");
    out.place = reader.choice("place", {"reasoning", "content", "call", "ended"});
    reader.finish();
    return out;
  }

  BridgeExpectation bridge(const json::Value& value) {
    BridgeExpectation out;
    const json::Value* messages = &value;
    if (value.is_object()) {
      ObjectReader reader(value, "`bridge`", problems_);
      messages = reader.find("new_messages");
      out.appended = reader.text("appended");
      out.may_differ = reader.flag("may_differ").value_or(false);
      reader.finish();
    }
    if (messages == nullptr) {
      problems_.add(value, "`bridge` needs `new_messages`");
    } else if (const Status fits = chat::check_messages(*messages, "new_messages"); !fits.ok()) {
      problems_.add(*messages, fits.error().message);
    } else {
      out.new_messages = messages->as_array();
    }
    return out;
  }

  GrammarExpectation grammar(const json::Value& value) {
    GrammarExpectation out;
    if (value.is_bool()) {
      out.accepts_sampled = value.as_bool();
      return out;
    }
    ObjectReader reader(value, "`grammar`", problems_);
    out.accepts_sampled = reader.flag("accepts_sampled").value_or(false);
    out.accepts = reader.texts("accepts");
    out.refuses = reader.texts("refuses");
    reader.finish();
    return out;
  }

  MaskExpectation mask(const json::Value& value) {
    MaskExpectation out;
    if (!value.is_object()) {
      out.texts = texts_of(value, "`mask`", problems_);
      return out;
    }
    using render::MaskPart;
    constexpr std::array<std::pair<std::string_view, MaskPart>, 4> kParts = {{{"sampled", MaskPart::kSampled},
                                                                              {"content", MaskPart::kContent},
                                                                              {"turn", MaskPart::kTurn},
                                                                              {"generation", MaskPart::kGeneration}}};
    ObjectReader reader(value, "`mask`", problems_);
    const auto part = reader.choice("part", {"sampled", "content", "turn", "generation"});
    for (const auto& [name, candidate] : kParts) {
      if (part == name) out.options.part = candidate;
    }
    if (reader.find("roles") != nullptr) out.options.roles = reader.texts("roles");
    if (reader.find("texts") == nullptr) problems_.add(value, "`mask` needs `texts`");
    out.texts = reader.texts("texts");
    reader.finish();
    return out;
  }

  ErrorExpectation error(const json::Value& value) {
    if (value.is_string()) return {value.as_string(), {}, {}};
    ObjectReader reader(value, "`error`", problems_);
    ErrorExpectation out{reader.text("message").value_or(""), reader.text("code"), reader.number("line")};
    reader.finish();
    return out;
  }

  ObjectReader reader_;
  Problems& problems_;
  Case out_;
};

// Names the cases that have no name, and reports names that occur twice.
void name_cases(const json::Array& values, std::vector<Case>& cases, Problems& problems) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (cases[i].name.empty()) cases[i].name = "case " + std::to_string(i + 1);
    if (!names.insert(cases[i].name).second)
      problems.add(values[i], "two cases are called `" + printing::excerpt(cases[i].name) + "`");
  }
}

// A path relative to the file `name`, unless it is absolute.
std::string beside(const std::string& name, const std::string& path) {
  const std::size_t end = name.rfind('/');
  return path.starts_with('/') || end == std::string::npos ? path : files::join(name.substr(0, end), path);
}

}  // namespace

Result<core::Source> model_source(const Suite& suite, const std::string& name, core::Source given) {
  const bool is_named = !given.path.empty() || given.chat_template.has_value();
  if (!is_named && !suite.model && !suite.chat_template)
    return Error(ErrorCode::kInvalidArgument, "no model is named, neither with the suite nor in it (`model`)", name);
  if (!is_named && suite.chat_template) given.chat_template = beside(name, *suite.chat_template);
  if (given.path.empty() && suite.model) given.path = beside(name, *suite.model);
  if (!given.tokenizer && suite.tokenizer) given.tokenizer = beside(name, *suite.tokenizer);
  return given;
}

Result<Case> read_case(const json::Value& value, const SuiteText& text) {
  Problems problems(text);
  Case out = CaseReader(value, problems).read();
  if (problems.error()) return *problems.error();
  return out;
}

Result<Suite> read_suite(const json::Value& value, const SuiteText& text) {
  Problems problems(text);
  ObjectReader reader(value, "a suite", problems);
  Suite out;
  out.model = reader.text("model");
  out.chat_template = reader.text("template");
  out.tokenizer = reader.text("tokenizer");
  if (const auto mode = reader.choice("mode", {"lenient", "strict"})) out.strict = mode == "strict";
  json::Object defaults;
  if (const json::Value* found = reader.find("defaults");
      found != nullptr && check_object(*found, "`defaults`", problems)) {
    defaults = found->as_object();
    if (const json::Value* name = defaults.find("name")) problems.add(*name, "`defaults` must not have a `name`");
    // So that a mistake in them is reported once, at their own place.
    if (!problems.error()) (void)CaseReader(*found, problems).read();
  }
  const json::Array cases = reader.objects("cases").value_or(json::Array{});
  if (reader.find("cases") == nullptr) problems.add(value, "a suite needs `cases`");
  reader.finish();
  for (const json::Value& one : cases) {
    if (problems.error()) break;
    out.cases.push_back(CaseReader(with_defaults(one, defaults), problems).read());
  }
  name_cases(cases, out.cases, problems);
  if (problems.error()) return *problems.error();
  return out;
}

}  // namespace rondo::tester
