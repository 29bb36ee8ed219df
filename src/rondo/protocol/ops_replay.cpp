// replay and diff: what prefix caches save on a log of requests, and where two requests differ.
#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/files.h"
#include "base/printing.h"
#include "json/print.h"
#include "protocol/ops.h"
#include "replay/diff.h"
#include "replay/made_log.h"
#include "replay/replay.h"

namespace rondo::protocol {
namespace {

constexpr std::size_t kMegabyte = std::size_t{1} << 20U;
// How many requests pass between two reports of progress.
constexpr std::uint64_t kProgressRequests = 64;

struct ModelFields {
  TemplateFields chat_template;
  chat::Conversation conversation;  // variables and special tokens only
  std::optional<json::Object> corrections;
};

ModelFields read_model(Fields& fields) {
  ModelFields out;
  out.chat_template = read_template(fields, core::TokenizerUse::kRequired);
  out.conversation.kwargs = fields.object("kwargs");
  out.conversation.bos_token = fields.text("bos_token");
  out.conversation.eos_token = fields.text("eos_token");
  out.corrections = read_corrections(fields);
  return out;
}

Result<replay::PromptMaker::Parts> load_parts(const OpContext& context, ModelFields& model) {
  auto loaded = context.models.model(model.chat_template, model.corrections);
  if (!loaded.ok()) return loaded.error();
  core::Call call = context.models.call(model.chat_template, {std::move(model.conversation), false});
  auto format = loaded.value()->format(call);
  if (!format.ok()) return format.error();
  auto prepared = loaded.value()->prepare(call, core::TokenizerUse::kRequired);
  if (!prepared.ok()) return prepared.error();
  chat::Conversation& base = call.conversation;
  return replay::PromptMaker::Parts{prepared.value().chat_template,
                                    prepared.value().tokenizer,
                                    format.value(),
                                    base.bos_token,
                                    base.eos_token,
                                    base.kwargs,
                                    prepared.value().options};
}

struct Bounds {
  std::size_t least = 0;
  std::size_t most = 0;
};
// Beyond what any cache or log has, and so small that sums and products of a few of them are exact.
constexpr std::size_t kMany = 1'000'000'000'000;
constexpr std::size_t kMostMegabytes = std::size_t{1} << 24U;

// A whole number within the bounds; `otherwise` when absent.
std::size_t to_size(Fields& fields, const std::string& name, const json::Value* found, std::size_t otherwise,
                    const Bounds& bounds) {
  if (found == nullptr) return otherwise;
  const std::optional<std::int64_t> number = found->to_int64();
  const bool is_huge = !number && found->kind() == json::Kind::kInteger && !found->number().starts_with('-');
  if (is_huge || (number && *number > static_cast<std::int64_t>(bounds.most))) {
    fields.fail("`" + name + "` must be at most " + std::to_string(bounds.most));
  } else if (!number || *number < static_cast<std::int64_t>(bounds.least)) {
    fields.fail("`" + name + "` must be a whole number of at least " + std::to_string(bounds.least));
  } else {
    return static_cast<std::size_t>(*number);
  }
  return otherwise;
}

std::size_t read_size(Fields& fields, std::string_view name, std::size_t otherwise, const Bounds& bounds) {
  return to_size(fields, std::string(name), fields.value(name), otherwise, bounds);
}

// The fleet's options, if there is a fleet.
void read_fleet(Fields& fields, replay::ReplayOptions& options) {
  constexpr std::size_t kMostReplicas = 4096;
  const bool is_asked = fields.has("replicas");
  options.fleet.replicas = read_size(fields, "replicas", 1, {1, kMostReplicas});
  options.fleet.capacity = read_size(fields, "replica_capacity", options.capacity, {1, kMany});
  options.fleet.concurrency = read_size(fields, "concurrency", 0, {0, kMany});
  options.fleet.block = options.block;
  const std::string routing = fields.text("routing").value_or("exact");
  const std::optional<cache::Routing> one = cache::routing_of(routing);
  if (!one && routing != "all") {
    std::string names = "`all`";
    for (const cache::Routing known : cache::kRoutings) names += ", `" + std::string(cache::to_string(known)) + "`";
    fields.fail("`routing` must be one of " + names + ", found `" + printing::excerpt(routing) + "`");
  }
  if (!is_asked) return;
  if (one) {
    options.routings = {*one};
  } else {
    options.routings.assign(cache::kRoutings.begin(), cache::kRoutings.end());
  }
}

// The options of a generated log of which at most `limit` requests are replayed, if one is requested.
std::optional<replay::MadeLogOptions> read_made_log(Fields& fields, std::size_t limit) {
  const json::Value* asked = fields.value("generate");
  if (asked == nullptr) return std::nullopt;
  if (!asked->is_object()) {
    fields.fail("`generate` must be an object, found " + std::string(json::describe(asked->kind())));
    return std::nullopt;
  }
  replay::MadeLogOptions out;
  // What both a size and a whole number of JSON hold.
  constexpr std::size_t kAnySeed =
      std::min<std::uint64_t>(std::numeric_limits<std::size_t>::max(), std::numeric_limits<std::int64_t>::max());
  constexpr std::size_t kMost = replay::kMostOfMadeLog;
  struct Option {
    std::string_view name;
    std::size_t* value;
    std::size_t most = kMost;
  };
  const std::array<Option, 10> options = {{{"agents", &out.agents},
                                           {"active", &out.active},
                                           {"turns", &out.turns},
                                           {"calls", &out.calls},
                                           {"kinds", &out.kinds},
                                           {"system", &out.system},
                                           {"task", &out.task},
                                           {"answer", &out.answer},
                                           {"result", &out.result},
                                           {"seed", &out.seed, kAnySeed}}};
  for (const json::Member& member : asked->as_object()) {
    const auto known = std::ranges::find(options, member.key, &Option::name);
    const std::string name = "generate." + printing::excerpt(member.key);
    if (known == options.end()) {
      fields.fail("`" + name + "` is not known");
    } else {
      *known->value = to_size(fields, name, &member.value, *known->value, {0, known->most});
    }
  }
  if (const std::string why = replay::too_much(out, limit); !why.empty()) fields.fail("`generate` " + why);
  return out;
}

// The lines of a request as a log.
std::string joined_lines(Fields& fields) {
  const json::Value* lines = fields.value("lines");
  std::string out;
  if (lines == nullptr) return out;
  if (!lines->is_array()) {
    fields.fail("`lines` must be an array, found " + std::string(json::describe(lines->kind())));
    return out;
  }
  for (const json::Value& line : lines->as_array()) {
    out += line.is_string() ? line.as_string() : json::to_compact(line);
    out += '\n';
  }
  return out;
}

void run_log(replay::Replay& replay, replay::LogReader& reader, std::size_t limit, const LogStream* stream) {
  std::uint64_t requests = 0;
  while (limit == 0 || requests < limit) {
    auto entry = reader.next();
    if (!entry) break;
    replay.feed(std::move(*entry));
    ++requests;
    if (stream != nullptr && stream->on_progress && requests % kProgressRequests == 0)
      stream->on_progress(reader.bytes(), requests);
  }
  replay.note_log(reader);
}

replay::LogReader::Source text_source(const std::string& text) {
  return [&text, at = std::size_t{0}](char* out, std::size_t size) mutable {
    const std::size_t count = std::min(size, text.size() - at);
    text.copy(out, count, at);
    at += count;
    return count;
  };
}

Result<chat::ApiRequest> read_side(Fields& fields, std::string_view name) {
  fields.require(name);
  const json::Value* body = fields.value(name);
  if (body == nullptr) return chat::ApiRequest{};
  // The body may be wrapped as in a log, or bare; an array is the messages alone.
  const json::Value bare = body->is_array() ? json::Value(json::Object{{"messages", *body}}) : *body;
  auto entry = replay::read_log_line(json::to_compact(bare));
  if (entry.ok()) return std::move(entry).value().request;
  return Error(ErrorCode::kInvalidArgument, "`" + std::string(name) + "`: " + entry.error().message);
}

}  // namespace

Reply op_replay(const OpContext& context, Fields& fields) {
  ModelFields model = read_model(fields);
  replay::ReplayOptions options;
  options.capacity = read_size(fields, "capacity", options.capacity, {1, kMany});
  options.block = read_size(fields, "block", options.block, {1, kMany});
  read_fleet(fields, options);
  options.memory_bytes =
      read_size(fields, "memory_mb", options.memory_bytes / kMegabyte, {1, kMostMegabytes}) * kMegabyte;
  const std::size_t limit = read_size(fields, "limit", 0, {0, kMany});
  const std::optional<std::string> log = fields.text("log");
  const std::string lines = joined_lines(fields);
  const LogStream* stream = context.options.log;
  const std::optional<replay::MadeLogOptions> made = read_made_log(fields, limit);
  if (stream == nullptr && !made && log.has_value() == fields.has("lines"))
    fields.fail(log ? "only one of `log` and `lines` may be given" : "one of the fields `log` and `lines` is missing");
  if (made && (log || fields.has("lines"))) fields.fail("`generate` makes a log, so no other may be given");
  if (Status status = fields.finish(); !status.ok()) return status.error();

  auto parts = load_parts(context, model);
  if (!parts.ok()) return parts.error();
  replay::Replay replay(std::move(parts).value(), options);
  std::ifstream file;
  replay::LogReader::Source source = text_source(lines);
  std::optional<replay::MadeLog> made_log;
  if (made) {
    made_log.emplace(*made);
    source = [&made_log](char* out, std::size_t size) { return made_log->read(out, size); };
  } else if (stream != nullptr) {
    source = stream->read;
  } else if (log) {
    if (Status status = files::check(*log); !status.ok()) return status.error();
    file.open(*log, std::ios::binary);
    if (!file) return Error(ErrorCode::kNotFound, "the log cannot be opened", *log);
    source = [&file](char* out, std::size_t size) {
      file.read(out, static_cast<std::streamsize>(size));
      return static_cast<std::size_t>(file.gcount());
    };
  }
  replay::LogReader reader(std::move(source));
  run_log(replay, reader, limit, stream);
  if (file.bad()) return Error(ErrorCode::kIo, "reading failed", *log);
  return replay::to_json(replay.report());
}

Reply op_diff(const OpContext& context, Fields& fields) {
  ModelFields model = read_model(fields);
  auto before = read_side(fields, "before");
  auto after = read_side(fields, "after");
  if (Status status = fields.finish(); !status.ok()) return status.error();
  if (!before.ok()) return before.error();
  if (!after.ok()) return after.error();
  auto parts = load_parts(context, model);
  if (!parts.ok()) return parts.error();
  const replay::PromptMaker maker(std::move(parts).value());
  auto diff = replay::diff_requests(maker, std::move(before).value(), std::move(after).value());
  if (!diff.ok()) return diff.error();
  return replay::to_json(diff.value());
}

}  // namespace rondo::protocol
