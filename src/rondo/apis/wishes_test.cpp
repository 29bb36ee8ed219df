// What a request asks for in fields that few clients send.
#include <doctest/doctest.h>

#include "apis/completions.h"
#include "apis/request.h"
#include "json/parse.h"
#include "json/print.h"

namespace rondo::apis {
namespace {

using chat::Api;
using Texts = std::vector<std::string>;

Outcome<GenerateRequest> read_text(Api api, const std::string& body) { return read(api, json::parse(body).value()); }

Outcome<GenerateRequest> chat(const std::string& members, const std::string& message = R"("content": "x")") {
  return read_text(Api::kChat, R"({"messages": [{"role": "user")" + (message.empty() ? "" : ", " + message) + "}]" +
                                   (members.empty() ? "" : ", " + members) + "}");
}

Texts warnings(const Outcome<GenerateRequest>& read) {
  REQUIRE_MESSAGE(read.ok(), (read.ok() ? "" : read.fault().message));
  return read.value().warnings;
}

std::string refusal(const Outcome<GenerateRequest>& read) { return read.ok() ? "taken" : read.fault().message; }

TEST_CASE("bug: constraints under other servers' names, and wishes in empty objects, were passed over") {
  for (const std::string field :
       {R"("use_beam_search": true)", R"("mirostat": 2)", R"("dry_multiplier": 0.5)", R"("xtc_probability": 0.5)",
        R"("top_n_sigma": 1)", R"("logprob_token_ids": [5])", R"("kv_transfer_params": {"do_remote_decode": true})",
        R"("stop_regex": "x")", R"("return_hidden_states": true)", R"("session_params": {"id": "x"})",
        R"("priority": 3)", R"("watermarking": true)", R"("vllm_xargs": {"a": "b"})"}) {
    const std::string name = field.substr(1, field.find('"', 1) - 1);
    CHECK(warnings(chat(field)) == Texts{"`" + name + "` was left out"});
    const auto completion = read_completion(json::parse(R"({"prompt": "x", )" + field + "}").value());
    REQUIRE(completion.ok());
    CHECK(completion.value().warnings == Texts{"`" + name + "` was left out"});
  }
  CHECK(warnings(chat(R"("add_special_tokens": true)")) ==
        Texts{"`add_special_tokens` was left out: the template writes them"});
  CHECK(warnings(chat(R"("chat_template": "x")")) ==
        Texts{"`chat_template` was left out: the model's own took its place"});
  CHECK(warnings(chat(R"("web_search_options": {})")) ==
        Texts{"`web_search_options` was left out: nothing here searches the web"});
  CHECK(warnings(chat(R"("store": true)")) == Texts{"`store` was left out: there is no list of completions"});
  CHECK(warnings(chat(R"("store": false, "echo": false, "bad_words": [], "grammar": null)")).empty());
}

TEST_CASE("bug: `allowed_token_ids` and `bad_words` had no effect") {
  const std::string members = R"("allowed_token_ids": [7, 0], "bad_words": ["x", " \ty z "])";
  const auto check = [](const Sampling& sampling, const Texts& warned) {
    CHECK(sampling.allowed_ids == std::vector<std::int32_t>{7, 0});
    CHECK(sampling.bad_words == Texts{"x", "y z "});
    CHECK(warned.empty());
  };
  const auto asked = chat(members);
  check(asked.value().sampling, warnings(asked));
  const auto responses = read_text(Api::kResponses, R"({"input": "x", )" + members + "}");
  check(responses.value().sampling, warnings(responses));
  const auto completion = read_completion(json::parse(R"({"prompt": "x", )" + members + "}").value());
  REQUIRE(completion.ok());
  check(completion.value().sampling, completion.value().warnings);
  CHECK(chat(R"("bad_words": [])").value().sampling.bad_words.empty());
  CHECK(refusal(chat(R"("bad_words": ["x", ""])")) == "`bad_words[1]` must not be empty");
  CHECK(refusal(chat(R"("bad_words": ["\n "])")) == "`bad_words[0]` must not be empty");
  CHECK(refusal(chat(R"("allowed_token_ids": [])")) ==
        "`allowed_token_ids` must have ids: without one, nothing could be sampled");
}

TEST_CASE("bug: fields that vLLM has in Responses too were passed over") {
  const auto responses = [](const std::string& members) {
    return read_text(Api::kResponses, R"({"input": "x", )" + members + "}");
  };
  const auto read = responses(R"("stop": ["a", "b"], "stop_token_ids": [5], "include_stop_str_in_output": true,
                                 "structured_outputs": {"regex": "[0-9]+"}, "session_id": "s", "cache_salt": "t")");
  CHECK(warnings(read).empty());
  CHECK(read.value().stops == Texts{"a", "b"});
  CHECK(read.value().stop_ids == std::vector<std::int32_t>{5});
  CHECK(read.value().shows_stop);
  CHECK(read.value().format.field == "structured_outputs.regex");
  CHECK(read.value().session.group == "s");
  CHECK(read.value().cache_salt == "t");
  CHECK(warnings(responses(R"("text": {"format": {"type": "json_object"}}, "structured_outputs": {"regex": "a"})")) ==
        Texts{"`structured_outputs.regex` was left out: `text.format` took its place"});
  CHECK(warnings(responses(R"("multi_agent": {"enabled": true, "max_concurrent_subagents": 3})")) ==
        Texts{"`multi_agent` was left out: nothing here runs agents"});
  CHECK(warnings(responses(R"("multi_agent": {"enabled": false, "max_concurrent_subagents": 3})")).empty());
}

TEST_CASE("vLLM's fields for the prompt are read, and bad values of them refused") {
  const auto read =
      read_text(Api::kChat, R"({"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}],
                      "prompt_logprobs": 3, "echo": true, "continue_final_message": true,
                      "truncate_prompt_tokens": 5, "truncation_side": "right", "session_id": "s"})");
  CHECK(read.value().session.group == "s");
  CHECK(warnings(read).empty());
  CHECK(read.value().prompt_logprobs == 3);
  CHECK(read.value().echo);
  CHECK(read.value().cut.most_tokens == 5);
  CHECK(read.value().cut.keeps_beginning);
  CHECK_FALSE(read.value().cut.fits_context);
  CHECK(chat(R"("truncate_prompt_tokens": -1)").value().cut.fits_context);
  CHECK(warnings(chat(R"("echo": true)")) == Texts{"`echo` was left out: no message is continued"});
  CHECK(refusal(chat(R"("prompt_logprobs": -1)")) == "`prompt_logprobs` must be at least 0, found -1");
  CHECK(refusal(chat(R"("prompt_logprobs": 1, "stream": true)")) ==
        "`prompt_logprobs` needs a reply that is not streamed");
  CHECK(refusal(chat(R"("prompt_logprobs": 0, "stream": true)")) == "taken");
  CHECK(refusal(chat(R"("prompt_logprobs": "all")")) == "`prompt_logprobs` must be an integer, found a string");
  CHECK(refusal(chat(R"("truncate_prompt_tokens": 0)")) == "`truncate_prompt_tokens` must be at least 1, or -1");
  CHECK(refusal(chat(R"("truncation_side": "middle")")) ==
        "`truncation_side` must be one of `left`, `right`, found `middle`");
}

