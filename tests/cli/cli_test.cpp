// The program itself: what it prints, what it complains about, and its exit status.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/files.h"
#include "tests/support/golden.h"
#include "tests/support/shell.h"

namespace rondo {

using testing::kHello;
using testing::Run;
using testing::Shell;

TEST_CASE_FIXTURE(Shell, "render prints the prompt") {
  const Run plain = run("render --model model --messages -", kHello);
  CHECK(plain.err == "");
  CHECK(plain.out == "<bos>[[user: hello~fin~[[assistant: ");
  CHECK(plain.status == 0);
  CHECK(run("render --model model -m hello --no-generation-prompt").out == "<bos>[[user: hello~fin~");
  CHECK(run("render --template model/chat_template.jinja -m hello --kwargs '{\"bos_token\": \"B\"}' --json").out ==
        "{\"text\":\"B[[user: hello~fin~[[assistant: \"}\n");
  CHECK(run("render --model model", R"({"messages": [], "tools": [{"name": "f"}]})").out ==
        "<bos>[[tool {\"name\": \"f\"}~fin~[[assistant: ");
  const Run spans = run("render --model model -m hello --spans");
  CHECK(spans.out.find("messages[0].content") != std::string::npos);
  CHECK(run("render --model model --messages '" + file("bom.json", "\xEF\xBB\xBF[]") + "'").status == 0);
}

TEST_CASE_FIXTURE(Shell, "render notes what the template leaves out") {
  const std::string deaf =
      file("deaf.jinja",
           "{%- for m in messages %}[{{ m.role }}{% if not m.tool_calls %}: {{ m.content }}{% endif %}]{% endfor %}");
  const std::string chat = file("chat.json",
                                R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hm",
      "tool_calls": [{"type": "function", "function": {"name": "add", "arguments": {"q": 1}}}]}])");
  const Run shown = run("render '" + deaf + "' --messages '" + chat + "'");
  CHECK(shown.status == 0);
  CHECK(shown.out == "[user: Hi][assistant]");
  CHECK(shown.err ==
        "note: messages[1].content: the template writes nothing of it\n"
        "note: messages[1].tool_calls[0]: the template writes nothing of it\n");
  CHECK(run("render '" + deaf + "' --mode strict --messages '" + chat + "'").err == "");
}

TEST_CASE_FIXTURE(Shell, "render shows what each line of the template wrote, and where each part came from") {
  for (const char* arguments :
       {"--trace", "--trace --color always", "--spans", "--spans --color always", "--color always"}) {
    std::string name(arguments);
    std::erase(name, '-');
    std::replace(name.begin(), name.end(), ' ', '_');
    const Run shown = run("render --model model --messages ../render/chat.json " + std::string(arguments));
    CHECK(shown.status == 0);
    CHECK(shown.err == "");
    test::check_golden("render/" + name + ".txt", shown.out);
  }
  const std::string cutting =
      file("cutting.jinja", "{{ messages[0].content | trim }}{% if none %}{% if x %}x{% endif %}{% endif %}");
  const Run cuts = run("render --template " + cutting + " -m ' a\n' --trace");
  CHECK(cuts.out.find("        - cut \" \" off messages[0].content\n") != std::string::npos);
  CHECK(cuts.out.find("\nnever asked: 1 condition: line 1 `x`\n") != std::string::npos);
  const Run json = run("render --model model --messages ../render/chat.json --trace --spans --json");
  CHECK(json.out.starts_with("{\"text\":\"<bos>[["));
  CHECK(json.out.find("\"spans\":[{") != std::string::npos);
  CHECK(json.out.find("\"trace\":{\"template\":{\"name\":\"model/chat_template.jinja\"") != std::string::npos);
}

