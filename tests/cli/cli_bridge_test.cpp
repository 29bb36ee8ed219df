// The program: `rondo bridge`, and the commands that need an engine.
#include <doctest/doctest.h>

#include <string>

#include "tests/support/shell.h"

namespace rondo {
namespace {

using testing::kHello;
using testing::Run;
using testing::Shell;

// Ids of "[[user: hello~fin~[[assistant: " and of what a model that thinks first writes behind it.
const char* const kPrompt = "[282,267,58,32,259,283,282,275,58,32]";
const char* const kThought = "[286,32,119,101,108,108,32,287,259,283]";

// Writes a model's reasoning only while its turn is the last.
const char* const kForgetful =
    "{% for m in messages %}[[{{ m.role }}: {% if m.reasoning_content and loop.last %}(*mull {{ m.reasoning_content }} "
    "mull*)"
    "{% endif %}{{ m.content or '' }}~fin~{% endfor %}{% if add_generation_prompt %}[[assistant: {% endif %}";

std::string bridge(const std::string& completion_ids, const std::string& new_messages) {
  return "bridge --prompt-ids '" + std::string(kPrompt) + "' --completion-ids '" + completion_ids +
         "' --new-messages '" + new_messages + "' ";
}

}  // namespace

TEST_CASE_FIXTURE(Shell, "bug: bridge kept `1 ids`") {
  const Run one = run("bridge model --prompt-ids [259] --completion-ids [] --new-messages -", kHello);
  CHECK_MESSAGE(one.out.starts_with("kept 1 id, appended "), one.out);
}

TEST_CASE_FIXTURE(Shell, "bridge shows what is appended to the ids") {
  const std::string next = file("next.json", R"([{"role": "user", "content": "world"}])");
  const Run whole = run(bridge("[259,283]", next) + "--model model");
  CHECK(whole.err == "");
  CHECK(whole.status == 0);
  CHECK(whole.out == "kept 12 ids, appended 9: \"[[user: world~fin~[[assistant: \"\n");
  CHECK(
      run(bridge("[259,283]", "-") + "--model model", R"({"messages": [{"role": "user", "content": "world"}]})").out ==
      whole.out);
  CHECK(run(bridge(file("ids.json", "[259,283]"), next) + "--template model --tokenizer model").out == whole.out);
  CHECK(run(bridge("[259]", next) + "--model model").out ==
        "kept 11 ids, appended 10: \"~fin~[[user: world~fin~[[assistant: \"\n"
        "note: the completion has no stop token; \"~fin~\" was added\n");
  const Run json = run(bridge("[259,283]", next) + "--model model -m hello --json");
  CHECK(json.status == 0);
  CHECK(
      json.out.starts_with("{\"ids\":[282,267,58,32,259,283,282,275,58,32,259,283,282,267,58,264,283,282,275,58,32],"));
  CHECK(json.out.find("\"appended\":9") != std::string::npos);
}

TEST_CASE_FIXTURE(Shell, "bridge keeps what the template would drop, and says so, cuts it, or refuses") {
  const std::string next = file("next.json", R"([{"role": "user", "content": "world"}])");
  const std::string arguments =
      bridge(kThought, next) + "--template '" + file("forgetful.jinja", kForgetful) + "' --tokenizer model -m hello ";
  const std::string appended = "appended 9: \"[[user: world~fin~[[assistant: \"\n";
  const Run kept = run(arguments);
  CHECK(kept.status == 0);
  CHECK(kept.out.starts_with("kept 20 ids, " + appended +
                             "kept although the template would change it: the assistant's turn changes: "
                             "\"(*mull well mull*)hello\" becomes \"hello"));
  const Run refused = run(arguments + "--refuse-lossy");
  CHECK(refused.status == 1);
  CHECK(refused.out == "");
  CHECK(refused.err.find("the assistant's turn changes: ") != std::string::npos);
  CHECK(run(arguments + "--retention template").out ==
        "kept 12 ids, " + appended + "cut old ids [10, 18), the reasoning of message 1\n");
  CHECK(run(arguments + "--retention all").out.starts_with("kept 20 ids, "));
  CHECK(run(arguments + "--retention template --sampled '[]'").status == 0);
  CHECK(run(arguments + "--retention template --sampled '[[0, 3]]'").err ==
        "rondo: there are more sampled ranges than assistant messages\n");
}

TEST_CASE_FIXTURE(Shell, "bridge says what is wrong with its arguments") {
  const std::string next = file("next.json", R"([{"role": "user", "content": "world"}])");
  const auto complaint = [&](const std::string& arguments, int status = 1) {
    const Run failed = run(arguments);
    CAPTURE(arguments);
    CHECK(failed.status == status);
    CHECK(failed.out == "");
    return failed.err.substr(0, failed.err.find('\n'));
  };
  CHECK(complaint(bridge("[259]", next), 2).starts_with("rondo: name a model, by place"));
  CHECK(complaint(bridge("[259]", next) + "--template model/chat_template.jinja", 2) ==
        "rondo: a template alone has no tokenizer: name a model, or a tokenizer with --tokenizer");
  CHECK(complaint("bridge --model model --prompt-ids '[x' --completion-ids '[259]' --new-messages '" + next + "'", 2) ==
        "rondo: --prompt-ids:1:2: expected a value, found `x`");
  CHECK(complaint(bridge("[x", next) + "--model model", 2) ==
        "rondo: --completion-ids:1:2: expected a value, found `x`");
  CHECK(complaint(bridge("nowhere.json", next) + "--model model") == "rondo: nowhere.json: no such file");
  CHECK(complaint(bridge("[259]", "nowhere.json") + "--model model") == "rondo: nowhere.json: no such file");
  CHECK(complaint(bridge("[9999]", next) + "--model model") ==
        "rondo: completion id 9999 is out of range; the vocabulary has 289 ids");
  CHECK(complaint(bridge("[259]", next) + "--model model --messages nowhere.json") ==
        "rondo: nowhere.json: no such file");
  CHECK(complaint(bridge("[259]", next) + "--model model --correct '[1'", 2).starts_with("rondo: --correct:1:3: "));
  CHECK(complaint(bridge("[259]", next) + "--model model --sampled '[1'", 2).starts_with("rondo: --sampled:1:3: "));
  CHECK(complaint(bridge("[259]", next) + "--model model -m x --retention wild", 2)
            .starts_with("rondo: --retention: wild not in {all,"));
  const std::string said = file("said.json", R"([{"role": "assistant", "content": "x"}])");
  CHECK(complaint(bridge("[259]", said) + "--model model") ==
        "rondo: new_messages[0] has the role `assistant`; sampled turns are never rendered");
}

TEST_CASE_FIXTURE(Shell, "chat and demo fail where the model is not there") {
  CHECK(run("chat --model nowhere.gguf", "\n\n").err == "rondo: nowhere.gguf: no such file or folder\n");
  for (const char* command : {"chat", "demo"}) {
    const Run failed = run(std::string(command) + " --model nowhere.gguf", "hello\n");
    CHECK(failed.status == 1);
    CHECK(failed.out == "");
    CHECK(failed.err.find("rondo: nowhere.gguf: ") != std::string::npos);
  }
}

}  // namespace rondo
