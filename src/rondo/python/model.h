// A model for long-running callers: template and tokenizer loaded once, and what follows from them kept.
//
//   auto model = python::Model::load({.path = "model/"});
//   python::Call call;
//   call.conversation.messages = ...;
//   model.value()->encode(call);
//
// What the Python module wraps; knows nothing of Python.  Immutable after loading but for memos with locks of their own:
// every member may be called from many threads at once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/cache.h"
#include "api/requests.h"
#include "chat/conversation.h"
#include "format/format.h"
#include "json/value.h"
#include "parse/parser.h"
#include "render/bridge.h"
#include "render/encode.h"
#include "render/raw_turns.h"
#include "render/rollout.h"
#include "render/stop.h"
#include "rondo/result.h"
#include "tokenizer/tokenizer.h"

namespace rondo::python {

using tokenizer::TokenId;

// Where a model comes from.
struct Source {
  std::string path;                          // a folder, a .gguf, a tokenizer file, a template; "" with the two below
  std::optional<std::string> chat_template;  // a template's path, or its text; replaces the model's own
  std::optional<std::string> tokenizer;      // a path; replaces the model's own
  std::optional<json::Object>
      corrections;           // parts of a format's JSON (docs/format.md) that count instead of the inferred
  std::string cache_folder;  // see tokenizer::LoadOptions
  bool strict = false;       // render as the reference does, where that is stricter
};

// A tokenizer that is in memory already.
struct MemoryTokenizer {
  std::string name;                          // for messages
  std::string tokenizer_json;                // the text of a tokenizer.json
  std::optional<json::Value> config;         // as tokenizer_config.json; gives bos_token and eos_token
  std::optional<json::Value> generation;     // as generation_config.json
  std::optional<std::string> chat_template;  // text
  std::optional<std::string> tool_template;  // text, for conversations with tools, if there is one of its own
};

// The input of one call.
struct Call {
  chat::Conversation conversation;
  bool has_messages = false;  // false: one plain user message stands for them where some are needed
  std::optional<jinja::LocalTime> now;
  render::ContentSpecials specials = render::ContentSpecials::kText;
  std::vector<render::RawTurn> raw_turns;  // of the messages; for encode()
};

// What a parser gets beside the text.
struct ParseCall {
  parse::Options options;  // its tools, special_tokens and prompt_tail are set from what follows
  std::optional<std::string> prompt_tail;
  std::span<const TokenId> prompt_ids;  // if not empty, their end is the prompt's tail
};

struct BridgeCall {
  std::span<const TokenId> prompt;
  std::span<const TokenId> completion;
  json::Array new_messages;
  bool close = true;       // write what closes the constructs that the completion left open
  bool find_lossy = true;  // say what the template would have written differently; slow
};

struct GrammarCall {
  api::AskedOfModel asked;
  std::string language = "gbnf";
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

class Model {
 public:
  // Fails with kNotFound, kTemplateSyntax, kTokenizer or kInvalidArgument.
  [[nodiscard]] static Result<std::shared_ptr<const Model>> load(const Source& source);
  [[nodiscard]] static Result<std::shared_ptr<const Model>> from_memory(const MemoryTokenizer& memory,
                                                                        const Source& source);

  // Fail with kUnsupported where the model brings no template, or no tokenizer.  A call is given back with the special
  // tokens that the model brings, and serves any number of times.
  [[nodiscard]] Result<std::string> render(Call& call) const;
  [[nodiscard]] Result<render::Encoded> encode(Call& call) const;
  [[nodiscard]] Result<render::Bridged> bridge(Call& call, BridgeCall bridge) const;
  // The appended part alone; only the last few of the old ids are looked at, and of the messages, where there are any,
  // what the template provably looks at.
  [[nodiscard]] Result<render::Appended> append(Call& call, BridgeCall bridge) const;
  // What rollouts with the tools and variables of `call` share; made once for each.
  [[nodiscard]] Result<std::shared_ptr<const render::RolloutModel>> rollouts(Call& call) const;
  [[nodiscard]] Result<std::shared_ptr<const render::TurnProfile>> profile(Call& call) const;
  [[nodiscard]] Result<std::shared_ptr<const format::Format>> format(Call& call) const;
  // The parser of what the model writes after the prompt of `call`.
  [[nodiscard]] Result<parse::Parser> parser(Call& call, const ParseCall& options) const;
  [[nodiscard]] Result<ParsedIds> parse_ids(Call& call, ParseCall options, std::span<const TokenId> ids) const;
  // {"grammar", "lazy", "triggers", "warnings"} as the op `grammar` of docs/batch.md.
  [[nodiscard]] Result<json::Value> grammar(Call& call, const GrammarCall& options) const;
  // The report of the op `check` of docs/batch.md; of `call` the variables and the time count.
  [[nodiscard]] Result<json::Value> check(Call& call, std::vector<std::string> scenarios) const;

  // nullptr if the model brings none.
  [[nodiscard]] const tokenizer::Tokenizer* tokenizer() const;
  [[nodiscard]] Result<std::vector<TokenId>> tokenize(std::string_view text, bool parse_special) const;
  // Not necessarily valid UTF-8.
  [[nodiscard]] Result<std::string> detokenize(std::span<const TokenId> ids, bool skip_special) const;
  // The text of the template, or of the one for conversations with tools; "" without one.
  [[nodiscard]] std::string template_text(bool tools) const;
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  Model() = default;
  [[nodiscard]] Status load_template(const Source& source);
  [[nodiscard]] Result<api::Prepared> prepare(Call& call, api::TokenizerUse tokenizer) const;
  [[nodiscard]] Result<std::shared_ptr<const format::Format>> format_of(const api::Prepared& prepared,
                                                                        const chat::Conversation& conversation) const;
  // What turns of one template, tokenizer, tool list and template variables share.
  struct Turns {
    std::shared_ptr<const render::TurnProfile> profile;
    render::CompletionReader reader;
  };
  [[nodiscard]] Result<std::shared_ptr<const Turns>> turns(const api::Prepared& prepared,
                                                           const chat::Conversation& conversation) const;
  // What parsers of them share.
  struct Parsing {
    std::shared_ptr<const parse::Syntax> syntax;
    std::string reasoning_close;
    std::shared_ptr<const render::TurnProfile> profile;  // nullptr without a tokenizer
  };
  [[nodiscard]] Result<std::shared_ptr<const Parsing>> parsing(const api::Prepared& prepared,
                                                               const chat::Conversation& conversation,
                                                               const parse::Options& options) const;
  // The completion of `bridge` as it is to be understood.
  [[nodiscard]] Result<render::ParsedCompletion> said(const BridgeCall& bridge, const render::CompletionReader& reader,
                                                      const render::TurnProfile& profile) const;
  [[nodiscard]] Result<std::string> tail_of(const api::Prepared& prepared, const Call& call,
                                            const ParseCall& options) const;

  std::string name_;
  std::shared_ptr<const api::LoadedTemplate> template_;
  std::shared_ptr<const api::LoadedTokenizer> tokenizer_;
  std::optional<json::Object> corrections_;
  bool strict_ = false;
  mutable api::Memo<render::TurnProfile> profiles_{64};
  mutable api::Memo<format::Format> formats_{64};
  mutable api::Memo<Turns> turns_{64};
  mutable api::Memo<Parsing> parsings_{64};
  mutable api::Memo<render::RolloutModel> rollouts_{64};
};

}  // namespace rondo::python
