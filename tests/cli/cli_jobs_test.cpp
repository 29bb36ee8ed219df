// The program itself: logs, prefixes, lines of requests, and checks.
#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "base/files.h"
#include "tests/support/shell.h"

namespace rondo {

using testing::kHello;
using testing::Run;
using testing::Shell;

TEST_CASE_FIXTURE(Shell, "replay reads a log from a file or standard input") {
  const std::string log =
      "{\"messages\": [{\"role\": \"system\", \"content\": \"ref 1\"}, {\"role\": \"user\", \"content\": \"hello\"}]}\n"
      "{\"messages\": [{\"role\": \"system\", \"content\": \"ref 2\"}, {\"role\": \"user\", \"content\": \"hello\"}, "
      "{\"role\": \"assistant\", \"content\": \"world\"}, {\"role\": \"user\", \"content\": \"x\"}]}\n{cut";
  const Run from_file = run("replay '" + file("log.jsonl", log) + "' --model model");
  CHECK(from_file.err == "");
  CHECK(from_file.status == 0);
  for (const char* part :
       {"2 requests of 1 conversation ", "passed over: 1 line, not JSON (line 3:", "as-sent", "stable-header",
        "nothing to do for: bridge, ", "volatile-header", "log line 2: ", "was `1`, is `2`"})
    CHECK_MESSAGE(from_file.out.find(part) != std::string::npos, part);
  const Run from_input = run("replay - --model model --json --limit 1", log);
  CHECK(from_input.status == 0);
  CHECK(from_input.out.find("\"requests\":1,") != std::string::npos);
  CHECK(run("replay nowhere.jsonl --model model").err == "rondo: nowhere.jsonl: no such file\n");
  CHECK(run("replay nowhere.jsonl --model model").status == 1);
  CHECK(run("replay model --model model").err == "rondo: model: is a folder, expected a file\n");
  CHECK(run("replay - --model model --capacity 0").status == 2);
  CHECK(run("replay - --model model", "").out.find("Every prompt began") == std::string::npos);  // there was none
}

TEST_CASE_FIXTURE(Shell, "replay serves a log by a fleet of replicas") {
  const std::string made = "replay made:agents=4,active=2,turns=3,system=40,task=5,answer=5,result=5 --model model";
  const Run all = run(made + " --replicas 3 --routing all --replica-capacity 5000 --concurrency 2");
  CHECK(all.err == "");
  CHECK(all.status == 0);
  for (const char* part :
       {"12 requests of 4 conversations", "Tokens found by 3 replicas of 5,000 tokens, 2 requests at once",
        "exact, as-sent", "exact, bridge", "text-hash, as-sent", "round-robin, bridge", "least-load, "})
    CHECK_MESSAGE(all.out.find(part) != std::string::npos, part);
  CHECK(run(made).out.find("replicas") == std::string::npos);
  CHECK(run(made + " --replicas 3 --json").out.find(R"("fleet":{"replicas":3,)") != std::string::npos);
  CHECK(run(made + " --replicas 3 --routing psychic").status == 2);
  for (const char* broken : {"agents", "agents=", "agents=x", "agents=2x", "=3", "persons=3"}) {
    const Run failed = run("replay made:" + std::string(broken) + " --model model");
    CHECK_MESSAGE(failed.status == 1, broken);
    CHECK(failed.err.find(broken == std::string("persons=3") ? "`generate.persons`" : broken) != std::string::npos);
  }
}

TEST_CASE_FIXTURE(Shell, "diff says by its status whether a prefix holds") {
  const std::string first = file("a.json", kHello);
  const std::string second =
      file("b.json", R"({"messages": [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "y"},
        {"role": "user", "content": "x"}]})");
  const Run holds = run("diff '" + first + "' '" + second + "' --model model");
  CHECK(holds.err == "");
  CHECK(holds.status == 0);
  CHECK(holds.out.find("the second begins with all of the first") != std::string::npos);
  const Run breaks = run("diff '" + second + "' '" + first + "' --model model --color never");
  CHECK(breaks.status == 3);
  CHECK(breaks.out.find("branched: ") != std::string::npos);
  CHECK(run("diff '" + first + "' '" + second + "' --model model --json").out.find("\"breaks\":false") !=
        std::string::npos);
  CHECK(run("diff '" + first + "' nowhere.json --model model").status == 1);
  CHECK(run("diff '" + first + "' --model model").status == 2);
}

