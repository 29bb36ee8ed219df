// A model for long-running callers: its chat template, its tokenizer, and everything derived from them.
//
//   auto model = core::Model::load({.path = "model/"});
//   core::Call call;
//   call.conversation.messages = ...;
//   model.value()->encode(call);
//
// The line protocol, the public C++ classes and the Python module all present this class.  Formats, profiles of turns,
// and the data that parsers and rollouts share are each made once, on first use.  A Model is immutable except for these
// memos, which have their own locks.  Any thread may call any member at any time.
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

using jinja::LocalTime;
using tokenizer::TokenId;

// Whether rondo supplies what a template lacks (template/polyfill.h): nothing, only what is missing, or everything.
enum class Polyfill : std::uint8_t { kOff, kAuto, kOn };
// "off", "auto" or "on".
[[nodiscard]] std::optional<Polyfill> polyfill_named(std::string_view name);
[[nodiscard]] std::string_view to_string(Polyfill polyfill);

// Where a model comes from.
struct Source {
  // A folder, a .gguf, a tokenizer file or a template; "" if the two fields below are used instead.
  std::string path = {};
  // Replaces the model's own template: the path of a template, or its text; the name of one of several templates that
  // the model brings; the name of one of rondo's own templates (core/families.h), or "auto" for the one that fits.
  std::optional<std::string> chat_template = {};
  std::optional<std::string> template_text = {};  // the text of a template, whatever it looks like; replaces all others
  std::optional<std::string> tokenizer = {};      // a path; replaces the model's own
  // Parts of a format's JSON (docs/format.md) that override the inferred ones.
  std::optional<json::Object> corrections = {};
  std::string cache_folder = {};  // as in Loader
  bool strict = false;            // strict mode: render exactly as the reference does
  Polyfill polyfill = Polyfill::kOff;
};

// The input of one call.
struct Call {
  chat::Conversation conversation;
  bool has_messages = false;  // false: where a message is needed, one plain user message is used
  std::optional<LocalTime> now;
  render::ContentSpecials specials = render::ContentSpecials::kText;
  // For encode() and rollouts() of a model that is not strict: whether reasoning markers at the beginning of an
  // assistant's content count as the tokens that were sampled.
  bool inline_reasoning = true;
  std::vector<render::RawTurn> raw_turns;  // for encode(): the turns to keep as they were sampled
  // The ids after which the first raw turn was sampled, if they are known; see render::encode_raw().
  std::span<const TokenId> raw_behind = {};
  // For encode(): which earlier reasoning stays in the prompt, whatever the template drops.  nullopt: the template
  // decides.
  std::optional<render::Retention> retention;
  // Output: what prepare() changed in the messages, in order, and in the tools.
  tmpl::Shaping shaping = {};
};

// The input of a parser besides the text.
struct ParseCall {
  parse::Options options = {};  // parser() sets its tools, special_tokens and prompt_tail
  std::optional<std::string> prompt_tail = {};
  std::span<const TokenId> prompt_ids = {};  // if not empty, the end of these ids is the prompt's tail
  // Finds markers by their spelling alone, even if the tokenizer has tokens for them.  For text whose tokens are
  // unknown.
  bool by_spelling = false;
};

struct BridgeCall {
  std::span<const TokenId> prompt;
  std::span<const TokenId> completion;
  json::Array new_messages;
  bool close = true;       // close the constructs that the completion left open
  bool find_lossy = true;  // report what the template would have written differently; slow
  // For bridge(): if false, bridge() always looks for differences and fails with kCannotBridge if there are any.  With
  // a retention that cuts reasoning, differences are expected.
  bool allow_lossy = true;
  // For bridge(): which earlier reasoning stays.  A retention that may cut needs `close`.  `sampled` are then the id
  // ranges of the prompt in which the assistant messages of the call were sampled, in order, as far as they are known.
  render::Retention retention = render::Retention::kAll;
  std::vector<std::pair<std::size_t, std::size_t>> sampled = {};
};

// A completion read from ids: the message, the text, and where each token's text ends in it.
struct ParsedIds {
  chat::AssistantMessage message;
  std::string text;                         // up to the first stop token
  std::vector<std::uint32_t> ends;          // for each id: the offset in `text` after it
  std::optional<std::vector<TokenId>> ids;  // all given ids; nullopt if the input was text
  std::string closing_text;                 // the text that would close what is open; "" after a stop token
  bool stopped = false;                     // whether there was a stop token
  bool reasoning_open = false;              // whether the text ended inside the reasoning
};

// Whether rondo first proves for which turns a rollout may render a window instead of the whole history.  The proof
// takes a few hundred small renders, so it pays off from the second turn on.
enum class Locality : std::uint8_t { kProven, kNotProven };

