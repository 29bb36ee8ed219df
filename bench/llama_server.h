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

struct LlamaServerOptions {
  std::string program;
  std::string model;
  std::size_t parallel = 1;
  std::size_t context_tokens = 8192;  // of each sequence
  int threads = 1;
  int gpu_layers = 0;
  bool flash_attention = false;
};

class LlamaServer {
 public:
  using Ids = std::vector<engine::TokenId>;

  // Starts the program on a free port and waits until it answers.  Ends the benchmark with a sentence where it does not.
  explicit LlamaServer(const LlamaServerOptions& options);
  ~LlamaServer();

  [[nodiscard]] net::Loop& loop();

  // Greedy, `tokens` ids; one request of an agent at a time.  `sampled` is called for each event with ids.
  void complete(std::size_t agent, const Ids& prompt, std::size_t tokens, std::function<void()> sampled,
                std::function<void(Ids, std::size_t)> done);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rondo::bench
