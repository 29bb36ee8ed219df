// A model whose template has neither tools nor a system role holds a conversation with a tool: what the template lacks is
// supplied (template/polyfill.h), and the grammar that is derived of both holds the model to a call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "demo/demo_data.h"
#include "demo/embedded.h"
#include "json/value.h"
#include "rondo/result.h"

namespace rondo::demo {

// One turn of the model.
struct BareTurn {
  std::size_t prompt = 0;
  std::size_t reused = 0;
  std::size_t generated = 0;
};

struct BareRun {
  std::string chat_template;
  std::vector<std::string> supplied;  // sentences
  std::vector<BareTurn> turns;
  json::Array messages;  // the conversation as a client sees it
};

// `fixtures`: where the template is looked for; without it, it is one of ours.  Fails with kInternal where the model's turn
// is no call.
[[nodiscard]] Result<BareRun> run_bare(EmbeddedModel& model, const DemoData& data, const std::string& fixtures,
                                       std::uint64_t seed);

[[nodiscard]] std::string bare_text(const BareRun& run);
[[nodiscard]] json::Value to_json(const BareRun& run);

}  // namespace rondo::demo
