// Rows, tables and JSON of the demonstration.
#include "demo/demo_parts.h"
#include "demo/table.h"
#include "engine/engine.h"

namespace rondo::demo {
namespace {

std::string or_dash(std::size_t value, bool known) { return known ? std::to_string(value) : "-"; }

json::Value row_json(const DemoRow& row) {
  json::Object out{{"turn", row.turn},
                   {"prompt_tokens", row.prompt},
                   {"reused", row.reused},
                   {"prefilled", row.prefilled},
                   {"generated", row.generated},
                   {"stop", row.stop},
                   {"rerender_prompt_tokens", row.rerender_prompt},
                   {"rerender_reused", row.rerender_reused}};
  if (!row.cause.empty())
    out.set("break", json::Object{{"cause", row.cause}, {"template_line", static_cast<std::int64_t>(row.line)}});
  return out;
}

json::Array rows_json(const std::vector<DemoRow>& rows) {
  json::Array out;
  for (const DemoRow& row : rows) out.push_back(row_json(row));
  return out;
}

}  // namespace

DemoRow row_of(const session::Turn& turn, std::size_t number) {
  DemoRow row;
  row.turn = number;
  row.prompt = turn.prompt_tokens;
  row.reused = turn.prompt.reused;
  row.prefilled = turn.prompt.prefilled;
  row.generated = turn.generated();
  row.stop = engine::to_string(turn.stop);
  row.rerender_prompt = turn.prompt_tokens;
  if (!turn.rerender) return row;
  row.rerender_prompt = turn.rerender->ids.size();
  row.rerender_reused = turn.rerender->reusable;
  if (turn.rerender->broken) {
    row.cause = turn.rerender->broken->cause.sentence;
    row.line = turn.rerender->broken->cause.place.line;
  }
  return row;
}

std::string rows_table(const std::vector<DemoRow>& rows) {
  const std::vector<Column> columns = {
      {"turn"},        {"prompt\ntokens"},       {"\nreused"},          {"\nprefilled"},
      {"\ngenerated"}, {"\nstop", Align::kLeft}, {"re-render\nreuses"}, {"\nwhy not more", Align::kLeft, 100}};
  std::vector<std::vector<std::string>> cells;
  for (const DemoRow& row : rows) {
    cells.push_back({std::to_string(row.turn), std::to_string(row.prompt), std::to_string(row.reused),
                     std::to_string(row.prefilled), std::to_string(row.generated), row.stop,
                     or_dash(row.rerender_reused, row.turn > 1), row.cause});
  }
  return format_table(columns, cells);
}

std::string families_table(const std::vector<FamilyRun>& runs) {
  const std::vector<Column> columns = {
      {"family", Align::kLeft}, {"template", Align::kLeft}, {"\nprompts"},   {"bridge\nbreaks"},
      {"re-render\nbreaks"},    {"tokens kept by\nbridge"}, {"\nre-render"}, {"\nfirst cause", Align::kLeft, 90}};
  std::vector<std::vector<std::string>> cells;
  for (const FamilyRun& run : runs) {
    std::string cause = run.failure.empty() ? "" : "failed: " + run.failure;
    for (const DemoRow& row : run.rows) {
      if (cause.empty() && !row.cause.empty()) cause = row.cause;
    }
    const bool ran = !run.rows.empty();
    cells.push_back({run.name, run.chat_template, std::to_string(run.rows.size()), or_dash(run.bridge_breaks, ran),
                     or_dash(run.rerender_breaks, ran), or_dash(run.bridge_kept, ran), or_dash(run.rerender_kept, ran),
                     cause});
  }
  return format_table(columns, cells);
}

std::string served_text(const Served& served) {
  const std::vector<Column> columns = {
      {"turn"},     {"\nhow", Align::kLeft}, {"prompt\ntokens"}, {"\nexpected"},
      {"\nreused"}, {"\nappended"},          {"\nsampled"},      {"re-render\nreuses"}};
  std::vector<std::vector<std::string>> cells;
  std::size_t reused = 0;
  std::size_t rerendered = 0;
  for (const ServedTurn& turn : served.turns) {
    const std::string number = std::to_string(cells.size() + 1);
    cells.push_back({number, turn.how, std::to_string(turn.prompt), std::to_string(turn.expected),
                     std::to_string(turn.cached), std::to_string(turn.appended), std::to_string(turn.sampled),
                     or_dash(turn.rerender_cached, !cells.empty())});
    reused += turn.cached;
    rerendered += turn.rerender_cached;
  }
  return "A server on " + served.url +
         ", and a client that sends its messages again with each turn, as clients of chat APIs do.\n" +
         format_table(columns, cells) + "\nreused: " + std::to_string(reused) +
         " tokens; a server that renders the same requests anew: " + std::to_string(rerendered) +
         ".  `rondo serve` starts such a server; its address in a browser shows sessions like this one.\n";
}

json::Value to_json(const Served& served) {
  json::Array turns;
  for (const ServedTurn& turn : served.turns) {
    turns.emplace_back(json::Object{{"how", turn.how},
                                    {"prompt_tokens", turn.prompt},
                                    {"expected", turn.expected},
                                    {"cached", turn.cached},
                                    {"appended", turn.appended},
                                    {"completion_tokens", turn.sampled},
                                    {"rerender_cached", turn.rerender_cached}});
  }
  return json::Object{{"turns", std::move(turns)}};
}

json::Value to_json(const DemoRun& run) {
  json::Object out{{"turns", rows_json(run.rows)},
                   {"bridge_breaks", run.bridge_breaks},
                   {"rerender_breaks", run.rerender_breaks},
                   {"rerender_prefilled", run.rerender_prefilled}};
  if (run.bridge_seconds) out.set("bridge_seconds", *run.bridge_seconds);
  if (run.rerender_seconds) out.set("rerender_seconds", *run.rerender_seconds);
  if (run.bridge_prompt_seconds) out.set("bridge_prompt_seconds", *run.bridge_prompt_seconds);
  if (run.rerender_prompt_seconds) out.set("rerender_prompt_seconds", *run.rerender_prompt_seconds);
  out.set("messages", run.messages);
  return out;
}

json::Value to_json(const FamilyRun& run) {
  json::Object out{{"name", run.name}, {"template", run.chat_template}, {"tokenizer", run.tokenizer}};
  if (!run.failure.empty()) out.set("failure", run.failure);
  out.set("prompts", rows_json(run.rows));
  out.set("bridge_breaks", run.bridge_breaks);
  out.set("rerender_breaks", run.rerender_breaks);
  out.set("bridge_kept", run.bridge_kept);
  out.set("rerender_kept", run.rerender_kept);
  return out;
}

json::Array client_messages(const DemoStep& step, const json::Value* said) {
  json::Array out;
  const json::Value* calls = said != nullptr ? said->find("tool_calls") : nullptr;
  for (std::size_t i = 0; i < step.results.size(); ++i) {
    json::Object result{{"role", "tool"}};
    if (calls != nullptr && i < calls->as_array().size()) {
      const json::Value& call = calls->as_array()[i];
      result.set("tool_call_id", call.find_string("id").value_or(""));
      result.set("name", call.find("function")->find_string("name").value_or(""));
    }
    result.set("content", step.results[i]);
    out.emplace_back(std::move(result));
  }
  if (!step.user.empty()) out.emplace_back(json::Object{{"role", "user"}, {"content", step.user}});
  return out;
}

}  // namespace rondo::demo
