// Rollout: a conversation that grows by sampled turns and by messages, as token ids.  No engine: the caller samples.
//
//   auto model = RolloutModel::make({chat_template, tokenizer, format, tools_and_variables});   // once; shared
//   auto rollout = Rollout::start(model, messages);
//   for (...) {
//     sampled = engine.generate(rollout.value().ids());
//     auto said = rollout.value().complete(sampled);                       // what it says
//     auto next = rollout.value().extend({tool_result});                   // the ids that follow
//   }
//
// The ids are the truth: nothing that was prompted or sampled is rendered or tokenized again.  Any number of rollouts share
// one RolloutModel, which is immutable; a Rollout is used by one thread at a time.
// Memory of a rollout: its ids (4 bytes each), 12 bytes for each message's stretch of ids, its messages (twice where the
// template looks back at all of them), and some 400 bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "render/append.h"
#include "render/locality.h"
#include "render/retention.h"
#include "rondo/result.h"
#include "template/polyfill.h"

namespace rondo::render {

// What all rollouts of one template, tokenizer, tool list and template variables share.
class RolloutModel {
 public:
  struct Parts {
    std::shared_ptr<const jinja::Template> chat_template;
    std::shared_ptr<const tokenizer::Tokenizer> tokenizer;
    std::shared_ptr<const format::Format> format;
    chat::Conversation base;  // tools, documents, kwargs, bos and eos; its messages are not used
    tmpl::ApplyOptions apply;
    ContentSpecials specials = ContentSpecials::kText;
    tmpl::MessageRules rules = {};   // by which messages are shaped
    bool inline_reasoning = true;    // see render::InlineReasoning; the marks are those of the rules
    tmpl::Polyfills polyfills = {};  // that stand in front of the template
    bool prove_locality = true;  // false: every step renders the whole history, and nothing is rendered to begin with
  };

  // A few hundred small renders where locality is to be proven.  REQUIRES: no part is null.
  [[nodiscard]] static std::shared_ptr<const RolloutModel> make(Parts parts);
  RolloutModel(const RolloutModel&) = delete;
  RolloutModel& operator=(const RolloutModel&) = delete;

  [[nodiscard]] const Parts& parts() const { return parts_; }
  [[nodiscard]] const TurnContext& context() const { return context_; }
  [[nodiscard]] const TurnProfile& profile() const { return profile_; }
  [[nodiscard]] const CompletionReader& reader() const { return reader_; }
  [[nodiscard]] const Locality& locality() const { return locality_; }

  // What follows a completion, rendered in a window where that is proven to be the same; the work does not depend on the
  // length of the history then.  Fails as append_turn().
  [[nodiscard]] Result<Appended> append(const BridgeRequest& request) const;

  // Gives messages behind a completion the form that the template needs, and says what that changes, and what polyfills do.
  [[nodiscard]] tmpl::Shaping shape_following(std::span<const json::Value> history, const ParsedCompletion& said,
                                              json::Array& new_messages) const;

  // The two halves of append(), for callers who keep a history ready.  The step whose window serves for `turn`; kOther: all
  // of the messages are looked at.
  [[nodiscard]] Step window_of(const PreparedTurn& turn) const;
  // `step`: the window_of() the turn.  Takes the turn without History::tail_alone.
  [[nodiscard]] Result<Appended> append(PreparedTurn turn, Step step) const;

 private:
  explicit RolloutModel(Parts parts);

  Parts parts_;
  TurnContext context_;
  TurnProfile profile_;
  CompletionReader reader_;
  Locality locality_;
  TurnContext window_context_;
};

// What one extend() did.
struct Extension {
  std::size_t begin = 0;                   // ids()[begin ..) is what was appended
  std::vector<std::uint8_t> content_mask;  // per appended id: 1 if its first byte is a new message's own data
  std::string text;                        // of the appended ids
  std::vector<Cut> cuts;                   // in order; empty with Retention::kAll
  std::size_t kept = 0;                    // how many leading ids are where they were: all old ones if nothing was cut
  std::vector<MediaSpan> media;            // spans of ids()
  std::vector<std::string> notes;
  std::vector<std::string> shaped;  // what of the new messages was given to the template otherwise than it was sent
  std::vector<LossyFinding> lossy;  // of the completion's end; Rollout::find_lossy() has the rest
};

class Rollout {
 public:
  // A sampled turn.
  struct Turn {
    std::size_t begin = 0;  // ids()[begin, end) were sampled
    std::size_t end = 0;
    std::size_t message = 0;                 // index in messages(), once something follows
    std::optional<ReasoningSpan> reasoning;  // indices into the turn; nullopt: it has none, or no more
    bool opened_by_prompt = false;
  };