enum class TokenizerUse : std::uint8_t { kOptional, kRequired };

struct StartedRollout {
  render::Rollout rollout;
  std::vector<std::string> notes;  // as Encoded::notes
};

class Model : public std::enable_shared_from_this<Model> {
 public:
  struct Parts {
    std::string name;                                  // for error messages
    std::shared_ptr<const LoadedTemplate> templates;   // null: the model has no template
    std::shared_ptr<const LoadedTokenizer> tokenizer;  // null: the model has no tokenizer
    std::optional<json::Object> corrections;           // as in Source
    bool strict = false;                               // as in Source
    tmpl::Polyfills polyfills = {};                    // statements in front of the templates
  };

  explicit Model(Parts parts) : parts_(std::move(parts)) {}

  // Loads a model.  Fails with kNotFound, kTemplateSyntax, kTokenizer or kInvalidArgument.
  [[nodiscard]] static Result<std::shared_ptr<const Model>> load(const Source& source);
  // Makes a model from texts in memory.  Ignores the path and the tokenizer of `source`.
  [[nodiscard]] static Result<std::shared_ptr<const Model>> from_memory(const MemoryModel& memory,
                                                                        const Source& source);

  // Chooses the template and tokenizer for the conversation of `call` and completes the conversation: it gets the
  // model's special tokens if it names none.  Unless the model is strict, its messages get the form that the template
  // needs (docs/shaping.md).  The same call may be prepared any number of times.  Every member that takes a call
  // prepares it first, and fails with kUnsupported if the model lacks the template or the tokenizer that it needs.
  [[nodiscard]] Result<Prepared> prepare(Call& call, TokenizerUse tokenizer) const;

  // Makes the prompt of a conversation that prepare() has completed.
  [[nodiscard]] Result<Prompt> prompt(const Prepared& prepared, const chat::Conversation& conversation,
                                      const tmpl::ApplyOptions& options) const;
  [[nodiscard]] Result<std::string> render(Call& call) const;
  [[nodiscard]] Result<render::Encoded> encode(Call& call) const;
  // Makes the next prompt.  Reads only the last few ids of the prompt.  Fails with kTokenizer if an id of the
  // completion is out of range.  With a retention that may cut, the bridge is that of a rollout, and `lossy` covers
  // only the end of the completion.
  [[nodiscard]] Result<render::Bridged> bridge(Call& call, BridgeCall bridge) const;
  // Makes only the appended part.  Reads only the last few old ids, and, with kProven, only those messages that the
  // template is proven to look at.
  [[nodiscard]] Result<render::Appended> append(Call& call, BridgeCall bridge,
                                                Locality locality = Locality::kProven) const;
  // Returns what all rollouts with the tools and variables of `call` share.  Made once for each combination.
  [[nodiscard]] Result<std::shared_ptr<const render::RolloutModel>> rollouts(
      Call& call, Locality locality = Locality::kProven) const;
  // Starts a rollout with the prompt that encode() makes for `call`, and with the owners and notes that encode() gives.
  // Takes the messages of `call`.
  [[nodiscard]] Result<StartedRollout> start_rollout(Call& call) const;
  // What transcripts with the tools, variables and add_generation_prompt of `call` share; made once for each.
  [[nodiscard]] Result<std::shared_ptr<const render::TranscriptModel>> transcripts(Call& call) const;
  [[nodiscard]] Result<std::shared_ptr<const render::TurnProfile>> profile(Call& call) const;
  [[nodiscard]] Result<std::shared_ptr<const format::Format>> format(Call& call) const;
  // Returns which parts of a conversation the template can carry.  Ignores the messages and tools of `call`.  Made anew
  // each time.
  [[nodiscard]] Result<analysis::Capabilities> capabilities(const Call& call) const;
  // Returns which template variables turn reasoning on and off.  Variables that `call` sets are left out.
  [[nodiscard]] Result<std::shared_ptr<const analysis::ReasoningSwitch>> reasoning_switch(Call& call) const;
  // Returns what the template needs of its messages; nothing if the model is strict.
  [[nodiscard]] Result<std::shared_ptr<const tmpl::MessageRules>> shaping_rules(Call& call) const;
  // Makes a parser for what the model writes after the prompt of `call`.
  [[nodiscard]] Result<parse::Parser> parser(Call& call, const ParseCall& options) const;
  [[nodiscard]] Result<ParsedIds> parse_ids(Call& call, ParseCall options, std::span<const TokenId> ids) const;
  // Makes a grammar of the next turn.  If the prompt's ids are given, their end shows what has already been begun.
  // `begun` is the beginning of an answer by a schema, which follows them; the grammar covers the rest of the answer.
  [[nodiscard]] Result<GrammarText> grammar(Call& call, const Asked& asked, GrammarLanguage language,
                                            std::span<const TokenId> prompt_ids = {}, std::string begun = {}) const;
  // Makes a grammar of the whole output that is never lazy, to be matched with texts.
  [[nodiscard]] Result<grammar::TurnGrammar> turn_grammar(Call& call, const Asked& asked) const;

