// The program itself: tokens, their owners and masks.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "base/files.h"
#include "tests/support/shell.h"

namespace rondo {

using testing::kHello;
using testing::Run;
using testing::Shell;

TEST_CASE_FIXTURE(Shell, "tokenize and detokenize") {
  CHECK(run("tokenize --model model 'hello world' --ids").out == "259 264\n");
  CHECK(run("tokenize --model model --ids", "hello world").out == "259 264\n");
  CHECK(run("tokenize --model model 'hello~fin~'").out == "259      \"hello\"\n283      \"~fin~\"\n");
  CHECK(run("tokenize --model model hello --json").out == "{\"ids\":[259],\"offsets\":[[0,5]]}\n");
  CHECK(run("detokenize --model model '[259, 264]'").out == "hello world");
}

TEST_CASE_FIXTURE(Shell, "parse reads ids, of another command too, up to the stop") {
  const Run said = run("parse model --json --ids '[259, 283, 264]'");
  CHECK(said.out ==
        "{\"content\":\"hello\",\"reasoning_content\":null,\"tool_calls\":[],\"complete\":true,\"text\":\"hello\","
        "\"read_ids\":2}\n");
  CHECK(run("parse --ids - model", run("tokenize model 'hello~fin~'").out).out == "content:   hello\n");
  // What is spelled like a stop is none.
  CHECK(run("parse model --json --ids -", run("tokenize model 'a~fin~' --no-special").out).out.find("\"a~fin~\"") !=
        std::string::npos);
  CHECK(run("parse model --ids 300").err == "rondo: ids[0]: id 300 is out of range; the vocabulary has 289 ids\n");
  CHECK(run("parse model --ids '' --text a").status == 2);
  CHECK(run("parse --template model/chat_template.jinja --ids 1").status == 2);
}

TEST_CASE_FIXTURE(Shell, "bug: what bridge says of its ids was read as JSON") {
  CHECK(run("detokenize model", "kept 2 ids, appended 1: \"x\"\n").err ==
        "rondo: standard input: expected token ids: numbers, a JSON array, or what `encode`, `tokenize` or "
        "`bridge --ids` prints\n");
}

TEST_CASE_FIXTURE(Shell, "tokenize: ways to show tokens") {
  CHECK(run("tokenize --model model 'hello world' --count").out == "2\n");
  CHECK(run("tokenize --model model 'hello~fin~' --offsets").out ==
        "259      0-5            \"hello\"\n283      5-10           \"~fin~\"\n");
  CHECK(run("tokenize --model model 'hello<b>' --color always").out.find("\x1b[30;48;5;153mhello\x1b[0m") == 0);
  const std::string page = run("tokenize --model model 'hello<b>~fin~' --html").out;
  CHECK(page.starts_with("<!doctype html>"));
  CHECK(page.find("&lt;") != std::string::npos);
  CHECK(page.find("<b>") == std::string::npos);
  CHECK(page.find("special\" title=\"id 283, bytes 8 to 13, special token\">~fin~</span>") != std::string::npos);
  CHECK(run("tokenize --model model --file model/chat_template.jinja --file model/chat_template.jinja --count")
            .out.ends_with(" total\n"));
  CHECK(
      run("tokenize --model model --file model/chat_template.jinja --file model/chat_template.jinja --ids --threads 2")
          .status == 0);
  CHECK(run("tokenize --model model hello --ids --json").status == 2);
  CHECK(run("tokenize --model model --file model/chat_template.jinja --file model/chat_template.jinja --html").status ==
        2);
  CHECK(run("tokenize --model model --file nowhere").status == 1);
  CHECK(run("--no-cache tokenize --model model hello --ids").out == "259\n");
}

TEST_CASE_FIXTURE(Shell, "large tokenizers are kept in the cache folder that the environment names") {
  const std::string content = files::read(RONDO_SOURCE_DIR "/tests/golden/batch/model/tokenizer.json").value();
  const std::string large = file("tokenizer.json", content + std::string(300'000, ' '));
  const std::string none = "-u RONDO_CACHE -u XDG_CACHE_HOME -u HOME -u RONDO_TOKENIZER_CACHE";
  const std::string own = "'" + path("own'");
  // Whether a tokenizer is kept below `place` of our own folder, which the program does with this environment.
  const auto keeps = [&](const std::string& place, const std::string& environment, const std::string& option = "") {
    CHECK(run(option + " tokenize --model '" + large + "' hello --ids", "", none + " " + environment).out == "259\n");
    const std::filesystem::path kept = std::filesystem::path(path("own")) / place / "tokenizers";
    const bool is_there = std::filesystem::exists(kept) && !std::filesystem::is_empty(kept);
    std::filesystem::remove_all(path("own"));
    return is_there;
  };
  CHECK(keeps("", "RONDO_CACHE=" + own + " XDG_CACHE_HOME=/nowhere HOME=/nowhere"));
  CHECK(keeps("rondo", "XDG_CACHE_HOME=" + own + " HOME=/nowhere"));
  CHECK(keeps(".cache/rondo", "HOME=" + own));
  CHECK_FALSE(keeps("", ""));
  CHECK_FALSE(keeps("", "RONDO_CACHE=" + own + " RONDO_TOKENIZER_CACHE=off"));
  CHECK_FALSE(keeps("", "RONDO_CACHE=" + own, "--no-cache"));
}

TEST_CASE_FIXTURE(Shell, "render --mask: what is learned") {
  const std::string turns = R"([{"role": "user", "content": "hello"}, {"role": "assistant", "content": "well"}])";
  const std::string rows = run("render --model model --no-generation-prompt --mask", turns).out;
  // The `w` is in one id with the space of the generation prompt, which is the template's.
  CHECK(rows ==
        "0 0-11           \"<bos>[[user: hello~fin~[[assistant: w\"\n1 11-15          \"ell~fin~\"\n4 of 15 ids are "
        "learned\n");
  CHECK(run("render --model model --mask content --role user", turns).out.find("\"hello\"\n0 ") != std::string::npos);
  CHECK(run("render --model model --mask --color always", turns).out.find("\x1b[1;32m") != std::string::npos);
  CHECK(run("render --model model --mask --html", turns).out.find("in the loss mask") != std::string::npos);
  CHECK(run("render --model model --mask --json", turns).out.find("\"loss_mask\":[") != std::string::npos);
  CHECK(run("render --model model --mask generation", turns).err.find("marks nothing") != std::string::npos);
  CHECK(run("render --model model --mask --spans", turns).status == 2);
  CHECK(run("render --model model --role user", turns).status == 2);
}

TEST_CASE_FIXTURE(Shell, "encode: ids with owners") {
  const std::string ids = run("encode --model model -m hello --ids").out;
  CHECK_FALSE(ids.empty());
  CHECK(run("encode --model model --ids", kHello).status == 0);
  const std::string table = run("encode --model model -m hello").out;
  CHECK(table.find("259      0 user data") != std::string::npos);
  CHECK(run("encode --model model -m hello --json").out.starts_with("{\"ids\":["));
  CHECK(run("encode --model model -m '~fin~' --html").out.find("message 0 (user), data") != std::string::npos);
  CHECK(run("encode --model model -m '~fin~' --count").out !=
        run("encode --model model -m '~fin~' --parse-content --count").out);
  CHECK(run("encode --model model -m hello --color always").out.find("\x1b[") != std::string::npos);
}

TEST_CASE_FIXTURE(Shell, "encode: raw turns") {
  const std::string turns =
      R"([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b", "raw": " b "}, {"role": "user", "content": "c"}])";
  CHECK(run("encode --model model", turns).out.find("note: ") == std::string::npos);
  const std::string table = run("encode --model model --raw-turns", turns).out;
  CHECK(table.find("note: messages[1]: the completion has no stop token; \"~fin~\" was added") != std::string::npos);
  CHECK(run("encode --model model --raw-turns", R"([{"role": "assistant", "raw": 1}])").err ==
        "rondo: messages[0].raw must be a text, found an integer\n");
}

