#include "core/unwritten.h"

#include "tests/support/core_models.h"

namespace rondo::core {
namespace {

// The notes on the prompt of these messages.
std::vector<std::string> notes(const std::string& chat_template, const char* messages) {
  const auto model = testing::memory_model({.chat_template = chat_template + "\n"});
  Call call = testing::call_of(messages);
  const auto encoded = model->encode(call);
  REQUIRE_MESSAGE(encoded.ok(), encoded.error().to_string());
  return encoded.value().notes;
}

constexpr const char* kCalls =
    R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hm", "tool_calls": [
    {"id": "a", "type": "function", "function": {"name": "add", "arguments": "{\"q\": 1}"}},
    {"id": "b", "type": "function", "function": {"name": "sub", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "b", "content": "4"}])";

using Notes = std::vector<std::string>;

}  // namespace

TEST_CASE("contents and calls that the template leaves out are noted") {
  CHECK(notes(testing::kTemplate, kCalls).empty());
  CHECK(notes("{%- for m in messages %}{{- m.role + ':' + m.content }}{%- endfor %}", kCalls) ==
        Notes{"messages[1].tool_calls[0]: the template writes nothing of it",
              "messages[1].tool_calls[1]: the template writes nothing of it"});
  // The first call alone, and no content beside calls.
  CHECK(
      notes("{%- for m in messages %}{{- m.role }}{%- if m.tool_calls %}{{- m.tool_calls[0].function.name }}{%- else %}"
            "{{- m.content }}{%- endif %}{%- endfor %}",
            kCalls) == Notes{"messages[1].content: the template writes nothing of it",
                             "messages[1].tool_calls[1]: the template writes nothing of it"});
  // A value that is written as a whole counts as written.
  CHECK(notes("{%- for m in messages %}{{- m.content }}{{- (m.tool_calls or []) | tojson }}{%- endfor %}", kCalls)
            .empty());
  CHECK(notes("{%- for m in messages %}{{- m | tojson }}{%- endfor %}", kCalls).empty());
  CHECK(notes("{{- messages | tojson }}", kCalls).empty());
  // A text that the template built anew is found too.
  CHECK(notes("{%- for m in messages %}{{- m.content | list | join }}{%- endfor %}",
              R"([{"role": "user", "content": "Hi"}])")
            .empty());
}

}  // namespace rondo::core
