// The program itself: lines of conversations to ids and masks.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "base/files.h"
#include "tests/support/shell.h"

namespace rondo {

using testing::Run;
using testing::Shell;

namespace {

const std::string kLines =
    R"([{"role": "user", "content": "hello"}, {"role": "assistant", "content": "x"}]
{"id": "b", "chat": [{"role": "user", "content": "x"}]}

{"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}], "kwargs": {"a": 1}}
{cut
7
{"id": 3, "messages": "x"}
)";

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

}  // namespace

TEST_CASE_FIXTURE(Shell, "mask answers every line in its place, and goes on behind broken ones") {
  const Run run = this->run("mask model", kLines);
  CHECK(run.status == 1);
  CHECK(run.err.find("6 lines, 4 failed; ") != std::string::npos);
  CHECK(count(run.out, "\n") == 6);
  std::size_t at = 0;
  for (const char* part : {R"({"line":1,"ids":[)", R"({"line":2,"id":"b","error":{)", R"({"line":4,"ids":[)",
                           R"({"line":5,"error":{)", R"({"line":6,"error":{)", R"({"line":7,"id":3,"error":{)"}) {
    const std::size_t found = run.out.find(part, at);
    REQUIRE_MESSAGE(found != std::string::npos, part);
    at = found;
  }
  CHECK(run.out.find("the object has no `messages`") != std::string::npos);
  CHECK(run.out.find("a line is an array of messages, or an object with `messages`") != std::string::npos);
  CHECK(run.out.find(R"("mask":[)") != std::string::npos);
}

TEST_CASE_FIXTURE(Shell, "bug: messages without a role were masked, encoded and bridged in silence") {
  const std::string other = R"({"messages": [{"from": "human", "value": "hi"}]})";
  const Run masked = run("mask model", other + "\n");
  CHECK(masked.status == 1);
  CHECK_MESSAGE(masked.out.find("messages[0] has no `role`") != std::string::npos, masked.out);
  for (const char* command : {"encode --model model", "render --model model"}) {
    const Run refused = run(command, other);
    CHECK(refused.status == 1);
    CHECK_MESSAGE(refused.err == "rondo: messages[0] has no `role`\n", refused.err);
  }
}

TEST_CASE_FIXTURE(Shell, "mask says which message the template leaves out, and encode refuses it") {
  const std::string silent = file("silent.jinja",
                                  "{%- for m in messages %}{%- if m.role == 'user' or m.role == 'assistant' "
                                  "%}{{ '[' ~ m.role ~ ']' ~ m.content }}{%- endif %}{%- endfor %}");
  const std::string lines = R"([{"role": "user", "content": "x"}, {"role": "critic", "content": "y"}])";
  const std::string note = "messages[1].role: the template writes nothing for the role `critic`";
  const Run masked = run("mask model --template '" + silent + "'", lines);
  CHECK(masked.status == 0);
  CHECK_MESSAGE(masked.out.find("\"notes\":[\"" + note) != std::string::npos, masked.out);
  const Run encoded = run("encode model --template '" + silent + "' --json", lines);
  CHECK(encoded.status == 1);
  CHECK_MESSAGE(encoded.err == "rondo: messages[1].role: unknown role `critic`\n", encoded.err);
}

TEST_CASE_FIXTURE(Shell, "bug: mask by generation blocks was refused for every template") {
  const std::string marked =
      file("marked.jinja",
           "{%- for m in messages %}{%- if m.role == 'assistant' %}{% generation %}{{ m.content }}{% endgeneration %}"
           "{%- else %}{{ m.content }}{%- endif %}{%- endfor %}");
  const std::string lines = R"([{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]
[{"role": "user", "content": "x"}])";
  const Run masked = run("mask model --mask generation --template '" + marked + "'", lines);
  CHECK_MESSAGE(masked.status == 0, masked.err);
  CHECK_MESSAGE(masked.err.find("2 lines, 0 failed; 1 of ") != std::string::npos, masked.err);
  const std::string unmarked = file("unmarked.jinja", "{%- for m in messages %}{{ m.content }}{%- endfor %}");
  const Run refused = run("mask model --mask generation --template '" + unmarked + "'", lines);
  CHECK(refused.status == 1);
  CHECK_MESSAGE(refused.err.find("the template marks nothing with {% generation %}") != std::string::npos, refused.err);
}

TEST_CASE_FIXTURE(Shell, "mask and batch skip blank lines, and a message may say that it is not learned") {
  const std::string plain = file("plain.jinja", "{%- for m in messages %}[{{ m.role }}]{{ m.content }}{%- endfor %}");
  const std::string lines = R"([{"role": "user", "content": "x"}, {"role": "assistant", "content": "y", "weight": 0}]
  	
[{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}])";
  const Run masked = run("mask model --mask content --template '" + plain + "'", lines);
  CHECK_MESSAGE(masked.status == 0, masked.out);
  CHECK_MESSAGE(masked.err.find("2 lines, 0 failed; 1 of ") != std::string::npos, masked.err);
  CHECK(count(run("batch", "  \n{\"op\":\"nothing\"}\n \n").out, "\n") == 1);
}

TEST_CASE_FIXTURE(Shell, "mask says the same on any number of threads") {
  std::string lines;
  for (int i = 0; i < 300; ++i) lines += kLines;
  CHECK(run("mask model --threads 1", lines).out == run("mask model --threads 7", lines).out);
}

