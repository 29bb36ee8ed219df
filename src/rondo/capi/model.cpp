// Models: loading, prompts, ids, bridges, grammars, checks.
#include <string>
#include <utility>

#include "base/utf8.h"
#include "capi/requests.h"
#include "core/check.h"
#include "json/print.h"
#include "protocol/readers.h"
#include "protocol/reply.h"
#include "report/report.h"

namespace rondo::capi {
namespace {

// --- Loading ---------------------------------------------------------------------------------------------------------

// nullopt for an empty text.
Outcome<std::optional<std::string>> optional_text(rondo_text given, const char* name) {
  auto view = view_of(given, name);
  if (!view.ok()) return view.failure();
  return view.value().empty() ? std::optional<std::string>() : std::string(view.value());
}

// Reads the options that name files.
Outcome<core::Source> named_source(const rondo_model_options& options) {
  core::Source out;
  auto path = optional_text(options.path, "path");
  if (!path.ok()) return path.failure();
  out.path = path.value().value_or("");
  auto chat_template = optional_text(options.chat_template, "chat_template");
  if (!chat_template.ok()) return chat_template.failure();
  out.chat_template = std::move(chat_template.value());
  auto tokenizer = optional_text(options.tokenizer, "tokenizer");
  if (!tokenizer.ok()) return tokenizer.failure();
  out.tokenizer = std::move(tokenizer.value());
  return out;
}

Outcome<core::Source> source_of(const Library& library, const rondo_model_options& options) {
  auto out = named_source(options);
  if (!out.ok()) return out;
  core::Source& source = out.value();
  auto text = view_of(options.template_text, "template_text");
  if (!text.ok()) return text.failure();
  if (options.template_text.data != nullptr) source.template_text = std::string(text.value());
  if (source.template_text && source.chat_template)
    return invalid("only one of `chat_template` and `template_text` may be given");
  source.cache_folder = library.cache_folder;
  auto object = object_of_text(options.options, "options");
  if (!object.ok()) return object.failure();
  Fields fields(object.value());
  source.strict = fields.has("mode") && fields.choice("mode", {"strict", "lenient"}) == "strict";
  source.polyfill =
      core::polyfill_named(fields.choice("polyfill", {"off", "auto", "on"})).value_or(core::Polyfill::kOff);
  source.corrections = protocol::read_corrections(fields);
  if (Status status = fields.finish(); !status.ok()) return status.error();
  return out;
}

using ModelOutcome = Outcome<std::shared_ptr<ModelObject>>;

ModelOutcome opened(Result<std::shared_ptr<const core::Model>> made) {
  if (!made.ok()) return made.error();
  return std::make_shared<ModelObject>(ModelObject{std::move(made).value()});
}

ModelOutcome model_from_memory(const rondo_model_options& options, const core::Source& source) {
  if (!source.path.empty() || source.chat_template || source.tokenizer)
    return invalid("`tokenizer_json` goes without `path`, `chat_template` and `tokenizer`");
  core::MemoryModel memory;
  memory.name = "tokenizer_json";
  auto json = view_of(options.tokenizer_json, "tokenizer_json");
  if (!json.ok()) return json.failure();
  memory.tokenizer_json = std::string(json.value());
  auto config = json_of(options.tokenizer_config, "tokenizer_config");
  if (!config.ok()) return config.failure();
  memory.config = std::move(config.value());
  auto generation = json_of(options.generation_config, "generation_config");
  if (!generation.ok()) return generation.failure();
  memory.generation = std::move(generation.value());
  memory.chat_template = source.template_text;
  return opened(core::Model::from_memory(memory, source));
}

ModelOutcome load_model(const Library& library, const rondo_model_options* given) {
  if (given == nullptr) return null_failure("`options`");
  auto options = struct_of(given, RONDO_MODEL_OPTIONS_INIT, "options");
  if (!options.ok()) return options.failure();
  auto source = source_of(library, options.value());
  if (!source.ok()) return source.failure();
  if (options.value().tokenizer_json.size != 0) return model_from_memory(options.value(), source.value());
  const core::Source& named = source.value();
  if (named.path.empty() && !named.chat_template && !named.template_text && !named.tokenizer)
    return invalid("the options name neither a model nor a template nor a tokenizer");
  return opened(core::Model::load(named));
}

// --- Prompts ---------------------------------------------------------------------------------------------------------

void set_texts(json::Object& out, std::string_view name, const std::vector<std::string>& texts) {
  if (!texts.empty()) out.set(name, protocol::texts_to_json(texts));
}

// Reads `chat` as an object, and makes the call from it with `read`.
template <typename Work>
rondo_status ask(rondo_library* library, rondo_model model, const rondo_chat* chat, rondo_result* result,
                 rondo_error* error, const Work& work) noexcept {
  return answer(library, model, result, error,
                [&](const Library& open, const ModelObject& object) -> Outcome<ResultObject> {
                  auto request = request_of(chat);
                  if (!request.ok()) return request.failure();
                  Fields fields(request.value());
                  return work(open, *object.model, fields);
                });
}

Outcome<ResultObject> render_prompt(const Library& library, const core::Model& model, Fields& fields) {
  core::Call call = read_call(library, fields, true);
  const bool spans = fields.flag("spans", false);
  if (Status status = fields.finish(); !status.ok()) return status.error();
  auto prepared = model.prepare(call, core::TokenizerUse::kOptional);
  if (!prepared.ok()) return prepared.error();
  prepared.value().options.origins = spans;
  auto prompt = model.prompt(prepared.value(), call.conversation, prepared.value().options);
  if (!prompt.ok()) return prompt.error();
  const jinja::Rendered& rendered = prompt.value().rendered;
  json::Object rest;
  if (spans)
    rest.set("spans", protocol::spans_to_json(rendered, *prepared.value().chat_template,
                                              protocol::sent_messages(call.conversation), call.shaping));
  set_texts(rest, "shaped", tmpl::sentences(call.shaping));
  set_texts(rest, "notes", prompt.value().notes);
  ResultObject out;
  out.text = rendered.text.bytes();
  out.json = json::to_compact(rest);
  return out;
}

// Renders the template with the caller's own variables.
Outcome<ResultObject> render_variables(const Library& library, const core::Model& model, rondo_text variables,
                                       rondo_text options) {
  auto given = object_of_text(variables, "variables");
  if (!given.ok()) return given.failure();
  auto object = object_of_text(options, "options");
  if (!object.ok()) return object.failure();
  Fields fields(object.value());
  core::Call call;
  call.now = fields.time("now");
  if (!call.now) call.now = library.now;
  if (Status status = fields.finish(); !status.ok()) return status.error();
  auto prepared = model.prepare(call, core::TokenizerUse::kOptional);
  if (!prepared.ok()) return prepared.error();
  jinja::RenderOptions asked;
  asked.strict = prepared.value().options.strict;
  asked.now = prepared.value().options.now;
  asked.origins = false;  // only the text is needed
  auto rendered = prepared.value().chat_template->render(given.value(), asked);
  if (!rendered.ok()) return rendered.error();
  ResultObject out;
  out.text = rendered.value().text.bytes();
  return out;
}

Outcome<ResultObject> encode_prompt(const Library& library, const core::Model& model, Fields& fields) {
  core::Call call = read_call(library, fields, true);
  const protocol::EncodeFields asked = protocol::read_encode(fields);
  if (Status status = fields.finish(); !status.ok()) return status.error();
  if (Status entered = protocol::enter(asked, call); !entered.ok()) return entered.error();
  auto encoded = model.encode(call);
  if (!encoded.ok()) return encoded.error();
  render::Encoded& from = encoded.value();
  ResultObject out;
  if (asked.mask) {
    auto mask = render::loss_mask(from, call.conversation.messages, *asked.mask);
    if (!mask.ok()) return invalid(mask.error().message);
    out.loss_mask = std::move(mask).value();
  }
  json::Object rest;
  set_texts(rest, "notes", from.notes);
  set_texts(rest, "shaped", from.shaped);
  out.json = json::to_compact(rest);
  out.text = std::move(from.text);
  out.ids = std::move(from.ids);
  out.owners = std::move(from.message_indices);
  out.content_mask = std::move(from.content_mask);
  out.sampled_mask = std::move(from.sampled_mask);
  return out;
}

// The arguments of a bridge other than the chat.
struct BridgeInput {
  rondo_ids prompt;
  rondo_ids completion;
  rondo_text new_messages;
};

Outcome<ResultObject> bridge_turn(const Library& library, const core::Model& model, Fields& fields,
                                  const BridgeInput& input) {
  auto prompt = span_of(input.prompt, "prompt");
  if (!prompt.ok()) return prompt.failure();
  auto completion = span_of(input.completion, "completion");
  if (!completion.ok()) return completion.failure();
  auto new_messages = messages_of(input.new_messages, "new_messages");
  if (!new_messages.ok()) return new_messages.failure();
  core::Call call = read_call(library, fields, false);
  const protocol::BridgeFields asked = protocol::read_bridge(fields, true);
  if (asked.corrections) fields.fail("`corrections` belong to the options of the model");
  if (Status status = fields.finish(); !status.ok()) return status.error();
  call.specials = asked.specials;
  auto bridged = model.bridge(call, {.prompt = prompt.value(),
                                     .completion = completion.value(),
                                     .new_messages = std::move(new_messages.value()),
                                     .allow_lossy = asked.lossy,
                                     .retention = asked.retention,
                                     .sampled = asked.sampled});
  if (!bridged.ok()) return bridged.error();
  ResultObject out;
  out.json = json::to_compact(protocol::bridged_to_json(bridged.value(), asked));
  out.ids = std::move(bridged.value().ids);
  out.owners = std::move(bridged.value().message_indices);
  return out;
}

// --- What follows from a model ---------------------------------------------------------------------------------------

Outcome<ResultObject> stops_of(const Library& library, const core::Model& model, Fields& fields) {
  core::Call call = read_call(library, fields, false);
  if (Status status = fields.finish(); !status.ok()) return status.error();
  const auto profile = model.profile(call);
  if (!profile.ok()) return profile.error();
  ResultObject out;
  out.ids = profile.value()->stop_ids;
  out.json = json::to_compact(json::Object{{"stop_ids", protocol::numbers_to_json(profile.value()->stop_ids)},
                                           {"stop_strings", protocol::texts_to_json(profile.value()->stop_strings)}});
  return out;
}

Outcome<ResultObject> grammar_of(const Library& library, const core::Model& model, Fields& fields) {
  core::Call call = read_call(library, fields, false);
  const core::Asked asked = core::read_asked(fields);
  const core::GrammarLanguage language = core::read_language(fields);
  if (Status status = fields.finish(); !status.ok()) return status.error();
  const auto made = model.grammar(call, asked, language);
  if (!made.ok()) return made.error();
  ResultObject out;
  out.text = made.value().text;
  out.json = json::to_compact(core::to_json(made.value()));
  return out;
}

Outcome<ResultObject> check_template(const Library& library, const core::Model& model, Fields& fields) {
  core::Call call;
  call.conversation.kwargs = fields.object("kwargs");
  call.conversation.bos_token = fields.text("bos_token");
  call.conversation.eos_token = fields.text("eos_token");
  call.now = fields.time("now");
  if (!call.now) call.now = library.now;
  core::CheckRequest asked;
  asked.model = fields.text("model").value_or(model.name());
  asked.has_file = !model.name().empty();
  if (fields.has("scenarios")) asked.scenarios = fields.required_texts("scenarios");
  if (Status status = fields.finish(); !status.ok()) return status.error();
  const auto report = core::check(model, call, std::move(asked));
  if (!report.ok()) return report.error();
  ResultObject out;
  out.json = json::to_compact(report::to_json(report.value()));
  return out;
}

Outcome<ResultObject> describe_model(const core::Model& model) {
  ResultObject out;
  const tokenizer::Tokenizer* tokenizer = model.tokenizer();
  out.json = json::to_compact(json::Object{{"name", model.name()},
                                           {"vocab_size", tokenizer == nullptr ? 0 : tokenizer->vocab_size()},
                                           {"template", model.template_text(false)},
                                           {"tool_template", model.template_text(true)},
                                           {"template_reason", model.template_reason()}});
  return out;
}

// --- Tokens ----------------------------------------------------------------------------------------------------------

Outcome<ResultObject> tokenize_text(const core::Model& model, rondo_text given, rondo_text options) {
  auto text = view_of(given, "text");
  if (!text.ok()) return text.failure();
  auto object = object_of_text(options, "options");
  if (!object.ok()) return object.failure();
  Fields fields(object.value());
  tokenizer::EncodeOptions asked;
  asked.parse_special = fields.flag("parse_special", true);
  asked.add_special = fields.flag("add_special", false);
  if (Status status = fields.finish(); !status.ok()) return status.error();
  if (model.tokenizer() == nullptr)
    return Error(ErrorCode::kUnsupported, "the model brings no tokenizer", model.name());
  ResultObject out;
  out.ids = model.tokenizer()->encode_ids(text.value(), asked);
  return out;
}

Outcome<ResultObject> detokenize_ids(const core::Model& model, rondo_ids given, rondo_text options) {
  auto ids = span_of(given, "ids");
  if (!ids.ok()) return ids.failure();
  auto object = object_of_text(options, "options");
  if (!object.ok()) return object.failure();
  Fields fields(object.value());
  const bool skip_special = fields.flag("skip_special", false);
  if (Status status = fields.finish(); !status.ok()) return status.error();
  auto text = model.detokenize(ids.value(), skip_special);
  if (!text.ok()) return text.error();
  ResultObject out;
  out.text = utf8::to_valid(text.value());
  return out;
}

}  // namespace
extern "C" {

rondo_status rondo_model_open(rondo_library* library, const rondo_model_options* options, rondo_model* model,
                              rondo_error* error) {
  return open_handle(library, model, error, [&](const Library& open) { return load_model(open, options); });
}

rondo_status rondo_model_close(rondo_library* library, rondo_model model) { return close_handle(library, model); }

rondo_status rondo_model_describe(rondo_library* library, rondo_model model, rondo_result* result, rondo_error* error) {
  return answer(library, model, result, error,
                [](const Library&, const ModelObject& object) { return describe_model(*object.model); });
}

rondo_status rondo_render(rondo_library* library, rondo_model model, const rondo_chat* chat, rondo_result* result,
                          rondo_error* error) {
  return ask(library, model, chat, result, error, render_prompt);
}

rondo_status rondo_jinja(rondo_library* library, rondo_model model, rondo_text variables, rondo_text options,
                         rondo_result* result, rondo_error* error) {
  return answer(library, model, result, error, [&](const Library& open, const ModelObject& object) {
    return render_variables(open, *object.model, variables, options);
  });
}

rondo_status rondo_encode(rondo_library* library, rondo_model model, const rondo_chat* chat, rondo_result* result,
                          rondo_error* error) {
  return ask(library, model, chat, result, error, encode_prompt);
}

// NOLINTNEXTLINE(readability-function-size): the parameters are the header's
rondo_status rondo_bridge(rondo_library* library, rondo_model model, const rondo_chat* chat, rondo_ids prompt,
                          rondo_ids completion, rondo_text new_messages, rondo_result* result, rondo_error* error) {
  return ask(library, model, chat, result, error, [&](const Library& open, const core::Model& object, Fields& fields) {
    return bridge_turn(open, object, fields, {prompt, completion, new_messages});
  });
}

rondo_status rondo_stop(rondo_library* library, rondo_model model, const rondo_chat* chat, rondo_result* result,
                        rondo_error* error) {
  return ask(library, model, chat, result, error, stops_of);
}

rondo_status rondo_grammar(rondo_library* library, rondo_model model, const rondo_chat* chat, rondo_result* result,
                           rondo_error* error) {
  return ask(library, model, chat, result, error, grammar_of);
}

rondo_status rondo_check(rondo_library* library, rondo_model model, const rondo_chat* chat, rondo_result* result,
                         rondo_error* error) {
  return ask(library, model, chat, result, error, check_template);
}

rondo_status rondo_tokenize(rondo_library* library, rondo_model model, rondo_text text, rondo_text options,
                            rondo_result* result, rondo_error* error) {
  return answer(library, model, result, error,
                [&](const Library&, const ModelObject& object) { return tokenize_text(*object.model, text, options); });
}

rondo_status rondo_detokenize(rondo_library* library, rondo_model model, rondo_ids ids, rondo_text options,
                              rondo_result* result, rondo_error* error) {
  return answer(library, model, result, error,
                [&](const Library&, const ModelObject& object) { return detokenize_ids(*object.model, ids, options); });
}

}  // extern "C"

}  // namespace rondo::capi
