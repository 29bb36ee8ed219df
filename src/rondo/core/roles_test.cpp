#include "core/roles.h"

#include <doctest/doctest.h>

#include "json/parse.h"

using namespace rondo;

namespace {

json::Array messages_of(const char* text) { return json::parse(text).value().as_array(); }

}  // namespace

TEST_CASE("roles: a name that neither the APIs nor the template know is a mistake") {
  const json::Array messages =
      messages_of(R"([{"content": "a"}, {"role": "function"}, {"role": "critic"}, {"role": "robot"}])");
  const auto found = core::misspelled_role({"critic"}, messages);
  REQUIRE(found);
  CHECK(found->message == 3);
  CHECK(found->role == "robot");
  CHECK_FALSE(core::misspelled_role({"critic", "robot"}, messages));
}

TEST_CASE("roles: of a role that the template does not compare something has to be written") {
  const json::Array messages = messages_of(
      R"([{"role": "user", "content": "a"}, {"role": "function", "content": ""}, {"role": "function", "content": "b"},
          {"role": "function", "content": "c"}])");
  const std::vector<std::int32_t> user{-1, 0, 0, -1};
  const auto found = core::unwritten_role({"user"}, messages, user);
  REQUIRE(found);
  CHECK(found->message == 2);
  CHECK(found->role == "function");
  const std::vector<std::int32_t> last{0, 3};
  CHECK_FALSE(core::unwritten_role({"user"}, messages, last));
  CHECK_FALSE(core::unwritten_role({"function"}, messages, user));
  const std::vector<std::int32_t> beyond{7, -1};
  CHECK(core::unwritten_role({}, messages, beyond)->message == 0);
  CHECK(core::sentence(*found) == "messages[2].role: the template writes nothing for the role `function`");
}
