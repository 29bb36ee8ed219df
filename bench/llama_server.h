// llama-server as a peer: started for one measurement, asked over HTTP with token ids.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/sampling.h"
#include "net/loop.h"

namespace rondo::bench {

class LlamaServer {
 public:
  using Ids = std::vector<engine::TokenId>;

  // Starts `program` on a free port with one sequence for each of `parallel` and waits until it answers.  Ends the benchmark
  // with a sentence where it does not.
  LlamaServer(const std::string& program, const std::string& model, std::size_t parallel, std::size_t context);
  ~LlamaServer();

  [[nodiscard]] net::Loop& loop();

  // Greedy, `tokens` ids; one request of an agent at a time.
  void complete(std::size_t agent, const Ids& prompt, std::size_t tokens, std::function<void()> first,
                std::function<void(Ids, std::size_t)> done);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rondo::bench