TEST_CASE_FIXTURE(Shell, "render in colours, and without them where there is no terminal") {
  const std::string chat = R"([{"role": "user", "content": "a\u001b[2J\n\u202eb"}])";
  CHECK(run("render --model model", chat).out ==
        "<bos>[[user: a\x1b[2J\n\u202e"
        "b~fin~[[assistant: ");
  CHECK(run("render --model model --color never", chat).out == run("render --model model", chat).out);
  const Run coloured = run("render --model model --color always", chat);
  CHECK(coloured.out ==
        "<bos>\x1b[2;36m[[\x1b[0m\x1b[36muser\x1b[0m\x1b[2;36m: \x1b[0m\x1b[36ma\\u001b[2J\n\\u202eb\x1b[0m"
        "\x1b[2;36m~fin~\x1b[0m\x1b[2m[[assistant: \x1b[0m\n");
  CHECK(run("render --model model --color always --spans", chat).out.find("\x1b[36mmessages[0].content") !=
        std::string::npos);
  CHECK(run("render --model model --color always --json", chat).out == run("render --model model --json", chat).out);
  CHECK(run("render --model model --color sometimes", chat).status == 2);
}

TEST_CASE_FIXTURE(Shell, "render --html writes one page") {
  const std::string page = file("page.html", "");
  const Run written = run("render --model model -m '</script>' --html '" + page + "'");
  CHECK(written.status == 0);
  CHECK(written.out == "");
  CHECK(written.err == "");
  const std::string content = files::read(page).value();
  CHECK(content.starts_with("<!doctype html>"));
  CHECK(content.ends_with("</html>\n"));
  CHECK(run("render --model model -m '</script>' --html").out == content);
  CHECK(run("render --model model -m '</script>' --html -").out == content);
  CHECK(run("render --html --model model -m '</script>'").out == content);
  const Run nowhere = run("render --model model -m x --html /no/such/folder/page.html");
  CHECK(nowhere.status == 2);
  CHECK(nowhere.err.starts_with("rondo: /no/such/folder/page.html: "));
  for (const char* others : {"--html - --json", "--html - --spans", "--html - --trace", "--spans --trace"}) {
    const Run both = run("render --model model -m x " + std::string(others));
    CHECK(both.status == 2);
    CHECK(both.err.starts_with("rondo: --"));
    CHECK(both.out == "");
  }
}

TEST_CASE_FIXTURE(Shell, "jinja renders any template with any variables") {
  CHECK(run(R"(jinja --text 'Hello {{ name }}!' --context '{"name": "Ann"}')").out == "Hello Ann!");
  CHECK(run("jinja", "{% if true %}\n  a\n  {% endif %}\n").out == "  a\n");
  CHECK(
      run("jinja - --no-trim-blocks --no-lstrip-blocks --keep-trailing-newline", "{% if true %}\n  a\n  {% endif %}\n")
          .out == "\n  a\n  \n");
  const std::string context = file("context.json", R"({"x": [1, null]})");
  CHECK(run("jinja '" + file("t.jinja", "{{ x }}") + "' --context '" + context + "' --json").out ==
        "{\"text\":\"[1, None]\"}\n");
  CHECK(run("jinja '" + file("letter.html", "{{ 1 }}") + "'").out == "1");
  CHECK(run("jinja --text \"{{ strftime_now('%Y') }}\" --now 1999-12-31T00:00:00").out == "1999");
  const std::string append = "jinja --text '{% set l = [] %}{{ l.append(1) }}{{ l }}'";
  CHECK(run(append).out == "None[1]");
  CHECK(run(append + " --mode strict").status == 1);
  CHECK(run("jinja model").out == "");  // neither messages nor special tokens
  CHECK(run("jinja --text x model").status == 2);
  const Run broken = run("jinja", "one\n{{ x");
  CHECK(broken.status == 1);
  CHECK(broken.err.starts_with("rondo: standard input:2:"));
  CHECK(run("jinja nowhere.jinja").err.starts_with("rondo: nowhere.jinja: no such file or folder"));
  CHECK(run("jinja --text x --context '[1]'").err.starts_with("rondo: `context` must be an object, found an array"));
  CHECK(run("jinja --text x --context '{1}'").err.starts_with("rondo: --context:1:2: "));
}

TEST_CASE_FIXTURE(Shell, "bad input gives one sentence with the place, and status 1") {
  struct Row {
    std::string arguments;
    std::string input;
    std::string complaint;  // the first line of standard error begins with this
  };
  const std::string broken = file("broken.jinja", "{% for m in messages %}\n  {{ m.content }\n{% endfor %}");
  const std::string latin = file("latin.jinja", "one\nd\xE9j\xE0 vu");
  const std::string invalid = file("invalid.json", "[{\"role\": \"user\",\n  \"content\": \"d\xE9j\xE0\"}]");
  const std::string cut = file("cut.gguf", std::string("GGUF\x03\0\0\0\x05\0\0\0", 12));
  const Row rows[] = {
      {"render --model nowhere", kHello, "rondo: nowhere: no such file or folder"},
      {"render --model .. ", kHello, "rondo: ..: the folder has neither a tokenizer nor a chat template"},
      {"render --model model --messages nowhere.json", "", "rondo: nowhere.json: "},
      {"render --model model", "{\"text\": 1}", "rondo: messages must be an array of objects, found an object"},
      {"render --model model", "{\"role\": 1}", "rondo: messages[0].role must be a string, found an integer"},
      {"render --model model", "\"hi\"", "rondo: messages must be an array of objects, found a string"},
      {"render --model model", "[{\"role\": \"user\"}, 3]", "rondo: messages[1] must be an object, found an integer"},
      {"render --model model", "[{\"content\": \"x\"}]", "rondo: messages[0] has no `role`"},
      {"render --model model", "[{\"role\": \"wizard\"}]", "rondo: messages[0].role: unknown role `wizard`"},
      {"encode --model model", "[{\"role\": \"wizard\"}]", "rondo: messages[0].role: unknown role `wizard`"},
      {"render --mode strict --model model", "[{\"role\": \"function\"}]", "rondo: model/chat_template.jinja:"},
      {"render --model model", "[1,\n2", "rondo: standard input:2:2: expected `,` or `]` after the element"},
      {"render --model model", "", "rondo: standard input:1:1: expected a value, found the end of the text"},
      {"render --model model --messages " + invalid, "", "rondo: " + invalid + ":2:16: invalid UTF-8 in a string"},
      {"render --template " + broken, kHello, "rondo: " + broken + ":2:"},
      {"render --template " + latin, kHello, "rondo: " + latin + ":2:2: the template is not valid UTF-8"},
      {"render --model " + cut, kHello, "rondo: " + cut + ": byte "},
      {"replay made:agents=18446744073709551616 model", "", "rondo: a log that is made up is described by names"},
      {"replay made:agents=2,agents=3 model", "", "rondo: a log that is made up has `agents` twice"},
      {"--help > /dev/full", "", "rondo: standard output: "},
      {"tokenize --model nowhere x", "", "rondo: nowhere: no such file or folder"},
      {"tokenize --model model/chat_template.jinja x", "", "rondo: model/chat_template.jinja: not a tokenizer"},
      {"detokenize --model model '[999999]'", "", "rondo: "},
      {"detokenize --model model '[\"a\"]'", "", "rondo: `ids[0]` must be an integer, found a string"},
  };
  for (const Row& row : rows) {
    const Run result = run(row.arguments, row.input);
    CAPTURE(row.arguments);
    CAPTURE(row.input);
    CHECK(result.status == 1);
    CHECK(result.out == "");
    CHECK_MESSAGE(result.err.starts_with(row.complaint), result.err, " should begin with ", row.complaint);
  }
}

// The tests of a template, and its check, see what polyfills make of it.
TEST_CASE_FIXTURE(Shell, "what a template lacks is supplied where it is tested and checked") {
  const std::string lacking = file("lacking.jinja", R"({%- for m in messages -%}
{%- if m.role not in ['user', 'assistant'] -%}{{ raise_exception('only questions and answers') }}{%- endif -%}
{{- '(' + m.role + ') ' + m.content + ';' -}}
{%- endfor -%})");
  const std::string suite = file("suite.json", R"({"model": "lacking.jinja", "cases": [{"name": "system text",
    "messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "U"}],
    "rendered": "(user) S\n\nU;"}]})");
  CHECK(run("test " + suite).status == 1);
  const Run tested = run("test " + suite + " --polyfill auto");
  CHECK(tested.status == 0);
  CHECK(tested.out.find("1 passed, 0 failed") != std::string::npos);
  const std::string check = "check " + lacking + " --scenario content-system --fail-on never";
  CHECK(run(check).out.find("the template refuses") != std::string::npos);
  CHECK(run(check + " --polyfill auto").out.find("the template refuses") == std::string::npos);
  CHECK(run("check " + lacking + " --polyfill auto --fix").err ==
        "rondo: `polyfill` is not part of a template, and cannot be mended in it\n");
}

