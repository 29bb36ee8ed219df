// parse, parse_stream, bridge, grammar: not wired yet; their requests are checked all the same.
#include "api/ops.h"

namespace rondo::api {
namespace {

Error unsupported(const std::string& op) {
  Error error;
  error.code = ErrorCode::kUnsupported;
  error.message = "this build does not serve the op `" + op + "` yet";
  return error;
}

}  // namespace

Reply op_parse(const OpContext&, Fields&) { return unsupported("parse"); }
Reply op_parse_stream(const OpContext&, Fields&) { return unsupported("parse_stream"); }
Reply op_bridge(const OpContext&, Fields&) { return unsupported("bridge"); }

Reply op_grammar(const OpContext&, Fields& fields) {
  (void)read_template(fields, TokenizerUse::kOptional);
  (void)read_conversation(fields, {.add_generation_prompt = true});
  (void)read_asked(fields);
  (void)fields.choice("format", {"gbnf", "structural_tag", "lark"});
  if (Status status = fields.finish(); !status.ok()) return status.error();
  return unsupported("grammar");
}

}  // namespace rondo::api
