#include "core/model.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "audit/stand_in_vocabulary.h"
#include "base/files.h"
#include "core/refusal.h"
#include "core/roles.h"
#include "core/unwritten.h"
#include "render/completion.h"
#include "render/token_text.h"

namespace rondo::core {
namespace {

// The generation prompt and what continues it are short.
constexpr std::size_t kPromptTailTokens = 256;

// True if `given` is a template's text and not a path: no path contains a line break or a tag.
bool is_template_text(const std::string& given) {
  return given.find('\n') != std::string::npos || given.find("{%") != std::string::npos ||
         given.find("{{") != std::string::npos;
}

void take_absent(chat::Conversation& conversation, const SpecialTokens& tokens) {
  if (!conversation.bos_token) conversation.bos_token = tokens.bos;
  if (!conversation.eos_token) conversation.eos_token = tokens.eos;
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

// Reads the completion of `bridge`.
Result<render::ParsedCompletion> read_completion(const BridgeCall& bridge, const render::CompletionReader& reader,
                                                 const render::TurnProfile& profile) {
  auto read = reader.read(profile, bridge.prompt, bridge.completion);
  if (read.ok() && !bridge.close) read.value().closing_text.clear();
  return read;
}

// Reports indices and changes in terms of the new messages as they were sent.
template <typename Next>
void put_as_sent(const tmpl::Shaping& shaping, const tmpl::Shaping& following, Next& next) {
  next.shaped = tmpl::sentences(shaping);
  const std::vector<std::string> more = tmpl::sentences(following, "new_messages");
  next.shaped.insert(next.shaped.end(), more.begin(), more.end());
  if (following.order.empty()) return;
  const auto sent = [&](std::int32_t& message) {
    if (message >= 0)
      message = static_cast<std::int32_t>(tmpl::sent_index(following, static_cast<std::size_t>(message)));
  };
  for (std::int32_t& message : next.message_indices) sent(message);
  for (render::MediaSpan& span : next.media) sent(span.message);
}

// Translates message indices and paths of a prompt back to the messages as they were sent.
void put_as_sent(const tmpl::Shaping& shaping, render::Encoded& encoded) {
  encoded.shaped = tmpl::sentences(shaping);
  if (shaping.changes.empty()) return;
  const auto sent = [&](std::int32_t& message) {
    if (message >= 0) message = static_cast<std::int32_t>(tmpl::sent_index(shaping, static_cast<std::size_t>(message)));
  };
  for (std::int32_t& message : encoded.message_indices) sent(message);
  for (std::int32_t& message : encoded.samplers) sent(message);
  for (render::FieldSpan& field : encoded.fields) {
    if (field.message < 0) continue;
    const std::size_t begin = field.path.find('.');
    sent(field.message);
    if (begin == std::string::npos) continue;
    const auto message = static_cast<std::size_t>(field.message);
    field.path = "messages[" + std::to_string(message) + "]." +
                 tmpl::sent_path(shaping, message, std::string_view(field.path).substr(begin + 1));
  }
}

std::optional<Error> lossy_refusal(const BridgeCall& bridge, const std::vector<render::LossyFinding>& found) {
  if (bridge.allow_lossy || found.empty()) return std::nullopt;
  return Error(ErrorCode::kCannotBridge, found.front().what).at(found.front().line, found.front().column);
}

// Where a template that is only named is looked for.  Which of rondo's own fits is told by the vocabulary.
std::string place_of_templates(const Source& source) {
  const bool is_by_vocabulary = source.path.empty() || source.chat_template == Loader::kAutomatic;
  return is_by_vocabulary ? source.tokenizer.value_or(source.path) : source.path;
}

// The replacement for a model's own template, else the model's own; null if there is neither.
TemplateResult load_template(const Source& source, Loader& loader) {
  if (source.template_text) return loader.template_from_text(*source.template_text, {});
  if (source.chat_template && is_template_text(*source.chat_template))
    return loader.template_from_text(*source.chat_template, {});
  if (source.chat_template && !files::exists(*source.chat_template))
    return loader.template_named(*source.chat_template, place_of_templates(source), {});
  auto loaded = loader.template_from_file(source.chat_template.value_or(source.path), {});
  if (!loaded.ok() && !source.chat_template && loaded.error().code == ErrorCode::kNotFound)
    return std::shared_ptr<const LoadedTemplate>();
  return loaded;
}

}  // namespace

// --- Loading -------------------------------------------------------------------------------------------------------

Result<std::shared_ptr<const Model>> Model::load(const Source& source) {
  if (!source.path.empty() && !files::exists(source.path))
    return Error(ErrorCode::kNotFound, "there is no such file or folder", source.path);
  Loader loader(source.cache_folder);
  auto templates = load_template(source, loader);
  if (!templates.ok()) return templates.error();
  auto tokenizer = loader.tokenizer(source.tokenizer.value_or(source.path));
  if (!tokenizer.ok()) {
    // A template without a tokenizer is a model too.  It has no ids.
    const bool may_lack = tokenizer.error().code == ErrorCode::kNotFound || !files::is_folder(source.path);
    if (source.tokenizer || templates.value() == nullptr || !may_lack) return tokenizer.error();
    tokenizer = std::shared_ptr<const LoadedTokenizer>();
  }
  return std::make_shared<const Model>(
             Parts{source.path, templates.value(), tokenizer.value(), source.corrections, source.strict})
      ->polyfilled(source.polyfill);
}

Result<std::shared_ptr<const Model>> Model::from_memory(const MemoryModel& memory, const Source& source) {
  TemplateResult templates = std::shared_ptr<const LoadedTemplate>();
  if (source.chat_template) {
    Loader loader;
    templates = load_template(source, loader);
  } else if (memory.chat_template) {
    templates = template_from_memory(memory);
  }
  if (!templates.ok()) return templates.error();
  auto tokenizer = tokenizer_from_memory(memory, source.cache_folder);
  if (!tokenizer.ok()) return tokenizer.error();
  return std::make_shared<const Model>(
             Parts{memory.name, templates.value(), tokenizer.value(), source.corrections, source.strict})
      ->polyfilled(source.polyfill);
}

// --- What every call begins with -------------------------------------------------------------------------------------

Result<Prepared> Model::prepare(Call& call, TokenizerUse tokenizer) const {
  if (parts_.templates == nullptr)
    return Error(ErrorCode::kUnsupported, "the model brings no chat template; give one as `template`", parts_.name);
  if (tokenizer == TokenizerUse::kRequired && parts_.tokenizer == nullptr)
    return Error(ErrorCode::kUnsupported, "the model brings no tokenizer; give one as `tokenizer`", parts_.name);
  Prepared out;
  chat::Conversation& conversation = call.conversation;
  out.chat_template = parts_.templates->with_tools(conversation.tools.has_value());
  out.is_tool_template = out.chat_template != parts_.templates->plain;
  out.options.strict = parts_.strict && !parts_.templates->is_encoder;
  out.options.now = call.now;
  take_absent(conversation, parts_.templates->tokens);
  if (parts_.tokenizer != nullptr) {
    out.tokenizer = parts_.tokenizer->tokenizer;
    take_absent(conversation, parts_.tokenizer->tokens);
  }
  shape_call(out, call);
  return out;
}

Result<std::shared_ptr<const tmpl::MessageRules>> Model::rules_of(const Prepared& prepared,
                                                                  const chat::Conversation& conversation) const {
  if (parts_.strict) return std::make_shared<const tmpl::MessageRules>();
  // Most calls have no variables of their own, so they need no key.
  FirstValue<std::shared_ptr<const tmpl::MessageRules>>& usual = usual_rules_[prepared.is_tool_template ? 1 : 0];
  if (conversation.kwargs.empty()) {
    if (const auto* known = usual.get()) return *known;
  }
  const auto format = format_of(prepared, conversation);
  if (!format.ok()) return format.error();
  auto rules = message_rules(rules_, prepared, conversation, *format.value());
  if (rules.ok() && conversation.kwargs.empty()) usual.offer(rules.value());
  return rules;
}

Result<std::shared_ptr<const format::Format>> Model::format_of(const Prepared& prepared,
                                                               const chat::Conversation& conversation) const {
  return inferred_format(formats_, prepared, conversation, parts_.corrections);
}

Result<std::shared_ptr<const render::TurnProfile>> Model::profile_of(const Prepared& prepared,
                                                                     const chat::Conversation& conversation) const {
  return profiles_.get(derived_key(prepared, conversation), [&]() -> Memo<render::TurnProfile>::Made {
    const chat::Conversation base = without_messages(conversation);
    const auto format = format_of(prepared, conversation);
    if (!format.ok()) return format.error();
    return std::make_shared<const render::TurnProfile>(
        render::probe_turns({*prepared.chat_template, *prepared.tokenizer, base, prepared.options}, *format.value()));
  });
}

Result<PromptTail> Model::tail_of(const Prepared& prepared, const Call& call, const ParseCall& options) const {
  if (options.prompt_tail) return PromptTail{*options.prompt_tail, ""};
  if (!options.prompt_ids.empty()) {
    if (prepared.tokenizer == nullptr)
      return Error(ErrorCode::kUnsupported, "the model brings no tokenizer for `prompt_ids`", parts_.name);
    const std::size_t count = std::min(options.prompt_ids.size(), kPromptTailTokens);
    const auto format = format_of(prepared, call.conversation);
    return decoded_tail(*prepared.tokenizer, options.prompt_ids.last(count),
                        format.ok() ? format.value().get() : nullptr);
  }
  const auto format = format_of(prepared, call.conversation);
  if (!format.ok()) return format.error();
  return prompt_tail(prepared, call.conversation, call.has_messages, format.value());
}

// --- Prompts ---------------------------------------------------------------------------------------------------------

Result<std::string> Model::render(Call& call) const {
  auto prepared = prepare(call, TokenizerUse::kOptional);
  if (!prepared.ok()) return prepared.error();
  tmpl::ApplyOptions options = prepared.value().options;
  options.origins = false;
  auto made = prompt(prepared.value(), call.conversation, options);
  if (!made.ok()) return made.error();
  return made.value().rendered.text.bytes();
}

Result<Prompt> Model::prompt(const Prepared& prepared, const chat::Conversation& conversation,
                             const tmpl::ApplyOptions& options) const {
  auto made = make_prompt(prepared, conversation, options, [&] { return format_of(prepared, conversation); });
  if (made.ok() || options.strict || made.error().code == ErrorCode::kLimit) return made;
  Error error = made.error();
  error.hint = refusal_hint(prepared, conversation);
  return error;
}

Result<render::Encoded> Model::encode(Call& call) const {
  auto prepared = prepare(call, TokenizerUse::kRequired);
  if (!prepared.ok()) return prepared.error();
  const Prepared& use = prepared.value();
  auto kept = keep_reasoning(call, use);
  if (!kept.ok()) return kept.error();
  const auto finished = [&](Result<render::Encoded> encoded) {
    if (!encoded.ok()) return encoded;
    std::ranges::move(kept.value().notes, std::back_inserter(encoded.value().notes));
    if (!parts_.strict)
      note_unwritten_role(*use.chat_template, call.conversation.messages, encoded.value().message_indices,
                          encoded.value().notes);
    return encoded;
  };
  if (kept.value().turns.empty()) {
    auto made = prompt(use, call.conversation, use.options);
    if (!made.ok()) return made.error();
    render::InlineReasoning reasoning;
    const auto rules = rules_of(use, call.conversation);  // provides the marks
    if (rules.ok() && call.inline_reasoning)
      reasoning = {rules.value()->reasoning_open, rules.value()->reasoning_close, call.conversation.messages};
    auto encoded = render::encode({*use.chat_template, *use.tokenizer, call.conversation, use.options},
                                  made.value().rendered, call.specials, reasoning);
    encoded.notes = std::move(made.value().notes);
    if (!parts_.strict && !call.conversation.continue_final_message) {
      const json::Array& messages = call.conversation.messages;
      const auto unwritten = unwritten_role(use.chat_template->compared_roles(), messages, encoded.message_indices);
      std::ranges::move(unwritten_fields(messages, call.shaping, made.value().rendered, unwritten),
                        std::back_inserter(encoded.notes));
      const auto has_reasoning = [](const json::Value& message) { return !tmpl::reasoning_field(message).empty(); };
      if (kept.value().notes.empty() && std::ranges::any_of(messages, has_reasoning)) {
        const auto format = format_of(use, call.conversation);
        if (format.ok())
          std::ranges::move(render::unwritten_reasoning(messages, call.shaping, made.value().rendered, *format.value()),
                            std::back_inserter(encoded.notes));
      }
    }
    put_as_sent(call.shaping, encoded);
    return finished(std::move(encoded));
  }
  auto shared = turns(use, call.conversation);
  if (!shared.ok()) return shared.error();
  auto encoded = render::encode_raw({*use.chat_template, *use.tokenizer, call.conversation, use.options},
                                    {*shared.value()->profile, shared.value()->reader}, kept.value().turns,
                                    call.specials, call.raw_behind);
  if (encoded.ok()) put_as_sent(call.shaping, encoded.value());
  return finished(std::move(encoded));
}

// Finds the turns that are not as the template would write them before what follows: raw turns, and turns that keep
// their reasoning.
Result<render::KeptTurns> Model::keep_reasoning(Call& call, const Prepared& prepared) const {
  render::KeptTurns out{call.raw_turns, {}};
  if (!call.retention) return out;
  if (!call.raw_behind.empty())
    return Error(ErrorCode::kInvalidArgument, "behind ids that are known all reasoning stays");
  auto format = format_of(prepared, call.conversation);
  if (!format.ok()) return format.error();
  chat::Conversation& conversation = call.conversation;
  render::drop_reasoning(conversation.messages, *call.retention, format.value()->input.reasoning_field);
  auto kept = render::kept_turns({*prepared.chat_template, *prepared.tokenizer, conversation, prepared.options},
                                 *format.value(), *call.retention);
  if (!kept.ok()) return kept.error();
  if (conversation.continue_final_message && !kept.value().turns.empty())
    return Error(ErrorCode::kInvalidArgument,
                 "a prompt that keeps reasoning which the template drops cannot be continued in its last message");
  for (render::RawTurn& turn : kept.value().turns) {
    const auto at = std::ranges::lower_bound(out.turns, turn.message, {}, &render::RawTurn::message);
    if (at == out.turns.end() || at->message != turn.message) out.turns.insert(at, std::move(turn));
  }
  out.notes = std::move(kept.value().notes);
  return out;
}

Result<std::shared_ptr<const render::TurnProfile>> Model::profile(Call& call) const {
  auto prepared = prepare(call, TokenizerUse::kRequired);
  if (!prepared.ok()) return prepared.error();
  return profile_of(prepared.value(), call.conversation);
}

Result<std::shared_ptr<const Model::Turns>> Model::turns(const Prepared& prepared,
                                                         const chat::Conversation& conversation) const {
  return turns_.get(derived_key(prepared, conversation), [&]() -> Memo<Turns>::Made {
    auto format = format_of(prepared, conversation);
    if (!format.ok()) return format.error();
    auto profile = profile_of(prepared, conversation);
    if (!profile.ok()) return profile.error();
    return std::make_shared<const Turns>(
        Turns{std::move(profile).value(), {format.value(), *prepared.tokenizer, conversation.tools}});
  });
}

// Bridges as a rollout does, which knows where the sampled turns are.
Result<render::Bridged> Model::bridge_and_cut(Call& call, BridgeCall bridge) const {
  if (!bridge.close)
    return Error(ErrorCode::kInvalidArgument, "reasoning can be cut out only where the completion is closed");
  const auto model = rollouts(call, Locality::kNotProven);
  if (!model.ok()) return model.error();
  const json::Array& messages = call.conversation.messages;
  const std::size_t old_size = bridge.prompt.size() + bridge.completion.size();
  const auto first_new = static_cast<std::int32_t>(messages.size()) + 1;
  auto rollout =
      render::Rollout::resume(model.value(), {bridge.prompt.begin(), bridge.prompt.end()}, messages, bridge.sampled);
  if (!rollout.ok()) return rollout.error();
  if (const auto said = rollout.value().complete(bridge.completion); !said.ok()) return said.error();
  auto next = rollout.value().extend(std::move(bridge.new_messages), bridge.retention);
  if (!next.ok()) return next.error();
  render::Extension& done = next.value();
  if (const auto refusal = lossy_refusal(bridge, done.lossy)) return *refusal;
  const std::span<const TokenId> ids = rollout.value().ids();
  render::Bridged out;
  out.ids.assign(ids.begin(), ids.end());
  out.message_indices = rollout.value().message_indices();
  for (std::int32_t& owner : out.message_indices) owner = std::max(owner - first_new, text::kNoMessage);
  out.content_mask.assign(done.begin, 0);
  out.content_mask.insert(out.content_mask.end(), done.content_mask.begin(), done.content_mask.end());
  out.appended = ids.size() - done.begin;
  out.appended_text = std::move(done.text);
  out.notes = std::move(done.notes);
  out.media = std::move(done.media);
  out.lossy = std::move(done.lossy);
  out.shaped = tmpl::sentences(call.shaping);
  std::ranges::move(done.shaped, std::back_inserter(out.shaped));
  out.cuts = std::move(done.cuts);
  out.kept = std::min(done.kept, old_size);
  return out;
}

Result<render::Bridged> Model::bridge(Call& call, BridgeCall bridge) const {
  const bool may_cut =
      bridge.retention != render::Retention::kAll && bridge.retention != render::Retention::kAllThinking;
  if (may_cut) return bridge_and_cut(call, std::move(bridge));
  auto prepared = prepare(call, TokenizerUse::kRequired);
  if (!prepared.ok()) return prepared.error();
  const Prepared& use = prepared.value();
  auto shared = turns(use, call.conversation);
  if (!shared.ok()) return shared.error();
  const render::TurnProfile& profile = *shared.value()->profile;
  auto completion = read_completion(bridge, shared.value()->reader, profile);
  if (!completion.ok()) return completion.error();
  const auto shaping = shape_following(use, call, completion.value(), bridge.new_messages);
  if (!shaping.ok()) return shaping.error();
  render::BridgeRequest request = request_of(call, bridge, completion.value());
  request.find_lossy = bridge.find_lossy || !bridge.allow_lossy;
  request.format = &shared.value()->reader.format();
  auto bridged = render::bridge({*use.chat_template, *use.tokenizer, call.conversation, use.options}, profile, request);
  if (!bridged.ok()) return bridged;
  if (const auto refusal = lossy_refusal(bridge, bridged.value().lossy)) return *refusal;
  put_as_sent(call.shaping, shaping.value(), bridged.value());
  return bridged;
}

Result<render::Appended> Model::append(Call& call, BridgeCall bridge, Locality locality) const {
  if (bridge.prompt.size() > kPromptTailTokens) bridge.prompt = bridge.prompt.last(kPromptTailTokens);
  auto shared = rollouts(call, locality);
  if (!shared.ok()) return shared.error();
  const render::RolloutModel& model = *shared.value();
  auto completion = read_completion(bridge, model.reader(), model.profile());
  if (!completion.ok()) return completion.error();
  const tmpl::Shaping shaping =
      model.shape_following(call.conversation.messages, completion.value(), bridge.new_messages);
  auto appended = model.append(request_of(call, bridge, completion.value()));
  if (appended.ok()) put_as_sent(call.shaping, shaping, appended.value());
  return appended;
}

Result<std::shared_ptr<const Model>> Model::with_stand_in(Call call) const {
  const auto format = this->format(call);
  if (!format.ok()) return format.error();
  const SpecialTokens& tokens = parts_.templates->tokens;
  auto vocabulary = audit::stand_in_vocabulary(*format.value(), {tokens.bos.value_or(""), tokens.eos.value_or("")});
  if (!vocabulary.ok()) return vocabulary.error();
  Parts parts = parts_;
  parts.tokenizer = std::make_shared<const LoadedTokenizer>(LoadedTokenizer{std::move(vocabulary).value(), {}});
  return std::make_shared<const Model>(std::move(parts));
}

// --- Completions -----------------------------------------------------------------------------------------------------

Result<std::shared_ptr<const tmpl::MessageRules>> Model::shaping_rules(Call& call) const {
  auto prepared = prepare(call, TokenizerUse::kOptional);
  if (!prepared.ok()) return prepared.error();
  return rules_of(prepared.value(), call.conversation);
}

Result<std::shared_ptr<const format::Format>> Model::format(Call& call) const {
  auto prepared = prepare(call, TokenizerUse::kOptional);
  if (!prepared.ok()) return prepared.error();
  return format_of(prepared.value(), call.conversation);
}

Result<std::shared_ptr<const analysis::ReasoningSwitch>> Model::reasoning_switch(Call& call) const {
  auto prepared = prepare(call, TokenizerUse::kOptional);
  if (!prepared.ok()) return prepared.error();
  const auto format = format_of(prepared.value(), call.conversation);
  if (!format.ok()) return format.error();
  return core::reasoning_switch(switches_, prepared.value(), call.conversation, *format.value());
}

Result<std::shared_ptr<const Model::Parsing>> Model::parsing(const Prepared& prepared,
                                                             const chat::Conversation& conversation,
                                                             const ParseCall& call) const {
  const parse::Options& options = call.options;
  std::string key = derived_key(prepared, conversation) + ' ';
  for (const bool flag : {options.calls, options.parallel_calls, options.must_call, options.json_answer,
                          options.inline_reasoning, options.partial, options.strict, call.by_spelling})
    key += flag ? '1' : '0';
  key += options.only_tool;
  return parsings_.get(key, [&]() -> Memo<Parsing>::Made {
    auto format = format_of(prepared, conversation);
    if (!format.ok()) return format.error();
    Parsing out;
    out.reasoning_close = format.value()->reasoning.close;
    parse::Options given = options;
    given.tools = conversation.tools;
    if (prepared.tokenizer != nullptr && !call.by_spelling) {
      given.special_tokens = render::marker_tokens(*format.value(), *prepared.tokenizer);
      auto profile = profile_of(prepared, conversation);
      if (!profile.ok()) return profile.error();
      out.profile = std::move(profile).value();
    }
    out.syntax = parse::compile(format.value(), std::move(given));
    return std::make_shared<const Parsing>(std::move(out));
  });
}

Result<parse::Parser> Model::parser(Call& call, const ParseCall& options) const {
  auto prepared = prepare(call, TokenizerUse::kOptional);
  if (!prepared.ok()) return prepared.error();
  auto parsing = this->parsing(prepared.value(), call.conversation, options);
  if (!parsing.ok()) return parsing.error();
  auto tail = tail_of(prepared.value(), call, options);
  if (!tail.ok()) return tail.error();
  return parse::Parser(parsing.value()->syntax, tail.value().text, tail.value().begun);
}

Result<ParsedIds> Model::parse_ids(Call& call, ParseCall options, std::span<const TokenId> ids) const {
  if (parts_.tokenizer == nullptr) return Error(ErrorCode::kUnsupported, "the model brings no tokenizer", parts_.name);
  const tokenizer::Tokenizer& tokenizer = *parts_.tokenizer->tokenizer;
  if (Status valid = check_ids(tokenizer, ids, "ids"); !valid.ok()) return valid.error();
  if (options.prompt_ids.size() > kPromptTailTokens) options.prompt_ids = options.prompt_ids.last(kPromptTailTokens);
  if (Status valid = check_ids(tokenizer, options.prompt_ids, "prompt_ids"); !valid.ok()) return valid.error();
  auto prepared = prepare(call, TokenizerUse::kRequired);
  if (!prepared.ok()) return prepared.error();
  auto parsing = this->parsing(prepared.value(), call.conversation, options);
  if (!parsing.ok()) return parsing.error();
  auto tail = tail_of(prepared.value(), call, options);
  if (!tail.ok()) return tail.error();
  parse::Parser parser(parsing.value()->syntax, tail.value().text, tail.value().begun);

  ParsedIds out;
  render::TokenText text(tokenizer);
  std::size_t told = 0;  // offset in the text, as the events report it
  const auto take = [&](const parse::Piece& piece) {
    out.text += piece.bytes;
    for (const parse::Event& event : parser.feed(std::span(&piece, 1)))
      if (event.begin != event.end) told = std::max(told, event.end);
  };
  const auto end = text.feed_turn(ids, *parsing.value()->profile, parser, parsing.value()->reasoning_close, take);
  if (!end.ok()) return end.error();
  out.stopped = end.value().stop.has_value();
  // A stop may end the reasoning without closing it.
  out.reasoning_open = parser.place() == parse::Place::kReasoning && !end.value().closes_reasoning;
  if (out.stopped) {
    const parse::Piece stop{*end.value().stop, tokenizer.token_bytes(*end.value().stop), true};
    if (end.value().closes_reasoning || parser.ends_turn(out.text, stop.bytes))
      static_cast<void>(parser.feed(std::span(&stop, 1)));
  }
  out.ends = std::move(text.ends());
  out.ids.emplace(ids.begin(), ids.end());
  const std::size_t pending = std::min(told, out.text.size());
  if (!out.stopped) out.closing_text = render::closing_text(tokenizer, parser, out.text.substr(pending));
  auto message = parser.finish();
  if (!message.ok()) return message.error();
  out.message = std::move(message).value();
  return out;
}

Result<std::shared_ptr<const format::Format>> Model::grammar_request(Call& call, GrammarRequest& request,
                                                                     std::span<const TokenId> prompt_ids) const {
  auto prepared = prepare(call, TokenizerUse::kOptional);
  if (!prepared.ok()) return prepared.error();
  auto format = format_of(prepared.value(), call.conversation);
  if (!format.ok()) return format.error();
  ParseCall parsing;
  parsing.prompt_ids = prompt_ids;
  auto tail = tail_of(prepared.value(), call, parsing);
  if (!tail.ok()) return tail.error();
  request.tools = call.conversation.tools;
  request.prompt_tail = tail.value().text + tail.value().begun;
  return format;
}

Result<GrammarText> Model::grammar(Call& call, const Asked& asked, GrammarLanguage language,
                                   std::span<const TokenId> prompt_ids, std::string begun) const {
  GrammarRequest request{asked, {}, "", language, std::move(begun)};
  const auto format = grammar_request(call, request, prompt_ids);
  if (!format.ok()) return format.error();
  return make_grammar(*format.value(), request, tokenizer());
}

Result<grammar::TurnGrammar> Model::turn_grammar(Call& call, const Asked& asked) const {
  GrammarRequest request{asked, {}, ""};
  const auto format = grammar_request(call, request);
  if (!format.ok()) return format.error();
  return make_turn_grammar(*format.value(), request);
}

// --- The tokenizer ---------------------------------------------------------------------------------------------------

const tokenizer::Tokenizer* Model::tokenizer() const {
  return parts_.tokenizer == nullptr ? nullptr : parts_.tokenizer->tokenizer.get();
}

Result<std::vector<TokenId>> Model::tokenize(std::string_view text, bool parse_special) const {
  if (parts_.tokenizer == nullptr) return Error(ErrorCode::kUnsupported, "the model brings no tokenizer", parts_.name);
  return parts_.tokenizer->tokenizer->encode_ids(text, {.parse_special = parse_special, .parse_added = parse_special});
}

Result<std::string> Model::detokenize(std::span<const TokenId> ids, bool skip_special) const {
  if (parts_.tokenizer == nullptr) return Error(ErrorCode::kUnsupported, "the model brings no tokenizer", parts_.name);
  if (Status valid = check_ids(*parts_.tokenizer->tokenizer, ids, "ids"); !valid.ok()) return valid.error();
  return parts_.tokenizer->tokenizer->decode(ids, {.skip_special = skip_special});
}

std::string Model::template_text(bool tools) const {
  return parts_.templates == nullptr ? "" : parts_.templates->with_tools(tools)->source();
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

}  // namespace rondo::core
