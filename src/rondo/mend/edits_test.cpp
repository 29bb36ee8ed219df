// The edits that are made for each break, before any is tried: tests/golden/mend has templates, and the edits for them.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "audit/play.h"
#include "audit/scenarios.h"
#include "audit/subject.h"
#include "base/files.h"
#include "json/print.h"
#include "mend/candidates.h"
#include "mend/splice_candidates.h"
#include "mend/splices.h"
#include "tests/support/golden.h"

namespace rondo::mend {
namespace {

namespace fs = std::filesystem;

std::string in_quotes(std::string_view text) { return json::to_compact(json::Value(text)); }

std::string describe(const Splice& splice, const std::string& again) {
  std::string out =
      "splice: in place of " + in_quotes(again.substr(splice.begin, splice.end - splice.begin)) + " behind " +
      in_quotes(again.substr(0, splice.begin).substr(splice.begin - std::min<std::size_t>(splice.begin, 12)));
  for (const SplicePiece& piece : splice.pieces) {
    out += piece.kind == SplicePiece::Kind::kReasoning ? " REASONING"
           : piece.kind == SplicePiece::Kind::kContent ? " CONTENT"
                                                       : " " + in_quotes(piece.text);
  }
  if (splice.prompt_bytes > 0) out += ", " + std::to_string(splice.prompt_bytes) + " bytes of the prompt";
  return out + (splice.is_close ? ", to the end of the turn\n" : "\n");
}

// Candidates that were not shown before, each with the texts that its edits insert.
class Teller {
 public:
  explicit Teller(const Source& source) : source_(source) {}

  std::string tell(const std::vector<Candidate>& candidates) {
    std::string out;
    for (const Candidate& candidate : candidates) {
      const std::string made = source_.apply(candidate.edits);
      if (!told_.insert(made).second) continue;
      CHECK_MESSAGE(jinja::Template::compile(made, {}, "edited").ok(), made);
      out += "  " + candidate.sentence + (candidate.is_copying ? " (copies)\n" : "\n");
      for (const Edit& edit : candidate.edits) {
        out += "    " + std::to_string(edit.begin) + " " +
               in_quotes(source_.text().substr(edit.begin, edit.end - edit.begin)) + " -> " + in_quotes(edit.text) +
               "\n";
      }
    }
    return out;
  }

 private:
  const Source& source_;
  std::set<std::string> told_;
};

// The edits for the source alone: for each condition, line and serialised value.
std::string told_of_source(const Source& source, Teller& teller) {
  std::string out;
  for (std::size_t at = 0; at < source.tokens().size(); ++at) {
    if (!source.is_name(at, "if") && !source.is_name(at, "elif")) continue;
    for (const bool earlier : {true, false}) {
      const std::string told = teller.tell(condition_candidates(source, at + 1, earlier));
      if (told.empty()) continue;
      out +=
          "condition at " + std::to_string(source.tokens()[at + 1].begin) + (earlier ? " was true\n" : " was false\n");
      out += told;
    }
  }
  const auto lines = static_cast<std::int32_t>(std::ranges::count(source.text(), '\n'));
  for (std::int32_t line = 1; line <= lines; ++line) {
    const std::string told = teller.tell(strip_candidates(source, line));
    if (!told.empty()) out += "white space on line " + std::to_string(line) + "\n" + told;
  }
  return out + "serialised\n" + teller.tell(verbatim_candidates(source));
}

// The edits for the first break of each scenario.
std::string told_of_breaks(const audit::Subject& subject, const Source& source, Teller& teller) {
  std::string out;
  const auto stage = audit::Stage::make(subject, {"default", {}});
  REQUIRE(stage.ok());
  const SourceBlocks blocks(source);
  for (const audit::Scenario& scenario : audit::scenarios()) {
    const audit::Played played = play(*stage.value(), scenario);
    if (!played.broken || !played.broken->again) continue;
    const format::Format& format = stage.value()->format();
    const SpliceContext context{source, blocks, *subject.chat_template, format, subject.base, *played.broken};
    std::string of_scenario;
    for (const Splice& splice : splices_of(*played.broken, format)) {
      const std::string told = teller.tell(splice_candidates(context, splice));
      if (!told.empty()) of_scenario += describe(splice, played.broken->again->text.bytes()) + told;
    }
    if (!of_scenario.empty()) out += "# " + scenario.name + "\n" + of_scenario;
  }
  return out;
}

TEST_CASE("the edits made for each break are what they were") {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(RONDO_SOURCE_DIR "/tests/golden/mend")) {
    if (entry.path().extension() == ".jinja") names.push_back(entry.path().stem().string());
  }
  CHECK(names.size() >= 5);
  for (const std::string& name : names) {
    audit::Input input;
    input.base.eos_token = "[eos]";
    const std::string text = files::read(RONDO_SOURCE_DIR "/tests/golden/mend/" + name + ".jinja").value();
    input.chat_template = jinja::Template::compile(text, {}, name).value();
    const auto subject = audit::make_subject(input);
    REQUIRE(subject.ok());
    const Source source(text);
    Teller teller(source);
    const std::string of_source = told_of_source(source, teller);
    test::check_golden("mend/" + name + ".txt", of_source + told_of_breaks(subject.value(), source, teller));
  }
}

}  // namespace
}  // namespace rondo::mend