  // For a model without a tokenizer: returns a model with the same template and a byte tokenizer.  It has a token for
  // each byte, and one for each marker of the format of `call`.  Results about texts are valid for the template.  The
  // ids and their number mean nothing.
  [[nodiscard]] Result<std::shared_ptr<const Model>> with_stand_in(Call call) const;

  // Returns the same model with what its template lacks supplied, or this model if nothing is.  Fails with
  // kInvalidArgument if the model is strict: the reference would not run the added statements.
  [[nodiscard]] Result<std::shared_ptr<const Model>> polyfilled(Polyfill polyfill) const;
  [[nodiscard]] const tmpl::Polyfills& polyfills() const { return parts_.polyfills; }

  // Returns the tokenizer; nullptr if the model has none.
  [[nodiscard]] const tokenizer::Tokenizer* tokenizer() const;
  [[nodiscard]] Result<std::vector<TokenId>> tokenize(std::string_view text, bool parse_special) const;
  // Returns the bytes of the ids, which may not be valid UTF-8.
  [[nodiscard]] Result<std::string> detokenize(std::span<const TokenId> ids, bool skip_special) const;
  // Returns a sentence that says why one of rondo's own templates is used; "" if the model's own is.
  [[nodiscard]] std::string template_reason() const {
    return parts_.templates == nullptr ? "" : parts_.templates->reason;
  }
  // Returns the text of the template, or of the one for conversations with tools; "" if there is none.
  [[nodiscard]] std::string template_text(bool tools) const;
  // Returns whether the template may show the time, for conversations with or without tools.
  [[nodiscard]] bool shows_time(bool tools) const;
  // Returns the roles that the template knows, for conversations with or without tools; empty if there is no template.
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
  void shape_call(const Prepared& prepared, Call& call) const;
  [[nodiscard]] Result<tmpl::Shaping> shape_following(const Prepared& prepared, const Call& call,
                                                      const render::ParsedCompletion& said,
                                                      json::Array& new_messages) const;
  [[nodiscard]] Result<std::shared_ptr<const render::TurnProfile>> profile_of(
      const Prepared& prepared, const chat::Conversation& conversation) const;
  // What turns with the same template, tokenizer, tool list and template variables share.
  struct Turns {
    std::shared_ptr<const render::TurnProfile> profile;
    render::CompletionReader reader;
  };
  [[nodiscard]] Result<std::shared_ptr<const Turns>> turns(const Prepared& prepared,
                                                           const chat::Conversation& conversation) const;
  // What parsers of such turns share.
  struct Parsing {
    std::shared_ptr<const parse::Syntax> syntax;
    std::string reasoning_close;
    // Null without a tokenizer, or if markers are found by spelling.
    std::shared_ptr<const render::TurnProfile> profile;
  };
  [[nodiscard]] Result<std::shared_ptr<const Parsing>> parsing(const Prepared& prepared,
                                                               const chat::Conversation& conversation,
                                                               const ParseCall& options) const;
  // Returns the format, and fills `request` with what follows from the call.
  [[nodiscard]] Result<std::shared_ptr<const format::Format>> grammar_request(
      Call& call, GrammarRequest& request, std::span<const TokenId> prompt_ids = {}) const;
  [[nodiscard]] Result<PromptTail> tail_of(const Prepared& prepared, const Call& call, const ParseCall& options) const;

  Parts parts_;
  mutable Memo<render::TurnProfile> profiles_{64};
  mutable Memo<format::Format> formats_{64};
  mutable Memo<tmpl::MessageRules> rules_{64};
  mutable Memo<analysis::ReasoningSwitch> switches_{64};
  mutable std::array<FirstValue<std::shared_ptr<const tmpl::MessageRules>>, 2>
      usual_rules_;  // for no kwargs; index: with_tools()
  mutable Memo<Turns> turns_{64};
  mutable Memo<Parsing> parsings_{64};
  mutable Memo<render::RolloutModel> rollouts_{64};
  mutable Memo<render::TranscriptModel> transcripts_{64};
};

// Fails with kTokenizer at the first id that the vocabulary does not have.  The error's source is `what[i]`.
[[nodiscard]] Status check_ids(const tokenizer::Tokenizer& tokenizer, std::span<const TokenId> ids,
                               std::string_view what);

}  // namespace rondo::core
