// The ops of the line protocol, one function each.  Internal to api/.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/cache.h"
#include "api/fields.h"
#include "api/requests.h"
#include "api/service.h"
#include "format/format.h"
#include "json/value.h"
#include "render/stop.h"
#include "rondo/result.h"

namespace rondo::api {

// What the ops share.
struct OpContext {
  Cache& cache;
  Memo<render::TurnProfile>& profiles;
  Memo<format::Format>& formats;
  std::function<jinja::LocalTime()> clock;
  RunOptions options;
};

using Reply = Result<json::Value>;

[[nodiscard]] Reply op_render(const OpContext& context, Fields& fields);
[[nodiscard]] Reply op_jinja(const OpContext& context, Fields& fields);
[[nodiscard]] Reply op_tokenize(const OpContext& context, Fields& fields);
[[nodiscard]] Reply op_detokenize(const OpContext& context, Fields& fields);
[[nodiscard]] Reply op_encode(const OpContext& context, Fields& fields);
[[nodiscard]] Reply op_stop(const OpContext& context, Fields& fields);
[[nodiscard]] Reply op_bridge(const OpContext& context, Fields& fields);
[[nodiscard]] Reply op_parse(const OpContext& context, Fields& fields);
[[nodiscard]] Reply op_parse_stream(const OpContext& context, Fields& fields);
[[nodiscard]] Reply op_grammar(const OpContext& context, Fields& fields);
[[nodiscard]] Reply op_explain(const OpContext& context, Fields& fields);
[[nodiscard]] Reply op_diff(const OpContext& context, Fields& fields);
[[nodiscard]] Reply op_replay(const OpContext& context, Fields& fields);
[[nodiscard]] Reply op_check(const OpContext& context, Fields& fields);
[[nodiscard]] Reply op_fix(const OpContext& context, Fields& fields);

// What a check is asked beside the template.
struct CheckAsked {
  std::string model;                   // as the report calls it
  bool has_file = false;               // the template's name is that of a file
  std::vector<std::string> scenarios;  // empty: all
  std::function<void(std::size_t done, std::size_t total)> on_progress;
};

// The tools of the conversations that a check plays: of a model with several templates the one for tools is checked.
[[nodiscard]] const json::Value& tools_of_check();

// The reply of op_check, of a template that is at hand.  Of `base` kwargs, bos and eos count.
[[nodiscard]] Reply check_reply(const Prepared& prepared, chat::Conversation base, CheckAsked asked);

// The reply of op_grammar, of what has been inferred already.  `language`: "gbnf", "structural_tag" or "lark"; without a
// tokenizer no trigger is told as a token.
[[nodiscard]] Reply grammar_reply(const format::Format& format, const AskedOfModel& asked,
                                  const std::optional<json::Value>& tools, std::string prompt_tail,
                                  const std::string& language, const tokenizer::Tokenizer* tokenizer);

}  // namespace rondo::api
