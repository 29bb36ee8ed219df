// A model for long-running callers: its chat template and its tokenizer, and what follows from them.
//
//   auto model = core::Model::load({.path = "model/"});
//   core::Call call;
//   call.conversation.messages = ...;
//   model.value()->encode(call);
//
// What the line protocol, the public C++ classes and the Python module are faces of.  Formats, profiles of turns and what
// parsers and rollouts share are each made once, when they are first asked for.  Immutable but for those memos, which have
// locks of their own: every member may be called from many threads at once.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "chat/conversation.h"
#include "core/first_value.h"
#include "core/grammar.h"
#include "core/loader.h"
#include "core/memo.h"
#include "core/prepared.h"
#include "core/prompt.h"
#include "format/format.h"
#include "json/value.h"
#include "parse/parser.h"
#include "render/bridge.h"
#include "render/encode.h"
#include "render/raw_turns.h"
#include "render/rollout.h"
#include "render/stop.h"
#include "render/transcript.h"
#include "rondo/result.h"
#include "template/polyfill.h"
#include "tokenizer/tokenizer.h"

namespace rondo::core {

using tokenizer::TokenId;

// Where a model comes from.
// Whether what a template lacks is supplied (template/polyfill.h): where it is missing, or all of it.
enum class Polyfill : std::uint8_t { kOff, kAuto, kOn };
// "off", "auto" or "on".
[[nodiscard]] std::optional<Polyfill> polyfill_named(std::string_view name);
[[nodiscard]] std::string_view to_string(Polyfill polyfill);

struct Source {
  std::string path = {};  // a folder, a .gguf, a tokenizer file, a template; "" with the two below
  // Replaces the model's own: a template's path, its text, the name of one of ours (core/families.h), or "auto" for the one of
  // ours that fits.
  std::optional<std::string> chat_template = {};
  std::optional<std::string> template_text = {};  // its text, whatever that looks like; replaces them all
  std::optional<std::string> tokenizer = {};      // a path; replaces the model's own
  // Parts of a format's JSON (docs/format.md) that count instead of the inferred.
  std::optional<json::Object> corrections = {};
  std::string cache_folder = {};  // see Loader
  bool strict = false;            // render as the reference does, where that is stricter
  Polyfill polyfill = Polyfill::kOff;
};

// The input of one call.
struct Call {
  chat::Conversation conversation;
  bool has_messages = false;  // false: one plain user message stands for them where some are needed
  std::optional<jinja::LocalTime> now;
  render::ContentSpecials specials = render::ContentSpecials::kText;
  // Marks of reasoning at the begin of an assistant's content are the tokens that were sampled; for encode() and rollouts() of
  // a model that is not strict.
  bool inline_reasoning = true;
  std::vector<render::RawTurn> raw_turns;  // of the messages; for encode()
  // The ids that the first of them was sampled behind, where they are known; see render::encode_raw().
  std::span<const TokenId> raw_behind = {};
  // For encode(): what of earlier reasoning stands in the prompt, whatever the template drops.  nullopt: as the template does.
  std::optional<render::Retention> retention;
  // What prepare() changed in the messages, in the order in which it did; not an input.
  tmpl::Shaping shaping = {};
};

// What a parser gets beside the text.
struct ParseCall {
  parse::Options options = {};  // its tools, special_tokens and prompt_tail are set from what follows
  std::optional<std::string> prompt_tail = {};
  std::span<const TokenId> prompt_ids = {};  // if not empty, their end is the prompt's tail
  // Markers are found by their spelling alone, also where the tokenizer has tokens for them: for text whose tokens nobody
  // knows.
  bool by_spelling = false;
};

struct BridgeCall {
  std::span<const TokenId> prompt;
  std::span<const TokenId> completion;
  json::Array new_messages;
  bool close = true;       // write what closes the constructs that the completion left open
  bool find_lossy = true;  // say what the template would have written differently; slow
  // For bridge(): false fails with kCannotBridge where there is such a finding, and looks for them in any case.  Where earlier
  // reasoning may be cut out, differences are what was asked for.
  bool allow_lossy = true;
  // For bridge(): what of earlier reasoning stays.  Where some may be cut out, `close` must be true, and `sampled` are the
  // ranges of the prompt's ids that the assistant messages of the call were sampled as, in order, as far as is known.
  render::Retention retention = render::Retention::kAll;
  std::vector<std::pair<std::size_t, std::size_t>> sampled = {};
};

// A completion read from ids: the message, the text, and where in it each token's text ends.
struct ParsedIds {
  chat::AssistantMessage message;
  std::string text;                         // up to the first stop token
  std::vector<std::uint32_t> ends;          // per id: offset in `text` behind it
  std::optional<std::vector<TokenId>> ids;  // all that were given; nullopt: it was text
  std::string closing_text;                 // what would close that which is open; "" behind a stop
  bool stopped = false;                     // a stop token was there
  bool reasoning_open = false;              // ended inside of the reasoning
};

// Whether it is found out first for which turns a rollout may render a window in place of the whole history: worth its
// few hundred small renders for more than one turn.
enum class Locality : std::uint8_t { kProven, kNotProven };

enum class TokenizerUse : std::uint8_t { kOptional, kRequired };

struct StartedRollout {
  render::Rollout rollout;
  std::vector<std::string> notes;  // as Encoded::notes
};

class Model : public std::enable_shared_from_this<Model> {
 public:
  struct Parts {
    std::string name;                                  // for messages
    std::shared_ptr<const LoadedTemplate> templates;   // null: it brings none
    std::shared_ptr<const LoadedTokenizer> tokenizer;  // null: it brings none
    std::optional<json::Object> corrections;           // see Source
    bool strict = false;                               // see Source
    tmpl::Polyfills polyfills = {};                    // that the templates have in front of them
  };