TEST_CASE("bug: thinking that is shown as `updates` was refused, and `between_tools` turned it on") {
  const auto wish = [](const std::string& thinking) {
    const auto read = read_text(
        Api::kMessages,
        R"({"max_tokens": 2000, "messages": [{"role": "user", "content": "x"}], "thinking": {)" + thinking + "}}");
    REQUIRE_MESSAGE(read.ok(), (read.ok() ? "" : read.fault().message));
    return read.value().reasoning;
  };
  const ReasoningWish updates = wish(R"("type": "enabled", "budget_tokens": 1024, "display": "updates")");
  CHECK(updates.mode == ReasoningWish::Mode::kOn);
  CHECK(updates.is_signed);
  CHECK_FALSE(updates.is_shown);
  CHECK(wish(R"("type": "adaptive", "display": "summarized")").is_shown);
  CHECK(wish(R"("type": "between_tools")").mode == ReasoningWish::Mode::kOff);
}

TEST_CASE("bug: an edit of the context that keeps all thinking was told as left out, and a compaction was not") {
  const auto told = [](const std::string& members) {
    return warnings(read_text(Api::kMessages,
                              R"({"max_tokens": 9, "messages": [{"role": "user", "content": "x"}], )" + members + "}"));
  };
  const auto edits = [&](const std::string& list) {
    return told(R"("context_management": {"edits": [)" + list + "]}");
  };
  const Texts left_out{"`context_management` was left out"};
  CHECK(edits(R"({"type": "clear_thinking_20251015", "keep": "all"})").empty());
  CHECK(edits(R"({"type": "clear_thinking_20251015", "keep": {"type": "all"}})").empty());
  CHECK(edits(R"({"type": "clear_thinking_20251015", "keep": {"type": "thinking_turns", "value": 2}})") == left_out);
  CHECK(edits(R"({"type": "clear_thinking_20251015"})") == left_out);
  CHECK(edits(R"({"type": "clear_thinking_20251015", "keep": "all"}, {"type": "clear_tool_uses_20250919"})") ==
        left_out);
  CHECK(told(R"("compaction": {"type": "summarize"})") == Texts{"`compaction` was left out"});
}

