#include "python/model.h"

#include <algorithm>
#include <utility>

#include "api/formats.h"
#include "api/ops.h"
#include "api/profile.h"
#include "base/files.h"
#include "base/utf8.h"
#include "json/print.h"
#include "render/completion.h"
#include "render/token_text.h"

namespace rondo::python {
namespace {

// The generation prompt and what continues it are short.
constexpr std::size_t kPromptTailTokens = 256;

// A template's own text, where a path was possible as well: no path has a line break or a tag in it.
bool is_template_text(const std::string& given) {
  return given.find('\n') != std::string::npos || given.find("{%") != std::string::npos ||
         given.find("{{") != std::string::npos;
}

std::optional<std::string> token_text(const json::Value& config, std::string_view field) {
  const json::Value* found = config.find(field);
  if (found == nullptr) return std::nullopt;
  if (found->is_string()) return found->as_string();
  if (const auto content = found->find_string("content")) return std::string(*content);
  return std::nullopt;
}

Result<std::shared_ptr<const api::LoadedTokenizer>> tokenizer_from(const MemoryTokenizer& memory,
                                                                   const std::string& cache_folder) {
  model::TokenizerSource source;
  source.path = memory.name;
  source.tokenizer_json = std::make_shared<const std::string>(memory.tokenizer_json);
  auto loaded = std::make_shared<api::LoadedTokenizer>();
  if (memory.config) {
    source.tokenizer_config = std::make_shared<const json::Value>(*memory.config);
    loaded->bos_token = token_text(*memory.config, "bos_token");
    loaded->eos_token = token_text(*memory.config, "eos_token");
  }
  if (memory.generation) source.generation_config = std::make_shared<const json::Value>(*memory.generation);
  auto made = tokenizer::Tokenizer::load(source, {.cache_folder = cache_folder});
  if (!made.ok()) {
    Error error = made.error();
    if (error.code == ErrorCode::kJson) error.code = ErrorCode::kTokenizer;
    return error;
  }
  loaded->tokenizer = made.value();
  return std::shared_ptr<const api::LoadedTokenizer>(std::move(loaded));
}

Result<std::shared_ptr<const api::LoadedTemplate>> templates_from(const MemoryTokenizer& memory) {
  auto loaded = std::make_shared<api::LoadedTemplate>();
  auto plain = jinja::Template::compile(*memory.chat_template, {}, "chat_template");
  if (!plain.ok()) return plain.error();
  loaded->plain = plain.value();
  if (memory.tool_template) {
    auto tools = jinja::Template::compile(*memory.tool_template, {}, "chat_template (tool_use)");
    if (!tools.ok()) return tools.error();
    loaded->tool_use = tools.value();
  }
  return std::shared_ptr<const api::LoadedTemplate>(std::move(loaded));
}

void take_if_absent(std::optional<std::string>& token, const std::optional<std::string>& other) {
  if (!token) token = other;
}

Status check_ids(const tokenizer::Tokenizer& tokenizer, std::span<const TokenId> ids, std::string_view what) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] >= 0 && ids[i] < tokenizer.vocab_size()) continue;
    return Error(ErrorCode::kTokenizer,
                 "id " + std::to_string(ids[i]) + " is out of range; the vocabulary has " +
                     std::to_string(tokenizer.vocab_size()) + " ids",
                 std::string(what) + "[" + std::to_string(i) + "]");
  }
  return Done{};
}

// The ids and the completion stay the caller's; the new messages move.
render::BridgeRequest request_of(const Call& call, BridgeCall& bridge, const render::ParsedCompletion& completion) {
  render::BridgeRequest request;
  request.prompt_ids = bridge.prompt;
  request.completion_ids = bridge.completion;
  request.completion = &completion;
  if (call.has_messages) request.messages = call.conversation.messages;
  request.new_messages = std::move(bridge.new_messages);
  request.specials = call.specials;
  return request;
}

}  // namespace

// --- Loading -------------------------------------------------------------------------------------------------------

