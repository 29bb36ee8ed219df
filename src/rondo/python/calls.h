// Reads the arguments of Python methods into the library's requests, and defines what the methods return.  Internal to
// python/.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/model.h"
#include "core/stream.h"
#include "python/errors.h"

namespace rondo::python {

using core::Call;
using core::Model;
using core::ParseCall;
using core::ParsedIds;
using core::TokenId;

// Runs `work` without the GIL.
template <typename Work>
auto without_gil(const Work& work) {
  const nanobind::gil_scoped_release release;
  return work();
}

// The keyword arguments that all methods about a conversation share, borrowed.  None means absent.
struct CallArguments {
  nanobind::handle messages;
  nanobind::handle tools;
  nanobind::handle documents;
  nanobind::handle kwargs;
  nanobind::handle now;  // a datetime, or ISO text; absent: the time of the clock
  bool add_generation_prompt = false;
  nanobind::handle continue_final_message;  // True: "content"
  std::string content_specials = "text";
  bool raw_turns = false;
  bool inline_reasoning = true;
  std::optional<std::string> retention = {};  // nullopt: the template decides
};
// Raises if there is no such name.
[[nodiscard]] render::Retention read_retention(const std::string& name);
// Reads a datetime or ISO text; None is the time of the clock.
[[nodiscard]] jinja::LocalTime read_time(nanobind::handle value);
[[nodiscard]] Call read_call(const CallArguments& arguments);
// Reads the call of a prompt that the model answers: with the generation prompt, unless a message is continued.
[[nodiscard]] Call read_answer_call(const CallArguments& arguments);

// The library's values as Python objects.  Each owns its data; arrays are views of it.

struct ModelObject {
  std::shared_ptr<const Model> model;
  std::optional<core::Source> source;  // for pickling; nullopt if the model came from memory
};

struct EncodedObject {
  render::Encoded data;
  std::vector<std::string> roles;
  std::vector<std::optional<std::string>> tool_names;
};

struct BridgedObject {
  render::Bridged data;
};

struct AppendedObject {
  render::Appended data;
};

struct CallObject {
  chat::ToolCall call;
  std::string raw;
  std::optional<std::pair<std::size_t, std::size_t>> token_span;
};

struct ParsedObject {
  chat::AssistantMessage message;
  std::string text;
  std::vector<CallObject> calls;
  std::optional<std::vector<TokenId>> ids;  // the ids that were parsed
  bool stopped = false;
  bool reasoning_open = false;
};
// `text` is what was parsed; token spans are set if the ends of tokens are known.
[[nodiscard]] ParsedObject parsed_object(ParsedIds parsed);

// Nothing that holds one of these mutexes waits for the GIL: a method releases the GIL first, then takes the mutex, and
// releases the mutex before it takes the GIL again.  So a property may take the mutex while it has the GIL.
struct StreamObject {
  core::ParserStream stream;
  std::mutex mutex;
};

struct RolloutObject {
  render::Rollout rollout;
  std::vector<std::string> notes;  // of the first prompt
  std::mutex mutex;
  render::Extension last;  // from the last add()
};

struct TranscriptObject {
  render::Transcript transcript;
  std::mutex mutex;
  render::Grown last;  // from the last append()
};

// Returns for each message the name of the tool whose result it is: its own `name`, or that of the call that it
// answers; nullopt for other messages.
[[nodiscard]] std::vector<std::optional<std::string>> tool_names(const json::Array& messages);
[[nodiscard]] std::vector<std::string> roles(const json::Array& messages);

// The parse::Options that a method passes on.
struct ParseArguments {
  std::string tool_choice = "auto";
  bool parallel_tool_calls = true;
  std::string reasoning = "split";
  bool partial = false;
  bool strict = false;
};
[[nodiscard]] parse::Options read_options(const ParseArguments& arguments);

// Add the classes and functions to the module.
void bind_values(nanobind::module_& module);
void bind_model(nanobind::module_& module);
void bind_parse(nanobind::module_& module, nanobind::class_<ModelObject>& model);
void bind_rollout(nanobind::module_& module);
void bind_transcript(nanobind::module_& module);
void bind_edge(nanobind::module_& module);
void bind_tester(nanobind::module_& module);

}  // namespace rondo::python
