#include "spans/span.h"

#include <doctest/doctest.h>

#include <random>

namespace rondo::spans {
namespace {

TurnKey turn_key(std::uint8_t first) { return {{first, 2, 3}}; }

Turn first_turn() {
  Turn out;
  out.key = turn_key(1);
  out.prompt = {1, 2, 3, 151643};
  out.owners = {-1, 0, 0, -1};
  out.sampled = {0, 0, 0, 0};
  out.completion = {7, 8, 9};
  out.logprobs = {-0.5F, -0.25F, 0.0F};
  out.finish = Finish::kLength;
  out.messages.emplace_back(R"({"role":"user","content":"Hi"})");
  out.message = R"({"role":"assistant","content":"Hello"})";
  out.notes = {"a note"};
  out.facts = R"({"api":"chat"})";
  out.context = R"({"tools":[]})";
  out.time_ms = 1'700'000'000'000;
  out.reasoned = {1};
  out.visible = keyed_hash({}, "x");
  return out;
}

Turn second_turn(const Turn& first) {
  Turn out;
  out.key = turn_key(2);
  out.parent = first.key;
  out.prompt = first.ids();
  out.owners = first.owners;
  out.owners.change().resize(out.prompt.size(), 1);
  out.sampled = first.sampled;
  out.sampled.change().resize(out.prompt.size(), 1);
  out.prompt.change().insert(out.prompt.end(), {20, 21});
  out.owners.change().insert(out.owners.end(), {2, -1});
  out.sampled.change().insert(out.sampled.end(), {0, 0});
  out.completion = {30};
  out.messages = first.messages;
  out.messages.push_back(first.message);
  out.messages.emplace_back(R"({"role":"user","content":"More"})");
  out.message = R"({"role":"assistant","content":"!"})";
  out.context = first.context;
  out.reasoned = {1};
  return out;
}

TEST_CASE("a turn is a record and its ancestors' put together") {
  const Turn first = first_turn();
  const Turn second = second_turn(first);
  const Record root = make_record(first, nullptr, 0);
  const Record child = make_record(second, &first, 2);
  CHECK(child.kept_ids == 7);
  CHECK(child.ids == std::vector<TokenId>{20, 21});
  CHECK(child.messages.size() == 1);
  CHECK(!child.context);
  CHECK(encode_record(child).size() < 150);
  std::vector<Record> lineage;
  for (const Record& record : {child, root}) {
    const auto again = decode_record(encode_record(record));
    REQUIRE(again.ok());
    CHECK(again.value() == record);
    lineage.push_back(again.value());
  }
  REQUIRE(assemble(lineage).ok());
  CHECK(assemble(lineage).value() == second);
  CHECK(assemble_on(&first, child).value() == second);
  CHECK(assemble_on(nullptr, root).value() == first);
  CHECK(!assemble_on(nullptr, child).ok());
  CHECK(!assemble_on(&second, child).ok());
  CHECK(assemble(std::span(lineage).subspan(1)).value() == first);
}

TEST_CASE("ids whose owner has changed are told anew") {
  const Turn first = first_turn();
  Turn second = second_turn(first);
  second.owners.change()[2] = 5;
  const Record child = make_record(second, &first, 1);
  CHECK(child.kept_ids == 2);
  const std::vector<Record> lineage = {child, make_record(first, nullptr, 0)};
  Turn whole = assemble(lineage).value();
  CHECK(whole.owners == second.owners);
  CHECK(whole.prompt == second.prompt);
}

TEST_CASE("records that do not fit each other are an error") {
  const Turn first = first_turn();
  const Record root = make_record(first, nullptr, 0);
  Record child = make_record(second_turn(first), &first, 2);
  CHECK(!assemble({}).ok());
  CHECK(!assemble(std::vector{child}).ok());
  CHECK(!assemble(std::vector{root, child}).ok());
  CHECK(!assemble(std::vector{child, child, root}).ok());
  child.kept_ids = 8;
  CHECK(!assemble(std::vector{child, root}).ok());
  child.kept_ids = 7;
  child.kept_messages = 3;
  CHECK(!assemble(std::vector{child, root}).ok());
  child.kept_messages = 2;
  child.prefill = 100;
  CHECK(!assemble(std::vector{child, root}).ok());
}

TEST_CASE("a damaged record is an error, whichever of its bytes is another one") {
  const std::string bytes = encode_record(make_record(first_turn(), nullptr, 0));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 4);
    CHECK(!decode_record(damaged).ok());
    CHECK(!decode_record(bytes.substr(0, i)).ok());
  }
  CHECK(!decode_record(bytes + "x").ok());
  CHECK(decode_record("").error().message == "a stored turn is damaged: it does not begin as one");
}

}  // namespace
}  // namespace rondo::spans
