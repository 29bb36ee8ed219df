#include "protocol/service.h"

#include <array>
#include <exception>
#include <utility>

#include "base/files.h"
#include "base/printing.h"
#include "json/parse.h"
#include "json/print.h"
#include "protocol/ops.h"
#include "protocol/reply.h"

namespace rondo::protocol {
namespace {

struct Op {
  std::string_view name;
  Reply (*run)(const OpContext&, Fields&);
};

constexpr std::array<Op, 21> kOps = {{
    {"render", op_render},
    {"shape", op_shape},
    {"jinja", op_jinja},
    {"parse", op_parse},
    {"parse_stream", op_parse_stream},
    {"tokenize", op_tokenize},
    {"detokenize", op_detokenize},
    {"encode", op_encode},
    {"bridge", op_bridge},
    {"stop", op_stop},
    {"grammar", op_grammar},
    {"explain", op_explain},
    {"diff", op_diff},
    {"replay", op_replay},
    {"check", op_check},
    {"fix", op_fix},
    {"test", op_test},
    {"edge_export", op_edge_export},
    {"edge_import", op_edge_import},
    {"edge_validate", op_edge_validate},
    {"edge_format", op_edge_format},
}};

const Op* find_op(std::string_view name) {
  for (const Op& op : kOps) {
    if (op.name == name) return &op;
  }
  return nullptr;
}

// rondo itself throws nothing because of data.  This handles what the standard library may throw (out of memory).
Error fault(const std::exception& exception) {
  return {ErrorCode::kInternal, std::string("a fault in rondo: ") + exception.what()};
}

json::Value reply_of(const Result<json::Value>& result, const json::Value* id) {
  json::Object reply;
  if (id != nullptr) reply.set("id", *id);
  if (!result.ok()) {
    reply.set("error", error_to_json(result.error()));
    return reply;
  }
  for (const json::Member& member : result.value().as_object()) reply.set(member.key, member.value);
  return reply;
}

}  // namespace

struct Service::State {
  Models models;
};

Service::Service(ServiceOptions options) {
  std::function<jinja::LocalTime()> clock;
  if (options.clock) clock = [given = std::move(options.clock)] { return core::local_time(given()); };
  state_.reset(new State{{std::move(options.cache_folder), std::move(clock)}});
}

Service::~Service() = default;

Result<json::Value> Service::run(const json::Value& request, const RunOptions& options) const {
  if (!request.is_object()) {
    return Error(ErrorCode::kInvalidArgument,
                 "a request must be an object, found " + std::string(json::describe(request.kind())));
  }
  const json::Value* op_field = request.find("op");
  if (op_field == nullptr || op_field->is_null())
    return Error(ErrorCode::kInvalidArgument, "the field `op` is missing");
  if (!op_field->is_string()) {
    return Error(ErrorCode::kInvalidArgument,
                 "`op` must be a string, found " + std::string(json::describe(op_field->kind())));
  }
  const Op* op = find_op(op_field->as_string());
  if (op == nullptr)
    return Error(ErrorCode::kInvalidArgument, "unknown op `" + printing::excerpt(op_field->as_string()) + "`");
  Fields fields(request.as_object());
  const OpContext context{state_->models, options};
  try {
    return op->run(context, fields);
  } catch (const std::exception& exception) { return fault(exception); }
}

json::Value Service::handle(const json::Value& request) const {
  const files::RegularFilesOnly only;
  return reply_of(run(request), request.find("id"));
}

std::string Service::handle_line(std::string_view line) const {
  auto request = json::parse(line);
  if (request.ok()) return json::to_compact(handle(request.value()));
  const Error& error = request.error();
  return json::to_compact(reply_of(
      Error(ErrorCode::kInvalidArgument,
            "the line is not JSON: column " + std::to_string(error.code_point_column()) + ": " + error.message),
      nullptr));
}

}  // namespace rondo::protocol