TEST_CASE_FIXTURE(Shell, "a model is named by place as well, in front of the rest or behind it") {
  CHECK(run("tokenize model hello --ids").out == "259\n");
  CHECK(run("tokenize hello model --ids").out == "259\n");
  CHECK(run("tokenize hello --model model --ids").out == "259\n");
  CHECK(run("tokenize model --ids", "hello").out == "259\n");
  CHECK(run("encode model -m hello --ids").out == run("encode --model model -m hello --ids").out);
  CHECK(run("render model -m hello").out == run("render --model model -m hello").out);
  CHECK(run("parse model", "Hi").out == run("parse --model model", "Hi").out);
  CHECK(run("parse " + file("said.txt", "Hi") + " model").out == run("parse --model model", "Hi").out);
  CHECK(run("grammar model").err == run("grammar --model model").err);
  const std::string alone = file(
      "alone.jinja", files::read(RONDO_SOURCE_DIR "/tests/golden/transcripts/templates/tagged_json.jinja").value());
  CHECK(run("parse " + alone, "Hi [end]").out == run("parse --template " + alone, "Hi [end]").out);
  CHECK(run("parse " + alone + " model", "Hi").out == run("parse model " + alone, "Hi").out);
  for (const char* command : {"tokenize hello", "detokenize 259"}) {
    CHECK(run(command).status == 2);
    CHECK(run(command).err.starts_with("rondo: name a model, by place or with --model\n"));
  }
}

