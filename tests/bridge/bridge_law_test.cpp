// The law of the bridge, over random rollouts (support/rollouts.h) through real templates and tokenizers:
//   * old ids stay as they are, always;
//   * a bridge exists wherever the template renders the conversation at all;
//   * where the re-render begins with the old ids, the bridge is the re-render, token for token;
//   * elsewhere what it appends ends with what the template writes for the new turns.
//
// RONDO_TEST_ROLLOUTS says how many bridges for all templates together; RONDO_TEST_SEED with which seed they begin.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "analysis/analyse.h"
#include "json/print.h"
#include "render/bridge.h"
#include "tests/support/corpus_models.h"
#include "tests/support/corpus_templates.h"
#include "tests/support/rollouts.h"

namespace rondo {
namespace {

using tokenizer::TokenId;

struct Tally {
  long bridges = 0;
  long breaks = 0;        // old ids changed
  long refusals = 0;      // no bridge although the template renders
  long stable = 0;        // the re-render begins with the old ids
  long differs = 0;       // ... and is not the bridge
  long rewritten = 0;     // the re-render does not
  long wrong_suffix = 0;  // ... and ends otherwise than the bridge
  long template_errors = 0;

  void add(const Tally& other) {
    bridges += other.bridges;
    breaks += other.breaks;
    refusals += other.refusals;
    stable += other.stable;
    differs += other.differs;
    rewritten += other.rewritten;
    wrong_suffix += other.wrong_suffix;
    template_errors += other.template_errors;
  }
};

json::Array law_tools() {
  const auto tool = [](const char* name) {
    json::Object properties{{"city", json::Object{{"type", "string"}, {"description", "d"}}},
                            {"days", json::Object{{"type", "integer"}, {"description", "d"}}},
                            {"exact", json::Object{{"type", "boolean"}, {"description", "d"}}}};
    json::Object parameters{
        {"type", "object"}, {"properties", std::move(properties)}, {"required", json::Array{"city"}}};
    return json::Object{
        {"type", "function"},
        {"function", json::Object{{"name", name}, {"description", "d"}, {"parameters", std::move(parameters)}}}};
  };
  return {tool("get_weather"), tool("search")};
}

// A model under one set of template variables.
struct Bench {
  const jinja::Template& chat_template;
  const tokenizer::Tokenizer& tokenizer;
  chat::Conversation base;
  tmpl::ApplyOptions options;
  render::TurnContext context{chat_template, tokenizer, base, options};
  render::TurnProfile profile = render::probe_turns(context);
  std::shared_ptr<const format::Format> format;
  std::string name;
};

std::vector<tokenizer::Piece> pieces_of(const Bench& bench, const jinja::Rendered& rendered) {
  return render::encode_range(bench.context, rendered, 0, rendered.text.size(), render::ContentSpecials::kText);
}

std::vector<TokenId> ids_of(const std::vector<tokenizer::Piece>& pieces) {
  std::vector<TokenId> ids;
  for (const auto& piece : pieces) ids.push_back(piece.id);
  return ids;
}

// Whether the first pieces are the old ids, and the turn's own data is among them: a turn that was cut off inside a marker
// can look like the beginning of another.
bool begins_with(const std::vector<tokenizer::Piece>& pieces, const std::vector<TokenId>& old_ids,
                 const jinja::Rendered& full, std::int32_t index) {
  if (old_ids.empty() || pieces.size() < old_ids.size()) return false;
  for (std::size_t i = 0; i < old_ids.size(); ++i) {
    if (pieces[i].id != old_ids[i]) return false;
  }
  const std::optional<render::Extent> data = render::data_extent(full, index);
  return !data || data->end <= pieces[old_ids.size() - 1].end;
}

// Whether the new messages hold results of calls that the turn does not have.
bool answers_nothing(const render::ParsedCompletion& said, std::int32_t index, const json::Array& messages) {
  const bool has_ids = !said.message.tool_calls.empty() && said.message.tool_calls[0].id.has_value();
  return std::any_of(messages.begin() + index + 1, messages.end(), [&](const json::Value& message) {
    if (message.find_string("role") != "tool") return false;
    // A result without an id answers a call without one; which id the client's history gives that call is its own affair.
    return said.message.tool_calls.empty() || (!has_ids && !message.find_string("tool_call_id"));
  });
}

// Whether the completion ends with the beginning of a control token, as text.
bool ends_in_marker(const Bench& bench, const std::string& raw) {
  return std::ranges::any_of(bench.tokenizer.added_tokens(), [&](const tokenizer::AddedToken& token) {
    for (std::size_t size = 2; size < token.content.size(); ++size) {
      if (raw.ends_with(std::string_view(token.content).substr(0, size))) return true;
    }
    return false;
  });
}

bool shows_results(const jinja::Rendered& full, std::int32_t index, const json::Array& messages) {
  for (std::size_t i = static_cast<std::size_t>(index) + 1; i < messages.size(); ++i) {
    if (messages[i].find_string("role") == "tool" && !render::data_extent(full, static_cast<std::int32_t>(i)))
      return false;
  }
  return true;
}

// What the template writes for the messages behind message `index` and for the model's next turn: the text from the first
// byte of a later owner on.  Nothing if it puts them inside the turn (results between calls and content), or leaves a tool
// result out.
std::optional<std::string> new_turns(const jinja::Rendered& full, std::int32_t index, const json::Array& messages) {
  std::size_t at = 0;
  std::optional<std::size_t> from;
  for (const text::Run& run : full.text.runs()) {
    if (!from && (render::owner(run, full.origins) > index || full.origins.contexts.at(run.context).generation_prompt))
      from = at;
    at += run.size;
  }
  const std::optional<render::Extent> own = render::data_extent(full, index);
  if (!from || (own && own->end > *from)) return std::nullopt;
  // A system message may go to the top.
  if (const auto first = render::turn_begin(full, index); !first || *first > *from) return std::nullopt;
  if (!shows_results(full, index, messages)) return std::nullopt;
  return full.text.bytes().substr(*from);
}

void complain(const Bench& bench, const json::Array& messages, const std::string& what,
              const test::RandomCompletion& completion, const render::Bridged* bridged, const jinja::Rendered& full) {
  const Result<std::string> said = bench.tokenizer.decode(completion.ids, {});
  const std::string& text = full.text.bytes();
  MESSAGE(
      bench.name << ": " << what << " (" << completion.kind << "): "
                 << json::to_compact(json::Array(
                        messages.begin() + (messages.size() > 3 ? static_cast<std::ptrdiff_t>(messages.size()) - 3 : 0),
                        messages.end()))
                 << ": behind " << text::quoted(said.ok() ? said.value() : "?") << " appended "
                 << (bridged != nullptr ? text::quoted(bridged->appended_text) : "nothing") << ", re-render ends with "
                 << text::quoted(std::string_view(text).substr(text.size() < 300 ? 0 : text.size() - 300)));
}

void check(const Bench& bench, const std::vector<TokenId>& prompt, const test::RandomCompletion& completion,
           const render::ParsedCompletion& said, const Result<render::Bridged>& bridged, const jinja::Rendered& full,
           const json::Array& messages, std::int32_t index, Tally& tally) {
  if (!bridged.ok()) {
    ++tally.refusals;
    complain(bench, messages, bridged.error().message, completion, nullptr, full);
    return;
  }
  std::vector<TokenId> old_ids = prompt;
  old_ids.insert(old_ids.end(), completion.ids.begin(), completion.ids.end());
  const std::vector<TokenId>& ids = bridged.value().ids;
  if (ids.size() < old_ids.size() || !std::equal(old_ids.begin(), old_ids.end(), ids.begin())) ++tally.breaks;
  const std::vector<tokenizer::Piece> pieces = pieces_of(bench, full);
  const std::vector<TokenId> again = ids_of(pieces);
  // A call that is cut off is repaired; the template would write it broken, or as text.
  const bool is_whole = said.message.complete && std::ranges::all_of(said.message.tool_calls, [](const auto& call) {
                          return call.status == chat::CallStatus::kOk || call.status == chat::CallStatus::kUnknownTool;
                        });
  const bool has_broken_character = said.raw.find("\uFFFD") != std::string::npos;
  // The beginning of an opener is completed too.
  if (is_whole && said.closing_text.empty() && !has_broken_character && !ends_in_marker(bench, said.raw) &&
      !answers_nothing(said, index, messages) && shows_results(full, index, messages) &&
      begins_with(pieces, old_ids, full, index)) {
    ++tally.stable;
    if (again != ids) {
      ++tally.differs;
      const auto other = std::ranges::mismatch(again, ids);
      std::string tail;
      for (auto it = other.in1; it != again.end() && it < other.in1 + 5; ++it) tail += " " + std::to_string(*it);
      tail += " /";
      for (auto it = other.in2; it != ids.end() && it < other.in2 + 5; ++it) tail += " " + std::to_string(*it);
      MESSAGE("first other ids: " << tail << " at " << (other.in1 - again.begin()) << " of " << old_ids.size());
      complain(bench, messages, "bridge is not the re-render", completion, &bridged.value(), full);
    }
    return;
  }
  ++tally.rewritten;
  const Result<std::string> sampled = bench.tokenizer.decode(completion.ids, {});
  const std::string whole = (sampled.ok() ? sampled.value() : "") + bridged.value().appended_text;
  const std::optional<std::string> wanted = new_turns(full, index, messages);
  // Where results stand between calls and text, a turn without the text shows where they go.
  const bool is_apart = std::ranges::any_of(
      bridged.value().notes, [](const std::string& note) { return note.find("its calls alone") != std::string::npos; });
  if (wanted && !is_apart && !answers_nothing(said, index, messages) && !whole.ends_with(*wanted)) {
    ++tally.wrong_suffix;
    complain(bench, messages, "suffix is not the template's", completion, &bridged.value(), full);
  }
}

// One rollout of a few turns; returns how many bridges it made.
long roll_out(const Bench& bench, std::uint32_t seed, Tally& tally) {
  test::RolloutMaker maker(bench.context, bench.profile, *bench.format, seed);
  json::Array messages = maker.first_messages();
  const auto first = render::render_messages(bench.context, messages, true);
  if (!first.ok()) {
    ++tally.template_errors;
    return 0;
  }
  std::vector<TokenId> prompt = ids_of(pieces_of(bench, first.value()));
  std::optional<std::size_t> tail;
  const render::CompletionReader reader(bench.format, bench.tokenizer, bench.base.tools);
  const std::size_t turns = 1 + maker.below(4);
  long made = 0;
  for (std::size_t turn = 0; turn < turns; ++turn) {
    const test::RandomCompletion completion = maker.completion(prompt, messages);
    auto said = reader.read(bench.profile, prompt, completion.ids, tail);
    REQUIRE_MESSAGE(said.ok(), said.error().to_string());
    render::BridgeRequest request;
    request.prompt_ids = prompt;
    request.completion_ids = completion.ids;
    request.completion = &said.value();
    request.messages = messages;
    request.new_messages = maker.new_messages(said.value());
    request.find_lossy = false;
    auto bridged = render::bridge(bench.context, bench.profile, request);
    const auto index = static_cast<std::int32_t>(messages.size());
    json::Array after = messages;
    after.push_back(render::history_message(said.value(), request.new_messages));
    after.insert(after.end(), request.new_messages.begin(), request.new_messages.end());
    const auto full = render::render_messages(bench.context, after, true);
    if (full.ok()) {
      ++tally.bridges;
      ++made;
      check(bench, prompt, completion, said.value(), bridged, full.value(), after, index, tally);
    } else {
      ++tally.template_errors;
    }
    if (!bridged.ok()) break;
    messages = std::move(after);
    prompt = std::move(bridged.value().ids);
    tail = bridged.value().prompt_tail;
  }
  return made;
}

long env_number(const char* name, long otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtol(text, nullptr, 10) : otherwise;
}

// The row's sets of template variables, each with and without tools.
std::vector<std::unique_ptr<Bench>> benches_of(const test::CorpusRow& row, const jinja::Template& chat_template,
                                               const tokenizer::Tokenizer& tokenizer) {
  std::vector<std::unique_ptr<Bench>> out;
  for (const json::Value& set : row.kwargs_sets) {
    const std::string name(*set.find_string("name"));
    if (name == "nogen" || name == "continue") continue;
    for (const bool with_tools : {true, false}) {
      chat::Conversation base;
      base.bos_token = row.bos_token;
      base.eos_token = row.eos_token;
      if (with_tools) base.tools = json::Value(law_tools());
      bool has_marks = false;
      for (const json::Member& member : set.find("kwargs")->as_object()) {
        if (member.key == "add_generation_prompt") continue;
        has_marks = has_marks || (member.value.is_string() && member.value.as_string() == "$tools");
        base.kwargs.set(member.key, member.value);
      }
      if (has_marks) continue;
      tmpl::ApplyOptions options;
      options.now = test::kClock;
      analysis::Options analyse = test::analysis_options(row);
      analyse.kwargs = base.kwargs;
      analyse.tokenizer = &tokenizer;
      auto format = analysis::analyse(chat_template, analyse);
      if (!format.ok()) continue;
      out.emplace_back(new Bench{.chat_template = chat_template,
                                 .tokenizer = tokenizer,
                                 .base = std::move(base),
                                 .options = options,
                                 .format = format.value(),
                                 .name = row.id + "/" + name + (with_tools ? "+tools" : "")});
    }
  }
  return out;
}

TEST_CASE("000:233: random rollouts: old ids stay, a bridge exists, and it is what the template writes") {
  const auto corpus = test::Corpus::open_with_models();
  if (!corpus) return;
  const std::vector<test::CorpusRow> rows = corpus->rows_with_tokenizer();
  const long wanted = env_number("RONDO_TEST_ROLLOUTS", 3000) / static_cast<long>(rows.size()) + 1;
  const auto seed = static_cast<std::uint32_t>(env_number("RONDO_TEST_SEED", 1));
  Tally total;
  std::printf("%-32s %9s %8s %8s %9s %8s %9s %8s %8s\n", "template", "bridges", "breaks", "refused", "re-render",
              "equal", "breaks", "suffix ok", "errors");
  const auto print = [](const std::string& name, const Tally& t) {
    std::printf("%-32s %9ld %8ld %8ld %9ld %8ld %9ld %8ld %8ld\n", name.c_str(), t.bridges, t.breaks, t.refusals,
                t.stable, t.stable - t.differs, t.rewritten, t.rewritten - t.wrong_suffix, t.template_errors);
    std::fflush(stdout);
  };
  for (const test::CorpusRow& row : rows) {
    const auto model = test::load_model(row);
    if (!model) continue;
    const auto benches = benches_of(row, *model->chat_template, *model->tokenizer);
    Tally tally;
    for (std::uint32_t i = 0; tally.bridges < wanted && i < 20 * wanted && !benches.empty(); ++i)
      roll_out(*benches[i % benches.size()], seed + i, tally);
    print(row.id, tally);
    total.add(tally);
  }
  print("all", total);
  CHECK(total.bridges >= wanted);
  CHECK(total.stable > 0);
  CHECK(total.breaks == 0);
  CHECK(total.refusals == 0);
  CHECK(total.differs == 0);
  CHECK(total.wrong_suffix == 0);
}

}  // namespace
}  // namespace rondo
