// Rollout: a conversation that grows by sampled turns and by messages, as token ids.  A rollout has no engine: the
// caller samples.
//
//   auto model = RolloutModel::make({chat_template, tokenizer, format, tools_and_variables});   // once; shared
//   auto rollout = Rollout::start(model, messages);
//   for (...) {
//     sampled = engine.generate(rollout.value().ids());
//     auto said = rollout.value().complete(sampled);                       // the message in them
//     auto next = rollout.value().extend({tool_result});                   // the ids that follow
//   }
//
// The ids are the truth: a Rollout never renders or tokenizes again what was prompted or sampled.  Any number of
// rollouts share one RolloutModel, which is immutable.  Only one thread at a time may use a Rollout.
//
// A rollout needs memory for its ids (4 bytes each), 16 bytes for each message's range of ids, its messages (twice if
// the template looks back at all of them), and some 400 bytes.
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

// What all rollouts with the same template, tokenizer, tool list and template variables share.
class RolloutModel {
 public:
  struct Parts {
    std::shared_ptr<const jinja::Template> chat_template;
    std::shared_ptr<const tokenizer::Tokenizer> tokenizer;
    std::shared_ptr<const format::Format> format;
    chat::Conversation base;  // tools, documents, kwargs, bos and eos; its messages are not used
    tmpl::ApplyOptions apply;
    ContentSpecials specials = ContentSpecials::kText;
    tmpl::MessageRules rules = {};   // the rules by which messages are shaped
    bool inline_reasoning = true;    // see render::InlineReasoning; its markers come from `rules`
    tmpl::Polyfills polyfills = {};  // statements in front of the template
    bool prove_locality = true;      // false: every step renders the whole history, and make() renders nothing
  };

  // Makes a few hundred small renders if locality is to be proven.
  //
  // REQUIRES: no part is null.
  [[nodiscard]] static std::shared_ptr<const RolloutModel> make(Parts parts);
  RolloutModel(const RolloutModel&) = delete;
  RolloutModel& operator=(const RolloutModel&) = delete;

  [[nodiscard]] const Parts& parts() const { return parts_; }
  [[nodiscard]] const TurnContext& context() const { return context_; }
  [[nodiscard]] const TurnProfile& profile() const { return profile_; }
  [[nodiscard]] const CompletionReader& reader() const { return reader_; }
  [[nodiscard]] const Locality& locality() const { return locality_; }

  // Makes what follows a completion.  If it is proven that a window gives the same result, only the window is rendered,
  // and the cost does not grow with the history.  Fails as append_turn() does.
  [[nodiscard]] Result<Appended> append(const BridgeRequest& request) const;

  // Gives messages that follow a completion the form that the template needs.  Returns what this changes, and what
  // polyfills do.
  [[nodiscard]] tmpl::Shaping shape_following(std::span<const json::Value> history, const ParsedCompletion& said,
                                              json::Array& new_messages) const;

  // The two halves of append(), for callers that keep a history ready.  This half returns the step whose window is
  // enough for `turn`; kOther means that all messages are needed.
  [[nodiscard]] Step window_of(const PreparedTurn& turn) const;
  // This half appends.  `step` is window_of() the turn.  The turn must not have History::tail_alone set.
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

// The result of one extend().
struct Extension {
  std::size_t begin = 0;                   // ids()[begin ..) were appended
  std::vector<std::uint8_t> content_mask;  // per appended id: 1 if its first byte is a new message's own data
  std::string text;                        // the text of the appended ids
  std::vector<Cut> cuts;                   // in order; empty with Retention::kAll
  std::size_t kept = 0;                    // how many leading ids stayed in place: all old ones if nothing was cut
  std::vector<MediaSpan> media;            // positions in ids()
  std::vector<std::string> notes;
  std::vector<std::string> shaped;  // sentences: where the template got a message in another form than it was sent
  std::vector<LossyFinding> lossy;  // only about the completion's end; Rollout::find_lossy() finds the rest
};

class Rollout {
 public:
  // A sampled turn.
  struct Turn {
    std::size_t begin = 0;  // ids()[begin, end) were sampled
    std::size_t end = 0;
    std::size_t message = 0;                 // index in messages(), once something follows
    std::optional<ReasoningSpan> reasoning;  // indices into the turn; nullopt: it has no reasoning, or no longer
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

  // Takes the ids that were sampled after ids(), with or without the stop token.  Fails with kInvalidArgument if the
  // last turn is already the model's, or with kTokenizer if an id is out of range.
  [[nodiscard]] Result<const ParsedCompletion*> complete(std::span<const tokenizer::TokenId> completion);

  // Appends the new messages and the opening of the next turn.  Fails as append_turn() does, or with kInvalidArgument
  // if the last turn is not the model's.  A call that fails leaves the rollout unchanged.
  [[nodiscard]] Result<Extension> extend(json::Array new_messages, Retention retention = Retention::kAll);

  // Finds what the template would change in the old turns if `new_messages` followed.  Renders the history a few times.
  //
  // REQUIRES: the last turn is the model's.
  [[nodiscard]] std::vector<LossyFinding> find_lossy(const json::Array& new_messages) const;

  [[nodiscard]] std::span<const tokenizer::TokenId> ids() const { return ids_; }
  // Returns the conversation in the form that the template needs.  A sampled turn's message is added by the next
  // extend().
  [[nodiscard]] const json::Array& messages() const { return messages_; }
  // Returns sentences: where the template got one of the first messages in another form than it was sent.
  [[nodiscard]] const std::vector<std::string>& shaped() const { return shaped_; }
  [[nodiscard]] const std::vector<Turn>& turns() const { return turns_; }
  [[nodiscard]] bool has_spoken() const { return spoken_; }
  [[nodiscard]] const RolloutModel& model() const { return *model_; }
  // Returns for each id the index of the message that owns it; -1 means no message.  Sampled ids belong to their turn's
  // message.
  [[nodiscard]] std::vector<std::int32_t> message_indices() const;
  // Returns for each id 1 if it was sampled, otherwise 0.
  [[nodiscard]] std::vector<std::uint8_t> sampled_mask() const;

 private:
  // A range of ids that belong to `message`: from the end of the previous range to `end`.
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
  // The first of the messages, once the template has looked back at them.
  std::optional<tmpl::ReadyConversation> ready_;
  std::vector<Turn> turns_;
  std::optional<std::size_t> prompt_tail_;
  std::size_t prompt_size_ = 0;  // ids_[0 .. prompt_size_) is the last prompt
  bool spoken_ = false;          // whether the model has answered it, with:
  ParsedCompletion last_;
};

}  // namespace rondo::render