TEST_CASE_FIXTURE(Shell, "usage errors have status 2 and help has status 0") {
  CHECK(run("").status == 2);
  CHECK(run("juggle").status == 2);
  CHECK(run("render --frobnicate").status == 2);
  CHECK(run("bridge --model model").status == 2);
  for (const char* command : {"", "render", "jinja", "parse", "bridge", "diff", "replay", "tokenize", "encode",
                              "detokenize", "chat", "batch", "demo"}) {
    const Run help = run(std::string(command) + " --help");
    CHECK(help.status == 0);
    CHECK(help.out.find("Usage") != std::string::npos);
  }
}

#ifdef RONDO_HAVE_NET
TEST_CASE_FIXTURE(Shell, "fake-engine says where it listens, and ends in order") {
  CHECK(run("fake-engine --help").status == 0);
  CHECK(run("fake-engine nobody").status == 2);
  const Run fault = run("fake-engine vllm --fault x");
  CHECK(fault.status == 2);
  CHECK(fault.err.starts_with("rondo: `x` is not a fault; expected one of none, error500, "));
  CHECK(fault.err.find("slow-start") != std::string::npos);
  CHECK(run("fake-engine vllm --port 99999").err.find("not in range 0 to 65535") != std::string::npos);
  CHECK(run("fake-engine vllm --script '{\"odd\": 1}'").err == "rondo: script: unknown member `odd`\n");
  const std::string ready = path("ready");
  const std::string command = "mkfifo '" + ready + "'; '" RONDO_PROGRAM "' fake-engine sglang --json >'" + ready +
                              "' & read -r line <'" + ready + "'; kill -TERM $!; wait $!; echo \"$? $line\" >'" +
                              path("said") + "'";
  CHECK(std::system(command.c_str()) == 0);
  CHECK(files::read(path("said")).value().starts_with("0 {\"url\":\"http://127.0.0.1:"));
}

