// The program: `rondo check --fix`.
#include <doctest/doctest.h>

#include <string>

#include "base/files.h"
#include "tests/support/shell.h"

namespace rondo {
namespace {

using testing::Run;
using testing::Shell;

// Writes a model's reasoning only while its turn is the last.
const char* const kForgetful =
    "{%- for m in messages %}\n{{- '[[' + m.role + ': ' }}\n"
    "{%- if m.reasoning_content and loop.last %}{{- '(*mull ' + m.reasoning_content + ' mull*)' }}{%- endif %}\n"
    "{{- m.content or '' }}\n{{- '~fin~' }}\n{%- endfor %}\n"
    "{%- if add_generation_prompt %}{{- '[[assistant: ' }}{%- endif %}";

}  // namespace

TEST_CASE_FIXTURE(Shell, "check --fix shows the mended template as a diff, and writes it") {
  const std::string forgetful = file("forgetful.jinja", kForgetful);
  const Run shown = run("check '" + forgetful + "' --fix");
  CHECK(shown.err == "");
  CHECK(shown.status == 0);
  CHECK(shown.out.starts_with(forgetful + ": 1 edit, append-only with them\n"
                                          "  the condition on line 3 without `loop.last`\n"
                                          "\n"
                                          "--- a/forgetful.jinja\n+++ b/forgetful.jinja\n@@ -1,6 +1,6 @@\n"));
  CHECK(shown.out.find("\n-{%- if m.reasoning_content and loop.last %}{{- '(*mull '") != std::string::npos);
  CHECK(shown.out.find("\n+{%- if m.reasoning_content %}{{- '(*mull '") != std::string::npos);
  CHECK(shown.out.find("\ncases that broke and hold now (6):\n  reasoning-content / default\n") != std::string::npos);
  CHECK(
      shown.out.ends_with("\nother spellings and forms of messages that are not kept (1):\n"
                          "  content-parts / default\n"));
  CHECK(shown.out.find("still break") == std::string::npos);

  const std::string mended = file("mended.jinja", "");
  const Run json = run("check '" + forgetful + "' --fix --json --output '" + mended + "'");
  CHECK(json.status == 0);
  CHECK(json.out.starts_with("{\"was_append_only\":false,\"is_append_only\":true,\"edits\":[\"the condition on"));
  std::string expected = kForgetful;
  expected.erase(expected.find(" and loop.last"), std::string(" and loop.last").size());
  CHECK(files::read(mended).value() == expected);
  const Run again = run("check '" + mended + "' --fix");
  CHECK(again.status == 0);
  CHECK(again.out.starts_with(mended + ": append-only as it is\nother spellings"));
  const Run nowhere = run("check '" + forgetful + "' --fix --output /no/such/folder/x.jinja");
  CHECK(nowhere.status == 1);
  CHECK(nowhere.out == "");
  CHECK(nowhere.err.starts_with("rondo: /no/such/folder/x.jinja: "));
}

TEST_CASE_FIXTURE(Shell, "check --fix refuses the files of a report, and what only it has needs it") {
  for (const char* report : {"--html f", "--sarif f", "--junit f", "--scenario content", "--all", "--fail-on note"}) {
    const Run refused = run("check model --fix " + std::string(report));
    CHECK_MESSAGE(refused.status == 2, report);
    CHECK_MESSAGE(refused.err.starts_with("rondo: --fix excludes --"), refused.err);
  }
  for (const char* alone : {"--output x.jinja", "--marks"}) {
    const Run refused = run("check model " + std::string(alone));
    CHECK_MESSAGE(refused.status == 2, alone);
    CHECK_MESSAGE(refused.err.find("requires --fix") != std::string::npos, refused.err);
  }
}

TEST_CASE_FIXTURE(Shell, "check --fix --output - prints the mended template alone") {
  const std::string forgetful = file("forgetful.jinja", kForgetful);
  const std::string mended = path("mended.jinja");
  CHECK(run("check '" + forgetful + "' --fix --output '" + mended + "'").status == 0);
  const Run printed = run("check '" + forgetful + "' --fix --output -");
  CHECK(printed.status == 0);
  CHECK(printed.out == files::read(mended).value());
  CHECK(run("check '" + forgetful + "' --fix --output - --json").status == 2);
}

TEST_CASE_FIXTURE(Shell, "check takes the model by place or by name, and a template in place of its own") {
  const std::string forgetful = file("forgetful.jinja", kForgetful);
  const std::string steady = file("steady.jinja",
                                  "{%- for m in messages %}[[{{ m.role }}: {{ m.content or '' }}~fin~{% endfor %}"
                                  "{%- if add_generation_prompt %}[[assistant: {% endif %}");
  const Run by_place = run("check '" + forgetful + "' --scenario reasoning-content --json");
  CHECK(by_place.status != 2);
  CHECK(run("check --model '" + forgetful + "' --scenario reasoning-content --json").out == by_place.out);
  CHECK(run("check --template '" + forgetful + "' --scenario reasoning-content --json").out == by_place.out);
  const Run replaced = run("check '" + forgetful + "' --template '" + steady + "' --fix");
  CHECK(replaced.status == 0);
  CHECK(replaced.out.starts_with(forgetful + ": append-only as it is\n"));
  const Run nothing = run("check");
  CHECK(nothing.status == 2);
  CHECK(nothing.err ==
        "rondo: name a model, by place or with --model, or a template with --template\n"
        "Run `rondo check --help` for more information.\n");
}

TEST_CASE_FIXTURE(Shell, "check --fix paints the diff, and adds marks where it is asked to") {
  const std::string bare = file("bare.jinja",
                                "{%- for m in messages %}\n"
                                "{%- if m.role == 'assistant' %}{{ '<<a>>' }}{{ m.content or '' }}{{ '<<end>>' }}\n"
                                "{%- else %}{{ '<<' + m.role + '>>' + (m.content or '') + '<<end>>' }}{%- endif %}\n"
                                "{%- endfor %}{%- if add_generation_prompt %}{{ '<<a>>' }}{% endif %}");
  CHECK(run("check '" + bare + "' --fix").out.find("diff") == std::string::npos);
  const Run marked = run("check '" + bare + "' --fix --marks --color always");
  CHECK(marked.status == 0);
  CHECK(marked.out.starts_with("\x1b[1m" + bare +
                               "\x1b[0m: append-only as it is\n"
                               "  generation marks are added around what is sampled\n"
                               "\n"
                               "\x1b[31m--- a/bare.jinja\x1b[0m\n\x1b[32m+++ b/bare.jinja\x1b[0m\n"
                               "\x1b[36m@@ -1,4 +1,4 @@\x1b[0m\n"
                               " {%- for m in messages %}\n"
                               "\x1b[31m-{%- if m.role == 'assistant' %}"));
  CHECK(marked.out.find("{%- generation %}{{- m.content or '' }}{{- '<<end>>' }}{%- endgeneration %}\x1b[0m\n") !=
        std::string::npos);
}

TEST_CASE_FIXTURE(Shell, "check --fix fails where the template still breaks, or cannot be looked at") {
  const std::string reversed =
      file("reversed.jinja", "{% for m in messages | reverse %}{{ m.role + m.content }}{% endfor %}");
  const Run broken = run("check '" + reversed + "' --fix");
  CHECK(broken.status == 1);
  CHECK(broken.err == "");
  CHECK(broken.out.starts_with(
      reversed +
      ": no edit was found that mends a break and keeps the text of the conversations that hold\n"
      "cases that still break ("));
  CHECK(run("check '" + reversed + "' --fix --json").status == 1);
  CHECK(run("check model model --fix").err == "rondo: --fix takes one model\n");
  CHECK(run("check model model --fix").status == 2);
  file("damaged/tokenizer.json", "{\"model\": {");
  file("damaged/chat_template.jinja", "{% for m in messages %}{{ m.content }}{% endfor %}");
  CHECK(run("check '" + path("damaged") + "'")
            .err.starts_with("rondo: goes on without a tokenizer: " + path("damaged/tokenizer.json") + ":1:"));
  const Run nowhere = run("check nowhere --fix");
  CHECK(nowhere.status == 1);
  CHECK(nowhere.err.starts_with("rondo: nowhere: "));
}

}  // namespace rondo
