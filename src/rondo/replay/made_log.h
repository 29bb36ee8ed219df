// Makes up a log of agents at work, for planning a fleet before there is a real log.
//
//   MadeLog log({.agents = 500, .turns = 30});
//   LogReader reader([&](char* out, std::size_t size) { return log.read(out, size); });
//
// Each agent has instructions and tools, which it shares with other agents of its kind, and a task of its own.  In each
// turn the model thinks, calls a tool, and gets its result.  `active` agents work at a time, in a random order; when
// one is done, the next one starts.  Every line is a Chat Completions request with its reply.  Equal options give equal
// bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "json/value.h"

namespace rondo::replay {

// Lengths are in words; most words are one token.
struct MadeLogOptions {
  std::size_t agents = 200;
  std::size_t active = 50;    // how many at a time
  std::size_t turns = 20;     // for each agent
  std::size_t calls = 4;      // turns with a tool call between two user messages; the turn after them answers in words
  std::size_t kinds = 4;      // kinds of instructions and tools
  std::size_t system = 2000;  // words in the instructions and tools
  std::size_t task = 200;     // in the first user message
  std::size_t answer = 150;   // in reasoning and call
  std::size_t result = 600;   // in a tool's result; varies from half to one and a half times that
  std::size_t seed = 1;
};

// The limit of each option, except the seed.
inline constexpr std::size_t kMostOfMadeLog = 1'000'000;

// Returns why the log takes too much memory or time, as in "asks for ..."; "" if it does not.  `limit`: how many of its
// requests are read; 0 is all.
[[nodiscard]] std::string too_much(const MadeLogOptions& options, std::size_t limit);

// REQUIRES: too_much() says nothing.
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
  std::size_t read_ = 0;  // how many bytes of line_ were read
};

}  // namespace rondo::replay
