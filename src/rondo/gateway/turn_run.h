// One request of a chat API on its way: prompt, engine, parser, reply.  Private to gateway/.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apis/turn.h"
#include "apis/writer.h"
#include "core/stream.h"
#include "engine/serving.h"
#include "gateway/state.h"
#include "spans/keys.h"

namespace rondo::gateway {

class TurnRun final : public engine::Listener, public std::enable_shared_from_this<TurnRun> {
 public:
  TurnRun(std::shared_ptr<Service::State> state, ReadRequest read, net::Exchange exchange);

  // Begins, and answers at once where the request can't be served.
  void begin();

  void on_start(const engine::Start& start) override;
  void on_tokens(std::size_t choice, std::span<const engine::SampledToken> tokens) override;
  void on_end(const engine::Outcome& outcome) override;

 private:
  // What one choice has come to.
  struct Choice {
    spans::TurnKey key;
    std::optional<core::ParserStream> parser;
    std::optional<apis::TurnBuilder> builder;
    std::vector<tokenizer::TokenId> ids;
    std::vector<float> logprobs;
    std::string held;  // the end of the content, which may be the beginning of a stop text
    std::string stop_text;
    bool has_ended = false;
  };

  [[nodiscard]] std::optional<apis::Fault> prepare();
  [[nodiscard]] std::optional<apis::Fault> prepare_choices();
  [[nodiscard]] apis::Outcome<engine::Request> engine_request();
  [[nodiscard]] std::optional<apis::Fault> set_grammar(engine::Request& request);
  [[nodiscard]] apis::Naming naming(std::size_t choice);
  [[nodiscard]] net::Headers headers(const engine::Usage* usage) const;

  void send(const std::vector<apis::StreamEvent>& events);
  void tell(const std::vector<apis::TurnEvent>& events);
  [[nodiscard]] apis::Tokens described(const engine::SampledToken& token) const;
  void take(std::size_t choice, const engine::SampledToken& token);
  // Content up to a stop text; the rest is held until it is certain.
  [[nodiscard]] std::vector<parse::Event> cut_at_stop(Choice& choice, std::vector<parse::Event> events, bool is_last);
  void end_choice(std::size_t choice, apis::Finish finish);
  void fail(const apis::Fault& fault);
  void keep_all(const engine::Outcome& outcome);
  [[nodiscard]] json::Value message_of(const apis::Choice& choice) const;
  void complete(const engine::Outcome& outcome);
  [[nodiscard]] json::Object explained(const engine::Usage& usage) const;
  void leave();

  std::shared_ptr<Service::State> state_;
  ReadRequest read_;
  net::Exchange exchange_;
  core::Call call_;
  std::optional<spans::Scope> scope_;
  spans::Plan plan_;
  std::shared_ptr<const render::TurnProfile> profile_;
  spans::CallIdShape call_id_shape_ = spans::CallIdShape::kAny;
  std::vector<Choice> choices_;
  std::optional<apis::TurnCollector> collector_;
  apis::ReplyMeta meta_;
  std::unique_ptr<apis::TurnWriter> writer_;
  std::unique_ptr<engine::Submission> submission_;
  bool is_streaming_ = false;
  std::size_t unkept_ = 0;
  std::optional<Error> lost_;  // why the turn could not be kept
  std::int64_t reasoning_tokens_ = 0;
};

}  // namespace rondo::gateway