TEST_CASE_FIXTURE(Shell, "engines says what answers at an address, and fails where one is none") {
  CHECK(run("engines --help").status == 0);
  CHECK(run("engines").status == 2);
  const Run nobody = run("engines http://127.0.0.1:1");
  CHECK(nobody.status == 1);
  CHECK(nobody.err.find("http://127.0.0.1:1: connect: ") != std::string::npos);
  const Run json = run("engines nonsense --json");
  CHECK(json.status == 1);
  CHECK(json.out.find(R"({"engines":[{"url":"nonsense","error":{"code":"bad_request")") == 0);
  CHECK(run("engines http://127.0.0.1:1 --ca nowhere.pem").err.find("nowhere.pem") != std::string::npos);
  const std::string ready = path("ready");
  const std::string command = "mkfifo '" + ready + "'; '" RONDO_PROGRAM "' fake-engine vllm >'" + ready +
                              "' & read -r line <'" + ready + "'; '" RONDO_PROGRAM "' engines \"${line##* }\" >'" +
                              path("said") + "'; kill -TERM $!; wait $!";
  CHECK(std::system(command.c_str()) == 0);
  const std::string said = files::read(path("said")).value();
  for (const char* part : {"kind      vllm ", "model     fake-model", "ids by    /v1/completions", "4096 tokens"})
    CHECK_MESSAGE(said.find(part) != std::string::npos, part);
}

