// One running request of `/v1/completions`: texts or ids in, text and ids out.  Private to gateway/.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apis/completions.h"
#include "engine/serving.h"
#include "gateway/reply_sink.h"
#include "gateway/state.h"
#include "gateway/stop_text.h"
#include "gateway/token_texts.h"
#include "spans/keys.h"
#include "tokenizer/tokenizer.h"

namespace rondo::gateway {

class CompletionRun final : public std::enable_shared_from_this<CompletionRun> {
 public:
  struct Asked {
    const ServedModel& served;
    apis::CompletionRequest request;
    std::string session;  // "": nothing is kept
    std::shared_ptr<Visit> visit;
    Streams::Ticket ticket;
    std::size_t bytes = 0;  // size of the body
  };
  CompletionRun(std::shared_ptr<Service::State> state, Asked asked, std::shared_ptr<ReplySink> sink);

  // Makes the ids on a worker, then starts the engine.  If the request cannot be served, answers with the fault.
  void begin();
  // Ends the reply early, with this fault.
  void end_early(apis::Fault fault);

 private:
  struct Choice {
    spans::TurnKey key;
    std::optional<tokenizer::Tokenizer::Stream> decoder;
    StopText stop{{}};
    TokenTexts texts{nullptr};
    std::string text;            // the text sent so far
    std::size_t told_bytes = 0;  // of the tokens that were told
    std::vector<core::TokenId> ids;
    std::vector<float> logprobs;
    apis::Tokens untold;
    apis::Tokens told;
    apis::Finish finish = apis::Finish::kStop;
    std::optional<core::TokenId> stop_id;  // of the request's own
    bool has_begun = false;                // its first piece was sent
    bool has_ended = false;
    std::string inexact;
  };
  // One prompt of the request, with its choices.
  struct Prompt final : engine::Listener {
    CompletionRun* run = nullptr;
    std::vector<core::TokenId> ids;
    std::string text;  // for `echo`
    std::vector<Choice> choices;
    TokenTexts texts{nullptr};
    std::vector<apis::ScoredToken> scored;
    std::size_t first = 0;  // the index of its first choice
    std::unique_ptr<engine::Submission> submission;
    std::optional<engine::Outcome> outcome;
    void on_start(const engine::Start& start) override;
    void on_prompt(std::span<const engine::SampledToken> tokens) override;
    void on_tokens(std::size_t choice, std::span<const engine::SampledToken> tokens) override;
    void on_end(const engine::Outcome& outcome) override;
  };

  [[nodiscard]] std::optional<apis::Fault> prepare();
  void make_choices(Prompt& prompt) const;
  // Cuts the prompt to the length that the request allows.
  void truncate(Prompt& prompt) const;
  [[nodiscard]] apis::Outcome<engine::Request> engine_request(const Prompt& prompt) const;
  void watch();
  void submit();
  void gone();
  void cancel();
  void start();
  void take(Prompt& prompt, std::size_t index, const engine::SampledToken& token);
  // From now on a stop text ends the choice.
  void watch_stops(Choice& choice) const;
  void tell(Prompt& prompt, std::size_t index, std::string_view text, bool is_last);
  void end_choice(Prompt& prompt, std::size_t index, apis::Finish finish);
  void break_off(Prompt& prompt, std::size_t index);
  // Returns the text that was held back.
  [[nodiscard]] static std::string rest_of(Choice& choice);
  void ended();
  void keep_all();
  void keep(const Prompt& prompt, const Choice& choice);
  void complete();
  void fail();
  [[nodiscard]] net::Headers headers(bool with_usage) const;
  [[nodiscard]] apis::CompletionPiece whole(const Prompt& prompt, std::size_t index) const;
  [[nodiscard]] engine::Usage usage() const;

  std::shared_ptr<Service::State> state_;
  Asked asked_;
  std::shared_ptr<ReplySink> sink_;
  apis::ReplyMeta meta_;
  std::vector<std::unique_ptr<Prompt>> prompts_;
  std::optional<apis::Fault> fault_;    // why there is no whole reply
  std::optional<apis::Fault> refused_;  // what a worker found wrong with the request
  std::vector<engine::Request> requests_;
  net::Timer limit_;
  std::size_t running_ = 0;
  std::size_t unkept_ = 0;
  bool is_preparing_ = true;
  bool is_gone_ = false;
  bool is_streaming_ = false;
  bool keeps_logprobs_ = false;
};

}  // namespace rondo::gateway
