// The program: `rondo edge`, and Edge JSON as a model's template.
#include <doctest/doctest.h>

#include <string>

#include "base/files.h"
#include "json/parse.h"
#include "json/print.h"
#include "tests/support/shell.h"

namespace rondo {
namespace {

using testing::Run;
using testing::Shell;

const char* const kEdge =
    "{\"model_path\": \"m\", \"roles\": {\"system\": {\"prefix\": \"[system \", \"suffix\": \" ]\"},\n"
    "  \"user\": {\"prefix\": \"[user \", \"suffix\": \" ]\"}, \"assistant\": {\"prefix\": \"[assistant \", "
    "\"suffix\": \" ]\"}},\n"
    "  \"content_types\": {\"image\": {\"format\": \"<img>\"}}, \"generation_prompt\": \"[assistant \"}";

const char* const kJinja =
    "{{- bos_token }}{%- for m in messages %}{{- '[' + m.role + ' ' + m.content + ' ]' }}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '[assistant ' }}{%- endif %}";

}  // namespace

TEST_CASE_FIXTURE(Shell,
                  "002:37, 002:167-173: edge export writes the file that the runtime looks for, with a verdict") {
  file("model/chat_template.jinja", kJinja);
  file("model/tokenizer_config.json", R"({"bos_token": "<bos>"})");
  const Run shown = run("edge export '" + path("model") + "' --model-path here");
  CHECK(shown.status == 0);
  CHECK(shown.err.starts_with("not lossless; the same for conversations that begin with a system message; user and "));
  CHECK(shown.err.find("\n  loses conversations without a system message: the template writes \"<bos>[user ") !=
        std::string::npos);
  CHECK(json::parse(shown.out).value().find_string("model_path") == "here");
  const Run written = run("edge export '" + path("model") + "' -o '" + path("model") + "' --model-path here --json");
  CHECK(written.status == 0);
  CHECK(files::read(path("model/processed_chat_template.json")).value() == shown.out);
  const json::Value reply = json::parse(written.out).value();
  CHECK(*reply.find("template") == json::parse(shown.out).value());
  CHECK(*reply.find("lossless") == json::Value(false));
  CHECK(reply.find("lossless_for")->find_string("system") == "first");
  const Run fixed = run("edge export '" + path("model") + "' --kwargs bos_token= --json");
  CHECK(*json::parse(fixed.out).value().find("lossless") == json::Value(true));
  const Run missing = run("edge export /no/such/model");
  CHECK(missing.status == 1);
  CHECK(missing.out == "");
}

TEST_CASE_FIXTURE(Shell, "002:175-190: a custom template takes the place of the model's own") {
  file("model/chat_template.jinja", kJinja);
  const std::string custom = file("custom.json", kEdge);
  const Run out = run("edge export '" + path("model") + "' --template '" + custom + "' --json");
  const json::Value reply = json::parse(out.out).value();
  CHECK(*reply.find("lossless") == json::Value(true));
  CHECK(reply.find("template")->find("content_types")->find("image")->find_string("format") == "<img>");
}

TEST_CASE_FIXTURE(Shell, "002:194-205: a model on the list gets the template made for it, unless told otherwise") {
  file("model/config.json", R"({"model_type": "phi4mm"})");
  const Run bare = run("edge export '" + path("model") + "' --json");
  REQUIRE_MESSAGE(bare.status == 0, bare.err);
  CHECK(json::parse(bare.out).value().find("prebuilt")->find_string("name") == "phi4mm");
  file("model/chat_template.jinja", kJinja);
  const json::Value compared = json::parse(run("edge export '" + path("model") + "' --json").out).value();
  CHECK(compared.find("prebuilt")->find_string("reason") == "the chat template of the tokenizer knows no images");
  CHECK(*compared.find("lossless") == json::Value(false));
  CHECK(run("edge export '" + path("model") + "'").err.find("made in advance (phi4mm)") != std::string::npos);
  CHECK(json::parse(run("edge export '" + path("model") + "' --no-prebuilt --json").out).value().find("prebuilt") ==
        nullptr);
  const std::string custom = file("custom.json", kEdge);
  CHECK(json::parse(run("edge export '" + path("model") + "' --template '" + custom + "' --json").out)
            .value()
            .find("prebuilt") == nullptr);
}

TEST_CASE_FIXTURE(Shell,
                  "edge import gives a template that exports to the same file, and models may have such a file") {
  const std::string edge = file("model/processed_chat_template.json", kEdge);
  const std::string jinja = path("out.jinja");
  CHECK(run("edge import '" + edge + "' -o '" + jinja + "'").status == 0);
  const Run text = run("edge import '" + path("model") + "'");
  CHECK(text.out == files::read(jinja).value());
  CHECK(json::parse(run("edge import '" + edge + "' --json").out).value().find_string("template") == text.out);
  const json::Value again = json::parse(run("edge export '" + jinja + "'").out).value();
  const json::Value first = json::parse(run("edge validate '" + edge + "' --json").out).value();
  CHECK(again == *first.find("template"));
  // Both are templates for everything else.
  for (const std::string& source : {edge, path("model"), jinja}) {
    const Run rendered = run("render --template '" + source + "' --messages -", testing::kHello);
    CHECK_MESSAGE(rendered.out == "[user hello ][assistant ", rendered.err);
  }
  const Run check = run("check '" + path("model") + "' --json");
  CHECK(check.out.find("\"findings\"") != std::string::npos);
  CHECK(run("edge import /no/such/file").status == 1);
  CHECK(run("render --template '" + file("bad.json", R"({"roles": {"user": 1}})") + "' -m x").err.find("roles") !=
        std::string::npos);
}

TEST_CASE_FIXTURE(Shell, "edge export makes the folder that it is to write into, and - is standard output") {
  const Run printed = run("edge export model");
  CHECK(printed.status == 0);
  CHECK(run("edge export model -o '" + path("engine/new/") + "'").status == 0);
  CHECK(rondo::files::read(path("engine/new/processed_chat_template.json")).value() == printed.out);
  CHECK(run("edge export model -o -").out == printed.out);
  const std::string edge = path("engine/new/");
  CHECK(run("edge import '" + edge + "' -o -").out == run("edge import '" + edge + "'").out);
  CHECK(run("edge export model -o - --json").status == 2);
  CHECK(run("edge import '" + edge + "' -o - --json").status == 2);
  CHECK_FALSE(rondo::files::exists(RONDO_SOURCE_DIR "/tests/golden/batch/-"));
}

TEST_CASE_FIXTURE(Shell, "edge validate names what is wrong and where") {
  const std::string good = file("good.json", kEdge);
  const Run fine = run("edge validate '" + good + "'");
  CHECK(fine.status == 0);
  CHECK(fine.out == good + ": valid\n");
  const std::string bad = file("bad.json", "{\"roles\": {\"system\": {\"prefix\": 1}},\n \"x\": 1}");
  const Run wrong = run("edge validate '" + bad + "'");
  CHECK(wrong.status == 1);
  CHECK(wrong.out == bad + ":1:11: error: the required members `roles.user`, `roles.assistant` are missing\n" + bad +
                         ":1:22: error: the required member `roles.system.suffix` is missing\n" + bad +
                         ":1:33: error: `roles.system.prefix` must be a string, found an integer\n" + bad +
                         ":2:7: note: `x` is not a member of the format; it is kept\n" + bad + ": not valid\n");
  const Run json = run("edge validate '" + bad + "' --json");
  CHECK(json.status == 1);
  CHECK(json.out.starts_with(
      R"({"valid":false,"findings":[{"level":"error","kind":"missing","path":"roles","message":)"));
  CHECK(json.out.find(R"("reference":"'roles.system.prefix' must be str, got int")") != std::string::npos);
  const Run missing = run("edge validate /no/such/file.json");
  CHECK(missing.status == 1);
  CHECK(missing.err.find("/no/such/file.json") != std::string::npos);
}

TEST_CASE_FIXTURE(Shell, "002:137-152: edge format puts the prompts of a file of requests together") {
  const std::string edge = file("edge.json", kEdge);
  const std::string requests = file("requests.json", R"({"requests": [
    {"messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "a"}]},
    {"messages": [{"role": "user", "content": [{"type": "image"}, {"type": "smell"}]}]}]})");
  const Run json = run("edge format '" + edge + "' '" + requests + "' --json");
  CHECK(json.status == 0);
  CHECK(json.out ==
        R"([{"system":"[system S ]","complete":"[system S ][user a ][assistant "},)"
        R"({"system":"","complete":"[user <img> ][assistant ","warnings":["requests[1].messages[0].content[1]: )"
        R"(the template has no format for parts of type `smell`; the part is left out"]}])"
        "\n");
  const Run text = run("edge format '" + edge + "' '" + requests + "'");
  CHECK(text.out == "=== request 0\n[system S ][user a ][assistant \n=== request 1\n[user <img> ][assistant ");
  CHECK(text.err.find("smell") != std::string::npos);
  const Run one = run("edge format '" + edge + R"(' '{"messages": [{"role": "user", "content": "x"}]}')");
  CHECK(one.out == "[user x ][assistant ");
  const Run wrong = run("edge format '" + edge + "' '{\"requests\": 1}'");
  CHECK(wrong.status == 1);
  CHECK(wrong.err.find("requests must be an array, found an integer") != std::string::npos);
  CHECK(run("edge").status == 2);
  CHECK(run("edge format '" + edge + "'").status == 2);
}

}  // namespace rondo