TEST_CASE_FIXTURE(Shell, "serve stands in front of an engine, tells what it was asked, and ends in order") {
  const std::string model = RONDO_SOURCE_DIR "/tests/golden/batch/model";
  const std::string serve = "'" RONDO_PROGRAM "' serve '" + model + "' --port 0 --log text --url \"${engine##* }\" ";
  // What answers is another kind of engine; then a gateway, of which is asked what it is.
  const std::string command = "cd '" + path("") +
                              "'; mkfifo engine gateway; '" RONDO_PROGRAM
                              "' fake-engine vllm --generate on >engine & "
                              "first=$!; read -r engine <engine; " +
                              serve + "--engine sglang >out 2>refused; echo $? >>refused; " + serve +
                              ">gateway 2>log & second=$!; read -r gateway <gateway; '" RONDO_PROGRAM
                              "' engines \"${gateway##* }\" >asked 2>&1; kill -TERM $second; wait $second; echo $? "
                              ">ended; kill -TERM $first; wait $first";
  CHECK(std::system(command.c_str()) == 0);
  const auto said = [&](const char* name) { return files::read(path(name)).value(); };
  CHECK(said("refused").find("it is vllm, not sglang") != std::string::npos);
  CHECK(said("refused").ends_with("\n1\n"));
  CHECK(said("ended") == "0\n");
  CHECK(said("asked").find("kind      vllm") != std::string::npos);
  CHECK_MESSAGE(said("log").find(" 200 other GET /v1/models ") != std::string::npos, said("log"));
}
#endif

