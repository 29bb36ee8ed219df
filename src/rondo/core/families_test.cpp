#include "core/families.h"

#include <doctest/doctest.h>

#include "core/model.h"

namespace rondo::core {

TEST_CASE("004:25-28, 004:284-304: every family renders, and what it writes of a call reads back") {
  for (const std::string& name : family_names()) {
    CAPTURE(name);
    Source source;
    source.chat_template = name;
    source.polyfill = Polyfill::kAuto;
    const auto model = Model::load(source);
    REQUIRE(model.ok());
    CHECK(model.value()->template_reason() == "the template is rondo's own `" + name + "`: it was named");
    const auto can = model.value()->capabilities({});
    REQUIRE(can.ok());
    for (const char* feature : {"system", "history", "tools", "tool_calls", "tool_results"}) {
      CAPTURE(feature);
      CHECK(can.value().find(feature)->is_supported);
    }
    Call call;
    const auto format = model.value()->format(call);
    REQUIRE(format.ok());
    CHECK(format.value()->calls.present);
  }
}

TEST_CASE("004:75-77, 004:321: a family is chosen by name, vocabulary or architecture, else the plainest") {
  CHECK(family_for(nullptr, "llama").name == "llama-2");
  CHECK(family_for(nullptr, "llama").reason == "its architecture is llama");
  CHECK(family_for(nullptr, "").name == "plain");
  CHECK(family_named("chatml")->source.starts_with("{#-"));
  CHECK_FALSE(family_named("nonsense"));
  Source source;
  source.chat_template = "nonsense";
  const auto model = Model::load(source);
  REQUIRE_FALSE(model.ok());
  CHECK(model.error().to_string().find("which are: auto, chatml-thinking, chatml,") != std::string::npos);
}

}  // namespace rondo::core