Status Model::load_template(const Source& source) {
  api::Cache cache;
  if (source.chat_template && is_template_text(*source.chat_template)) {
    auto loaded = cache.template_from_text(*source.chat_template, {});
    if (!loaded.ok()) return loaded.error();
    template_ = loaded.value();
    return Done{};
  }
  auto loaded = cache.template_from_file(source.chat_template.value_or(source.path), {});
  if (loaded.ok()) {
    template_ = loaded.value();
  } else if (source.chat_template || loaded.error().code != ErrorCode::kNotFound) {
    return loaded.error();
  }
  return Done{};
}

Result<std::shared_ptr<const Model>> Model::load(const Source& source) {
  std::shared_ptr<Model> model(new Model());
  model->name_ = source.path;
  model->corrections_ = source.corrections;
  model->strict_ = source.strict;
  if (!source.path.empty() && !files::exists(source.path))
    return Error(ErrorCode::kNotFound, "there is no such file or folder", source.path);
  if (Status status = model->load_template(source); !status.ok()) return status.error();
  api::Cache cache(source.cache_folder);
  auto tokenizer = cache.tokenizer(source.tokenizer.value_or(source.path));
  if (tokenizer.ok()) {
    model->tokenizer_ = tokenizer.value();
  } else if (source.tokenizer || tokenizer.error().code != ErrorCode::kNotFound || model->template_ == nullptr) {
    // A template alone is a model too, one that has no ids.
    const bool is_template = !source.tokenizer && model->template_ != nullptr && !files::is_folder(source.path);
    if (!is_template) return tokenizer.error();
  }
  return std::shared_ptr<const Model>(std::move(model));
}

Result<std::shared_ptr<const Model>> Model::from_memory(const MemoryTokenizer& memory, const Source& source) {
  std::shared_ptr<Model> model(new Model());
  model->name_ = memory.name;
  model->corrections_ = source.corrections;
  model->strict_ = source.strict;
  if (source.chat_template) {
    if (Status status = model->load_template(source); !status.ok()) return status.error();
  } else if (memory.chat_template) {
    auto templates = templates_from(memory);
    if (!templates.ok()) return templates.error();
    model->template_ = templates.value();
  }
  auto tokenizer = tokenizer_from(memory, source.cache_folder);
  if (!tokenizer.ok()) return tokenizer.error();
  model->tokenizer_ = tokenizer.value();
  return std::shared_ptr<const Model>(std::move(model));
}

// --- What every call begins with -------------------------------------------------------------------------------------

Result<api::Prepared> Model::prepare(Call& call, api::TokenizerUse tokenizer) const {
  if (template_ == nullptr)
    return Error(ErrorCode::kUnsupported, "the model brings no chat template; give one as `template`", name_);
  if (tokenizer == api::TokenizerUse::kRequired && tokenizer_ == nullptr)
    return Error(ErrorCode::kUnsupported, "the model brings no tokenizer; give one as `tokenizer`", name_);
  api::Prepared out;
  chat::Conversation& conversation = call.conversation;
  out.chat_template = template_->with_tools(conversation.tools.has_value());
  out.options.strict = strict_;
  out.options.now = call.now;
  out.identity = out.chat_template == template_->plain ? "plain" : "tools";
  take_if_absent(conversation.bos_token, template_->bos_token);
  take_if_absent(conversation.eos_token, template_->eos_token);
  if (tokenizer_ != nullptr) {
    out.tokenizer = tokenizer_->tokenizer;
    take_if_absent(conversation.bos_token, tokenizer_->bos_token);
    take_if_absent(conversation.eos_token, tokenizer_->eos_token);
  }
  return out;
}

Result<std::shared_ptr<const format::Format>> Model::format_of(const api::Prepared& prepared,
                                                               const chat::Conversation& conversation) const {
  return api::inferred_format(formats_, prepared, conversation, corrections_);
}