TEST_CASE_FIXTURE(Shell, "bug: mask took a file of lines for the model where an option named that") {
  const std::string input = file("given.jsonl", R"([{"role": "user", "content": "hello"}])");
  const std::string wanted = run("mask model '" + input + "'").out;
  CHECK(count(wanted, "\n") == 1);
  CHECK(run("mask '" + input + "' model").out == wanted);
  CHECK(run("mask '" + input + "' --model model").out == wanted);
  CHECK(run("mask --tokenizer model --template model '" + input + "'").out == wanted);
  CHECK(run("mask model --input '" + input + "'").out == wanted);
  CHECK(run("mask model '" + input + "' '" + input + "'").status == 2);
}

TEST_CASE_FIXTURE(Shell, "mask reads and writes files") {
  const std::string input = file("chats.jsonl", R"({"chat": [{"role": "user", "content": "hello"}]})");
  const std::string output = file("masks.jsonl", "what stood here before");
  const std::string page = file("page.html", "");
  const Run done = run("mask model '" + input + "' --field chat --role user --mask content --text --owners -o '" +
                       output + "' --html '" + page + "'");
  CHECK(done.status == 0);
  CHECK(done.out == "");
  const std::string written = files::read(output).value();
  CHECK(count(written, "\n") == 1);
  for (const char* part : {R"("line":1)", R"("text":")", R"("owners":[)", "1"})
    CHECK(written.find(part) != std::string::npos);
  const std::string shown = files::read(page).value();
  CHECK(shown.find("<h2>line 1</h2>") != std::string::npos);
  CHECK(shown.find("tokens are learned") != std::string::npos);
  CHECK(shown.find("learned\"") != std::string::npos);
}

TEST_CASE_FIXTURE(Shell, "mask into the file that it reads would empty it, and is refused") {
  const std::string lines = R"([{"role": "user", "content": "hello"}])"
                            "\n";
  const std::string chats = file("chats.jsonl", lines);
  std::filesystem::create_symlink(chats, path("link.jsonl"));
  std::filesystem::create_hard_link(chats, path("name.jsonl"));
  for (const std::string& output : {chats, path("link.jsonl"), path("name.jsonl")}) {
    const Run refused = run("mask model '" + chats + "' -o '" + output + "'");
    CHECK(refused.status == 2);
    CHECK(refused.err.starts_with("rondo: " + chats + ": the file to read is the one to write"));
    CHECK(run("mask model -o '" + output + "' <'" + chats + "'").status == 2);
    CHECK(files::read(chats).value() == lines);
  }
  const std::string longer = file("old.jsonl", std::string(10'000, 'x'));
  CHECK(run("mask model '" + chats + "' -o '" + longer + "'").status == 0);
  CHECK(files::read(longer).value() == run("mask model '" + chats + "'").out);
  CHECK(run("mask model '" + chats + "' -o /dev/null").status == 0);
}

TEST_CASE_FIXTURE(Shell, "bug: mask emptied its output before it looked for its model") {
  const std::string kept = file("kept.jsonl", "kept");
  const Run masked = run("mask nowhere -o " + kept, R"([{"role": "user", "content": "x"}])");
  CHECK(masked.status == 1);
  CHECK(masked.err.starts_with("rondo: nowhere: no such file or folder"));
  CHECK(files::read(kept).value() == "kept");
}

TEST_CASE_FIXTURE(Shell, "bug: with standard descriptors closed, messages went into the files that rondo wrote") {
  const std::string lines = file("lines.jsonl", "[{\"role\": \"user\", \"content\": \"x\"}]\nbroken\n");
  const Run masked = run("mask model " + lines + " -o " + path("masked.jsonl") + " >&- 2>&-");
  CHECK(masked.status == 1);  // a line failed
  const std::string out = files::read(path("masked.jsonl")).value();
  CHECK(out.find("rondo:") == std::string::npos);
  CHECK(std::ranges::count(out, '\n') == 2);
  const Run closed = run("mask model " + lines + " >&-");
  CHECK(closed.status == 1);
  CHECK(closed.err.find("standard output: ") != std::string::npos);
}

TEST_CASE_FIXTURE(Shell, "mask warns where nothing is learned, as with a role that nobody has") {
  const std::string lines = R"([{"role": "user", "content": "hello"}, {"role": "assistant", "content": "x"}])";
  CHECK(run("mask model", lines).err.find("warning") == std::string::npos);
  const Run nobody = run("mask model --role nobody", lines);
  CHECK(nobody.status == 0);
  CHECK(nobody.err.find("rondo: warning: nothing is learned: ") != std::string::npos);
}

TEST_CASE_FIXTURE(Shell, "mask says what it cannot do at all") {
  CHECK(run("mask model nowhere.jsonl").err == "rondo: nowhere.jsonl: no such file\n");
  CHECK(run("mask model nowhere.jsonl").status == 1);
  CHECK(run("mask model -o nowhere/out.jsonl", "[]").status == 1);
  CHECK(run("mask", "[]").status == 2);
  CHECK(run("mask model --threads 0", "[]").status == 2);
  const Run part = run("mask model --mask dreams", R"([{"role": "user", "content": "x"}])");
  CHECK(part.status == 2);
  CHECK(part.out == "");
  CHECK(part.err.starts_with("rondo: --mask: dreams not in {sampled,"));
  CHECK(run("mask --help").out.find("loss masks") != std::string::npos);
}

}  // namespace rondo
