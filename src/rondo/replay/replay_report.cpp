#include "replay/replay.h"

namespace rondo::replay {
namespace {

json::Value counts_to_json(const std::map<std::string, std::uint64_t>& counts) {
  json::Object out;
  for (const auto& [name, number] : counts) out.set(name, static_cast<std::size_t>(number));
  return out;
}

json::Value number(std::uint64_t value) { return static_cast<std::size_t>(value); }

json::Value lane_to_json(const ReplayLane& lane) {
  json::Object hits;
  json::Object rates;
  for (const cache::Policy policy : cache::kPolicies) {
    hits.set(to_string(policy), number(lane.hits[static_cast<std::size_t>(policy)]));
    rates.set(to_string(policy), lane.hit_rate(policy));
  }
  return json::Object{{"name", lane.name},
                      {"sentence", lane.sentence},
                      {"changed_requests", number(lane.changed)},
                      {"prompt_tokens", number(lane.prompt_tokens)},
                      {"hit_tokens", std::move(hits)},
                      {"hit_rate", std::move(rates)}};
}

json::Value fleets_to_json(const ReplayReport& report) {
  json::Array fleets;
  for (const ReplayFleet& fleet : report.fleets) {
    fleets.emplace_back(json::Object{{"routing", std::string(cache::to_string(fleet.routing))},
                                     {"lane", fleet.lane},
                                     {"prompt_tokens", number(fleet.prompt_tokens)},
                                     {"hit_tokens", number(fleet.hit_tokens)},
                                     {"hit_rate", fleet.hit_rate()},
                                     {"moved_requests", number(fleet.moved)},
                                     {"busiest_share", fleet.busiest_share}});
  }
  return json::Object{{"replicas", report.options.fleet.replicas},
                      {"replica_capacity", report.options.fleet.capacity},
                      {"concurrency", report.options.fleet.at_once()},
                      {"routings", std::move(fleets)}};
}

json::Value cause_to_json(const ReplayCause& cause) {
  json::Array examples;
  for (const ReplayExample& example : cause.examples) {
    examples.emplace_back(json::Object{{"line", number(example.line)},
                                       {"path", example.path},
                                       {"sentence", example.sentence},
                                       {"before", example.before},
                                       {"after", example.after},
                                       {"lost_tokens", number(example.lost_tokens)}});
  }
  json::Object out{
      {"name", cause.name}, {"requests", number(cause.requests)}, {"lost_tokens", number(cause.lost_tokens)}};
  if (cause.line > 0) out.set("template_line", cause.line);
  out.set("examples", std::move(examples));
  return out;
}

json::Value skipped_to_json(const SkippedLines& skipped) {
  return json::Object{{"reason", skipped.reason},
                      {"count", number(skipped.count)},
                      {"first_line", number(skipped.first_line)},
                      {"first_error", skipped.first_error}};
}

}  // namespace

json::Value to_json(const ReplayReport& report) {
  json::Array lanes;
  json::Array causes;
  json::Array skipped;
  for (const ReplayLane& lane : report.lanes) lanes.push_back(lane_to_json(lane));
  for (const ReplayCause& cause : report.causes) causes.push_back(cause_to_json(cause));
  for (const SkippedLines& lines : report.skipped) skipped.push_back(skipped_to_json(lines));
  json::Object out{{"lines", number(report.lines)},
                   {"bytes", number(report.bytes)},
                   {"skipped", std::move(skipped)},
                   {"requests", number(report.requests)},
                   {"conversations", number(report.conversations)},
                   {"branches", number(report.branches)},
                   {"forgotten_conversations", number(report.forgotten)},
                   {"answers", json::Object{{"from_log", number(report.answers_from_log)},
                                            {"from_next_request", number(report.answers_from_requests)}}},
                   {"apis", counts_to_json(report.apis)},
                   {"models", counts_to_json(report.models)},
                   {"notes", counts_to_json(report.notes)},
                   {"lanes", std::move(lanes)},
                   {"causes", std::move(causes)},
                   {"capacity", number(report.options.capacity)},
                   {"block", number(report.options.block)}};
  if (!report.fleets.empty()) out.set("fleet", fleets_to_json(report));
  if (report.marks.requests > 0) {
    out.set("cache_control", json::Object{{"requests", number(report.marks.requests)},
                                          {"prompt_tokens", number(report.marks.prompt_tokens)},
                                          {"read_tokens", number(report.marks.read_tokens)},
                                          {"written_tokens", number(report.marks.written_tokens)},
                                          {"expired_tokens", number(report.marks.expired_tokens)}});
  }
  if (report.measured_prompt_tokens > 0) {
    out.set("measured", json::Object{{"prompt_tokens", number(report.measured_prompt_tokens)},
                                     {"cached_tokens", number(report.measured_cached_tokens)}});
  }
  return out;
}

}  // namespace rondo::replay