TEST_CASE_FIXTURE(Shell, "explain tells the format and the template lines behind it") {
  const Run people = run("explain model");
  CHECK(people.err == "");
  CHECK(people.status == 0);
  CHECK(people.out.find("reasoning: \"(*mull \" .. \" mull*)\"") != std::string::npos);
  CHECK(people.out.find("calls.call_open ") != std::string::npos);
  CHECK(people.out.find("line 15          \"{!do \"") != std::string::npos);
  const Run json = run("explain --template model/chat_template.jinja --json");
  CHECK(
      json.out.find(R"({"field":"reasoning.open","text":"(*mull ","pieces":[{"text":"(*mull ","line":11,"column":)") !=
      std::string::npos);
  CHECK(run("explain model --probes").out.size() > people.out.size());
  CHECK(run("explain model --grammar").out.find("\nroot ::= \"{!do\" ") != std::string::npos);
  const Run page = run("explain model --html");
  CHECK(page.out.starts_with("<!doctype html>"));
  CHECK(page.out.find("<div id=\"L15\" class=\"used\" title=\"calls.call_open") != std::string::npos);
  CHECK(page.out.find("<script") == std::string::npos);
}

TEST_CASE_FIXTURE(Shell, "a format may be corrected") {
  const std::string all = file("format.json", run("explain model --format").out);
  CHECK(run("parse --model model --correct '" + all + "' --json --text '(*mull a mull*)b'").out ==
        run("parse --model model --json --text '(*mull a mull*)b'").out);
  const std::string some = R"('{"reasoning": {"open": "<<", "close": ">>"}}')";
  CHECK(run("parse --model model --correct " + some + " --text '<<a>>b'").out == "reasoning: a\ncontent:   b\n");
  const Run bad = run(R"(parse --model model --correct '{"reasoning": {"close": ""}}' --text x)");
  CHECK(bad.status == 1);
  CHECK(bad.err == "rondo: `corrections`: format: reasoning.close: nothing ends the reasoning\n");
}

TEST_CASE_FIXTURE(Shell, "parse shows standard input while it arrives") {
  CHECK(run("parse --model model --stream", "(*mull a\nb mull*)c").out == "reasoning: a\nb\ncontent:   c\n");
  CHECK(run("parse --model model", "(*mull a mull*)c").out == "reasoning: a\ncontent:   c\n");
  CHECK(run("parse --model model --stream --json", "(*mull a mull*)c").out ==
        R"({"deltas":[{"reasoning_content":"a"},{"content":"c"}]})"
        "\n"
        R"({"message":{"content":"c","reasoning_content":"a","tool_calls":[],"complete":true}})"
        "\n");
}

// What bash offers for the last of these words, with the script of `rondo completion bash`, with bars between.
std::string completed(const Shell& shell, const std::string& words) {
  const std::string script = shell.file("script", shell.run("completion bash").out + "COMP_WORDS=(rondo " + words +
                                                      ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_rondo\n"
                                                      "IFS='|'\necho \"${COMPREPLY[*]}\"\n");
  const std::string out = shell.path("completed");
  CHECK(std::system(("cd '" RONDO_SOURCE_DIR "/tests/golden/batch' && bash '" + script + "' >'" + out + "'").c_str()) ==
        0);
  return files::read(out).value();
}

TEST_CASE_FIXTURE(Shell, "completion: bash offers commands, options, their words, and files") {
  CHECK(completed(*this, "det") == "detokenize\n");
  CHECK(completed(*this, "edge e") == "export\n");
  CHECK(completed(*this, "edge export --js") == "--json\n");
  CHECK(completed(*this, "render --mode l") == "lenient\n");
  CHECK(completed(*this, "render -m x --spa") == "--spans\n");
  CHECK(completed(*this, "render mode") == "model\n");
  CHECK(completed(*this, "render --template mode") == "model\n");
  CHECK(completed(*this, "--ver") == "--version\n");
  CHECK(completed(*this, "renderer --spa") == "\n");
  CHECK(completed(*this, "render --mode = s") == "strict\n");  // as bash splits `--mode=s`
  CHECK(completed(*this, "render --mode =") == "strict|lenient\n");
  CHECK(completed(*this, "completion f") == "fish\n");
#ifdef RONDO_HAVE_NET
  CHECK(completed(*this, "fake-engine v") == "vllm\n");
  CHECK(completed(*this, "serve --cache-type q8") == "q8_0\n");
#endif
}

TEST_CASE_FIXTURE(Shell, "bug: completion offered files after help, and halves of names with blanks") {
  CHECK(completed(*this, "help det") == "detokenize\n");
  const std::string begin = file("two words.jinja", "").substr(0, path("two").size());
  CHECK(completed(*this, "render '" + begin + "'") == path("two words.jinja") + "\n");
  CHECK(run("completion fish").out.find("__fish_seen_subcommand_from help' -f -a 'render jinja ") != std::string::npos);
}

TEST_CASE_FIXTURE(Shell, "completion: zsh and fish get scripts with every command") {
  CHECK(run("completion zsh").out.starts_with("#compdef rondo\n"));
  const Run fish = run("completion fish");
  CHECK(fish.status == 0);
  for (const char* line :
       {"complete -c rondo -n '__fish_use_subcommand' -f -a render -d 'conversation to prompt text'\n",
        " '__fish_seen_subcommand_from edge; and __fish_seen_subcommand_from export' -l json -d ",
        " '__fish_seen_subcommand_from render' -l mode -f -a 'strict lenient' -r -d "})
    CHECK_MESSAGE(fish.out.find(line) != std::string::npos, line);
  CHECK(run("completion tcsh").status == 2);
}

}  // namespace rondo
