#include "apis/request.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>

#include "apis/listings.h"
#include "apis/request_parts.h"
#include "base/utf8.h"
#include "chat/api_parts.h"
#include "json/parse.h"

namespace rondo::apis {
namespace {

constexpr std::string_view kPreviousResponse = "previous_response_id";
constexpr std::string_view kConversation = "conversation";

std::string header(const HeaderLookup& headers, std::string_view name) {
  return headers ? headers(name) : std::string();
}

bool nests_deeper(const json::Value& value, int levels) {
  if (!value.is_array() && !value.is_object()) return false;
  if (levels == 0) return true;
  if (value.is_array())
    return std::ranges::any_of(value.as_array(),
                               [levels](const json::Value& v) { return nests_deeper(v, levels - 1); });
  return std::ranges::any_of(value.as_object(),
                             [levels](const json::Member& m) { return nests_deeper(m.value, levels - 1); });
}

// The field with which a sentence of chat/ begins: "messages[2].role must be ...".
std::string param_of(std::string_view message) {
  const std::string_view first = message.substr(0, message.find(' '));
  return first.starts_with("messages") || first.starts_with("input") ? std::string(first) : "";
}

void read_session(const json::Value& body, const HeaderLookup& headers, GenerateRequest& out) {
  out.session.session = header(headers, "x-rondo-session");
  // The most specific name first.
  for (const std::string_view name : {"session-id", "thread-id", "x-session-id", "x-session-affinity"}) {
    out.session.group = header(headers, name);
    if (!out.session.group.empty()) return;
  }
  // vLLM has it in the body.
  out.session.group = chat::first_text(body, {"session_id"});
  if (out.session.group.empty()) out.session.group = out.cache_key;
  const json::Value* metadata = body.find("metadata");
  if (out.session.group.empty() && metadata != nullptr) out.session.group = chat::first_text(*metadata, {"user_id"});
}

void read_headers(const HeaderLookup& headers, GenerateRequest& out) {
  out.explain = header(headers, "x-rondo-explain") == "1";
  out.open_responses = !header(headers, "openresponses-version").empty();
}

// What a custom tool's text must match: {"type": "grammar", "syntax", "definition"}, in the Chat API with an object
// around the last two.
void check_format(Fields& tool) {
  Fields format = tool.inside("format");
  const bool is_grammar = format.word("type", {"text", "grammar"}) == "grammar";
  if (tool.any("format") != nullptr && format.any("type") == nullptr) format.refuse_missing("type");
  if (!is_grammar) return;
  if (format.any("grammar") == nullptr) return check_custom_grammar(format);
  Fields inner = format.inside("grammar");
  check_custom_grammar(inner);
}

// Tools that a vendor's server runs may have no name.
void check_name(Fields& tool, const std::string& type) {
  const auto check = [](Fields& named) {
    if (named.text("name").value_or("").empty()) named.refuse_missing("name");
  };
  for (const std::string_view key : {"function", "custom"}) {
    if (tool.any(key) == nullptr) continue;
    Fields inner = tool.inside(key);
    return check(inner);
  }
  const bool is_own = type.empty() || type == "function" || type == "custom" || type == "namespace";
  if (is_own || tool.any("input_schema") != nullptr) check(tool);
}

void check_tool(Fields& tool, chat::Api api) {
  check_tool_types(tool);
  const std::string type = tool.text("type").value_or("");
  check_name(tool, type);
  for (const std::string_view key : {"parameters", "input_schema"}) check_parameters(tool, key);
  Fields function = tool.inside("function");
  check_parameters(function, "parameters");
  if (api == chat::Api::kMessages) {
    const bool is_own = type.empty() || type == "custom";
    if (tool.any("input_schema") == nullptr && is_own) tool.refuse_missing("input_schema");
    return;
  }
  if (type == "namespace")
    tool.each("tools", kMostTools, [api](Fields& inner, std::size_t) { check_tool(inner, api); });
  if (type != "custom") return;
  check_format(tool);
  Fields inner = tool.inside("custom");
  check_format(inner);
}

// What all APIs have under the same name.
void read_common(Fields& fields, GenerateRequest& out) {
  out.model = fields.text("model").value_or("");
  out.stream = fields.is_set("stream");
  out.cache_key = fields.text("prompt_cache_key").value_or("");
  out.cache_salt = read_salt(fields);
  (void)fields.text("session_id");
  out.return_token_ids = fields.is_set("return_token_ids");
  out.tokens_as_ids = fields.is_set("return_tokens_as_token_ids");
  Fields cache = fields.inside("prompt_cache_options");
  out.comparison_response_id = cache.text("comparison_response_id").value_or("");
  (void)fields.object("chat_template_kwargs");
  check_body_types(fields, out.api);
  fields.each("tools", kMostTools, [&out](Fields& tool, std::size_t) { check_tool(tool, out.api); });
  read_sampling(fields, out.sampling);
  note_of_servers(fields, out.warnings);
}

// If two tools have the same name, the first one counts, unless the client could not tell which one a call means.
void check_tools(GenerateRequest& out, std::optional<Fault>& fault) {
  std::unordered_map<std::string_view, const chat::ApiTool*> known;
  for (const chat::ApiTool& tool : out.tool_table) {
    const auto [first, is_new] = known.emplace(tool.name, &tool);
    if (is_new) continue;
    const chat::ApiTool& other = *first->second;
    if (other.kind == tool.kind && other.client_name == tool.client_name && other.name_space == tool.name_space) {
      out.warnings.push_back("the tool `" + tool.name + "` is there twice");
    } else if (!fault) {
      fault = invalid("tools", "`tools` has two different tools that are called `" + tool.name + "`");
    }
  }
}

// Refuses a template variable that would replace what the request says in its own field, because nobody would read that
// field.
std::optional<Fault> replaced_field(const GenerateRequest& request) {
  for (const auto& [name, is_said] : {std::pair("messages", true), std::pair("tools", request.tools.has_value()),
                                      std::pair("documents", request.documents.has_value())}) {
    if (!is_said || request.kwargs.find(name) == nullptr) continue;
    const std::string param = "chat_template_kwargs." + std::string(name);
    return invalid(param, "`" + param + "` would replace what the request itself says");
  }
  return std::nullopt;
}

// Takes over notes of chat/, whose places count all items.  What came before the request had its note then.
void take_notes(const chat::ApiRequest& read, GenerateRequest& out) {
  constexpr std::string_view kPlace = "input[";
  const std::vector<std::int32_t>& places = out.responses.input_places;
  auto hidden = read.hidden_reasoning.begin();
  for (std::size_t i = 0; i < read.notes.size(); ++i) {
    std::string note = read.notes[i];
    const bool is_hidden = hidden != read.hidden_reasoning.end() && hidden->note == i;
    const std::size_t message = is_hidden ? (hidden++)->message : 0;
    const std::size_t begin = note.rfind(kPlace);
    std::size_t index = places.size();
    const char* number = note.data() + std::min(begin + kPlace.size(), note.size());
    if (begin != std::string::npos) std::from_chars(number, note.data() + note.size(), index);
    if (index < places.size()) {
      if (places[index] < 0) continue;
      note.replace(begin + kPlace.size(), std::to_string(index).size(), std::to_string(places[index]));
    }
    if (is_hidden) {
      out.hidden_reasoning.push_back({message, std::move(note)});
    } else {
      out.warnings.push_back(std::move(note));
    }
  }
}

// Moves the results of chat/ into the request.
std::optional<Fault> translate(json::Value body, const ReadOptions& options, GenerateRequest& out) {
  const json::Value* kwargs = body.find("chat_template_kwargs");
  const bool has_own_effort = kwargs != nullptr && kwargs->find("reasoning_effort") != nullptr;
  Result<chat::ApiRequest> read = chat::read_request(std::move(body), out.api);
  if (!read.ok()) {
    Fault fault = fault_of(read.error());
    fault.param = param_of(fault.message);
    return fault;
  }
  chat::ApiRequest& request = read.value();
  out.messages = std::move(request.messages);
  out.sources = std::move(request.sources);
  out.places = std::move(request.places);
  out.has_instructions = request.has_instructions;
  out.tools = std::move(request.tools);
  out.tool_table = std::move(request.tool_table);
  out.documents = std::move(request.documents);
  out.kwargs = std::move(request.kwargs);
  // The template decides what takes an effort: it is a wish, not a variable.
  if (!has_own_effort) out.kwargs.erase("reasoning_effort");
  out.cache_marks = std::move(request.cache_marks);
  out.echoed = std::move(request.echoed);
  take_notes(request, out);
  if (options.media == Media::kNote) note_media(out);
  out.media = media_place(out);
  if (options.refuse_unknown_tools && !request.left_out_tools.empty())
    return invalid("tools", "the tool `" + request.left_out_tools.front() + "` is not known here", "unsupported_value");
  std::optional<Fault> fault = replaced_field(out);
  check_tools(out, fault);
  if (!fault && out.api != chat::Api::kResponses) fault = check_answered_calls(out);
  return fault;
}

}  // namespace

std::string place_of(const GenerateRequest& request, std::size_t message, std::string_view member) {
  if (message >= request.sources.size() && request.api == chat::Api::kResponses) return "input";  // a text
  const bool is_own = message >= request.sources.size();
  const std::string out =
      place_of_entry(request, is_own ? static_cast<std::int32_t>(message) : request.sources[message]);
  return out.ends_with(']') && !member.empty() ? out + "." + std::string(member) : out;
}

std::string place_of_entry(const GenerateRequest& request, std::int32_t entry) {
  const bool is_responses = request.api == chat::Api::kResponses;
  if (entry < 0) return is_responses ? "instructions" : "system";
  const std::vector<std::int32_t>& places = request.responses.input_places;
  if (static_cast<std::size_t>(entry) < places.size()) {
    entry = places[static_cast<std::size_t>(entry)];
    if (entry < 0)
      return request.responses.conversation.empty() ? std::string(kPreviousResponse) : std::string(kConversation);
  }
  return (is_responses ? "input[" : "messages[") + std::to_string(entry) + "]";
}

std::string quoted_place(const std::string& place) {
  const bool is_earlier = place == kPreviousResponse || place == kConversation;
  return (is_earlier ? "what `" : "`") + place + (is_earlier ? "` names" : "`");
}

Outcome<json::Value> parse_body(std::string_view text) {
  Result<json::Value> parsed = json::parse(text, {.max_depth = kMostNesting});
  if (parsed.ok()) return std::move(parsed).value();
  Fault fault = fault_of(parsed.error());
  if (parsed.error().code == ErrorCode::kLimit) {
    fault.message = "the body is " + fault.message;
    return fault;
  }
  fault.message = "the body is no JSON: " + fault.message;
  fault.code = "invalid_json";
  return fault;
}

Outcome<GenerateRequest> read(chat::Api api, json::Value body, const HeaderLookup& headers,
                              const ReadOptions& options) {
  if (!body.is_object())
    return invalid("", "the body must be an object, found " + std::string(describe(body.kind())), "invalid_type");
  if (nests_deeper(body, kMostNesting))
    return invalid("", "the body nests deeper than " + std::to_string(kMostNesting) + " levels");
  GenerateRequest out;
  out.api = api;
  out.responses.input_places = options.input_places;
  std::optional<Fault> fault;
  if (api == chat::Api::kMessages && drop_billing_header(body))
    out.warnings.emplace_back("the billing header of `system` was taken off");
  const json::Value* input = body.find("input");
  const bool lacks_input = api == chat::Api::kResponses && (input == nullptr || input->is_null());
  if (lacks_input) body.as_object().set("input", json::Array());
  Fields fields(&body, "", fault);
  read_common(fields, out);
  switch (api) {
    case chat::Api::kChat: check_chat_body(fields), read_chat_fields(fields, out); break;
    case chat::Api::kMessages: check_messages_body(fields), read_messages_fields(fields, out); break;
    case chat::Api::kResponses: check_responses_body(fields, options), read_responses_fields(fields, body, out); break;
  }
  check_least(fields, out.sampling, out.max_tokens);
  if (fault) return *std::move(fault);
  read_session(body, headers, out);
  read_headers(headers, out);
  const json::Value* chosen = fields.any("tool_choice");
  const json::Value choice = chosen == nullptr ? json::Value() : *chosen;
  if (api == chat::Api::kChat) read_functions(fields, out);
  fault = translate(std::move(body), options, out);
  if (!fault && !choice.is_null()) read_tool_choice(choice, out, fault);
  const bool goes_on = !out.responses.previous_response_id.empty() || !out.responses.conversation.empty();
  if (!fault && lacks_input && out.messages.empty() && !goes_on)
    fault = invalid("input", "`input` is missing", "missing_required_parameter");
  if (fault) return *std::move(fault);
  return out;
}

namespace {

// Which ids may be sampled, in the words of vLLM.
void read_limits(Fields& fields, Sampling& out) {
  if (const json::Array* allowed = fields.array("allowed_token_ids", kMostAllowedIds)) {
    if (allowed->empty()) fields.refuse("allowed_token_ids", "must have ids: without one, nothing could be sampled");
    auto ids = read_ids(*allowed, "allowed_token_ids");
    if (!ids.ok()) return fields.take(ids.fault());
    out.allowed_ids = std::move(ids.value());
  }
  const json::Array* words = fields.array("bad_words", kMostBadWords);
  for (std::size_t i = 0; words != nullptr && i < words->size(); ++i) {
    const json::Value& word = (*words)[i];
    const std::string place = "bad_words[" + std::to_string(i) + "]";
    if (!word.is_string()) return fields.refuse_type(place, "a string");
    const std::string& text = word.as_string();
    const std::size_t begin = text.find_first_not_of(" \t\n\v\f\r");
    if (begin == std::string::npos) return fields.refuse(place, "must not be empty");
    out.bad_words.push_back(text.substr(begin));
  }
}

}  // namespace

void read_sampling(Fields& fields, Sampling& out) {
  read_limits(fields, out);
  for (const SamplingNumber& number : kSamplingNumbers)
    out.*number.value = fields.number(number.name, number.least, number.most);
  out.top_k = fields.integer("top_k", -1);
  if (out.top_k && *out.top_k < 0) out.top_k = 0;
  out.seed = fields.integer("seed", std::numeric_limits<std::int64_t>::min());
  out.min_tokens = fields.integer("min_tokens", 0).value_or(0);
  out.ignore_end = fields.is_set("ignore_eos");
  const json::Value* bias = fields.object("logit_bias");
  if (bias == nullptr) return;
  Fields inside = fields.inside("logit_bias");
  for (const json::Member& member : bias->as_object()) {
    std::int32_t id = -1;
    const char* end = member.key.data() + member.key.size();
    const auto [stopped, error] = std::from_chars(member.key.data(), end, id);
    if (error != std::errc() || stopped != end || id < 0) inside.refuse(member.key, "must be named by a token id");
    const auto value = inside.number(member.key, -100, 100);
    if (value) out.logit_bias.emplace_back(id, *value);
  }
}

std::string read_salt(Fields& fields) {
  std::string out;
  for (const std::string_view key : {"cache_salt", "extra_key"}) {
    const auto given = fields.text(key);
    if (given && given->empty()) fields.refuse(key, "must not be empty");
    if (given && out.empty()) out = *given;
  }
  return out;
}

void note_of_servers(Fields& fields, std::vector<std::string>& warnings) {
  note_left_out(fields,
                {"mirostat",
                 "dry_multiplier",
                 "xtc_probability",
                 "dynatemp_range",
                 "no_repeat_ngram_size",
                 "logits_processors",
                 "custom_logit_processor",
                 "logprob_token_ids",
                 "prompt_embeds",
                 "kv_transfer_params",
                 "lora",
                 "lora_path",
                 "use_beam_search",
                 "stop_regex",
                 "return_hidden_states",
                 "session_params",
                 "priority",
                 "watermarking",
                 "repetition_detection",
                 "vllm_xargs"},
                warnings);
  if (fields.number("top_n_sigma", -1e9, 1e9).value_or(0) > 0) warnings.emplace_back("`top_n_sigma` was left out");
  if (!fields.is_set("skip_special_tokens", true))
    warnings.emplace_back("`skip_special_tokens` was left out: control tokens are no part of a text");
  if (!fields.is_set("separate_reasoning", true))
    warnings.emplace_back("`separate_reasoning` was left out: reasoning is no part of the content");
}

void read_stops(Fields& fields, std::string_view key, GenerateRequest& out) {
  const json::Value* stop = fields.any(key);
  if (stop == nullptr) return;
  json::Array one;
  if (stop->is_string()) one.push_back(*stop);
  if (!stop->is_string() && !stop->is_array()) return fields.refuse_type(key, "a string or an array");
  const json::Array* all = stop->is_string() ? &one : fields.array(key, kMostStops);
  if (all == nullptr) return;
  for (const json::Value& text : *all) {
    if (!text.is_string())
      return fields.refuse(key, "must hold texts, found " + std::string(describe(text.kind())), "invalid_type");
    if (text.as_string().empty()) return fields.refuse(key, "must not hold an empty text");
    if (text.as_string().size() > kMostStopBytes) return fields.refuse(key, "holds a text that is too long");
    out.stops.push_back(text.as_string());
  }
}

const json::Value* read_metadata(Fields& fields) {
  const json::Value* metadata = fields.object("metadata");
  if (metadata == nullptr) return nullptr;
  const auto at_most = [](std::size_t found, std::size_t most, const char* of) {
    return "has " + std::to_string(found) + of + ", at most " + std::to_string(most) + " are taken";
  };
  const std::size_t pairs = metadata->as_object().size();
  if (pairs > kMostMetadata) fields.refuse("metadata", at_most(pairs, kMostMetadata, " pairs"));
  Fields inside = fields.inside("metadata");
  for (const json::Member& member : metadata->as_object()) {
    const std::size_t key = utf8::length(member.key);
    if (key > kMostMetadataKey)
      fields.refuse("metadata", at_most(key, kMostMetadataKey, " characters in a key"), "string_above_max_length");
    if (member.value.is_null()) inside.refuse_type(member.key, "a string");
    const std::size_t value = utf8::length(inside.text(member.key).value_or(""));
    if (value > kMostMetadataValue)
      inside.refuse(member.key, at_most(value, kMostMetadataValue, " characters"), "string_above_max_length");
  }
  return metadata;
}

void read_metadata(Fields& fields, GenerateRequest& out) {
  // The members of Messages' own metadata have names, and only one is read.
  const bool is_named = out.api == chat::Api::kMessages;
  if (const json::Value* metadata = is_named ? fields.object("metadata") : read_metadata(fields))
    out.metadata = metadata->as_object();
}

void read_schema(Fields& fields, AnswerFormat& out) {
  out.name = fields.text("name").value_or("");
  out.is_strict = fields.is_set("strict");
  const json::Value* schema = fields.any("schema");
  if (schema == nullptr) return fields.refuse_missing("schema");
  if (!schema->is_object() && !schema->is_bool())
    return fields.refuse("schema", "must be a JSON schema", "invalid_type");
  check_schema(fields, "schema", *schema);
  out.schema = *schema;
}

namespace {

bool asks_for_something(const json::Value& value) {
  if (value.is_array()) return !value.as_array().empty();
  if (value.is_object())
    return std::ranges::any_of(value.as_object(), [](const json::Member& m) { return asks_for_something(m.value); });
  if (value.is_bool()) return value.as_bool();
  if (value.is_number()) return value.to_double() != 0.0;
  return value.is_string() && !value.as_string().empty();
}

}  // namespace

void note_left_out(Fields& fields, std::initializer_list<std::string_view> keys, std::vector<std::string>& warnings,
                   std::string_view why) {
  for (const std::string_view key : keys) {
    const json::Value* value = fields.any(key);
    if (value == nullptr || !asks_for_something(*value)) continue;
    std::string warning = "`" + fields.path(key) + "` was left out";
    if (!why.empty()) warning += ": " + std::string(why);
    warnings.push_back(std::move(warning));
  }
}

void read_effort(ReasoningWish& out) {
  if (out.effort.empty()) return;
  out.mode = out.effort == "none" ? ReasoningWish::Mode::kOff : ReasoningWish::Mode::kOn;
}

void check_content(Fields& fields, std::string_view key) {
  const json::Value* content = fields.any(key);
  if (content == nullptr || content->is_string()) return;
  if (!content->is_array())
    return fields.refuse(key, "must be a string or an array, found " + std::string(describe(content->kind())),
                         "invalid_type");
  fields.each(key, kMostMessages, [](Fields& part, std::size_t) {
    const auto type = part.text("type");
    if (!type) return part.refuse("type", "is missing or no string", "missing_required_parameter");
    if (type->ends_with("text") && !part.text("text"))
      return part.refuse("text", "is missing or no string", "missing_required_parameter");
    check_part_types(part);
  });
}

const chat::ApiTool* find_tool(const std::vector<chat::ApiTool>& table, std::string_view name) {
  const auto found = std::ranges::find(table, name, &chat::ApiTool::name);
  return found == table.end() ? nullptr : &*found;
}

}  // namespace rondo::apis