TEST_CASE_FIXTURE(Shell, "diff tells what the client changed, with texts where there are any") {
  const auto request = [&](const char* name, const std::string& messages) {
    return "'" + file(name, "{\"messages\": [" + messages + "]}") + "' ";
  };
  const std::string hello = R"({"role": "user", "content": "hello"})";
  const std::string first = request("a.json", hello + R"(, {"role": "assistant", "content": "x"})");
  const auto changes = [&](const std::string& second) {
    const std::string out = run("diff " + first + second + "--model model --color never").out;
    const std::size_t at = out.find("\nwhat the client changed\n");
    return at == std::string::npos ? "" : out.substr(at + 25);
  };
  CHECK(changes(request("b.json", R"({"role": "user", "content": "other"}, {"role": "assistant", "content": "x"})")) ==
        "  message-edited at messages[0].content: the message was edited: `hello` -> `other`\n");
  CHECK(changes(request("b.json", hello)) ==
        "  branched at messages[1]: the conversation goes on from here without the 1 messages that followed: "
        "`x` -> ``\n");
  CHECK(changes(request("b.json", hello + R"(, {"role": "assistant", "content": " x"})")) ==
        "  content-respelled at messages[1]: the same content is spelled otherwise\n");
  CHECK(changes(first) == "");
}

TEST_CASE_FIXTURE(Shell, "batch answers line by line, in order") {
  const std::string request = R"({"op": "jinja", "template": "{{ x }}", "context": {"x": )";
  std::string input = "\n" + request + "1}, \"id\": 1}\r\n\r\nnonsense\n" + request + "2}, \"id\": 2}";
  const std::string replies =
      "{\"id\":1,\"text\":\"1\"}\n"
      "{\"error\":{\"code\":\"bad_request\",\"message\":\"the line is not JSON: column 1: expected a value, found "
      "`n`\"}}\n"
      "{\"id\":2,\"text\":\"2\"}\n";
  CHECK(run("batch", input).out == replies);
  CHECK(run("batch --threads 3", input).out == replies);
  CHECK(run("batch", "").out == "");
  CHECK(run("batch", "").status == 0);
  CHECK(run("batch --threads 0", "").status == 2);

  std::string many;
  std::string expected;
  for (int i = 0; i < 3000; ++i) {
    many += request + std::to_string(i) + "}}\n";
    expected += "{\"text\":\"" + std::to_string(i) + "\"}\n";
  }
  CHECK(run("batch", many).out == expected);
  CHECK(run("batch --threads 4", many).out == expected);

  const std::string text(5'000'000, 'a');
  const Run large = run("batch", request + "\"" + text + "\"}}\n");
  CHECK(large.out.size() == text.size() + 12);
}

TEST_CASE_FIXTURE(Shell, "batch fails only when a stream does") {
  CHECK(run("batch < /").status == 1);
  const Run full = run("batch > /dev/full", R"({"op": "jinja", "template": "x"})");
  CHECK(full.status == 1);
  CHECK(full.err.starts_with("rondo: standard output: "));
}

// Reasoning of earlier turns is not written.
const char* const kForgetful =
    "{%- for m in messages %}{{- '<|' + m.role + '|>' }}{%- if m.role == 'assistant' %}{{- '(mull:' + "
    "(m.reasoning_content if loop.last and m.reasoning_content else '') + ':mull)' }}{%- endif %}"
    "{{- (m.content or '') + '<|end|>' }}{%- endfor %}{%- if add_generation_prompt %}{{- '<|assistant|>(mull:' }}"
    "{%- endif %}";