  explicit Model(Parts parts) : parts_(std::move(parts)) {}

  // Fails with kNotFound, kTemplateSyntax, kTokenizer or kInvalidArgument.
  [[nodiscard]] static Result<std::shared_ptr<const Model>> load(const Source& source);
  // Of `source` everything but path and tokenizer counts.
  [[nodiscard]] static Result<std::shared_ptr<const Model>> from_memory(const MemoryModel& memory,
                                                                        const Source& source);

  // Template and tokenizer for the conversation of `call`, which gets the special tokens that the model brings where it has
  // none itself, and whose messages get the form that the template needs (docs/shaping.md), unless the model is strict; so a
  // call serves any number of times.  All members that take a call begin so, and fail with kUnsupported where the model
  // brings no template, or no tokenizer though one is needed.
  [[nodiscard]] Result<Prepared> prepare(Call& call, TokenizerUse tokenizer) const;

  // The prompt of a conversation that prepare() has completed.
  [[nodiscard]] Result<Prompt> prompt(const Prepared& prepared, const chat::Conversation& conversation,
                                      const tmpl::ApplyOptions& options) const;
  [[nodiscard]] Result<std::string> render(Call& call) const;
  [[nodiscard]] Result<render::Encoded> encode(Call& call) const;
  // Ids of the prompt are not looked at, but for the last few; ids of the completion that are out of range fail with
  // kTokenizer.
  // With a retention that may cut, the bridge is that of a rollout: `lossy` has what concerns the completion's end alone.
  [[nodiscard]] Result<render::Bridged> bridge(Call& call, BridgeCall bridge) const;
  // The appended part alone; only the last few of the old ids are looked at, and of the messages, where there are any,
  // what the template provably looks at.
  [[nodiscard]] Result<render::Appended> append(Call& call, BridgeCall bridge) const;
  // What rollouts with the tools and variables of `call` share; made once for each.
  [[nodiscard]] Result<std::shared_ptr<const render::RolloutModel>> rollouts(
      Call& call, Locality locality = Locality::kProven) const;
  // A rollout that begins with the prompt of `call`: encode()'s, with what encode() tells of its messages.  Takes
  // the messages of `call`.
  [[nodiscard]] Result<StartedRollout> start_rollout(Call& call) const;
  // What transcripts with the tools, variables and add_generation_prompt of `call` share; made once for each.
  [[nodiscard]] Result<std::shared_ptr<const render::TranscriptModel>> transcripts(Call& call) const;
  [[nodiscard]] Result<std::shared_ptr<const render::TurnProfile>> profile(Call& call) const;
  [[nodiscard]] Result<std::shared_ptr<const format::Format>> format(Call& call) const;
  // What of a conversation the template can carry; messages and tools of `call` do not count.  Made anew each time.
  [[nodiscard]] Result<analysis::Capabilities> capabilities(const Call& call) const;
  // Which variables of the template turn reasoning on and off; those that `call` sets are none of them.
  [[nodiscard]] Result<std::shared_ptr<const analysis::ReasoningSwitch>> reasoning_switch(Call& call) const;
  // What the template needs of its messages; nothing if the model is strict.
  [[nodiscard]] Result<std::shared_ptr<const tmpl::MessageRules>> shaping_rules(Call& call) const;
  // The parser of what the model writes after the prompt of `call`.
  [[nodiscard]] Result<parse::Parser> parser(Call& call, const ParseCall& options) const;
  [[nodiscard]] Result<ParsedIds> parse_ids(Call& call, ParseCall options, std::span<const TokenId> ids) const;
  // Where the ids of the prompt are known, their end says what has been begun.
  [[nodiscard]] Result<GrammarText> grammar(Call& call, const Asked& asked, GrammarLanguage language,
                                            std::span<const TokenId> prompt_ids = {}) const;
  // The same over the whole output, never lazy, to be matched with texts.
  [[nodiscard]] Result<grammar::TurnGrammar> turn_grammar(Call& call, const Asked& asked) const;

