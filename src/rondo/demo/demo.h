// The two commands that need an engine: a conversation with a person, and the demonstration.
//
// Both print only through the functions that they get: `print` takes results, `progress` takes notes for people
// (standard error).
#pragma once

#include <cstdint>
#include <ctime>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rondo/result.h"

namespace rondo::demo {

using Print = std::function<void(std::string_view)>;

struct ChatOptions {
  std::string model;          // a .gguf file, or a folder with one; "": makes the small random model
  std::string chat_template;  // a template file that replaces the model's own; "" for none
  std::string polyfill;       // "auto" or "on" supplies what the template lacks; "" and "off" supply nothing
  std::string system;         // a system message to start with; "" for none
  std::string cache_folder;   // where the random model is kept
  std::string fixtures;       // what the random model is made from; "": the newest fixtures-* in the cache folder
  int max_tokens = 512;       // per turn
  double temperature = 0.0;   // 0: greedy
  std::uint64_t seed = 0;
  bool json = false;  // one JSON object per turn
  std::function<std::tm()> clock;
};

// Talks until `read_line` returns nothing.  Each next prompt is a bridge: the ids so far plus the new turn.
[[nodiscard]] Status run_chat(const ChatOptions& options, const std::function<std::optional<std::string>()>& read_line,
                              const Print& print, const Print& progress);

// What a client sees of one turn of a server that keeps turns.
struct ServedTurn {
  std::string how;  // how the prompt was made: render, bridge, raw-turns
  std::size_t prompt = 0;
  std::size_t expected = 0;  // how many ids of the prompt the engine was given before
  std::size_t cached = 0;    // how many ids the engine says it had
  std::size_t appended = 0;
  std::size_t sampled = 0;
  std::size_t rerender_cached = 0;  // how many ids it would have had of a prompt that is rendered anew
};

struct Served {
  std::string url;
  std::vector<ServedTurn> turns;
};

struct DemoOptions {
  std::string model;              // as above
  std::string cache_folder;       // where models are made and kept
  std::string fixtures;           // templates and vocabularies; as above
  std::string corpus;             // a folder with more exact templates for the table of families; "": the packaged ones
  std::string gemma;              // a .gguf file of base weights, for timing and reuse on plain text; "": none
  std::uint32_t layers = 24;      // of the random model that is made if `model` is ""
  std::size_t conversations = 4;  // how many at once, in one of the tables; 0: without that table
  std::uint64_t seed = 0;
  bool json = false;                // one JSON object instead of the tables
  std::function<double()> seconds;  // a clock that never goes back; without it no times are shown
  // Starts a server and drives it as a client for a few turns.  If it is empty, the demonstration ends without that
  // part.
  std::function<Result<Served>()> serve{};
};

// Runs the agent conversation of 12 turns with its table, then the rollouts of the families.
[[nodiscard]] Status run_demo(const DemoOptions& options, const Print& print, const Print& progress);

}  // namespace rondo::demo
