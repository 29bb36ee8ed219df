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

TEST_CASE_FIXTURE(Shell, "bug: an option that is no JSON had status 1, as input has that cannot be used") {
  const auto told = [&](const std::string& arguments, const std::string& input = "") {
    const Run failed = run(arguments, input);
    return std::to_string(failed.status) + " " + failed.err.substr(0, failed.err.find('\n'));
  };
  const std::string broken = ":1:2: expected a key in double quotes, found the end of the text";
  CHECK(told("render model --messages '{'") == "2 rondo: --messages" + broken);
  CHECK(told("render model --messages '[]' --tools '{'") == "2 rondo: --tools" + broken);
  CHECK(told("render --model model --kwargs '{bad}'", kHello).starts_with("2 rondo: --kwargs:1:2: expected a key"));
  CHECK(told("jinja --text '{{ x'").starts_with("1 rondo: --text:1:5: "));
  CHECK(told("check model --kwargs '{'") == "2 rondo: --kwargs" + broken);
  const std::string no_object = "2 rondo: --kwargs: must be an object, found an array";
  CHECK(told("render --model model --kwargs '[1]'", kHello) == no_object);
  CHECK(told("check model --kwargs '[1]'") == no_object);
  CHECK(told("serve model --url http://127.0.0.1:1 --store memory --port 0 --kwargs '[1]'") == no_object);
  // JSON of another form than the option's is as wrong as no JSON; in a file or a stream it is bad input.
  CHECK(told("render model --messages 5") ==
        "2 rondo: --messages: messages must be an array of objects, found an integer");
  CHECK(told("render model --messages '[{}]'") == "2 rondo: --messages: messages[0] has no `role`");
  CHECK(told("render model -m x --tools '{}'") ==
        "2 rondo: --tools: tools must be an array of objects, found an object");
  CHECK(told("render model -m x --documents '[1]'") ==
        "2 rondo: --documents: documents[0] must be an object, found an integer");
  CHECK(told("grammar model --schema 5") == "2 rondo: --schema: `response_schema` must be an object, found an integer");
  CHECK(told("parse model --text x --correct 5") ==
        "2 rondo: --correct: `corrections` must be an object, found an integer");
  CHECK(told("render model --messages -", "5") == "1 rondo: messages must be an array of objects, found an integer");
  CHECK(told("fake-engine vllm --script '{'") == "2 rondo: --script" + broken);
  CHECK(told("render model --messages -", "{") == "1 rondo: standard input" + broken);
  CHECK(told("tokenize model --ids 'a b'").starts_with("0 "));
  CHECK(told("detokenize model --ids 'a b'") ==
        "2 rondo: --ids: expected token ids (numbers, a JSON array, what `encode` prints) or a file with them, found "
        "`a b`");
  CHECK(told("parse model --ids 'a b'") ==
        "2 rondo: --ids: expected token ids (numbers, a JSON array, what `encode` prints) or a file with them, found "
        "`a b`");
  CHECK(told("test model") ==
        "2 rondo: model: is a folder, and SUITE is a file with tests: rondo test model SUITE.yaml (docs/tester.md)");
  CHECK(told("engines zz") == "1 rondo: `zz` is not an address: it begins with neither `http://` nor `https://`");
  const Run edge = run("edge validate -", "{}");
  CHECK(edge.status == 1);
  CHECK_MESSAGE(edge.out.ends_with("standard input: not valid\n"), edge.out);
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

TEST_CASE_FIXTURE(Shell, "--html says that it took the model for its file, and replaces no file that is not a page") {
  const Run taken = run("render --html model -m hi");
  CHECK(taken.status == 2);
  CHECK(taken.err.find("; `model` was read as the FILE of --html\n") != std::string::npos);
  const std::string kept = file("keep.jinja", "{{ messages[0].content }}");
  for (const char* command : {"explain", "render -m x", "encode -m x", "check"}) {
    const Run refused = run(std::string(command) + " --html '" + kept + "' --model model");
    CHECK_MESSAGE(refused.status == 2, command);
    CHECK(refused.err.starts_with("rondo: " + kept + ": the page would replace a file that is not one"));
    CHECK(files::read(kept).value() == "{{ messages[0].content }}");
  }
  const std::string page = file("page.html", "<!DOCTYPE HTML>old");
  CHECK(run("explain --html '" + page + "' --model model").status == 0);
  CHECK(files::read(page).value().starts_with("<!doctype html>"));
}

TEST_CASE_FIXTURE(Shell, "bug: reports of check replaced any file") {
  for (const std::string option : {"--sarif", "--junit"}) {
    const std::string kept = file("keep.json", "{\"model\": 1}");
    const std::string command = "check model --scenario content " + option + " '";
    CHECK(run(command + kept + "'").status == 2);
    CHECK(files::read(kept).value() == "{\"model\": 1}");
    const std::string report = file("report", "");
    CHECK(run(command + report + "'").status == 0);
    const std::string first = files::read(report).value();
    CHECK(first.size() > 100);
    CHECK(run(command + report + "'").status == 0);
    CHECK(files::read(report).value() == first);
  }
}

TEST_CASE_FIXTURE(Shell, "bug: only after the work was done was a page or report found to have no place") {
  const std::string nowhere = path("nowhere") + "/page";
  const std::string here = path(".");
  for (const std::string command :
       {"mask model - --html", "check model --html", "check model --sarif", "check model --junit"}) {
    const Run lost = run(command + " '" + nowhere + "'", kHello);
    CHECK_MESSAGE(lost.status == 2, command);
    CHECK(lost.out == "");
    CHECK_MESSAGE(lost.err.starts_with("rondo: " + nowhere + ": its folder is not there: name another file for --"),
                  lost.err);
    const Run replaced = run(command + " '" + here + "'", kHello);
    CHECK_MESSAGE(replaced.status == 2, command);
    CHECK(replaced.out == "");
    CHECK_MESSAGE(replaced.err.starts_with("rondo: " + here + ": is a folder: name a file for --"), replaced.err);
  }
}

TEST_CASE_FIXTURE(Shell, "bug: what could be read of a log or an answer passed for all of it when reading failed") {
  // Its first page cannot be read.
  const Run log = run("replay /proc/self/mem --model model");
  CHECK(log.status == 1);
  CHECK(log.out == "");
  CHECK_MESSAGE(log.err == "rondo: /proc/self/mem: Input/output error\n", log.err);
  const Run line =
      run("batch", R"({"op": "replay", "tokenizer": "model", "template_file": "model", "log": "/proc/self/mem"})");
  CHECK_MESSAGE(line.out.find("reading failed") != std::string::npos, line.out);
  for (const char* options : {"", " --json"}) {
    const Run answer = run(std::string("parse --model model --stream") + options + " </proc/self/mem");
    CHECK(answer.status == 1);
    CHECK(answer.out == "");
    CHECK_MESSAGE(answer.err == "rondo: standard input: Input/output error\n", answer.err);
  }
}

TEST_CASE_FIXTURE(Shell, "bug: bytes of an option that are not UTF-8 came into the prompt as they were") {
  const Run message = run("render --model model -m \"$(printf 'a\\377')\"");
  CHECK(message.status == 2);
  CHECK_MESSAGE(message.err == "rondo: --message: the text is not valid UTF-8\n", message.err);
  const Run variable = run("render --model model -m x --kwargs \"$(printf 'a=\\377')\"");
  CHECK(variable.status == 2);
  CHECK_MESSAGE(variable.err == "rondo: --kwargs: the text is not valid UTF-8\n", variable.err);
}

TEST_CASE_FIXTURE(Shell, "bug: the model had to stand behind the requests of diff and the log of replay") {
  const std::string a = file("a.json", R"({"messages": [{"role": "user", "content": "a"}]})");
  const std::string b = file("b.json", R"({"messages": [{"role": "user", "content": "b"}]})");
  const std::string both = "'" + a + "' '" + b + "'";
  const Run last = run("diff " + both + " model");
  CHECK(last.status == 3);
  CHECK(run("diff model " + both).out == last.out);
  CHECK(run("diff --model model " + both).out == last.out);
  CHECK(run("diff " + both + " nomodel").err.starts_with("rondo: nomodel: no such file or folder"));
  CHECK(run("diff model '" + a + "'").err.starts_with("rondo: B is required\n"));
  CHECK(run("diff model").err.starts_with("rondo: A is required\n"));
  const Run log = run("replay made:agents=2,turns=2 model");
  CHECK(log.status == 0);
  CHECK(run("replay model made:agents=2,turns=2").out == log.out);
  CHECK(run("replay model").err.starts_with("rondo: LOG is required\n"));
}

TEST_CASE_FIXTURE(Shell, "bug: lines of JSON behind a byte order mark were no JSON") {
  const std::string mark = "\xEF\xBB\xBF";
  const std::string chat = "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}\n";
  CHECK(run("mask model", mark + chat).out == run("mask model", chat).out);
  CHECK(run("replay - model", mark + chat).out == run("replay - model", chat).out);
  const std::string request = R"({"op": "tokenize", "tokenizer": "model", "text": "a"})";
  CHECK(run("batch", mark + request).out == run("batch", request).out);
  CHECK(run("batch", request + "\n" + mark + request).out.find("\"error\"") != std::string::npos);
}

TEST_CASE_FIXTURE(Shell, "bug: columns of errors counted bytes in what people read") {
  CHECK(run("encode model --messages -", "[{\"content\":\"\u00e9\u00e9\" x}]")
            .err.starts_with("rondo: standard input:1:18: "));
  CHECK(run("batch", "{\"op\":\"\u00e9\" x}").out.find("column 11: ") != std::string::npos);
}

TEST_CASE_FIXTURE(Shell, "what steers a terminal is escaped in what people read") {
  const std::string escape = "\x1b[31mred";
  const Run file_name = run("render model --messages '" + escape + "'");
  CHECK(file_name.err == "rondo: \\u001b[31mred: no such file\n");
  CHECK(run("render model '" + escape + "'").err.find("`\\u001b[31mred`") != std::string::npos);
  CHECK(run("jinja", "{{ 1 }}\n{{ '" + escape + "' ").err.find('\x1b') == std::string::npos);
  CHECK(run("parse model --text '" + escape + "\n\tb'").out == "content:   \\u001b[31mred\n\tb\n");
  CHECK(run("parse model --stream", escape).out == "content:   \\u001b[31mred\n");
  CHECK(run("parse model --json --text '" + escape + "'").out.find("\\u001b[31mred") != std::string::npos);
}

TEST_CASE_FIXTURE(Shell, "a log of which no line can be replayed is an error") {
  const Run cut = run("replay - model", "\n{\"messages\": \n{}\n");
  CHECK(cut.status == 1);
  CHECK(cut.out == "");
  CHECK_MESSAGE(cut.err.starts_with("rondo: standard input:2: no line of the log could be replayed: not JSON, "),
                cut.err);
  CHECK(run("replay - model", "{\"a\": 1}\n").err ==
        "rondo: standard input:1: no line of the log could be replayed: no chat request: neither `messages` nor "
        "`input`\n");
  CHECK(run("replay - model --json", std::string("\0\x01\xff", 3)).status == 1);
  CHECK(run("replay - model --json", "{\n\"messages\": []\n}\n").status == 1);
  CHECK(run("replay - model <&-").err.starts_with("rondo: standard input: "));
}

TEST_CASE_FIXTURE(Shell, "tools that could not be called are refused where a call is asked for") {
  const std::string needs = "rondo: --tool-choice required needs a tool with a name: give --tools\n";
  CHECK(run("grammar model --tool-choice required").err == needs);
  CHECK(run("grammar model --tool-choice required --tools '[{\"type\": \"function\"}]'").err == needs);
  const std::string tools = " --tools '[{\"type\": \"function\", \"function\": {\"name\": \"add\"}}]'";
  CHECK(run("grammar model --tool-choice required" + tools).status == 0);
  CHECK(run("grammar model --tool-choice foo" + tools).err == "rondo: no tool has the name `foo`\n");
  CHECK(run("parse model --text x --tool-choice foo" + tools).err == "rondo: no tool has the name `foo`\n");
  for (const std::string command : {"grammar model", "parse model --text x"})
    CHECK(run(command + " --tool-choice requird").err == "rondo: no tool has the name `requird`: give --tools\n");
  CHECK(run("parse model --text x --tool-choice add" + tools).status == 0);
}

TEST_CASE_FIXTURE(Shell, "standard input is read once: a second `-` is an error") {
  const std::string said = "rondo: standard input: it was read to its end for another argument";
  CHECK(run("parse model --messages -", kHello).err.starts_with(said));
  CHECK(run("parse model --messages - --stream", kHello).err.starts_with(said));
  const Run twice = run("bridge model --prompt-ids - --completion-ids - --new-messages '[]'", "1 2");
  CHECK(twice.status == 1);
  CHECK(twice.err.starts_with(said));
  CHECK(run("render model --tools -", "[]").err.starts_with(said));
}

TEST_CASE_FIXTURE(Shell, "a suite without cases is an error") {
  const Run none = run("test model -", "cases: []");
  CHECK(none.status == 2);
  CHECK(none.err == "rondo: there is no case to run\n");
}

TEST_CASE_FIXTURE(Shell, "template variables may be spelled as Python spells them") {
  const std::string shown =
      file("shown.jinja", "{{ messages[0].content }} {{ a is false }} {{ b is true }} {{ c is none }} {{ d }}");
  CHECK(run("render '" + shown + "' -m x --kwargs a=False --kwargs b=True --kwargs c=None --kwargs d=false,").out ==
        "x True True True false,");
}

TEST_CASE_FIXTURE(Shell, "JSON that is neither object nor array is JSON too") {
  CHECK(run("grammar model --schema true").status == 0);
  CHECK(run("grammar model --schema true").out.find("root ::= ") != std::string::npos);
  CHECK(run("render model --messages '\"hi\"'").err ==
        "rondo: --messages: messages must be an array of objects, found a string\n");
  CHECK(run("parse model --text x --correct 5").err.find("must be an object, found an integer") != std::string::npos);
  CHECK(run("detokenize model -1").err.find("-1 is out of range") != std::string::npos);
  const std::string named = file("5", "[{\"role\": \"user\", \"content\": \"x\"}]");
  CHECK(run("render model --messages '" + named + "'").status == 0);
}

TEST_CASE_FIXTURE(Shell, "ids inside the command line may be a table, as on standard input") {
  CHECK(run("detokenize model \"$('" RONDO_PROGRAM "' encode model -m hello)\"").out ==
        "<bos>[[user: hello~fin~[[assistant: ");
}

TEST_CASE_FIXTURE(Shell, "tokenize - reads standard input") {
  CHECK(run("tokenize model - --ids", "hello").out == run("tokenize model hello --ids").out);
}

TEST_CASE_FIXTURE(Shell, "a damaged file is told with its place once, and a Git LFS pointer as one") {
  file("damaged/tokenizer.json", "{\"model\" 1}");
  const Run damaged = run("tokenize '" + path("damaged") + "' x");
  CHECK_MESSAGE(damaged.err.starts_with("rondo: " + path("damaged/tokenizer.json") + ":1:"), damaged.err);
  CHECK(damaged.err.find("line 1, column") == std::string::npos);
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n";
  for (const char* name : {"pointer/tokenizer.json", "model.gguf"}) {
    const std::string model = file(name, pointer);
    CHECK(run("tokenize '" + model + "' x").err ==
          "rondo: " + model + ": is a Git LFS pointer in place of the file: fetch it with `git lfs pull`\n");
  }
  file("empty/readme.txt", "");
  file("empty/tokenizer.json", R"({"model": {}})");
  const Run none = run("render '" + path("empty") + "' -m x");
  for (const char* name : {"chat_template.jinja", "tokenizer_config.json", "chat_template.json",
                           "processed_chat_template.json", "encoding/encoding*.py"})
    CHECK_MESSAGE(none.err.find(name) != std::string::npos, none.err);
}

#ifdef RONDO_HAVE_NET
TEST_CASE_FIXTURE(Shell, "serve warns of variables that are no settings") {
  const Run checked = run("serve --check-config", "", "RONDO_SERVE_MAX_BODIE=8 RONDO_SERVE_PORT=0");
  CHECK(checked.status == 0);
  CHECK(checked.err == "rondo: warning: the variable RONDO_SERVE_MAX_BODIE is no setting, and is ignored\n");
}
#endif

}  // namespace rondo
