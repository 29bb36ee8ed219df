// The program itself: what it says of wrong usage, of arguments that cannot be meant, and of what nothing can be read in.
#include <doctest/doctest.h>

#include <string>

#include "base/files.h"
#include "tests/support/shell.h"

namespace rondo {

using testing::kHello;
using testing::Run;
using testing::Shell;

TEST_CASE_FIXTURE(Shell, "wrong usage has status 2 in every command, and its message names the command's help") {
  struct Row {
    std::string arguments;
    std::string complaint;  // standard error begins with this
  };
  const std::string no_model = "rondo: name a model, by place or with --model, or a template with --template\n";
  const Row rows[] = {
      {"render", no_model},
      {"parse", no_model},
      {"encode -m x", no_model},
      {"bridge --prompt-ids 1 --completion-ids 1 --new-messages []", no_model},
      {"diff a b", no_model},
      {"replay log", no_model},
      {"mask", no_model},
      {"explain", no_model},
      {"grammar", no_model},
      {"edge export", no_model},
      {"tokenize x", "rondo: name a model, by place or with --model\n"},
      {"encode --template model/chat_template.jinja -m x", "rondo: a template alone has no tokenizer: "},
      {"render model -m x --mask foo", "rondo: --mask: foo not in {sampled,content,turn,generation}\n"},
      {"render model -m x --now yesterday", "rondo: --now: expected a time such as 2026-03-14T15:09:26, found `yester"},
      {"mask model --now foo", "rondo: --now: expected a time "},
      {"render model -m x --kwargs foo",
       "rondo: --kwargs: expected KEY=VALUE, a JSON object or a file with one; there is no file `foo`\n"},
      {"encode model -m x --retention foo", "rondo: --retention: foo not in {all,template,tool_cycle,"},
      {"replay log model --replicas 5000", "rondo: --replicas: Value 5000 not in range 1 to 4096\n"},
      {"replay log model --capacity 0", "rondo: --capacity: expected a whole number, at least 1, found `0`\n"},
      {"replay log model --routing exact", "rondo: --routing requires --replicas\n"},
      {"grammar model --format lark --llama-server", "rondo: --llama-server: goes with --format gbnf alone\n"},
  };
  for (const Row& row : rows) {
    const Run result = run(row.arguments, kHello);
    CAPTURE(row.arguments);
    CHECK(result.status == 2);
    CHECK(result.out == "");
    CHECK_MESSAGE(result.err.starts_with(row.complaint), result.err, " should begin with ", row.complaint);
    CHECK(result.err.ends_with(" --help` for more information.\n"));
  }
}

TEST_CASE_FIXTURE(Shell, "a mistyped command or option is named, with the one that was meant") {
  const auto first_line = [&](const std::string& arguments) {
    const Run failed = run(arguments);
    CHECK(failed.status == 2);
    return failed.err.substr(0, failed.err.find('\n'));
  };
  CHECK(first_line("rendr model -m hi") == "rondo: there is no command `rendr`; did you mean `render`?");
  CHECK(first_line("frobnicate") == "rondo: there is no command `frobnicate`");
  CHECK(first_line("edge exprot model") == "rondo: there is no command `exprot`; did you mean `export`?");
  CHECK(first_line("render model --mesages x") ==
        "rondo: `rondo render` has no option `--mesages`; did you mean `--messages`?");
  CHECK(first_line("render model --mesages=x") ==
        "rondo: `rondo render` has no option `--mesages`; did you mean `--messages`?");
  CHECK(first_line("bridge model --promt-ids 1") ==
        "rondo: `rondo bridge` has no option `--promt-ids`; did you mean `--prompt-ids`?");
  CHECK(first_line("render --frobnicate") == "rondo: `rondo render` has no option `--frobnicate`");
  CHECK(first_line("render model one two") == "rondo: `rondo render` has no place for the argument `one`");
  CHECK(first_line("help rendr") == "rondo: there is no command `rendr`; did you mean `render`?");
}

TEST_CASE_FIXTURE(Shell, "help COMMAND is what COMMAND --help says") {
  CHECK(run("help").out == run("--help").out);
  CHECK(run("help").status == 0);
  CHECK(run("help render").out == run("render --help").out);
  CHECK(run("help edge export").out == run("edge export --help").out);
  // Each command ends with its own examples, not with the walk through all of them.
  for (const char* command : {"demo", "edge", "edge import", "edge format", "help", "chat"})
    CHECK_MESSAGE(run(std::string(command) + " --help").out.find("A first walk") == std::string::npos, command);
}

TEST_CASE_FIXTURE(Shell, "tools that could not be called are refused where a call is asked for") {
  const std::string needs = "rondo: --tool-choice required needs a tool with a name: give --tools\n";
  CHECK(run("grammar model --tool-choice required").err == needs);
  CHECK(run("grammar model --tool-choice required --tools '[{\"type\": \"function\"}]'").err == needs);
  const std::string tools = " --tools '[{\"type\": \"function\", \"function\": {\"name\": \"add\"}}]'";
  CHECK(run("grammar model --tool-choice required" + tools).status == 0);
  CHECK(run("grammar model --tool-choice foo" + tools).err == "rondo: no tool has the name `foo`\n");
  CHECK(run("parse model --text x --tool-choice foo" + tools).err == "rondo: no tool has the name `foo`\n");
  CHECK(run("parse model --text x --tool-choice add" + tools).status == 0);
}

}  // namespace rondo