TEST_CASE_FIXTURE(Shell, "check names the first cases of a finding, and says where there are more") {
  const std::string check = "check '" + file("forgetful.jinja", kForgetful) + "' --fail-on never";
  std::string scenarios;
  std::string names;
  for (const char* scenario :
       {"reasoning-content", "reasoning", "reasoning-content-twice", "blank-line-behind-reasoning"}) {
    scenarios += std::string(" --scenario ") + scenario;
    names += std::string(names.empty() ? "" : ", ") + scenario + " / default";
  }
  const Run four = run(check + scenarios);
  CHECK(four.out.find("\n      in 4 cases: " + names + "\n") != std::string::npos);
  const Run five = run(check + scenarios + " --scenario newline-ends-reasoning");
  CHECK(five.out.find("\n      in 5 cases: " + names + ", ...\n") != std::string::npos);
  const Run one = run(check + " --scenario reasoning");
  CHECK(one.out.find("\n      in 1 case: reasoning / default\n") != std::string::npos);
}

TEST_CASE_FIXTURE(Shell, "check fails on what it is told to fail on") {
  const std::string check = "check '" + file("forgetful.jinja", kForgetful) + "' --scenario reasoning --fail-on ";
  for (const auto& [level, status] : {std::pair{"never", 0}, {"error", 0}, {"warning", 1}, {"note", 1}})
    CHECK_MESSAGE(run(check + level).status == status, level);
  CHECK(run(check + "worst").status == 2);
}

TEST_CASE_FIXTURE(Shell, "check writes a page, SARIF and test results beside its table") {
  const std::string faulty =
      file("faulty.jinja",
           "{%- for m in messages %}\n{{- '<|' + m.role + '|>' }}\n{{- (m.content or '') | trim }}\n{{- '<|end|>' }}\n"
           "{%- endfor %}{%- if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}");
  const std::string page = file("page.html", "");
  const std::string sarif = file("log.sarif", "");
  const std::string junit = file("tests.xml", "");
  const std::string files = " --html '" + page + "' --sarif '" + sarif + "' --junit '" + junit + "'";
  const std::string some = "check '" + faulty + "' --scenario space-behind-content --now 2026-03-14T15:09:26";
  const Run table = run(some + " --fail-on never");
  CHECK(table.status == 0);
  const Run written = run(some + " --fail-on never" + files);
  CHECK(written.err == "");
  CHECK(written.status == 0);
  CHECK(written.out == table.out);
  CHECK(rondo::files::read(page).value().starts_with("<!doctype html>"));
  CHECK(rondo::files::read(sarif).value().find("\"ruleId\": \"whitespace-stripped\"") != std::string::npos);
  CHECK(rondo::files::read(junit).value().find("<failure") == std::string::npos);
  const Run failing = run(some + " --fail-on warning --json" + files);
  CHECK(failing.status == 1);
  CHECK(failing.out.starts_with("{\"model\":"));
  CHECK(rondo::files::read(junit).value().find("<failure type=\"whitespace-stripped\"") != std::string::npos);

  const Run shown = run(some + " --fail-on never --html -");
  CHECK(shown.out == rondo::files::read(page).value());
  const Run both = run("check '" + faulty + "' model --scenario content --fail-on never --html -");
  CHECK(both.out.find("<h1>Check of 2 chat templates</h1>") != std::string::npos);
  for (const char* others : {"--html - --json", "--html - --sarif -", "--sarif - --junit -"})
    CHECK_MESSAGE(run(some + " " + others).status == 2, others);
  const Run nowhere = run(some + " --fail-on never --junit /no/such/folder/x.xml");
  CHECK(nowhere.status == 2);
  CHECK(nowhere.err.starts_with("rondo: /no/such/folder/x.xml: "));
  // A model that cannot be checked does not keep the others from being written about.
  const Run some_missing = run(some + " no-such-model --fail-on never --sarif -");
  CHECK(some_missing.status == 1);
  CHECK(some_missing.out.find("whitespace-stripped") != std::string::npos);
  CHECK(some_missing.out.find("no-such-model could not be checked: ") != std::string::npos);
  CHECK(run(some + " no-such-model --fail-on never --json").out.find("\"failures\":[{\"model\":\"no-such-model\"") !=
        std::string::npos);
}

}  // namespace rondo