TEST_CASE("bug: a constraint under its older and its newer name, for servers of any age, gave a warning") {
  CHECK(warnings(chat(R"("guided_regex": "a+", "structured_outputs": {"regex": "a+"})")).empty());
  CHECK(warnings(chat(R"("guided_regex": "a+", "structured_outputs": {"regex": "b+"})")) ==
        Texts{"`structured_outputs.regex` was left out: `guided_regex` took its place"});
}

TEST_CASE("bug: the least tokens, the end that is ignored and what a stop text shows were left out") {
  const auto taken =
      chat(R"("min_tokens": 5, "max_tokens": 5, "ignore_eos": true, "include_stop_str_in_output": true)");
  CHECK(warnings(taken).empty());
  CHECK(taken.value().sampling.min_tokens == 5);
  CHECK(taken.value().sampling.ignore_end);
  CHECK(taken.value().shows_stop);
  CHECK(chat(R"("no_stop_trim": true)").value().shows_stop);
  CHECK(refusal(chat(R"("min_tokens": 6, "max_tokens": 5)")) ==
        "`min_tokens` must be at most 5, the most tokens of the reply");
  CHECK(refusal(chat(R"("min_tokens": -1)")) == "`min_tokens` must be at least 0, found -1");
  const auto completion = [](const std::string& members) {
    return read_completion(json::parse(R"({"prompt": "x", )" + members + "}").value());
  };
  CHECK(completion(R"("min_tokens": 17)").fault().param == "min_tokens");  // of 16
  CHECK(completion(R"("truncate_prompt_tokens": 0)").fault().param == "truncate_prompt_tokens");
  CHECK(completion(R"("structured_outputs": {"regex": "[.*"})").fault().param == "structured_outputs.regex");
  CHECK(completion(R"("structured_outputs": {"json": {"properties": {"foo": "bar"}}})").fault().param ==
        "structured_outputs.json");
}

TEST_CASE("bug: options of a stream were taken without a stream") {
  const std::string options = R"("stream_options": {"include_usage": true, "continuous_usage_stats": true})";
  CHECK(refusal(chat(options)) == "`stream_options` needs `stream`");
  const auto completion = [&](const std::string& more) {
    return read_completion(json::parse(R"({"prompt": "x", )" + options + more + "}").value());
  };
  CHECK(completion("").fault().message == "`stream_options` needs `stream`");
  CHECK(completion(R"(, "stream": true)").value().continuous_usage);
  CHECK(chat(options + R"(, "stream": true)").value().continuous_usage);
  CHECK_FALSE(chat(R"("stream": true, "stream_options": {"continuous_usage_stats": true})").value().continuous_usage);
}

TEST_CASE("bug: control tokens were asked for, and nothing said that texts have none") {
  const Texts told{"`skip_special_tokens` was left out: control tokens are no part of a text"};
  CHECK(warnings(chat(R"("skip_special_tokens": false)")) == told);
  CHECK(read_completion(json::parse(R"({"prompt": "x", "skip_special_tokens": false})").value()).value().warnings ==
        told);
  CHECK(warnings(chat(R"("skip_special_tokens": true, "top_n_sigma": -1, "separate_reasoning": true)")).empty());
  CHECK(warnings(chat(R"("separate_reasoning": false)")) ==
        Texts{"`separate_reasoning` was left out: reasoning is no part of the content"});
}

TEST_CASE("bug: citations were asked for, and nothing said that replies have none") {
  const auto asked = [](const std::string& citations) {
    return warnings(read_text(
        Api::kMessages, R"({"max_tokens": 9, "messages": [{"role": "user", "content": [
        {"type": "document", "source": {"type": "text", "data": "d"}, "citations": )" +
                            citations + R"(}, {"type": "text", "text": "x", "citations": []}]}, {"role": "assistant",
        "content": [{"type": "text", "text": "y", "citations": []}]}, {"role": "user", "content": "x"}]})"));
  };
  CHECK(asked(R"({"enabled": true})") ==
        Texts{"`messages[0].content[0].citations` was left out: replies have no citations"});
  CHECK(asked(R"({"enabled": false})").empty());
  CHECK(asked("null").empty());
}

