// The parts of the demonstration; run_demo (demo.h) puts them together.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "demo/demo.h"
#include "demo/demo_data.h"
#include "demo/embedded.h"
#include "json/value.h"
#include "rondo/result.h"
#include "session/session.h"

namespace rondo::demo {

// Both ways of getting to the next prompt, for one model turn.
struct DemoRow {
  std::size_t turn = 0;
  std::size_t prompt = 0;
  std::size_t reused = 0;
  std::size_t prefilled = 0;
  std::size_t generated = 0;
  std::string stop;
  std::size_t rerender_prompt = 0;
  std::size_t rerender_reused = 0;  // of the first turn: 0, as above
  std::string cause;                // why a re-render breaks; "" if it does not
  std::int32_t line = 0;            // the template line of the cause; 0 if there is none
};

struct DemoRun {
  std::vector<DemoRow> rows;
  std::size_t bridge_breaks = 0;  // prompts that did not begin with all earlier ids
  std::size_t rerender_breaks = 0;
  std::optional<double> bridge_seconds;         // decoding prompts and turns, on an empty memory at first
  std::optional<double> rerender_seconds;       // the same turns behind re-rendered prompts
  std::optional<double> bridge_prompt_seconds;  // the prompts' part of it
  std::optional<double> rerender_prompt_seconds;
  std::size_t rerender_prefilled = 0;  // tokens, measured in that run
  json::Array messages;                // the conversation as a client sees it
};

// The scripted conversation on the model.  `clock` may be empty.
[[nodiscard]] Result<DemoRun> run_agent(EmbeddedModel& model, const DemoData& data, std::uint64_t seed,
                                        const std::function<double()>& clock,
                                        const std::function<void(const DemoRow&)>& on_row);

// One family's rollout; its turns are written by script, no engine is asked.
struct FamilyRun {
  std::string name;
  std::string chat_template;
  std::string tokenizer;
  std::string failure;  // "" if it went through
  std::vector<DemoRow> rows;
  std::size_t bridge_breaks = 0;
  std::size_t rerender_breaks = 0;
  std::size_t bridge_kept = 0;  // tokens before the new part, over all prompts
  std::size_t rerender_kept = 0;
};
[[nodiscard]] FamilyRun run_family(const DemoFamily& family, const DemoData& data, const std::string& fixtures,
                                   const std::string& corpus);

// Timing and reuse on plain text turns, without a template.
[[nodiscard]] Result<DemoRun> run_plain_text(EmbeddedModel& model, const std::function<double()>& clock);

// Several conversations at once on one engine, one way of making their prompts.
struct DemoTogetherWay {
  std::size_t prompt_tokens = 0;
  std::size_t prefilled = 0;
  std::optional<double> seconds;                   // from the first request to the last answer
  std::optional<double> first_token_seconds;       // of the middle one of all turns
  std::optional<double> slow_first_token_seconds;  // 19 of 20 turns are faster
};

struct DemoTogether {
  std::size_t conversations = 0;
  std::size_t turns = 0;  // of all of them
  DemoTogetherWay bridged;
  DemoTogetherWay rerendered;
};

// The scripted conversation, several times at once and each time about something else, on an engine of its own that has
// the same weights; first with bridged prompts, then with re-rendered ones.
[[nodiscard]] Result<DemoTogether> run_together(const EmbeddedModel& model, const DemoData& data,
                                                std::size_t conversations, const std::function<double()>& clock);

// Prints and machine forms.
[[nodiscard]] std::string together_text(const DemoTogether& run);
[[nodiscard]] json::Value to_json(const DemoTogether& run);
[[nodiscard]] std::string rows_table(const std::vector<DemoRow>& rows);
[[nodiscard]] std::string families_table(const std::vector<FamilyRun>& runs);
[[nodiscard]] std::string served_text(const Served& served);
[[nodiscard]] json::Value to_json(const Served& served);
[[nodiscard]] json::Value to_json(const DemoRun& run);
[[nodiscard]] json::Value to_json(const FamilyRun& run);

// What the client adds behind the model's turn `said`: the results of its calls, and the user's words.
[[nodiscard]] json::Array client_messages(const DemoStep& step, const json::Value* said);

// The row of a finished turn.
[[nodiscard]] DemoRow row_of(const session::Turn& turn, std::size_t number);

}  // namespace rondo::demo