Result<std::string> Model::tail_of(const api::Prepared& prepared, const Call& call, const ParseCall& options) const {
  if (options.prompt_tail) return *options.prompt_tail;
  if (!options.prompt_ids.empty()) {
    if (prepared.tokenizer == nullptr)
      return Error(ErrorCode::kUnsupported, "the model brings no tokenizer for `prompt_ids`", name_);
    const std::size_t count = std::min(options.prompt_ids.size(), kPromptTailTokens);
    return prepared.tokenizer->decode(options.prompt_ids.last(count), {});
  }
  chat::Conversation conversation = call.conversation;
  conversation.add_generation_prompt = !conversation.continue_final_message.has_value();
  const auto format = format_of(prepared, conversation);
  if (!format.ok()) return format.error();
  return api::prompt_tail(prepared, std::move(conversation), call.has_messages, *format.value());
}

// --- Prompts ---------------------------------------------------------------------------------------------------------

Result<std::string> Model::render(Call& call) const {
  auto prepared = prepare(call, api::TokenizerUse::kOptional);
  if (!prepared.ok()) return prepared.error();
  tmpl::ApplyOptions options = prepared.value().options;
  options.origins = false;
  auto rendered = tmpl::apply(*prepared.value().chat_template, call.conversation, options);
  if (!rendered.ok()) return rendered.error();
  return rendered.value().text.bytes();
}

Result<render::Encoded> Model::encode(Call& call) const {
  auto prepared = prepare(call, api::TokenizerUse::kRequired);
  if (!prepared.ok()) return prepared.error();
  const api::Prepared& use = prepared.value();
  if (call.raw_turns.empty())
    return render::encode(*use.chat_template, *use.tokenizer, call.conversation, use.options, call.specials);
  auto shared = turns(use, call.conversation);
  if (!shared.ok()) return shared.error();
  return render::encode_raw({*use.chat_template, *use.tokenizer, call.conversation, use.options},
                            {*shared.value()->profile, shared.value()->reader}, call.raw_turns, call.specials);
}

Result<std::shared_ptr<const render::TurnProfile>> Model::profile(Call& call) const {
  auto prepared = prepare(call, api::TokenizerUse::kRequired);
  if (!prepared.ok()) return prepared.error();
  return api::turn_profile(profiles_, prepared.value(), call.conversation);
}

Result<render::ParsedCompletion> Model::said(const BridgeCall& bridge, const render::CompletionReader& reader,
                                             const render::TurnProfile& profile) const {
  if (Status valid = check_ids(*tokenizer_->tokenizer, bridge.completion, "completion_ids"); !valid.ok())
    return valid.error();
  auto read = reader.read(profile, bridge.prompt, bridge.completion);
  if (read.ok() && !bridge.close) read.value().closing_text.clear();
  return read;
}

Result<std::shared_ptr<const Model::Turns>> Model::turns(const api::Prepared& prepared,
                                                         const chat::Conversation& conversation) const {
  return turns_.get(api::derived_key(prepared, conversation), [&]() -> api::Memo<Turns>::Made {
    auto format = format_of(prepared, conversation);
    if (!format.ok()) return format.error();
    auto profile = api::turn_profile(profiles_, prepared, conversation);
    if (!profile.ok()) return profile.error();
    return std::make_shared<const Turns>(
        Turns{std::move(profile).value(), {format.value(), *prepared.tokenizer, conversation.tools}});
  });
}

Result<render::Bridged> Model::bridge(Call& call, BridgeCall bridge) const {
  auto prepared = prepare(call, api::TokenizerUse::kRequired);
  if (!prepared.ok()) return prepared.error();
  const api::Prepared& use = prepared.value();
  if (Status valid = check_ids(*use.tokenizer, bridge.prompt, "prompt_ids"); !valid.ok()) return valid.error();
  auto shared = turns(use, call.conversation);
  if (!shared.ok()) return shared.error();
  const render::TurnProfile& profile = *shared.value()->profile;
  auto completion = said(bridge, shared.value()->reader, profile);
  if (!completion.ok()) return completion.error();
  render::BridgeRequest request = request_of(call, bridge, completion.value());
  request.find_lossy = bridge.find_lossy;
  return render::bridge({*use.chat_template, *use.tokenizer, call.conversation, use.options}, profile, request);
}