  // Renders and tokenizes the first prompt.  `shaped` is what was changed in `messages` already.  Fails as the template does.
  [[nodiscard]] static Result<Rollout> start(std::shared_ptr<const RolloutModel> model, json::Array messages,
                                             std::vector<std::string> shaped = {});
  // A rollout that was begun elsewhere: `ids` is the prompt of `messages`, and `sampled` are the ranges of its assistant
  // messages that were sampled, in order, for as many of them as are known.  Fails with kInvalidArgument where these do not
  // fit.
  [[nodiscard]] static Result<Rollout> resume(std::shared_ptr<const RolloutModel> model,
                                              std::vector<tokenizer::TokenId> ids, json::Array messages,
                                              std::span<const std::pair<std::size_t, std::size_t>> sampled);

  // Takes what was sampled behind ids(), with or without its stop token.  Fails with kInvalidArgument if the model has just
  // spoken, with kTokenizer on ids out of range.
  [[nodiscard]] Result<const ParsedCompletion*> complete(std::span<const tokenizer::TokenId> completion);

  // The next prompt.  Fails as append_turn() does, and with kInvalidArgument if the model has not spoken; the rollout is
  // unchanged then.
  [[nodiscard]] Result<Extension> extend(json::Array new_messages, Retention retention = Retention::kAll);

  // What the template would change in the old turns if `new_messages` followed; renders the history a few times.
  // REQUIRES: the model has spoken.
  [[nodiscard]] std::vector<LossyFinding> find_lossy(const json::Array& new_messages) const;

  [[nodiscard]] std::span<const tokenizer::TokenId> ids() const { return ids_; }
  // The conversation, in the form that the template needs; a sampled turn's message joins it with the next extend().
  [[nodiscard]] const json::Array& messages() const { return messages_; }
  // What of the first messages was given to the template otherwise than it was sent.
  [[nodiscard]] const std::vector<std::string>& shaped() const { return shaped_; }
  [[nodiscard]] const std::vector<Turn>& turns() const { return turns_; }
  [[nodiscard]] bool has_spoken() const { return spoken_; }
  [[nodiscard]] const RolloutModel& model() const { return *model_; }
  // Per id the message it belongs to, -1 for nobody's; sampled ids belong to their turn's message.
  [[nodiscard]] std::vector<std::int32_t> message_indices() const;
  // Per id 1 if it was sampled.
  [[nodiscard]] std::vector<std::uint8_t> sampled_mask() const;

 private:
  // Ids up to `end` belong to `message`.
  struct Stretch {
    std::uint64_t end = 0;
    std::int32_t message = text::kNoMessage;
  };

  explicit Rollout(std::shared_ptr<const RolloutModel> model) : model_(std::move(model)) {}
  [[nodiscard]] tmpl::ReadyConversation& ready();
  [[nodiscard]] std::vector<Cut> cuts_for(const json::Array& new_messages, Retention retention) const;
  [[nodiscard]] std::optional<Cut> cut_of(const Turn& turn, const jinja::Rendered& after) const;
  void apply(const std::vector<Cut>& cuts);
  void add_stretches(std::span<const std::int32_t> owners, std::int32_t first_message);
  void note_reasoning(Turn& turn, const ParsedCompletion& said) const;

  std::shared_ptr<const RolloutModel> model_;
  std::vector<tokenizer::TokenId> ids_;
  std::vector<Stretch> stretches_;
  json::Array messages_;
  std::vector<std::string> shaped_;
  std::optional<tmpl::ReadyConversation> ready_;  // the first of them, once a template has looked back at them
  std::vector<Turn> turns_;
  std::optional<std::size_t> prompt_tail_;
  std::size_t prompt_size_ = 0;  // ids_[0 .. prompt_size_) is the last prompt
  bool spoken_ = false;          // it has been answered, by
  ParsedCompletion last_;
};

}  // namespace rondo::render
