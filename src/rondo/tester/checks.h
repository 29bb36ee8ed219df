// The checks of one assistant turn, for expectations and for laws.  Internal to tester/.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tester/bench.h"
#include "tester/run.h"

namespace rondo::tester {

// Collects the results of a case.
class Findings {
 public:
  explicit Findings(CaseResult& result) : result_(result) {}

  // The findings that follow belong to the expectation `check` on `line`.
  void begin(std::string check, int line);
  // Puts `where` before all sentences, such as "messages[1]".
  void set_subject(std::string where) { subject_ = std::move(where); }
  void fail(const std::string& sentence, std::vector<ShownLine> shown = {});
  void fail(const std::string& sentence, const Error& error);
  void note(const std::string& sentence);

 private:
  [[nodiscard]] std::string about(const std::string& sentence) const;

  CaseResult& result_;
  std::string check_;
  std::string subject_;
  int line_ = 0;
};

// Checks that the parser reads the same from any pieces and takes nothing back.
void check_pieces(const Bench& bench, const Turn& turn, Findings& out);
// Checks that the turn reads as `message`.
void check_roundtrip(const Bench& bench, const Turn& turn, const json::Value& message, Findings& out);
void check_parsed(const Bench& bench, const Turn& turn, const ParsedExpectation& expected, Findings& out);
// Check that the grammar accepts `text`, or refuses it.
void check_accepts(const Bench& bench, const Turn& turn, std::string_view text, Findings& out);
void check_refuses(const Bench& bench, const Turn& turn, std::string_view text, Findings& out);
void check_bridge(const Bench& bench, const Turn& turn, const BridgeExpectation& expected, Findings& out);

// Checks what must hold for any conversation: see docs/tester.md.
void check_laws(const Bench& bench, const Case& test, Findings& out);

}  // namespace rondo::tester