Result<render::Appended> Model::append(Call& call, BridgeCall bridge) const {
  if (bridge.prompt.size() > kPromptTailTokens) bridge.prompt = bridge.prompt.last(kPromptTailTokens);
  auto shared = rollouts(call);
  if (!shared.ok()) return shared.error();
  const render::RolloutModel& model = *shared.value();
  if (Status valid = check_ids(*tokenizer_->tokenizer, bridge.prompt, "prompt_ids"); !valid.ok()) return valid.error();
  auto completion = said(bridge, model.reader(), model.profile());
  if (!completion.ok()) return completion.error();
  return model.append(request_of(call, bridge, completion.value()));
}

Result<std::shared_ptr<const render::RolloutModel>> Model::rollouts(Call& call) const {
  auto prepared = prepare(call, api::TokenizerUse::kRequired);
  if (!prepared.ok()) return prepared.error();
  const api::Prepared& use = prepared.value();
  std::string key =
      api::derived_key(use, call.conversation) + (call.specials == render::ContentSpecials::kText ? " " : "p");
  // A template that prints the time is another one with each second.
  if (call.now && use.chat_template->source().find("strftime_now") != std::string::npos) {
    for (const int part :
         {call.now->year, call.now->month, call.now->day, call.now->hour, call.now->minute, call.now->second}) {
      key += std::to_string(part) + ' ';
    }
  }
  return rollouts_.get(key, [&]() -> api::Memo<render::RolloutModel>::Made {
    auto format = format_of(use, call.conversation);
    if (!format.ok()) return format.error();
    return render::RolloutModel::make({use.chat_template, use.tokenizer, format.value(),
                                       api::without_messages(call.conversation), use.options, call.specials});
  });
}

// --- Completions -----------------------------------------------------------------------------------------------------

Result<std::shared_ptr<const format::Format>> Model::format(Call& call) const {
  auto prepared = prepare(call, api::TokenizerUse::kOptional);
  if (!prepared.ok()) return prepared.error();
  return format_of(prepared.value(), call.conversation);
}

Result<std::shared_ptr<const Model::Parsing>> Model::parsing(const api::Prepared& prepared,
                                                             const chat::Conversation& conversation,
                                                             const parse::Options& options) const {
  std::string key = api::derived_key(prepared, conversation) + ' ';
  for (const bool flag : {options.calls, options.parallel_calls, options.must_call, options.inline_reasoning,
                          options.partial, options.strict})
    key += flag ? '1' : '0';
  key += options.only_tool;
  return parsings_.get(key, [&]() -> api::Memo<Parsing>::Made {
    auto format = format_of(prepared, conversation);
    if (!format.ok()) return format.error();
    Parsing out;
    out.reasoning_close = format.value()->reasoning.close;
    parse::Options given = options;
    given.tools = conversation.tools;
    if (prepared.tokenizer != nullptr) {
      given.special_tokens = render::marker_tokens(*format.value(), *prepared.tokenizer);
      auto profile = api::turn_profile(profiles_, prepared, conversation);
      if (!profile.ok()) return profile.error();
      out.profile = std::move(profile).value();
    }
    out.syntax = parse::compile(format.value(), std::move(given));
    return std::make_shared<const Parsing>(std::move(out));
  });
}

Result<parse::Parser> Model::parser(Call& call, const ParseCall& options) const {
  auto prepared = prepare(call, api::TokenizerUse::kOptional);
  if (!prepared.ok()) return prepared.error();
  auto parsing = this->parsing(prepared.value(), call.conversation, options.options);
  if (!parsing.ok()) return parsing.error();
  auto tail = tail_of(prepared.value(), call, options);
  if (!tail.ok()) return tail.error();
  return parse::Parser(parsing.value()->syntax, tail.value());
}