TEST_CASE_FIXTURE(Shell, "what is given by place and what is given by name go together") {
  const std::string text = file("text.txt", "ab");
  const std::string ids = run("tokenize model ab --ids").out;
  for (const char* form :
       {"tokenize ab model --ids", "tokenize ab --ids --model model", "tokenize --model model ab --ids",
        "tokenize model --file FILE --ids", "tokenize --file FILE model --ids"}) {
    CAPTURE(form);
    std::string command = form;
    if (const std::size_t at = command.find("FILE"); at != std::string::npos) command.replace(at, 4, text);
    CHECK(run(command).out == ids);
  }
  for (const char* form : {"detokenize model --ids IDS", "detokenize --ids IDS model", "detokenize IDS --model model",
                           "detokenize IDS model", "detokenize model IDS"}) {
    CAPTURE(form);
    std::string command = form;
    command.replace(command.find("IDS"), 3, "'" + ids + "'");
    CHECK(run(command).out == "ab");
  }
  // A tokenizer of any name is the model: the other argument is a text.
  const std::string named =
      file("my.json", files::read(RONDO_SOURCE_DIR "/tests/golden/batch/model/tokenizer.json").value());
  CHECK(run("tokenize " + named + " ab --ids").out == ids);
  CHECK(run("tokenize ab " + named + " --ids").out == ids);
  CHECK(run("tokenize " + text + " ab").err.find("not a tokenizer") != std::string::npos);
  CHECK(run("detokenize model 1,2").out == run("detokenize model '[1, 2]'").out);
  CHECK(run("parse --text ab model").out == run("parse model " + text).out);
  CHECK(run("render -m hi model").out == run("render model -m hi").out);
  CHECK(run("detokenize model 1 --ids 2").err.starts_with("rondo: IDS is given twice\n"));
  CHECK(run("parse model " + text + " --text ab").status == 2);
}

TEST_CASE_FIXTURE(Shell, "ids go from any command into any other") {
  const std::string ids = run("encode model -m hello --ids").out;
  const std::string text = "<bos>[[user: hello~fin~[[assistant: ";
  CHECK(run("detokenize model", ids).out == text);
  CHECK(run("detokenize model -", ids).out == text);
  CHECK(run("detokenize model", run("encode model -m hello --json").out).out == text);
  CHECK(run("detokenize model '" + ids + "'").out == text);
  CHECK(run("detokenize model " + file("ids.txt", ids)).out == text);
  CHECK(run("detokenize --ids '[259]' model").out == "hello");
  // Tables too, with what is noted behind them.
  for (const char* table : {"encode model -m hello", "encode model -m hello --offsets"})
    CHECK(run("detokenize model", run(table).out).out == text);
  CHECK(run("detokenize model", run("tokenize model 'hello world'").out + "note: something\n").out == "hello world");
  CHECK(run("detokenize model", run("render model -m hello --mask").out).status == 1);  // masks are no ids
  const std::string rest =
      " --completion-ids '259 283' --new-messages '[{\"role\": \"user\", \"content\": \"world\"}]'";
  const Run bridged = run("bridge model --prompt-ids -" + rest + " --json", ids);
  CHECK(bridged.status == 0);
  CHECK(run("detokenize model", bridged.out).out == text + "hello~fin~[[user: world~fin~[[assistant: ");
  CHECK(run("detokenize model", run("bridge model --prompt-ids -" + rest + " --ids", ids).out).out ==
        text + "hello~fin~[[user: world~fin~[[assistant: ");
  CHECK(run("detokenize model", "1 2 x").err.find("standard input") != std::string::npos);
  CHECK(run("detokenize model", "1 2 x").status == 1);
}

TEST_CASE_FIXTURE(Shell, "template variables are given one by one, as JSON or in a file") {
  const std::string chat_template =
      file("show.jinja", "{{ messages[0].content }} {{ a }} {{ b is true }} {{ c }} {{ d }}");
  const std::string wanted = "hello 1 True x y=z [1, 2]";
  const std::string render = "render --template '" + chat_template + "' -m hello ";
  CHECK(run(render + "--kwargs a=1 --kwargs b=true --kwargs 'c=x y=z' --kwargs 'd=[1, 2]'").out == wanted);
  const std::string json = R"({"a": 1, "b": true, "c": "x y=z", "d": [1, 2]})";
  CHECK(run(render + "--kwargs '" + json + "'").out == wanted);
  CHECK(run(render + "--kwargs '" + file("kwargs.json", json) + "'").out == wanted);
  CHECK(run(render + "--kwargs =1").err.find("expected KEY=VALUE, found `=1`") != std::string::npos);
}

TEST_CASE_FIXTURE(Shell, "a message alone and a whole chat request are conversations") {
  CHECK(run("render model --messages '{\"role\": \"user\", \"content\": \"hello\"}'").out ==
        run("render model -m hello").out);
  const std::string chat_template =
      file("request.jinja", "{{ messages[0].content }} {{ tools | length }} {{ documents | length }} {{ a }} {{ b }}");
  const std::string request = file("request.json", R"({"model": "m", "messages": [{"role": "user", "content": "hi"}],
      "tools": [{"type": "function", "function": {"name": "f"}}], "documents": [{"text": "d"}, {"text": "e"}],
      "chat_template_kwargs": {"a": 1, "b": 2}})");
  const std::string render = "render --template '" + chat_template + "' --messages '" + request + "'";
  CHECK(run(render).out == "hi 1 2 1 2");
  CHECK(run(render + " --kwargs b=3").out == "hi 1 2 1 3");
}

}  // namespace rondo
