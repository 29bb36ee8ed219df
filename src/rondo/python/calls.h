// What methods get from Python, read into the library's requests, and what they give back.  Internal to python/.
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

// The keyword arguments that all methods about a conversation share, borrowed.  None stands for absent.
struct CallArguments {
  nanobind::handle messages;
  nanobind::handle tools;
  nanobind::handle documents;
  nanobind::handle kwargs;
  nanobind::handle now;  // a datetime, or ISO text; absent: the clock
  bool add_generation_prompt = false;
  nanobind::handle continue_final_message;  // True: "content"
  std::string content_specials = "text";
  bool raw_turns = false;
  bool inline_reasoning = true;
  std::optional<std::string> retention = {};  // nullopt: as the template does
};
// Raises for a name that there is not.
[[nodiscard]] render::Retention read_retention(const std::string& name);
// A datetime, or ISO text; of None the clock.
[[nodiscard]] jinja::LocalTime read_time(nanobind::handle value);
[[nodiscard]] Call read_call(const CallArguments& arguments);
// The same of a prompt that the model answers: with the generation prompt, unless a message is continued.
[[nodiscard]] Call read_answer_call(const CallArguments& arguments);

// Python's faces of the library's values.  Each owns its data; arrays are views of it.

struct ModelObject {
  std::shared_ptr<const Model> model;
  std::optional<core::Source> source;  // for pickling; none if it came from memory
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
  std::optional<std::vector<TokenId>> ids;  // that were parsed
  bool stopped = false;
  bool reasoning_open = false;
};
// `text` is what was parsed; token spans are told where ends are known.
[[nodiscard]] ParsedObject parsed_object(ParsedIds parsed);

struct StreamObject {
  core::ParserStream stream;
  std::mutex mutex;
};

struct RolloutObject {
  render::Rollout rollout;
  std::vector<std::string> notes;  // of the first prompt
  std::mutex mutex;
  render::Extension last;  // of the last add()
};

struct TranscriptObject {
  render::Transcript transcript;
  std::mutex mutex;
  render::Grown last;  // of the last append()
};

// Per message the name of the tool whose result it is: its own `name`, or that of the call it answers; none for others.
[[nodiscard]] std::vector<std::optional<std::string>> tool_names(const json::Array& messages);
[[nodiscard]] std::vector<std::string> roles(const json::Array& messages);

// What a method hands over as parse::Options.
struct ParseArguments {
  std::string tool_choice = "auto";
  bool parallel_tool_calls = true;
  std::string reasoning = "split";
  bool partial = false;
  bool strict = false;
};
[[nodiscard]] parse::Options read_options(const ParseArguments& arguments);

// The classes and functions of the module.
void bind_values(nanobind::module_& module);
void bind_model(nanobind::module_& module);
void bind_parse(nanobind::module_& module, nanobind::class_<ModelObject>& model);
void bind_rollout(nanobind::module_& module);
void bind_transcript(nanobind::module_& module);
void bind_edge(nanobind::module_& module);
void bind_tester(nanobind::module_& module);

}  // namespace rondo::python
