#include "core/fields.h"

#include <doctest/doctest.h>

#include <functional>

#include "json/parse.h"

namespace rondo::core {
namespace {

// What finish() says about `request` once `read` has read it; "" for nothing.
std::string complaint(const char* request, const std::function<void(Fields&)>& read) {
  const json::Object object = json::parse(request).value().as_object();
  Fields fields(object);
  read(fields);
  const Status status = fields.finish();
  return status.ok() ? "" : status.error().message;
}

TEST_CASE("each getter says what it expected and what it found") {
  struct Row {
    const char* request;
    void (*read)(Fields&);
    const char* complaint;
  };
  const Row rows[] = {
      {R"({"a": 1})", [](Fields& f) { (void)f.text("a"); }, "`a` must be a string, found an integer"},
      {R"({"a": []})", [](Fields& f) { (void)f.required_text("a"); }, "`a` must be a string, found an array"},
      {R"({})", [](Fields& f) { (void)f.required_text("a"); }, "the field `a` is missing"},
      {R"({"a": null})", [](Fields& f) { (void)f.required_text("a"); }, "the field `a` is missing"},
      {R"({"a": "yes"})", [](Fields& f) { (void)f.flag("a", true); }, "`a` must be a boolean, found a string"},
      {R"({"a": "z"})", [](Fields& f) { (void)f.choice("a", {"x", "y"}); },
       "`a` must be one of \"x\", \"y\", found \"z\""},
      {R"({"a": {}})", [](Fields& f) { (void)f.objects("a"); }, "a must be an array of objects, found an object"},
      {R"({"a": [{}, 1.5]})", [](Fields& f) { (void)f.objects("a"); }, "a[1] must be an object, found a float"},
      {R"({"a": true})", [](Fields& f) { (void)f.object("a"); }, "`a` must be an object, found a boolean"},
      {R"({})", [](Fields& f) { (void)f.required_texts("a"); }, "the field `a` is missing"},
      {R"({"a": "x"})", [](Fields& f) { (void)f.required_texts("a"); },
       "`a` must be an array of strings, found a string"},
      {R"({"a": ["x", null]})", [](Fields& f) { (void)f.required_texts("a"); }, "`a[1]` must be a string, found null"},
      {R"({})", [](Fields& f) { (void)f.required_ids("a"); }, "the field `a` is missing"},
      {R"({"a": 3})", [](Fields& f) { (void)f.required_ids("a"); },
       "`a` must be an array of token ids, found an integer"},
      {R"({"a": [1, 2.0]})", [](Fields& f) { (void)f.required_ids("a"); }, "`a[1]` must be an integer, found a float"},
      {R"({"a": [0, -1]})", [](Fields& f) { (void)f.required_ids("a"); }, "a[1]: id -1 is out of range"},
      {R"({"a": [2147483648]})", [](Fields& f) { (void)f.required_ids("a"); }, "a[0]: id 2147483648 is out of range"},
      {R"({"a": [99999999999999999999]})", [](Fields& f) { (void)f.required_ids("a"); },
       "a[0]: id 99999999999999999999 is out of range"},
      {R"({"a": 5})", [](Fields& f) { (void)f.time("a"); }, "`a` must be a string, found an integer"},
      {R"({"a": "noon"})", [](Fields& f) { (void)f.time("a"); },
       "`a` must be a time like \"2026-03-14T15:09:26\", found \"noon\""},
      {R"({"a": 1})", [](Fields&) {}, "unknown field `a`"},
      {R"({"op": "x", "id": 4})", [](Fields&) {}, ""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.request);
    CHECK(complaint(row.request, row.read) == row.complaint);
  }
}

TEST_CASE("ids out of range are the tokenizer's error, all else that of the request") {
  const json::Object object = json::parse(R"({"a": [-1], "b": 1})").value().as_object();
  Fields ids(object);
  (void)ids.required_ids("a");
  CHECK(ids.finish().error().code == ErrorCode::kTokenizer);
  Fields text(object);
  (void)text.text("b");
  CHECK(text.finish().error().code == ErrorCode::kInvalidArgument);
}

TEST_CASE("fields that are there are read, and null counts as absent") {
  const json::Object object = json::parse(R"({"text": "t", "flag": false, "choice": "y", "objects": [{"k": 1}],
      "object": {"k": 2}, "texts": ["a", ""], "ids": [0, 2147483647], "time": "2024-02-29T23:59:59",
      "nothing": null})")
                                  .value()
                                  .as_object();
  Fields fields(object);
  CHECK(fields.text("text") == "t");
  CHECK_FALSE(fields.flag("flag", true));
  CHECK(fields.choice("choice", {"x", "y"}) == "y");
  CHECK(fields.objects("objects")->front().find("k")->to_int64() == 1);
  CHECK(fields.object("object").find("k")->to_int64() == 2);
  CHECK(fields.required_texts("texts") == std::vector<std::string>{"a", ""});
  CHECK(fields.required_ids("ids") == std::vector<tokenizer::TokenId>{0, 2147483647});
  CHECK(fields.time("time")->day == 29);
  CHECK(fields.value("nothing") == nullptr);
  CHECK_FALSE(fields.has("nothing"));
  CHECK(fields.text("nothing") == std::nullopt);
  CHECK(fields.flag("nothing", true));
  CHECK(fields.choice("nothing", {"x", "y"}) == "x");
  CHECK(fields.objects("nothing") == std::nullopt);
  CHECK(fields.object("nothing").empty());
  CHECK(fields.time("nothing") == std::nullopt);
  CHECK(fields.finish().ok());
}

TEST_CASE("the first complaint counts, and comes before unknown fields") {
  CHECK(complaint(R"({"a": 1, "b": 2, "c": 3})", [](Fields& fields) {
          (void)fields.flag("b", false);
          (void)fields.text("a");
          fields.fail("of one's own");
        }) == "`b` must be a boolean, found an integer");
  CHECK(complaint(R"({"c": 3})", [](Fields& fields) { fields.fail("of one's own"); }) == "of one's own");
}

TEST_CASE("parse_time: one shape, and only days that there are") {
  const auto time = parse_time("2026-03-14T15:09:26");
  REQUIRE(time.has_value());
  CHECK(time->year == 2026);
  CHECK(time->month == 3);
  CHECK(time->day == 14);
  CHECK(time->hour == 15);
  CHECK(time->minute == 9);
  CHECK(time->second == 26);
  for (const char* good : {"0001-01-01T00:00:00", "9999-12-31T23:59:59", "2000-02-29T00:00:00", "2024-02-29T00:00:00",
                           "2023-04-30T00:00:00", "2023-01-31T00:00:00"})
    CHECK_MESSAGE(parse_time(good).has_value(), good);
  for (const char* bad :
       {"", "2026-03-14", "2026-03-14 15:09:26", "2026-03-14T15:09:26Z", "2026-03-14T15:09:2x", "2026-3-014T15:09:26",
        "0000-01-01T00:00:00", "2026-00-01T00:00:00", "2026-13-01T00:00:00", "2026-01-00T00:00:00",
        "2026-01-32T00:00:00", "2023-04-31T00:00:00", "2023-02-29T00:00:00", "1900-02-29T00:00:00",
        "2024-02-30T00:00:00", "2026-01-01T24:00:00", "2026-01-01T00:60:00", "2026-01-01T00:00:60"})
    CHECK_MESSAGE(!parse_time(bad).has_value(), bad);
}

TEST_CASE("time_text: what parse_time reads") {
  for (const char* text : {"2026-03-14T15:09:26", "0001-01-01T00:00:00"}) CHECK(time_text(*parse_time(text)) == text);
  std::tm clock{};
  clock.tm_year = 126;
  clock.tm_mon = 2;
  clock.tm_mday = 14;
  clock.tm_hour = 15;
  clock.tm_min = 9;
  clock.tm_sec = 26;
  CHECK(time_text(local_time(clock)) == "2026-03-14T15:09:26");
}

}  // namespace
}  // namespace rondo::core