Result<ParsedIds> Model::parse_ids(Call& call, ParseCall options, std::span<const TokenId> ids) const {
  if (tokenizer_ == nullptr) return Error(ErrorCode::kUnsupported, "the model brings no tokenizer", name_);
  const tokenizer::Tokenizer& tokenizer = *tokenizer_->tokenizer;
  if (Status valid = check_ids(tokenizer, ids, "ids"); !valid.ok()) return valid.error();
  if (options.prompt_ids.size() > kPromptTailTokens) options.prompt_ids = options.prompt_ids.last(kPromptTailTokens);
  if (Status valid = check_ids(tokenizer, options.prompt_ids, "prompt_ids"); !valid.ok()) return valid.error();
  auto prepared = prepare(call, api::TokenizerUse::kRequired);
  if (!prepared.ok()) return prepared.error();
  auto parsing = this->parsing(prepared.value(), call.conversation, options.options);
  if (!parsing.ok()) return parsing.error();
  auto tail = tail_of(prepared.value(), call, options);
  if (!tail.ok()) return tail.error();
  parse::Parser parser(parsing.value()->syntax, tail.value());

  ParsedIds out;
  render::TokenText text(tokenizer);
  const auto take = [&](const parse::Piece& piece) {
    out.text += piece.bytes;
    static_cast<void>(parser.feed(std::span(&piece, 1)));  // the message is all that counts here
  };
  const auto end = text.feed_turn(ids, *parsing.value()->profile, parser, parsing.value()->reasoning_close, take);
  if (!end.ok()) return end.error();
  out.stopped = end.value().stop.has_value();
  if (end.value().closes_reasoning) {
    const parse::Piece stop{*end.value().stop, tokenizer.token_bytes(*end.value().stop), true};
    static_cast<void>(parser.feed(std::span(&stop, 1)));
  }
  out.ends = std::move(text.ends());
  out.ids.emplace(ids.begin(), ids.end());
  out.reasoning_open = parser.place() == parse::Place::kReasoning;
  out.closing_text = out.stopped ? "" : parser.closing_text();
  auto message = parser.finish();
  if (!message.ok()) return message.error();
  out.message = std::move(message).value();
  return out;
}

Result<json::Value> Model::grammar(Call& call, const GrammarCall& options) const {
  auto prepared = prepare(call, api::TokenizerUse::kOptional);
  if (!prepared.ok()) return prepared.error();
  auto format = format_of(prepared.value(), call.conversation);
  if (!format.ok()) return format.error();
  auto tail = tail_of(prepared.value(), call, {});
  if (!tail.ok()) return tail.error();
  return api::grammar_reply(*format.value(), options.asked, call.conversation.tools, tail.value(), options.language,
                            prepared.value().tokenizer.get());
}

Result<json::Value> Model::check(Call& call, std::vector<std::string> scenarios) const {
  call.conversation.tools = api::tools_of_check();  // of several templates the one for tools is checked
  auto prepared = prepare(call, api::TokenizerUse::kOptional);
  if (!prepared.ok()) return prepared.error();
  const bool has_file = files::exists(prepared.value().chat_template->name());
  return api::check_reply(prepared.value(), call.conversation, {name_, has_file, std::move(scenarios), {}});
}

// --- The tokenizer ---------------------------------------------------------------------------------------------------

const tokenizer::Tokenizer* Model::tokenizer() const {
  return tokenizer_ == nullptr ? nullptr : tokenizer_->tokenizer.get();
}

Result<std::vector<TokenId>> Model::tokenize(std::string_view text, bool parse_special) const {
  if (tokenizer_ == nullptr) return Error(ErrorCode::kUnsupported, "the model brings no tokenizer", name_);
  return tokenizer_->tokenizer->encode_ids(text, {.parse_special = parse_special, .parse_added = parse_special});
}

Result<std::string> Model::detokenize(std::span<const TokenId> ids, bool skip_special) const {
  if (tokenizer_ == nullptr) return Error(ErrorCode::kUnsupported, "the model brings no tokenizer", name_);
  if (Status valid = check_ids(*tokenizer_->tokenizer, ids, "ids"); !valid.ok()) return valid.error();
  return tokenizer_->tokenizer->decode(ids, {.skip_special = skip_special});
}

std::string Model::template_text(bool tools) const {
  return template_ == nullptr ? "" : template_->with_tools(tools)->source();
}

}  // namespace rondo::python
