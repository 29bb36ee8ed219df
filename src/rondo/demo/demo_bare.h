// Shows a model whose template has neither tools nor a system role in a conversation with a tool.  Polyfills supply
// what the template lacks (template/polyfill.h), and the grammar derived from both makes the model write a call.
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

// `fixtures` is the folder in which the template is looked for; without it, the template is one of rondo's own.  Fails
// with kInternal if the model's turn is not a call.
[[nodiscard]] Result<BareRun> run_bare(EmbeddedModel& model, const DemoData& data, const std::string& fixtures,
                                       std::uint64_t seed);

[[nodiscard]] std::string bare_text(const BareRun& run);
[[nodiscard]] json::Value to_json(const BareRun& run);

}  // namespace rondo::demo
