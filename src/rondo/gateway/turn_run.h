// One running request of a chat API: prompt, engine, parser, reply.  Private to gateway/.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apis/turn.h"
#include "apis/writer.h"
#include "core/stream.h"
#include "engine/serving.h"
#include "gateway/content_tokens.h"
#include "gateway/reply_sink.h"
#include "gateway/state.h"
#include "gateway/stop_text.h"
#include "gateway/token_texts.h"
#include "spans/keys.h"

namespace rondo::gateway {

class TurnRun final : public engine::Listener, public std::enable_shared_from_this<TurnRun> {
 public:
  TurnRun(std::shared_ptr<Service::State> state, ReadRequest read, std::shared_ptr<ReplySink> sink);

  // Makes the prompt on a worker, then starts the engine.  If the request cannot be served, answers with the fault.
  void begin();
  // These two are the halves of begin(), for a worker that already has the turn: plan() on the worker, without a sink,
  // then begin_planned() on the loop.
  void plan();
  void begin_planned(Streams::Ticket ticket, std::shared_ptr<ReplySink> sink);
  [[nodiscard]] const ReadRequest& asked() const { return read_; }
  // Ends the reply early, with this fault.  What has been sampled so far is kept, as if the client had left.
  void end_early(apis::Fault fault);

  void on_start(const engine::Start& start) override;
  void on_prompt(std::span<const engine::SampledToken> tokens) override;
  void on_tokens(std::size_t choice, std::span<const engine::SampledToken> tokens) override;
  void on_end(const engine::Outcome& outcome) override;

 private:
  // The state of one choice.
  struct Choice {
    spans::TurnKey key;
    std::optional<core::ParserStream> parser;
    std::optional<apis::TurnBuilder> builder;
    std::vector<tokenizer::TokenId> ids;
    std::vector<float> logprobs;
    StopText stop{{}};
    TokenTexts texts{nullptr};             // of its tokens
    ContentTokens content{};               // if the client asks for log probabilities
    std::size_t content_bytes = 0;         // that the client was sent
    std::optional<core::TokenId> stop_id;  // the stop id of the request that ended it
    bool has_ended = false;
  };

  // What the client gets.
  struct Answer {
    std::shared_ptr<ReplySink> sink;
    apis::ReplyMeta meta;
    std::optional<apis::TurnCollector> collector;
    std::unique_ptr<apis::TurnWriter> writer;
    std::vector<apis::StreamEvent> told;    // to be sent together
    std::vector<apis::ScoredToken> prompt;  // if the client asks for its log probabilities
    bool is_streaming = false;
  };
  // What became of the turn in the store.
  struct Kept {
    std::string session;        // the turn's session, once it is stored
    std::size_t waiting = 0;    // choices that are not stored yet
    std::optional<Error> lost;  // why the turn could not be stored
  };
  struct Times {
    net::Timer limit;
    bool is_planning = false;  // a worker makes the prompt, and the sink waits for it
    net::Time plan_begin;
    net::Time plan_end;
  };

  // turn_plan.cpp
  // Prepares everything that the engine needs.  Runs on a worker.  Meanwhile nothing else touches the turn, except when
  // the client goes away.
  [[nodiscard]] apis::Outcome<engine::Request> prepare();
  [[nodiscard]] std::optional<apis::Fault> prepare_choices();
  void follow_prompt(Choice& choice) const;
  [[nodiscard]] apis::Outcome<engine::Request> engine_request();
  [[nodiscard]] std::optional<apis::Fault> hold(engine::Request& request);
  void limit_reasoning(engine::Request& request);
  [[nodiscard]] apis::Naming naming(std::size_t choice);

  // turn_run.cpp
  void watch();
  void submit();
  void gone();
  [[nodiscard]] net::Headers headers(const engine::Usage* usage) const;
  // What it makes of them is sent together, by send_told().
  void tell(const std::vector<apis::TurnEvent>& events);
  void send_told();
  // From now on a stop text ends the choice.
  void watch_stops(Choice& choice) const;
  void take(std::size_t choice, const engine::SampledToken& token);
  // Returns what the client gets for a token besides its text.
  [[nodiscard]] apis::Tokens told_of(Choice& choice, const engine::SampledToken& token) const;
  // Makes what the client gets of the events of a parser.  `tokens` has what was sampled for them.
  [[nodiscard]] std::vector<apis::TurnEvent> read_events(Choice& choice, std::vector<parse::Event> events,
                                                         apis::Tokens tokens, bool is_last) const;
  // Returns content up to a stop text.  Holds the rest back until it is certain.
  [[nodiscard]] static std::vector<parse::Event> cut_at_stop(Choice& choice, std::vector<parse::Event> events,
                                                             bool is_last);
  void end_choice(std::size_t choice, apis::Finish finish);
  // Ends the text of a choice.  The client gets a fault instead of the choice's end.
  void break_off(std::size_t choice);
  void fail(const apis::Fault& fault);
  void leave();

  // turn_finish.cpp
  void keep_all(const engine::Outcome& outcome);
  [[nodiscard]] spans::NewReply reply_of(std::size_t choice, const engine::Outcome& outcome) const;
  [[nodiscard]] json::Value message_of(const apis::Choice& choice) const;
  [[nodiscard]] json::Object explained(const engine::Usage& usage) const;
  void complete(const engine::Outcome& outcome);
  void count(const engine::Usage& usage, std::int64_t completion);

  std::shared_ptr<Service::State> state_;
  ReadRequest read_;
  core::Call call_;
  std::optional<spans::Scope> scope_;
  spans::Plan plan_;
  std::shared_ptr<const render::TurnProfile> profile_;
  spans::CallIdShape call_id_shape_ = spans::CallIdShape::kAny;
  std::vector<Choice> choices_;
  Answer answer_;
  std::unique_ptr<engine::Submission> submission_;
  std::optional<std::int64_t> reasoning_budget_;            // a budget that no template variable takes
  std::optional<apis::Outcome<engine::Request>> prepared_;  // passed from the worker to the loop
  Times times_;
  Kept kept_;
  bool is_gone_ = false;               // the client left before the engine had started
  std::optional<apis::Fault> broken_;  // why the reply has no end: the engine failed, or it was ended early
  bool keeps_logprobs_ = false;
  bool is_cut_ = false;  // the prompt lacks ids of the conversation
  std::string replica_;  // the server that got the request; "" if there is only one
  std::int64_t reasoning_tokens_ = 0;
};

}  // namespace rondo::gateway
