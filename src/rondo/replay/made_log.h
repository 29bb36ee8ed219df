// A log of agents at work, made up: for plans of what a fleet will need before there is a log.
//
//   MadeLog log({.agents = 500, .turns = 30});
//   LogReader reader([&](char* out, std::size_t size) { return log.read(out, size); });
//
// Each agent has instructions and tools, which it shares with the others of its kind, and a task of its own.  In each
// turn the model thinks, calls a tool, and gets its result.  So many agents are at work at a time, in an order that is
// drawn; who is done makes place for the next.  Every line is a Chat Completions request with its reply.  The same
// options give the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "json/value.h"

namespace rondo::replay {

// Lengths are in words, of which most are one token.
struct MadeLogOptions {
  std::size_t agents = 200;
  std::size_t active = 50;    // at a time
  std::size_t turns = 20;     // of each agent
  std::size_t calls = 4;      // turns that call a tool between two user messages; the next one answers in words
  std::size_t kinds = 4;      // of instructions and tools
  std::size_t system = 2000;  // words of the instructions and tools
  std::size_t task = 200;     // of the first user message
  std::size_t answer = 150;   // of reasoning and call
  std::size_t result = 600;   // of what a tool returns, from half of that to one and a half
  std::size_t seed = 1;
};

class MadeLog {
 public:
  explicit MadeLog(const MadeLogOptions& options);

  // Puts at most `size` bytes into `out` and returns how many; 0 at the end.
  std::size_t read(char* out, std::size_t size);

 private:
  struct Agent {
    std::size_t number = 0;
    std::size_t turn = 0;
    json::Array messages;
  };

  [[nodiscard]] Agent begin(std::size_t number);
  [[nodiscard]] std::string step(Agent& agent);

  MadeLogOptions options_;
  std::mt19937_64 random_;
  std::vector<json::Array> tools_;         // by kind
  std::vector<std::string> instructions_;  // by kind
  std::vector<Agent> active_;
  std::size_t begun_ = 0;
  std::string line_;
  std::size_t read_ = 0;  // bytes of line_
};

}  // namespace rondo::replay
