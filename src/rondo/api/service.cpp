#include "api/service.h"

#include <array>
#include <exception>
#include <utility>

#include "api/cache.h"
#include "api/fields.h"
#include "api/ops.h"
#include "api/reply.h"
#include "json/parse.h"
#include "json/print.h"

namespace rondo::api {
namespace {

struct Op {
  std::string_view name;
  Reply (*run)(const OpContext&, Fields&);
};

constexpr std::array<Op, 15> kOps = {{
    {"render", op_render},
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
}};

const Op* find_op(std::string_view name) {
  for (const Op& op : kOps) {
    if (op.name == name) return &op;
  }
  return nullptr;
}

// Nothing in rondo throws on data; this is for what the standard library may throw (no memory left).
Error fault(const std::exception& exception) {
  return {ErrorCode::kInternal, std::string("a fault in rondo: ") + exception.what()};
}

jinja::LocalTime to_local_time(const std::tm& time) {
  return {time.tm_year + 1900, time.tm_mon + 1, time.tm_mday, time.tm_hour, time.tm_min, time.tm_sec};
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
  explicit State(std::string cache_folder) : cache(std::move(cache_folder)) {}

  Cache cache;
  Memo<render::TurnProfile> profiles{1024};
  Memo<format::Format> formats{1024};
  std::function<jinja::LocalTime()> clock;
};

Service::Service(ServiceOptions options) : state_(std::make_unique<State>(std::move(options.cache_folder))) {
  if (options.clock) {
    state_->clock = [clock = std::move(options.clock)] { return to_local_time(clock()); };
  }
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
  if (op == nullptr) return Error(ErrorCode::kInvalidArgument, "unknown op `" + op_field->as_string() + "`");
  Fields fields(request.as_object());
  const OpContext context{state_->cache, state_->profiles, state_->formats, state_->clock, options};
  try {
    return op->run(context, fields);
  } catch (const std::exception& exception) { return fault(exception); }
}

json::Value Service::handle(const json::Value& request) const { return reply_of(run(request), request.find("id")); }

std::string Service::handle_line(std::string_view line) const {
  auto request = json::parse(line);
  if (request.ok()) return json::to_compact(handle(request.value()));
  const Error& error = request.error();
  return json::to_compact(
      reply_of(Error(ErrorCode::kInvalidArgument,
                     "the line is not JSON: column " + std::to_string(error.column) + ": " + error.message),
               nullptr));
}

}  // namespace rondo::api
