// The operations of the line protocol, one function each.  Internal to protocol/.
#pragma once

#include "json/value.h"
#include "protocol/requests.h"
#include "protocol/service.h"
#include "rondo/result.h"

namespace rondo::protocol {

// What the operations share.
struct OpContext {
  Models& models;
  RunOptions options;
};

using Reply = Result<json::Value>;

[[nodiscard]] Reply op_render(const OpContext& context, Fields& fields);
[[nodiscard]] Reply op_shape(const OpContext& context, Fields& fields);
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
[[nodiscard]] Reply op_test(const OpContext& context, Fields& fields);
[[nodiscard]] Reply op_fix(const OpContext& context, Fields& fields);
[[nodiscard]] Reply op_edge_export(const OpContext& context, Fields& fields);
[[nodiscard]] Reply op_edge_import(const OpContext& context, Fields& fields);
[[nodiscard]] Reply op_edge_validate(const OpContext& context, Fields& fields);
[[nodiscard]] Reply op_edge_format(const OpContext& context, Fields& fields);

}  // namespace rondo::protocol
