// The parts of the demonstration, which run_demo (demo.h) puts together.
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

// For one model turn: both ways to make the next prompt.
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
  std::int32_t line = 0;            // the template line of the cause; 0: none
};

struct DemoRun {
  std::vector<DemoRow> rows;
  std::size_t bridge_breaks = 0;  // how many prompts did not begin with all earlier ids
  std::size_t rerender_breaks = 0;
  std::optional<double> bridge_seconds;         // for decoding prompts and turns, starting with an empty memory
  std::optional<double> rerender_seconds;       // for the same turns after re-rendered prompts
  std::optional<double> bridge_prompt_seconds;  // the part for the prompts
  std::optional<double> rerender_prompt_seconds;
  std::size_t rerender_prefilled = 0;  // tokens, measured in that run
  json::Array messages;                // the conversation as a client sees it
};

// Plays the scripted conversation on the model.  `clock` may be empty.
[[nodiscard]] Result<DemoRun> run_agent(EmbeddedModel& model, const DemoData& data, std::uint64_t seed,
                                        const std::function<double()>& clock,
                                        const std::function<void(const DemoRow&)>& on_row);

// The rollout of one family.  A script writes its turns; there is no engine.
struct FamilyRun {
  std::string name;
  std::string chat_template;
  std::string tokenizer;
  std::string failure;  // "" if it succeeded
  std::vector<DemoRow> rows;
  std::size_t bridge_breaks = 0;
  std::size_t rerender_breaks = 0;
  std::size_t bridge_kept = 0;  // tokens before the new part, summed over all prompts
  std::size_t rerender_kept = 0;
};
[[nodiscard]] FamilyRun run_family(const DemoFamily& family, const DemoData& data, const std::string& fixtures,
                                   const std::string& corpus);

// Measures time and reuse on turns of plain text, without a template.
[[nodiscard]] Result<DemoRun> run_plain_text(EmbeddedModel& model, const std::function<double()>& clock);

// Several conversations at once on one engine, with one way of making their prompts.
struct DemoTogetherWay {
  std::size_t prompt_tokens = 0;
  std::size_t prefilled = 0;
  std::optional<double> seconds;                   // from the first request to the last answer
  std::optional<double> first_token_seconds;       // the median over all turns
  std::optional<double> slow_first_token_seconds;  // 19 of 20 turns are faster
};

struct DemoTogether {
  std::size_t conversations = 0;
  std::size_t turns = 0;  // of all conversations
  DemoTogetherWay bridged;
  DemoTogetherWay rerendered;
};

// Plays the scripted conversation several times at once, each time about something else, on a separate engine with the
// same weights: first with bridged prompts, then with re-rendered ones.
[[nodiscard]] Result<DemoTogether> run_together(const EmbeddedModel& model, const DemoData& data,
                                                std::size_t conversations, const std::function<double()>& clock);

// The results as text and as JSON.
[[nodiscard]] std::string together_text(const DemoTogether& run);
[[nodiscard]] json::Value to_json(const DemoTogether& run);
[[nodiscard]] std::string rows_table(const std::vector<DemoRow>& rows);
[[nodiscard]] std::string families_table(const std::vector<FamilyRun>& runs);
[[nodiscard]] std::string served_text(const Served& served);
[[nodiscard]] json::Value to_json(const Served& served);
[[nodiscard]] json::Value to_json(const DemoRun& run);
[[nodiscard]] json::Value to_json(const FamilyRun& run);

// Returns what the client adds after the model's turn `said`: the results of its calls, and the user's words.
[[nodiscard]] json::Array client_messages(const DemoStep& step, const json::Value* said);

// Returns the row of a finished turn.
[[nodiscard]] DemoRow row_of(const session::Turn& turn, std::size_t number);

}  // namespace rondo::demo
