// A scripted gateway over a model with a template of the test's own, and an id for each byte.
#pragma once

#include <string>

#include "tests/support/core_models.h"
#include "tests/support/scripted_gateway.h"

namespace rondo::testing {

struct TemplateGateway : ScriptedGateway {
  explicit TemplateGateway(const std::string& chat_template = core::testing::kTemplate)
      : ScriptedGateway(
            {}, false, {},
            core::testing::made(core::Model::from_memory(core::testing::memory(chat_template.c_str()), {}))) {}
};

}  // namespace rondo::testing
