#include "protocol/trace.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/places.h"
#include "protocol/reply.h"
#include "protocol/rows.h"
#include "render/turn.h"

namespace rondo::protocol {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
}

// The text of a condition for people: up to the end of its tag, its branch or its line.
std::string_view condition_text(std::string_view rest) {
  for (const std::string_view end : {"%}", "}}", " else "}) rest = rest.substr(0, rest.find(end));
  rest = trimmed(rest);
  if (rest.ends_with('-') || rest.ends_with('+')) rest.remove_suffix(1);
  return trimmed(rest);
}

// The input value at a path; nullptr if the template made the value itself (from_json) or the path is a key.
const json::Value* find_input(const json::Object& variables, const text::PathTable& paths, text::PathId path) {
  if (path == text::PathId::kNone) return nullptr;
  using Step = text::PathTable::StepKind;
  const Step kind = paths.step_kind(path);
  if (kind == Step::kVariable) return variables.find(paths.step_name(path));
  const json::Value* parent = find_input(variables, paths, paths.parent(path));
  if (parent == nullptr || kind == Step::kKey) return nullptr;
  if (kind == Step::kMember) return parent->find(paths.step_name(path));
  const bool is_there = parent->is_array() && paths.step_index(path) < parent->as_array().size();
  return is_there ? &parent->as_array()[paths.step_index(path)] : nullptr;
}

class Tracer {
 public:
  Tracer(const jinja::Rendered& rendered, const jinja::Template& chat_template, const json::Object& variables,
         const json::Array& messages, const tmpl::Shaping& shaping)
      : rendered_(rendered),
        template_(chat_template),
        variables_(variables),
        namer_(rendered, chat_template, messages, shaping),
        rows_(namer_.lines()) {}

  [[nodiscard]] json::Object trace() {
    json::Object out;
    out.set("template", template_rows());
    out.set("messages", roles());
    json::Array parts = this->parts();
    out.set("origins", std::move(origins_));
    out.set("parts", std::move(parts));
    out.set("conditions", conditions());
    out.set("cuts", cuts());
    out.set("idle", idle());
    return out;
  }

 private:
  [[nodiscard]] std::string path_name(text::PathId path) const { return rendered_.origins.paths.to_string(path); }

  [[nodiscard]] json::Object template_rows() const {
    json::Array rows;
    for (const TemplateRow& row : rows_.rows()) {
      rows.emplace_back(json::Object{{"line", row.place.line}, {"column", row.place.column}, {"text", row.text}});
    }
    return {{"name", template_.name()}, {"lines", namer_.lines().size()}, {"rows", std::move(rows)}};
  }

  // Adds line, column and row.  The row counts as active.
  void set_place(json::Object& out, const core::TemplatePlace& place) {
    if (place.line <= 0) return;
    const std::size_t row = rows_.row_of(place);
    out.set("line", place.line);
    out.set("column", place.column);
    out.set("row", row);
    active_.insert(row);
  }

  [[nodiscard]] json::Array roles() const {
    json::Array out;
    const json::Value* messages = variables_.find("messages");
    if (messages == nullptr || !messages->is_array()) return out;
    for (const json::Value& message : messages->as_array()) {
      const auto role = message.find_string("role");
      out.push_back(role ? json::Value(*role) : json::Value());
    }
    return out;
  }

  // The index of an origin in `origins`; equal origins share one.
  [[nodiscard]] std::size_t origin(const text::Run& run, const core::NamedOrigin& name) {
    const auto [found, is_new] = origin_ids_.try_emplace(
        {name.from, name.path, run.kind, run.chain, name.place.line, name.place.column}, origins_.size());
    if (!is_new) return found->second;
    json::Object out{{"from", name.from}, {"kind", text::to_string(run.kind)}};
    if (!name.path.empty()) out.set("path", name.path);
    if (run.chain != text::ChainId::kNone) out.set("via", texts_to_json(rendered_.origins.chains.steps(run.chain)));
    set_place(out, name.place);
    origins_.emplace_back(std::move(out));
    return found->second;
  }

  void add_part(json::Array& parts, const text::Run& run, std::size_t begin) {
    const text::Context& context = rendered_.origins.contexts.at(run.context);
    const core::NamedOrigin name = namer_.name(run);
    json::Object out{{"start", begin}, {"end", begin + run.size}, {"origin", origin(run, name)}};
    const std::int32_t owner = namer_.message(render::owner(run, rendered_.origins));
    if (owner != text::kNoMessage) out.set("owner", owner);
    if (!name.is_reshaped && (run.kind == text::RunKind::kData || run.kind == text::RunKind::kEscaped)) {
      const std::size_t from = run.source_offset - name.shift;
      out.set("source", json::Array{from, from + run.source_size});
    }
    if (context.generation_prompt) out.set("generation_prompt", true);
    if (context.generation_block) out.set("generation_block", true);
    parts.emplace_back(std::move(out));
  }

  // The runs, with template text split into lines.
  [[nodiscard]] json::Array parts() {
    json::Array out;
    std::size_t at = 0;
    for (const text::Run& run : namer_.runs()) {
      const std::string_view bytes = std::string_view(rendered_.text.bytes()).substr(at, run.size);
      text::Run piece = run;
      std::size_t done = 0;
      while (done < bytes.size()) {
        const std::size_t newline =
            run.kind == text::RunKind::kLiteral ? bytes.find('\n', done) : std::string_view::npos;
        const std::size_t end = newline == std::string_view::npos ? bytes.size() : newline + 1;
        piece.size = static_cast<std::uint32_t>(end - done);
        if (run.kind == text::RunKind::kLiteral) {
          piece.source_offset = run.source_offset + static_cast<std::uint32_t>(done);
          piece.source_size = piece.size;
        }
        add_part(out, piece, at + done);
        done = end;
      }
      at += run.size;
    }
    return out;
  }

