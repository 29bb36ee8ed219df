// What only the Chat Completions API has.
#include <algorithm>

#include "apis/listings.h"
#include "apis/request_parts.h"
#include "chat/api_parts.h"
#include "grammar/definition.h"

namespace rondo::apis {
namespace {

// The name in a call: that of its function or custom tool, or its own, as some clients write it.
std::string name_of(const json::Value& call) {
  for (const std::string_view key : {"function", "custom"}) {
    if (const json::Value* inner = call.find(key); inner != nullptr) return chat::first_text(*inner, {"name"});
  }
  return chat::first_text(call, {"name"});
}

void check_calls(Fields& message) {
  const json::Array* calls = message.array("tool_calls", kMostTools);
  if (calls == nullptr) return;
  for (std::size_t i = 0; i < calls->size(); ++i) {
    const std::string place = "tool_calls[" + std::to_string(i) + "]";
    if (!(*calls)[i].is_object()) return message.refuse(place, "must be an object", "invalid_type");
    if (name_of((*calls)[i]).empty())
      message.refuse(place + ".function.name", "is missing or no string", "missing_required_parameter");
  }
}

// Sets `schema` for what `fields` have under `key`.  `is_text`: it describes a string whose text is the answer.
void set_schema(const Fields& fields, std::string_view key, json::Value schema, bool is_text, AnswerFormat& out) {
  out.kind = AnswerFormat::Kind::kSchema;
  out.is_text = is_text;
  out.is_strict = true;
  out.schema = std::move(schema);
  out.field = fields.path(key);
}

// The same, of a schema that is not checked yet.
void take_schema(Fields& fields, std::string_view key, json::Value schema, bool is_text, AnswerFormat& out) {
  check_schema(fields, key, schema);
  set_schema(fields, key, std::move(schema), is_text, out);
}

// A value that may also be sent as its text; nullopt if there is none, or if the text is no JSON.
std::optional<json::Value> value_or_text(Fields& fields, std::string_view key) {
  const json::Value* given = fields.any(key);
  if (given == nullptr) return std::nullopt;
  if (!given->is_string()) return *given;
  auto parsed = parse_body(given->as_string());
  if (parsed.ok()) return std::move(parsed).value();
  fields.refuse(key, "is no JSON");
  return std::nullopt;
}

// A schema under a name of other servers.
void read_guide(Fields& fields, std::string_view key, AnswerFormat& out) {
  auto schema = value_or_text(fields, key);
  if (!schema) return;
  if (!schema->is_object() && !schema->is_bool()) return fields.refuse(key, "must be a JSON schema", "invalid_type");
  take_schema(fields, key, *std::move(schema), false, out);
}

// A regular expression for the whole answer.
void read_regex(Fields& fields, std::string_view key, AnswerFormat& out) {
  const auto given = fields.text(key);
  if (!given) return;
  check_grammar(fields, key, "regex", *given);
  const std::string pattern = "^(?:" + *given + ")$";
  take_schema(fields, key, json::Object{{"type", "string"}, {"pattern", pattern}}, true, out);
}

// A grammar for the whole answer.
void read_grammar(Fields& fields, std::string_view key, AnswerFormat& out) {
  const auto given = fields.text(key);
  if (!given) return;
  const std::string syntax(grammar::syntax_of(*given));
  check_grammar(fields, key, syntax, *given);
  set_schema(fields, key, grammar::schema_of(syntax, *given), true, out);
}

// The answers that may be chosen from.
void read_choice(Fields& fields, std::string_view key, AnswerFormat& out) {
  constexpr std::size_t kMostAnswers = 4096;
  const json::Array* choices = fields.array(key, kMostAnswers);
  if (choices == nullptr) return;
  const auto is_text = [](const json::Value& choice) { return choice.is_string(); };
  if (choices->empty() || !std::ranges::all_of(*choices, is_text))
    return fields.refuse(key, "must have texts to choose from", "invalid_type");
  take_schema(fields, key, json::Object{{"type", "string"}, {"enum", *choices}}, true, out);
}

void read_tag(Fields& fields, std::string_view key, AnswerFormat& out) {
  auto tag = value_or_text(fields, key);
  if (!tag) return;
  const bool is_tag = tag->is_object() && (tag->find("format") != nullptr || tag->find("structures") != nullptr);
  if (!is_tag) return fields.refuse(key, "must be a structural tag, with `format` or `structures`", "invalid_type");
  out.kind = AnswerFormat::Kind::kTag;
  out.field = fields.path(key);
  out.schema = *std::move(tag);
}

void read_chat_format(Fields& fields, AnswerFormat& out) {
  Fields format = fields.inside("response_format");
  const auto type = format.word("type", {"text", "json_object", "json_schema", "structural_tag"});
  if (fields.any("response_format") != nullptr && format.any("type") == nullptr) format.refuse_missing("type");
  if (!type || *type == "text") return;
  if (*type == "structural_tag") return read_tag(fields, "response_format", out);
  out.field = "response_format";
  out.kind = *type == "json_object" ? AnswerFormat::Kind::kJson : AnswerFormat::Kind::kSchema;
  if (out.kind == AnswerFormat::Kind::kJson) return read_guide(format, "schema", out);
  Fields schema = format.inside("json_schema");
  read_schema(schema, out);
}

// Notes what has no effect.
void note_unread(Fields& fields, GenerateRequest& out) {
  note_left_out(fields, {"audio"}, out.warnings, "replies are text");
  fields.each("messages", kMostMessages, [&out](Fields& message, std::size_t) {
    note_left_out(message, {"audio"}, out.warnings, "no replies with audio are kept here");
  });
  // An empty object asks for a search, too.
  if (fields.any("web_search_options") != nullptr)
    out.warnings.emplace_back("`web_search_options` was left out: nothing here searches the web");
  note_left_out(fields, {"store"}, out.warnings, "there is no list of completions");
  note_left_out(fields, {"prediction"}, out.warnings);
  note_left_out(fields, {"add_special_tokens"}, out.warnings, "the template writes them");
  note_left_out(fields, {"chat_template"}, out.warnings, "the model's own took its place");
  const json::Array* modalities = fields.array("modalities", kMostWords);
  const auto is_other = [](const json::Value& modality) { return modality != json::Value("text"); };
  if (modalities != nullptr && std::ranges::any_of(*modalities, is_other))
    note_left_out(fields, {"modalities"}, out.warnings, "replies are text");
}

// Streams have no place for them.
void read_prompt_scores(Fields& fields, GenerateRequest& out) {
  const auto most = fields.integer("prompt_logprobs", 0, 20);
  if (most > 0 && out.stream) fields.refuse("prompt_logprobs", "needs a reply that is not streamed");
  if (most && !out.stream) out.prompt_logprobs = static_cast<std::size_t>(*most);
}

void read_chat_reasoning(Fields& fields, ReasoningWish& out) {
  out.effort = fields.text("reasoning_effort").value_or("");
  out.budget_tokens = fields.integer("thinking_token_budget", 0);
  out.is_shown = fields.is_set("include_reasoning", true);
  // Also under the names of other APIs, which some clients send.
  const auto budget = [&](std::optional<std::int64_t> tokens) {
    if (!out.budget_tokens) out.budget_tokens = tokens;
  };
  Fields thinking = fields.inside("thinking");
  const auto type = thinking.word("type", {"enabled", "adaptive", "disabled"});
  if (type) out.mode = *type == "disabled" ? ReasoningWish::Mode::kOff : ReasoningWish::Mode::kOn;
  budget(thinking.integer("budget_tokens", 0));
  Fields reasoning = fields.inside("reasoning");
  if (out.effort.empty()) out.effort = reasoning.text("effort").value_or("");
  if (const auto enabled = reasoning.boolean("enabled"))
    out.mode = *enabled ? ReasoningWish::Mode::kOn : ReasoningWish::Mode::kOff;
  budget(reasoning.integer("max_tokens", 0));
  if (reasoning.is_set("exclude")) out.is_shown = false;
  read_effort(out);
}

}  // namespace

void read_guides(Fields& fields, GenerateRequest& out) {
  Fields outputs = fields.inside("structured_outputs");
  std::optional<json::Value> taken;  // some clients say the same under two names, for servers of any age
  using Reader = void (*)(Fields&, std::string_view, AnswerFormat&);
  struct Guide {
    Fields* in;
    std::string_view key;
    Reader read;
  };
  for (const Guide& guide : {Guide{&fields, "guided_json", read_guide}, Guide{&outputs, "json", read_guide},
                             Guide{&fields, "json_schema", read_guide}, Guide{&fields, "guided_regex", read_regex},
                             Guide{&outputs, "regex", read_regex}, Guide{&fields, "regex", read_regex},
                             Guide{&fields, "guided_choice", read_choice}, Guide{&outputs, "choice", read_choice},
                             Guide{&fields, "guided_grammar", read_grammar}, Guide{&outputs, "grammar", read_grammar},
                             Guide{&fields, "grammar", read_grammar}, Guide{&fields, "ebnf", read_grammar},
                             Guide{&outputs, "structural_tag", read_tag}}) {
    const json::Value* value = guide.in->any(guide.key);
    if (value == nullptr) continue;
    if (out.format.kind == AnswerFormat::Kind::kText) {
      guide.read(*guide.in, guide.key, out.format);
      if (out.format.kind != AnswerFormat::Kind::kText) taken = *value;
    } else if (taken != *value) {
      note_left_out(*guide.in, {guide.key}, out.warnings, "`" + out.format.field + "` took its place");
    }
  }
  if (out.format.kind != AnswerFormat::Kind::kText)
    return note_left_out(outputs, {"json_object"}, out.warnings, "`" + out.format.field + "` took its place");
  if (!outputs.is_set("json_object")) return;
  out.format.kind = AnswerFormat::Kind::kJson;
  out.format.field = outputs.path("json_object");
}

void read_answer_form(Fields& fields, GenerateRequest& out) {
  read_chat_format(fields, out.format);
  read_guides(fields, out);
}

void read_stop_ids(Fields& fields, GenerateRequest& out) {
  const json::Array* ids = fields.array("stop_token_ids", kMostStops);
  if (ids == nullptr) return;
  auto read = read_ids(*ids, "stop_token_ids");
  if (!read.ok()) return fields.take(read.fault());
  out.stop_ids = std::move(read.value());
}

void read_cut(Fields& fields, PromptCut& out) {
  const auto most = fields.integer("truncate_prompt_tokens", -1);
  if (most == 0) fields.refuse("truncate_prompt_tokens", "must be at least 1, or -1");
  out.fits_context = most == -1;
  if (most && *most >= 0) out.most_tokens = static_cast<std::size_t>(*most);
  out.keeps_beginning = fields.word("truncation_side", {"left", "right"}) == "right";
}

void read_shows_stop(Fields& fields, bool& out) {
  out = fields.is_set("include_stop_str_in_output") || fields.is_set("no_stop_trim");
}

void read_stream_options(Fields& fields, GenerateRequest& out) {
  Fields options = fields.inside("stream_options");
  out.include_usage = options.is_set("include_usage");
  out.continuous_usage = options.is_set("continuous_usage_stats") && out.include_usage;
  if (!out.stream && fields.any("stream_options") != nullptr) fields.refuse("stream_options", "needs `stream`");
}

void check_least(Fields& fields, const Sampling& sampling, std::optional<std::int64_t> most) {
  if (most && sampling.min_tokens > *most)
    fields.refuse("min_tokens", "must be at most " + std::to_string(*most) + ", the most tokens of the reply");
}

void check_chat_body(Fields& fields) {
  const json::Array* messages = fields.array("messages", kMostMessages);
  if (messages == nullptr) return fields.refuse_missing("messages");
  for (std::size_t i = 0; i < messages->size() && !fields.failed(); ++i) {
    std::optional<Fault> fault;
    const std::string place = "messages[" + std::to_string(i) + "]";
    if (!(*messages)[i].is_object()) return fields.refuse(place, "must be an object", "invalid_type");
    Fields message(&(*messages)[i], place + ".", fault);
    if (!message.text("role")) message.refuse_missing("role");
    // Some clients send the output of a tool unchanged.
    const json::Value* content = message.any("content");
    const auto role = (*messages)[i].find_string("role");
    if (role == "user" && content == nullptr) message.refuse_missing("content");
    const bool is_result = content != nullptr && content->is_object() && role == "tool";
    if (!is_result) check_content(message, "content");
    check_message_types(message);
    check_calls(message);
    if (fault) fields.take(*std::move(fault));
  }
}

void read_chat_fields(Fields& fields, GenerateRequest& out) {
  read_stops(fields, "stop", out);
  read_metadata(fields, out);
  check_functions(fields, out);
  read_answer_form(fields, out);
  read_chat_reasoning(fields, out.reasoning);
  out.max_tokens = fields.integer("max_completion_tokens", 1);
  const auto older = fields.integer("max_tokens", 1);
  if (!out.max_tokens) out.max_tokens = older;
  out.choices = static_cast<std::size_t>(fields.integer("n", 1, kMostChoices).value_or(1));
  out.logprobs = fields.is_set("logprobs");
  out.top_logprobs = static_cast<std::size_t>(fields.integer("top_logprobs", 0, 20).value_or(0));
  if (out.top_logprobs > 0 && !out.logprobs) fields.refuse("top_logprobs", "needs `logprobs`");
  out.tool_choice.parallel = fields.is_set("parallel_tool_calls", true);
  out.store = fields.is_set("store");
  out.user = fields.text("user").value_or(fields.text("safety_identifier").value_or(""));
  out.continue_final = fields.is_set("continue_final_message");
  out.return_prompt_text = fields.is_set("return_prompt_text");
  read_stream_options(fields, out);
  (void)fields.array("documents", kMostMessages);
  read_stop_ids(fields, out);
  read_shows_stop(fields, out.shows_stop);
  read_prompt_scores(fields, out);
  read_cut(fields, out.cut);
  out.echo = fields.is_set("echo");
  if (out.echo && !out.continue_final) out.warnings.emplace_back("`echo` was left out: no message is continued");
  note_unread(fields, out);
  out.opens_reply = fields.is_set("add_generation_prompt", true);
  if (out.opens_reply && out.continue_final && fields.any("add_generation_prompt") != nullptr)
    fields.refuse("add_generation_prompt", "and `continue_final_message` exclude each other");
}

}  // namespace rondo::apis