  // For a model that brings no tokenizer: the same template with a token for each byte and one for each mark of the format
  // that `call` has.  What is told of it in texts is told of the template; its ids and their number mean nothing.
  [[nodiscard]] Result<std::shared_ptr<const Model>> with_stand_in(Call call) const;

  // The same model with what its template lacks supplied; itself where nothing is.  Fails with kInvalidArgument where the model
  // is strict, which the statements of polyfills are not.
  [[nodiscard]] Result<std::shared_ptr<const Model>> polyfilled(Polyfill polyfill) const;
  [[nodiscard]] const tmpl::Polyfills& polyfills() const { return parts_.polyfills; }

  // nullptr if the model brings none.
  [[nodiscard]] const tokenizer::Tokenizer* tokenizer() const;
  [[nodiscard]] Result<std::vector<TokenId>> tokenize(std::string_view text, bool parse_special) const;
  // Not necessarily valid UTF-8.
  [[nodiscard]] Result<std::string> detokenize(std::span<const TokenId> ids, bool skip_special) const;
  // Why the template is one of ours, in a sentence; "" if it is none.
  [[nodiscard]] std::string template_reason() const {
    return parts_.templates == nullptr ? "" : parts_.templates->reason;
  }
  // The text of the template, or of the one for conversations with tools; "" without one.
  [[nodiscard]] std::string template_text(bool tools) const;
  // The roles that the template for conversations with or without tools knows; nothing without one.
  [[nodiscard]] const std::vector<std::string>& compared_roles(bool tools) const;
  [[nodiscard]] const std::string& name() const { return parts_.name; }

 private:
  [[nodiscard]] Result<render::Bridged> bridge_and_cut(Call& call, BridgeCall bridge) const;
  [[nodiscard]] Result<render::KeptTurns> keep_reasoning(Call& call, const Prepared& prepared) const;
  [[nodiscard]] Result<std::shared_ptr<const format::Format>> format_of(const Prepared& prepared,
                                                                        const chat::Conversation& conversation) const;
  [[nodiscard]] Result<Known> known(Call call) const;
  [[nodiscard]] Result<std::shared_ptr<const tmpl::MessageRules>> rules_of(
      const Prepared& prepared, const chat::Conversation& conversation) const;
  void shape_messages(const Prepared& prepared, Call& call) const;
  [[nodiscard]] Result<tmpl::Shaping> shape_following(const Prepared& prepared, const Call& call,
                                                      const render::ParsedCompletion& said,
                                                      json::Array& new_messages) const;
  [[nodiscard]] Result<std::shared_ptr<const render::TurnProfile>> profile_of(
      const Prepared& prepared, const chat::Conversation& conversation) const;
  // What turns of one template, tokenizer, tool list and template variables share.
  struct Turns {
    std::shared_ptr<const render::TurnProfile> profile;
    render::CompletionReader reader;
  };
  [[nodiscard]] Result<std::shared_ptr<const Turns>> turns(const Prepared& prepared,
                                                           const chat::Conversation& conversation) const;
  // What parsers of them share.
  struct Parsing {
    std::shared_ptr<const parse::Syntax> syntax;
    std::string reasoning_close;
    std::shared_ptr<const render::TurnProfile> profile;  // nullptr without a tokenizer, or by spelling
  };
  [[nodiscard]] Result<std::shared_ptr<const Parsing>> parsing(const Prepared& prepared,
                                                               const chat::Conversation& conversation,
                                                               const ParseCall& options) const;
  // The format, and what of `request` follows from the call.
  [[nodiscard]] Result<std::shared_ptr<const format::Format>> grammar_request(
      Call& call, GrammarRequest& request, std::span<const TokenId> prompt_ids = {}) const;
  [[nodiscard]] Result<PromptTail> tail_of(const Prepared& prepared, const Call& call, const ParseCall& options) const;

  Parts parts_;
  mutable Memo<render::TurnProfile> profiles_{64};
  mutable Memo<format::Format> formats_{64};
  mutable Memo<tmpl::MessageRules> rules_{64};
  mutable Memo<analysis::ReasoningSwitch> switches_{64};
  mutable std::array<FirstValue<std::shared_ptr<const tmpl::MessageRules>>, 2>
      usual_rules_;  // without kwargs; with_tools()
  mutable Memo<Turns> turns_{64};
  mutable Memo<Parsing> parsings_{64};
  mutable Memo<render::RolloutModel> rollouts_{64};
  mutable Memo<render::TranscriptModel> transcripts_{64};
};

// Fails with kTokenizer at the first id that the vocabulary does not have; the error's source is `what[i]`.
[[nodiscard]] Status check_ids(const tokenizer::Tokenizer& tokenizer, std::span<const TokenId> ids,
                               std::string_view what);

}  // namespace rondo::core
