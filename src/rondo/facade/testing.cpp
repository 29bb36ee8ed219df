#include "rondo/testing.h"

#include <optional>
#include <utility>

#include "facade/convert.h"
#include "json/parse.h"
#include "json/value.h"
#include "tester/run.h"

namespace rondo::testing {

struct Check::State {
  std::shared_ptr<const core::Model> model;
  json::Object input;
  std::vector<std::string> failures;

  // The value of a JSON text; reports a failure if it is not JSON.
  std::optional<json::Value> read(const std::string& key, const std::string& text) {
    auto value = json::parse(text);
    if (value.ok()) return std::move(value).value();
    failures.push_back(key + ": " + value.error().to_string() + "\n");
    return std::nullopt;
  }

  // Makes a case from the input and `expected`, and runs it.  Each expectation is a case of its own, so that a failure
  // does not hide the next one, and the input may change in between (writes()).
  void run(const json::Object& expected) {
    json::Object members = input;
    for (const json::Member& member : expected) members.set(member.key, member.value);
    const auto test = tester::read_case(json::Value(std::move(members)), {});
    if (!test.ok()) return failures.push_back(test.error().to_string() + "\n");
    const tester::CaseResult result = tester::run_case(model, test.value());
    for (const tester::Failure& failure : result.failures) failures.push_back(tester::to_text(failure));
  }

  // Does the same for one key alone: a case with a sampled text would otherwise also be read in pieces.
  void run_alone(const char* key, json::Value value) { run({{"pieces", false}, {key, std::move(value)}}); }
};

Check::Check(const Model& model) : state_(new State{Access::model(model), {}, {}}) {}
Check::~Check() = default;
Check::Check(Check&&) noexcept = default;
Check& Check::operator=(Check&&) noexcept = default;

Check& Check::input(const std::string& key, const std::string& json) {
  if (auto value = state_->read(key, json)) state_->input.set(key, *std::move(value));
  return *this;
}

Check& Check::now(const std::string& time) {
  state_->input.set("now", time);
  return *this;
}

Check& Check::expect(const std::string& key, const std::string& json) {
  if (auto value = state_->read(key, json)) state_->run(json::Object{{key, *std::move(value)}});
  return *this;
}

Check& Check::renders(const std::string& text) {
  state_->run_alone("rendered", text);
  return *this;
}

Check& Check::contains(const std::string& text) {
  state_->run_alone("rendered", json::Object{{"contains", text}});
  return *this;
}

Check& Check::excludes(const std::string& text) {
  state_->run_alone("rendered", json::Object{{"excludes", text}});
  return *this;
}

Check& Check::encodes(const std::vector<std::int32_t>& ids) {
  json::Array array;
  for (const std::int32_t id : ids) array.emplace_back(id);
  state_->run_alone("ids", std::move(array));
  return *this;
}

Check& Check::learns(const std::vector<std::string>& texts) {
  state_->run_alone("mask", json::Array(texts.begin(), texts.end()));
  return *this;
}

Check& Check::fails(const std::string& message) {
  state_->run_alone("error", message);
  return *this;
}

Check& Check::writes(const std::string& text) {
  state_->input.set("sampled", text);
  return *this;
}

Check& Check::parses(const std::string& text, const std::string& json) {
  writes(text);
  if (auto value = state_->read("parsed", json)) state_->run_alone("parsed", *std::move(value));
  return *this;
}

Check& Check::in_pieces() {
  state_->run({{"pieces", true}});
  return *this;
}

Check& Check::round_trips() {
  state_->run_alone("roundtrip", true);
  return *this;
}

Check& Check::bridges(const std::string& new_messages) {
  if (auto value = state_->read("bridge", new_messages)) state_->run_alone("bridge", *std::move(value));
  return *this;
}

Check& Check::grammar_accepts() {
  state_->run_alone("grammar", true);
  return *this;
}

Check& Check::grammar_accepts(const std::string& text) {
  state_->run_alone("grammar", json::Object{{"accepts", text}});
  return *this;
}

Check& Check::grammar_refuses(const std::string& text) {
  state_->run_alone("grammar", json::Object{{"refuses", text}});
  return *this;
}

Check& Check::holds() {
  // The laws are about turns that the template writes; a sampled text would take the place of these turns.
  state_->input.erase("sampled");
  state_->run({});
  return *this;
}

bool Check::passed() const { return state_->failures.empty(); }

std::vector<std::string> Check::failures() const { return state_->failures; }

}  // namespace rondo::testing