TEST_CASE("bug: an assistant's reference to audio vanished without a word") {
  const auto read_it = read_text(Api::kChat, R"({"messages": [{"role": "user", "content": "x"},
      {"role": "assistant", "audio": {"id": "audio_1"}}, {"role": "assistant", "content": "y", "audio": null},
      {"role": "user", "content": "x"}]})");
  CHECK(warnings(read_it) == Texts{"`messages[1].audio` was left out: no replies with audio are kept here"});
}

TEST_CASE("bug: regular expressions and lists of answers, as vLLM and SGLang take them, had no effect") {
  const auto text = [](const std::string& members) {
    const auto out = chat(members);
    CHECK(warnings(out).empty());
    CHECK(out.value().format.is_text);
    return out.value().format.field + " " + json::to_compact(out.value().format.schema);
  };
  for (const std::string name : {"guided_regex", "regex"})
    CHECK(text('"' + name + R"(": "a|b")") == name + R"( {"type":"string","pattern":"^(?:a|b)$"})");
  CHECK(text(R"("structured_outputs": {"choice": ["a", "b"]})") ==
        R"(structured_outputs.choice {"type":"string","enum":["a","b"]})");
  CHECK(text(R"("guided_choice": ["a"])") == R"(guided_choice {"type":"string","enum":["a"]})");
  const auto refused_field = [](const std::string& members) {
    const auto out = chat(members);
    return out.ok() ? "" : out.fault().param;
  };
  CHECK(refused_field(R"("guided_choice": [])") == "guided_choice");
  CHECK(refused_field(R"("guided_choice": ["a", 1])") == "guided_choice");
  CHECK(refused_field(R"("structured_outputs": {"choice": "a"})") == "structured_outputs.choice");
  CHECK(refused_field(R"("regex": "(")") == "regex");
  CHECK(refused_field(R"("guided_regex": 5)") == "guided_regex");
}

TEST_CASE("bug: grammars of an answer had no effect") {
  const auto format = [](const std::string& members) {
    const auto out = chat(members);
    CHECK(warnings(out).empty());
    CHECK(out.value().format.is_text);
    return out.value().format.field + " " + json::to_compact(out.value().format.schema);
  };
  const auto schema = [](const std::string& syntax, const std::string& definition) {
    return R"( {"type":"string","x-grammar":{"syntax":")" + syntax + R"(","definition":)" + definition + "}}";
  };
  const std::string gbnf = R"("root ::= \"a\"")";
  for (const std::string name : {"grammar", "ebnf", "guided_grammar"})
    CHECK(format('"' + name + "\": " + gbnf) == name + schema("gbnf", gbnf));
  CHECK(format(R"("structured_outputs": {"grammar": )" + gbnf + "}") ==
        "structured_outputs.grammar" + schema("gbnf", gbnf));
  CHECK(format(R"x("guided_grammar": "start: \"a\"")x") == "guided_grammar" + schema("lark", R"x("start: \"a\"")x"));
  CHECK(refusal(chat(R"("grammar": "root ::= a")")) ==
        "`grammar` is not a grammar: line 1: the rule `a` is used and not defined");
  CHECK(refusal(chat(R"("ebnf": "whatever")")) ==
        "`ebnf` is not a grammar: the grammar has a line that is no rule: whatever");
  CHECK(refusal(chat(R"("grammar": {})")) != "taken");
  CHECK(warnings(chat(R"("regex": "a", "grammar": "root ::= \"a\"")")) ==
        Texts{"`grammar` was left out: `regex` took its place"});
}

TEST_CASE("bug: `top_logprobs` alone and a user's message without content were taken") {
  CHECK(refusal(chat(R"("top_logprobs": 2)")) == "`top_logprobs` needs `logprobs`");
  CHECK(refusal(chat(R"("top_logprobs": 2, "logprobs": true)")) == "taken");
  CHECK(refusal(chat(R"("top_logprobs": 0)")) == "taken");
  CHECK(refusal(chat("", "")) == "`messages[0].content` is missing");
  CHECK(refusal(chat("", R"("content": null)")) == "`messages[0].content` is missing");
}

TEST_CASE("bug: `output_format`, the older name of `output_config.format`, had no effect") {
  const auto asked = [](const std::string& members) {
    auto out = read_text(Api::kMessages, R"({"messages": [{"role": "user", "content": "x"}], )" + members + "}");
    REQUIRE(out.ok());
    return out.value().format.kind == AnswerFormat::Kind::kSchema ? out.value().format.field : "none";
  };
  const std::string schema = R"({"type": "json_schema", "schema": {"type": "object"}})";
  CHECK(asked(R"("output_format": )" + schema) == "output_format");
  CHECK(asked(R"("output_config": {"format": )" + schema + "}") == "output_config.format");
  CHECK(asked(R"("output_config": {"effort": "low"}, "output_format": )" + schema) == "output_format");
  CHECK(asked(R"("output_format": null)") == "none");
}

TEST_CASE("bug: a tool without a name did not say which") {
  const std::string named = R"({"type": "function", "function": {"name": "f"}}, )";
  CHECK(refusal(chat(R"("tools": [)" + named + R"({"type": "function", "function": {}}])")) ==
        "`tools[1].function.name` is missing");
  CHECK(refusal(chat(R"("tools": [)" + named + R"({"type": "custom", "custom": {"name": ""}}])")) ==
        "`tools[1].custom.name` is missing");
  CHECK(refusal(chat(R"("tools": [)" + named + R"({"type": "web_search"}])")) == "taken");
  CHECK(refusal(read_text(Api::kResponses, R"({"input": "x", "tools": [{"type": "namespace", "name": "n", "tools": [
      {"type": "function"}]}]})")) == "`tools[0].tools[0].name` is missing");
  CHECK(refusal(read_text(Api::kMessages, R"({"messages": [{"role": "user", "content": "x"}], "tools": [
      {"input_schema": {}}]})")) == "`tools[0].name` is missing");
}

TEST_CASE("bug: a body that nests too deep was called no JSON") {
  const auto deep = parse_body(std::string(300, '[') + std::string(300, ']'));
  REQUIRE_FALSE(deep.ok());
  CHECK_MESSAGE(deep.fault().message.starts_with("the body is nested deeper than 256 levels"), deep.fault().message);
}

}  // namespace
}  // namespace rondo::apis