  // Where, for which message and on what grounds a condition was decided.
  [[nodiscard]] json::Object outcome(const jinja::Decision& decision) const {
    const text::Context& context = rendered_.origins.contexts.at(decision.context);
    json::Object out{{"outcome", decision.outcome}};
    if (context.owner() != text::kNoMessage) out.set("owner", namer_.message(context.owner()));
    if (context.element != text::PathId::kNone) out.set("element", path_name(context.element));
    json::Array reads;
    for (const text::PathId path : rendered_.reads_of(decision)) reads.emplace_back(path_name(path));
    out.set("reads", std::move(reads));
    return out;
  }

  // All conditions of the template.  Those that were never evaluated have no outcomes.
  [[nodiscard]] json::Array conditions() {
    struct Node {
      std::size_t held = 0;
      std::size_t failed = 0;
      json::Array outcomes;
      std::map<std::tuple<bool, text::ContextId, std::vector<text::PathId>>, std::size_t> known;
      std::vector<std::size_t> times;
    };
    const std::vector<text::Literal> places = template_.conditions();
    std::vector<Node> nodes(places.size());
    for (const jinja::Decision& decision : rendered_.decisions) {
      Node& node = nodes[decision.node];
      ++(decision.outcome ? node.held : node.failed);
      const auto reads = rendered_.reads_of(decision);
      const auto [found, is_new] = node.known.try_emplace(
          {decision.outcome, decision.context, {reads.begin(), reads.end()}}, node.outcomes.size());
      if (is_new) {
        node.outcomes.emplace_back(outcome(decision));
        node.times.push_back(0);
      }
      ++node.times[found->second];
    }
    json::Array out;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      Node& node = nodes[i];
      const core::TemplatePlace place = namer_.lines().place(places[i]);
      for (std::size_t j = 0; j < node.outcomes.size(); ++j) {
        if (node.times[j] > 1) node.outcomes[j].as_object().set("times", node.times[j]);
      }
      json::Object condition{{"line", place.line}, {"column", place.column}, {"row", rows_.row_of(place)}};
      if (!node.outcomes.empty()) active_.insert(rows_.row_of(place));
      condition.set("text", condition_text(namer_.lines().condition_line(places[i])));
      condition.set("true", node.held);
      condition.set("false", node.failed);
      condition.set("outcomes", std::move(node.outcomes));
      out.emplace_back(std::move(condition));
    }
    return out;
  }

  [[nodiscard]] json::Array cuts() {
    json::Array out;
    for (const jinja::Strip& strip : rendered_.strips) {
      json::Object cut;
      set_place(cut, namer_.lines().place({strip.line, strip.column}));
      cut.set("path", namer_.path(strip.path));
      cut.set("start", static_cast<std::size_t>(strip.begin));
      cut.set("end", static_cast<std::size_t>(strip.end));
      const json::Value* value = find_input(variables_, rendered_.origins.paths, strip.path);
      if (value != nullptr && value->is_string() && strip.begin <= strip.end && strip.end <= value->as_string().size())
        cut.set("text", value->as_string().substr(strip.begin, strip.end - strip.begin));
      out.emplace_back(std::move(cut));
    }
    return out;
  }

  // Rows with text, values to write or conditions that did nothing: no text was written and no condition evaluated.
  [[nodiscard]] json::Array idle() const {
    std::set<std::size_t> able;
    const auto add = [&](const text::Literal& at) { able.insert(rows_.row_of(namer_.lines().place(at))); };
    for (std::size_t i = 0; i < template_.literals().size(); ++i) {
      const text::Literal& literal = template_.literals()[i];
      const std::string_view bytes = template_.literal_texts()[i];
      if (!namer_.lines().is_text(literal, bytes)) continue;
      for (std::size_t at = 0; at < bytes.size();) {
        const std::size_t end = std::min(bytes.find('\n', at), bytes.size() - 1) + 1;
        if (!trimmed(bytes.substr(at, end - at)).empty())
          able.insert(rows_.row_of(namer_.lines().place(literal, bytes, at)));
        at = end;
      }
    }
    for (const text::Literal& place : template_.expressions()) add(place);
    for (const text::Literal& place : template_.conditions()) add(place);
    json::Array out;
    for (const std::size_t row : able) {
      if (!active_.contains(row)) out.emplace_back(row);
    }
    return out;
  }

  const jinja::Rendered& rendered_;
  const jinja::Template& template_;
  const json::Object& variables_;
  core::OriginNamer namer_;
  TemplateRows rows_;
  json::Array origins_;
  std::map<std::tuple<std::string_view, std::string, text::RunKind, text::ChainId, std::int64_t, std::int64_t>,
           std::size_t>
      origin_ids_;
  std::set<std::size_t> active_;  // rows that wrote or decided something
};

}  // namespace

json::Object trace_to_json(const jinja::Rendered& rendered, const jinja::Template& chat_template,
                           const json::Object& variables, const json::Array& messages, const tmpl::Shaping& shaping) {
  return Tracer(rendered, chat_template, variables, messages, shaping).trace();
}

}  // namespace rondo::protocol
