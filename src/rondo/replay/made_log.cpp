#include "replay/made_log.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "json/print.h"

namespace rondo::replay {
namespace {

constexpr std::array<std::string_view, 28> kWords = {"the",  "value", "file",   "open",  "index", "cache", "error",
                                                     "and",  "when",  "return", "list",  "of",    "test",  "path",
                                                     "line", "name",  "first",  "last",  "after", "while", "read",
                                                     "some", "is",    "not",    "found", "a",     "state", "key"};
constexpr std::size_t kTools = 6;

std::string words(std::mt19937_64& random, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) out += i % 14 == 0 ? '\n' : ' ';
    out += kWords[random() % kWords.size()];
  }
  return out;
}

// About as much text as so many words, in requests that are otherwise empty.
constexpr double kWordsOfRequest = 200;
constexpr double kWordsOfTurn = 60;
// Some 6 bytes each.
constexpr double kMostWordsOfKinds = 10e6;
constexpr double kMostWordsAtWork = 50e6;
constexpr double kMostWords = 10e9;

std::string too_many(std::string_view what, double count, double most) {
  if (count <= most) return {};
  return "asks for more than " + std::to_string(static_cast<std::uint64_t>(most)) + " words " + std::string(what);
}

}  // namespace

std::string too_much(const MadeLogOptions& options, std::size_t limit) {
  const auto number = [](std::size_t value) { return static_cast<double>(value); };
  const double kind = kWordsOfRequest + number(options.system);
  const double turn =
      kWordsOfTurn + 1.5 * number(options.answer) + std::max(1.5 * number(options.result), number(options.task));
  const double spoken = number(options.task) + number(options.turns) * turn;
  const double at_work = std::min(number(options.active), number(options.agents)) * spoken;
  // On the average a request has half of what its agent says and hears.
  const double all = number(options.agents) * number(options.turns);
  const double requests = limit == 0 ? all : std::min(all, number(limit));
  std::string why = too_many("of instructions and tools", number(options.kinds) * kind, kMostWordsOfKinds);
  if (why.empty()) why = too_many("of agents that work at a time", at_work, kMostWordsAtWork);
  if (why.empty()) why = too_many("in all requests", requests * (kind + spoken / 2), kMostWords);
  return why;
}

MadeLog::MadeLog(const MadeLogOptions& options) : options_(options), random_(options.seed) {
  for (std::size_t kind = 0; kind < std::max<std::size_t>(options.kinds, 1); ++kind) {
    instructions_.push_back("You are agent " + std::to_string(kind) + ".\n" + words(random_, options.system / 2));
    json::Array& tools = tools_.emplace_back();
    for (std::size_t i = 0; i < kTools; ++i) {
      json::Object schema{{"type", "object"},
                          {"properties", json::Object{{"path", json::Object{{"type", "string"}}},
                                                      {"line", json::Object{{"type", "integer"}}}}}};
      json::Object function{{"name", "tool_" + std::to_string(i)},
                            {"description", words(random_, options.system / 2 / kTools)},
                            {"parameters", std::move(schema)}};
      tools.emplace_back(json::Object{{"type", "function"}, {"function", std::move(function)}});
    }
  }
}

MadeLog::Agent MadeLog::begin(std::size_t number) {
  Agent out{number, 0, {}};
  out.messages.emplace_back(
      json::Object{{"role", "system"}, {"content", instructions_[number % instructions_.size()]}});
  out.messages.emplace_back(json::Object{{"role", "user"}, {"content", words(random_, options_.task)}});
  return out;
}

// The agent's next request with its reply, as a line.  The next request brings what follows the reply.
std::string MadeLog::step(Agent& agent) {
  json::Object request{{"model", "m"}, {"messages", agent.messages}, {"tools", tools_[agent.number % tools_.size()]}};
  const bool is_call = agent.turn % (options_.calls + 1) < options_.calls;
  json::Object answer{{"role", "assistant"},
                      {"content", is_call ? std::string() : words(random_, options_.answer / 2)},
                      {"reasoning_content", words(random_, options_.answer)}};
  json::Object next{{"role", is_call ? "tool" : "user"}};
  if (is_call) {
    const std::string id = "call_" + std::to_string(agent.number) + "_" + std::to_string(agent.turn);
    // Draws the numbers one by one, because compilers differ in which operand of a sum they evaluate first.
    const std::string file = std::to_string(random_() % 1000);
    const std::string line = std::to_string(random_() % 400);
    const std::string arguments = R"({"path": "src/file_)" + file + R"(", "line": )" + line + "}";
    json::Object function{{"name", "tool_" + std::to_string(random_() % kTools)}, {"arguments", arguments}};
    answer.set("tool_calls",
               json::Array{json::Object{{"id", id}, {"type", "function"}, {"function", std::move(function)}}});
    next.set("tool_call_id", id);
  }
  const std::size_t length = is_call ? options_.result / 2 + random_() % (options_.result + 1) : options_.task;
  next.set("content", words(random_, length));
  json::Object response{{"choices", json::Array{json::Object{{"message", answer}}}}};
  agent.messages.emplace_back(std::move(answer));
  agent.messages.emplace_back(std::move(next));
  ++agent.turn;
  json::Object line{{"session_id", "agent " + std::to_string(agent.number)},
                    {"request", std::move(request)},
                    {"response", std::move(response)}};
  return json::to_compact(json::Value(std::move(line))) + "\n";
}

std::size_t MadeLog::read(char* out, std::size_t size) {
  if (read_ == line_.size()) {
    while (active_.size() < options_.active && begun_ < options_.agents) active_.push_back(begin(begun_++));
    if (active_.empty() || options_.turns == 0) return 0;
    const std::size_t place = random_() % active_.size();
    line_ = step(active_[place]);
    read_ = 0;
    if (active_[place].turn >= options_.turns) {
      std::swap(active_[place], active_.back());
      active_.pop_back();
    }
  }
  const std::size_t count = std::min(size, line_.size() - read_);
  line_.copy(out, count, read_);
  read_ += count;
  return count;
}

}  // namespace rondo::replay
