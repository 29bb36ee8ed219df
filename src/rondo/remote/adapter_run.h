// The inside of an adapter: a running request, and the HTTP requests that it consists of.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/sse.h"
#include "remote/adapter.h"

namespace rondo::remote {

class AdapterLeg;

[[nodiscard]] net::Request post_of(const ServerInfo& info, const std::string& path, std::string body);

// One request of a caller.  It lives as long as its submission, and as long as one of its functions runs.
class AdapterRun : public std::enable_shared_from_this<AdapterRun> {
 public:
  AdapterRun(Adapter& adapter, engine::Request request, engine::Listener& listener);
  ~AdapterRun();

  void begin();
  void cancel();   // reports kCancelled, later
  void abandon();  // reports nothing more

  // Called by the legs.
  void taken_up();
  void deliver(std::size_t choice, std::vector<engine::SampledToken> tokens);
  void end_choice(std::size_t choice, const Part& part);
  void note_inexact(std::size_t choice, const std::string& why);
  void note_usage(const Event& event);
  void fail(Error error);
  void leg_done();

  [[nodiscard]] bool is_over() const { return listener_ == nullptr; }
  [[nodiscard]] bool has_ended(std::size_t choice) const { return choices_[choice].ending.has_value(); }
  [[nodiscard]] std::size_t told(std::size_t choice) const { return choices_[choice].ids.size(); }
  [[nodiscard]] const std::vector<engine::TokenId>& ids(std::size_t choice) const { return choices_[choice].ids; }
  [[nodiscard]] const engine::Request& request() const { return request_; }
  [[nodiscard]] Adapter& adapter() { return adapter_; }

 private:
  struct Choice {
    std::vector<engine::TokenId> ids;
    std::optional<engine::Ending> ending;
    std::string inexact;
  };

  [[nodiscard]] Status check() const;
  void fit_context();
  void score();
  void take_scores(const Result<net::Response>& response);
  void begin_legs();
  [[nodiscard]] std::string next_id();
  void finish();
  void close();

  Adapter& adapter_;
  engine::Request request_;
  engine::Listener* listener_;  // null after on_end, and when it must not be called any more
  std::size_t asked_tokens_;    // for each choice, before the context was considered
  std::vector<Choice> choices_;
  std::vector<std::unique_ptr<AdapterLeg>> legs_;
  std::size_t open_legs_ = 0;
  std::unique_ptr<net::Call> scoring_;  // the request for log probabilities of the prompt
  engine::Usage usage_;
  std::optional<Error> error_;
  bool is_taken_up_ = false;
  bool is_cancelled_ = false;
};

// One HTTP request for some of the choices.
class AdapterLeg final : public net::StreamHandler {
 public:
  AdapterLeg(AdapterRun& run, std::size_t first, std::size_t count, std::string id);

  void begin(std::string body);
  // Closes the connection, and tells the server if it expects a message.
  void close();

  void on_head(int status, const net::Headers& headers) override;
  void on_data(std::string_view bytes) override;
  void on_end(const net::Ending& ending) override;

 private:
  void take(Event event);
  void take_part(Part part);
  void take_held();
  void recover_text(Part part);
  void recover_tail(Part part);
  void ask(const std::string& path, std::string body, Part part,
           std::vector<engine::SampledToken> (AdapterLeg::*read)(const net::Response&, const Part&));
  [[nodiscard]] std::vector<engine::SampledToken> read_tokenized(const net::Response& response, const Part& part);
  [[nodiscard]] std::vector<engine::SampledToken> read_tail(const net::Response& response, const Part& part);
  [[nodiscard]] bool all_ended() const;
  void complete();

  AdapterRun& run_;
  std::size_t first_;
  std::size_t count_;
  std::string id_;
  std::unique_ptr<net::Call> call_;
  std::unique_ptr<net::Call> recovery_;
  net::SseReader sse_;
  Reading reading_;
  int status_ = 0;
  std::string refused_;               // body of an error answer
  std::deque<Event> held_;            // events held back while ids are being recovered
  std::optional<net::Ending> ended_;  // set when the stream has ended
  std::size_t counted_ = 0;           // ids of all choices, as the server counted them
  bool is_done_ = false;
};

}  // namespace rondo::remote
