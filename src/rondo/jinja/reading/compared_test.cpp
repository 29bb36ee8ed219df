#include <doctest/doctest.h>

#include "jinja/reading/compared.h"

namespace rondo::jinja {
namespace {

using Strings = std::vector<std::string>;

Strings constants(const std::string& source) { return compared_constants(source)["effort"]; }

TEST_CASE("constants that a variable is compared with") {
  CHECK(constants("{% if effort == 'low' or 'high' != effort %}x{% endif %}") == Strings{"high", "low"});
  CHECK(constants("{{ 'x' if effort in ['a', 'b'] and effort is equalto('c') }}") == Strings{"a", "b", "c"});
  CHECK(constants("{% if other == 'low' or effort %}x{% endif %}").empty());
  CHECK(constants("{% if effort ==").empty());
}

TEST_CASE("constants that a variable is compared with under another name") {
  CHECK(constants("{% set e = effort | default('m') | lower %}{% if e == 'low' %}x{% endif %}") == Strings{"low"});
  CHECK(constants("{% set ns = namespace(e=effort or 'm') %}{% if ns.e == 'low' %}x{% endif %}") == Strings{"low"});
  CHECK(constants("{% set e = 'x' if effort is not defined else effort %}{% if e == 'low' %}x{% endif %}") ==
        Strings{"low"});
}

}  // namespace
}  // namespace rondo::jinja
