// The checks of one turn of the assistant, for expectations and for laws.  Internal to tester/.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tester/bench.h"
#include "tester/run.h"

namespace rondo::tester {

// Collects what becomes of a case.
class Findings {
 public:
  explicit Findings(CaseResult& result) : result_(result) {}

  // What follows is about the expectation `check`, which stands on `line`.
  void begin(std::string check, int line);
  // `where` is put in front of all sentences, as "messages[1]".
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

// The parser reads the same in any pieces and takes nothing back.
void check_pieces(const Bench& bench, const Turn& turn, Findings& out);
// What is read of the turn is `message`.
void check_roundtrip(const Bench& bench, const Turn& turn, const json::Value& message, Findings& out);
void check_parsed(const Bench& bench, const Turn& turn, const ParsedExpectation& expected, Findings& out);
// The grammar accepts `text`, or refuses it.
void check_accepts(const Bench& bench, const Turn& turn, std::string_view text, Findings& out);
void check_refuses(const Bench& bench, const Turn& turn, std::string_view text, Findings& out);
void check_bridge(const Bench& bench, const Turn& turn, const BridgeExpectation& expected, Findings& out);

// What holds for any conversation: see docs/tester.md.
void check_laws(const Bench& bench, const Case& test, Findings& out);

}  // namespace rondo::tester
