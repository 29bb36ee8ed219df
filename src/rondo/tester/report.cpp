#include "tester/run.h"

namespace rondo::tester {
namespace {

std::string_view mark_of(ShownLine::Kind kind) {
  switch (kind) {
    case ShownLine::Kind::kExpected: return "  - ";
    case ShownLine::Kind::kGot: return "  + ";
    case ShownLine::Kind::kSame:
    case ShownLine::Kind::kPlace: return "    ";
    case ShownLine::Kind::kNote: return "  ";
  }
  return "";
}

json::Value to_json(const Failure& failure) {
  json::Array shown;
  for (const ShownLine& line : failure.shown)
    shown.push_back(json::Object{{"kind", to_string(line.kind)}, {"text", line.text}});
  json::Object out{{"check", failure.check}, {"message", failure.sentence}};
  if (failure.line > 0) out.set("line", failure.line);
  out.set("shown", std::move(shown));
  return out;
}

}  // namespace

std::string to_text(const Failure& failure) {
  std::string out = failure.check + ": " + failure.sentence + "\n";
  for (const ShownLine& line : failure.shown) out += std::string(mark_of(line.kind)) + line.text + "\n";
  return out;
}

std::string to_text(const CaseResult& result) {
  std::string out;
  for (const Failure& failure : result.failures) out += to_text(failure);
  return out;
}

json::Value to_json(const CaseResult& result) {
  json::Array failures;
  for (const Failure& failure : result.failures) failures.push_back(to_json(failure));
  json::Object out{{"name", result.name}};
  if (result.line > 0) out.set("line", result.line);
  out.set("passed", result.passed());
  out.set("checks", json::Array(result.checks.begin(), result.checks.end()));
  out.set("failures", std::move(failures));
  out.set("notes", json::Array(result.notes.begin(), result.notes.end()));
  return out;
}

json::Value to_json(const std::string& source, const std::vector<CaseResult>& results) {
  json::Array cases;
  std::size_t passed = 0;
  for (const CaseResult& result : results) {
    passed += result.passed() ? 1 : 0;
    cases.push_back(to_json(result));
  }
  return json::Object{
      {"source", source}, {"passed", passed}, {"failed", results.size() - passed}, {"cases", std::move(cases)}};
}

}  // namespace rondo::tester
