#include "edge/format.h"

#include <doctest/doctest.h>

#include "edge/requests.h"
#include "json/parse.h"

namespace rondo::edge {
namespace {

constexpr std::string_view kThinker =
    R"({"roles": {"system": {"prefix": "<|im_start|>system\n", "suffix": "<|im_end|>\n"},
  "user": {"prefix": "<|im_start|>user\n", "suffix": "<|im_end|>\n"},
  "assistant": {"prefix": "<|im_start|>assistant\n", "suffix": "<|im_end|>\n"}},
  "content_types": {"image": {"format": "<img>"}, "video": {"format": "<vid>"}, "none": {"format": ""}},
  "generation_prompt": "<|im_start|>assistant\n<think>\n\n</think>\n\n",
  "generation_prompt_thinking": "<|im_start|>assistant\n",
  "default_system_prompt": "You are a helpful assistant"})";

EdgeTemplate thinker() { return parse(kThinker, "thinker").value(); }

EdgeTemplate plain() {
  EdgeTemplate out = thinker();
  out.generation_prompt = "<|im_start|>assistant\n";
  out.generation_prompt_thinking.reset();
  return out;
}

Formatted formatted(const EdgeTemplate& edge_template, std::string_view messages, const FormatOptions& options = {}) {
  auto out = format(edge_template, json::parse(messages).value(), options);
  REQUIRE_MESSAGE(out.ok(), out.error().message);
  return out.value();
}

std::string refused(std::string_view messages) {
  const auto out = format(plain(), json::parse(messages).value(), {});
  REQUIRE_FALSE(out.ok());
  CHECK(out.error().code == ErrorCode::kInvalidArgument);
  return out.error().message;
}

TEST_CASE("002:300-360: a conversation of several turns") {
  const Formatted out = formatted(plain(), R"([{"role": "system", "content": "You are a math tutor."},
    {"role": "user", "content": "What is 2+2?"}, {"role": "assistant", "content": "2+2 equals 4."},
    {"role": "user", "content": "What about 3+3?"}])");
  CHECK(out.system == "<|im_start|>system\nYou are a math tutor.<|im_end|>\n");
  CHECK(out.complete ==
        "<|im_start|>system\nYou are a math tutor.<|im_end|>\n<|im_start|>user\nWhat is 2+2?<|im_end|>\n"
        "<|im_start|>assistant\n2+2 equals 4.<|im_end|>\n<|im_start|>user\nWhat about 3+3?<|im_end|>\n"
        "<|im_start|>assistant\n");
  CHECK(out.warnings.empty());
}

TEST_CASE("002:363-405: the system prompt is the request's, else the template's, else there is none") {
  const char* const kHello = R"([{"role": "user", "content": "Hello!"}])";
  const Formatted fallback = formatted(plain(), kHello);
  CHECK(fallback.system == "<|im_start|>system\nYou are a helpful assistant<|im_end|>\n");
  CHECK(fallback.complete.starts_with(fallback.system + "<|im_start|>user\nHello!"));
  CHECK(formatted(plain(),
                  R"([{"role": "system", "content": "You are a math tutor."}, {"role": "user", "content": "x"}])")
            .system == "<|im_start|>system\nYou are a math tutor.<|im_end|>\n");
  EdgeTemplate bare = plain();
  bare.default_system_prompt = "";
  CHECK(formatted(bare, kHello).system == "");
  CHECK(formatted(bare, kHello).complete == "<|im_start|>user\nHello!<|im_end|>\n<|im_start|>assistant\n");
  // The old field of request files ranks between the two.
  CHECK(formatted(plain(), kHello, {.default_system_prompt = "Old."}).system == "<|im_start|>system\nOld.<|im_end|>\n");
  CHECK(formatted(plain(), kHello, {.default_system_prompt = ""}).system == fallback.system);
}

TEST_CASE("an empty system message is one, and system messages behind the first stay where they are") {
  const Formatted out = formatted(plain(), R"([{"role": "system", "content": ""}, {"role": "user", "content": "x"},
    {"role": "system", "content": "later"}])");
  CHECK(out.system == "<|im_start|>system\n<|im_end|>\n");
  CHECK(out.complete ==
        "<|im_start|>system\n<|im_end|>\n<|im_start|>user\nx<|im_end|>\n"
        "<|im_start|>system\nlater<|im_end|>\n<|im_start|>assistant\n");
}

TEST_CASE("002:99-161: the flag chooses between the two generation prompts") {
  const char* const kAsked =
      R"([{"role": "user", "content": "Give me a short introduction to large language model."}])";
  EdgeTemplate bare = thinker();
  bare.default_system_prompt = "";
  const std::string asked =
      "<|im_start|>user\nGive me a short introduction to large language model.<|im_end|>\n<|im_start|>assistant\n";
  CHECK(formatted(bare, kAsked).complete == asked + "<think>\n\n</think>\n\n");
  CHECK(formatted(bare, kAsked, {.enable_thinking = false}).complete == asked + "<think>\n\n</think>\n\n");
  CHECK(formatted(bare, kAsked, {.enable_thinking = true}).complete == asked);
  bare.generation_prompt_thinking = "";
  CHECK(formatted(bare, kAsked, {.enable_thinking = true}).complete == asked + "<think>\n\n</think>\n\n");
  bare.generation_prompt_thinking.reset();
  CHECK(formatted(bare, kAsked, {.enable_thinking = true}).complete == asked + "<think>\n\n</think>\n\n");
  CHECK(formatted(bare, kAsked, {.add_generation_prompt = false, .enable_thinking = true}).complete ==
        "<|im_start|>user\nGive me a short introduction to large language model.<|im_end|>\n");
}

TEST_CASE("002:236-268: text parts are joined, images and videos become their formats in place") {
  EdgeTemplate bare = plain();
  bare.default_system_prompt = "";
  const auto body = [&](std::string_view content) {
    const Formatted out = formatted(bare, R"([{"role": "user", "content": )" + std::string(content) + "}]",
                                    {.add_generation_prompt = false});
    std::string text = out.complete.substr(17, out.complete.size() - 17 - 11);
    for (const std::string& warning : out.warnings) text += " ! " + warning;
    return text;
  };
  CHECK(body(R"([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])") == "ab");
  CHECK(body(R"([{"type": "image", "image": "a.png"}, {"type": "text", "text": "see "}, {"type": "video"}])") ==
        "<img>see <vid>");
  CHECK(body(R"([{"type": "image_url", "image_url": {"url": "x"}}])") == "<img>");
  CHECK(body("[]") == "");
  CHECK(body(R"([{"type": "text", "text": "a"}, {"type": "smell"}])") ==
        "a ! messages[0].content[1]: the template has no format for parts of type `smell`; the part is left out");
  CHECK(body(R"([{"type": "none"}])").find("no format for parts of type `none`") != std::string::npos);
}

TEST_CASE("a system message is text alone, and a role that the template lacks is left out with a warning") {
  const Formatted out = formatted(plain(), R"([{"role": "system", "content": [{"type": "image"},
    {"type": "text", "text": "be"}, {"type": "text", "text": " kind"}]}, {"role": "tool", "content": "7"},
    {"role": "user", "content": "x"}])");
  CHECK(out.system == "<|im_start|>system\nbe kind<|im_end|>\n");
  CHECK(out.complete == out.system + "<|im_start|>user\nx<|im_end|>\n<|im_start|>assistant\n");
  CHECK(out.warnings ==
        std::vector<std::string>{
            "messages[0].content[0]: a system message is text alone; the part of type `image` is left out",
            "messages[1].role: the template has no role `tool`; the message is left out"});
}

TEST_CASE("without the template the texts and placeholders stand alone") {
  const Formatted out = formatted(thinker(), R"([{"role": "system", "content": "S"}, {"role": "user", "content":
    [{"type": "image"}, {"type": "text", "text": "x"}]}, {"role": "assistant", "content": "y"}])",
                                  {.apply_chat_template = false});
  CHECK(out.system == "S");
  CHECK(out.complete == "S<img>xy");
  CHECK(formatted(thinker(), R"([{"role": "user", "content": "x"}])", {.apply_chat_template = false}).complete == "x");
}

TEST_CASE("messages that are none are refused with their path") {
  CHECK(refused("{}") == "messages must be an array, found an object");
  CHECK(refused("[]") == "messages must hold at least one message");
  CHECK(refused("[7]") == "messages[0] must be an object, found an integer");
  CHECK(refused(R"([{"content": ""}])") == "messages[0] lacks the required member `role`");
  CHECK(refused(R"([{"role": 1, "content": ""}])") == "messages[0].role must be a string, found an integer");
  CHECK(refused(R"([{"role": "user"}])") == "messages[0] lacks the required member `content`");
  CHECK(refused(R"([{"role": "user", "content": null}])") ==
        "messages[0].content must be a string or an array, found null");
  CHECK(refused(R"([{"role": "user", "content": ["x"]}])") ==
        "messages[0].content[0] must be an object, found a string");
  CHECK(refused(R"([{"role": "user", "content": [{}]}])") == "messages[0].content[0] lacks the required member `type`");
  CHECK(refused(R"([{"role": "user", "content": [{"type": 1}]}])") ==
        "messages[0].content[0].type must be a string, found an integer");
  CHECK(refused(R"([{"role": "user", "content": [{"type": "text"}]}])") ==
        "messages[0].content[0] lacks the required member `text`");
  CHECK(refused(R"([{"role": "user", "content": [{"type": "text", "text": 2}]}])") ==
        "messages[0].content[0].text must be a string, found an integer");
}

TEST_CASE("002:137-152, 002:372-407: a file of requests has flags for all of them") {
  const auto file = read_requests(json::parse(R"({"batch_size": 2, "temperature": 1.0, "top_p": 0.8, "top_k": 50,
    "max_generate_length": 128, "enable_thinking": true, "guided_decoding": {}, "x": 1, "requests": [
      {"messages": [{"role": "user", "content": "Solve this complex problem..."}]},
      {"messages": [{"role": "system", "content": ""}, {"role": "user", "content": "b"}], "disable_spec_decode": true,
       "save_system_prompt_kv_cache": true, "y": 2}]})")
                                      .value());
  REQUIRE_MESSAGE(file.ok(), file.error().message);
  CHECK(file.value().batch_size == 2);
  CHECK(file.value().requests[1].disable_spec_decode);
  CHECK(file.value().requests[1].save_system_prompt_kv_cache);
  CHECK(file.value().remarks ==
        std::vector<std::string>{"requests[1].y is not a member of the format", "x is not a member of the format"});
  const auto all = format_all(thinker(), file.value());
  REQUIRE(all.ok());
  REQUIRE(all.value().size() == 2);
  CHECK(all.value()[0].complete.ends_with("Solve this complex problem...<|im_end|>\n<|im_start|>assistant\n"));
  CHECK(all.value()[0].system == "<|im_start|>system\nYou are a helpful assistant<|im_end|>\n");
  CHECK(all.value()[1].system == "<|im_start|>system\n<|im_end|>\n");
  const auto off = read_requests(json::parse(R"({"apply_chat_template": false, "messages": [{"role": "user",
    "content": "x"}]})")
                                     .value());
  REQUIRE(off.ok());
  CHECK(format_all(thinker(), off.value()).value()[0].complete == "x");
  const auto silent =
      read_requests(json::parse(R"({"add_generation_prompt": false, "default_system_prompt": "D", "requests": [
        {"messages": [{"role": "user", "content": "x"}]}]})")
                        .value());
  CHECK(format_all(plain(), silent.value()).value()[0].complete ==
        "<|im_start|>system\nD<|im_end|>\n<|im_start|>user\nx<|im_end|>\n");
}

TEST_CASE("files of requests that are none are refused with a path") {
  const auto wrong = [](std::string_view text) {
    const auto file = read_requests(json::parse(text).value());
    if (!file.ok()) return file.error().message;
    const auto all = format_all(plain(), file.value());
    return all.ok() ? "" : all.error().message;
  };
  CHECK(wrong("[]") == "a request file must be an object, found an array");
  CHECK(wrong("{}") == "requests is missing");
  CHECK(wrong(R"({"requests": {}})") == "requests must be an array, found an object");
  CHECK(wrong(R"({"requests": [1]})") == "requests[0] must be an object, found an integer");
  CHECK(wrong(R"({"requests": [{}]})") == "requests[0].messages is missing");
  CHECK(wrong(R"({"requests": [{"messages": []}]})") == "requests[0].messages must hold at least one message");
  CHECK(wrong(R"({"requests": [], "enable_thinking": 1})") == "enable_thinking must be a boolean, found an integer");
  CHECK(wrong(R"({"requests": [], "top_k": 1.5})") == "top_k must be an integer, found a float");
  CHECK(wrong(R"({"requests": [], "temperature": "x"})") == "temperature must be a number, found a string");
  CHECK(wrong(R"({"requests": [], "batch_size": 0})") == "batch_size must be at least 1, found 0");
  CHECK(wrong(R"({"requests": [], "batch_size": "1"})") == "batch_size must be an integer, found a string");
  CHECK(wrong(R"({"requests": [], "available_lora_weights": 1})") ==
        "available_lora_weights must be an object, found an integer");
  const std::string message = R"("messages": [{"role": "user", "content": "x"}])";
  const std::string loras = R"("available_lora_weights": {"a": "a.safetensors"}, )";
  CHECK(wrong("{" + loras + R"("requests": [{"lora_name": "a", )" + message + "}]}") == "");
  CHECK(wrong(R"({"requests": [{"lora_name": "a", )" + message + "}]}") ==
        "requests[0].lora_name: available_lora_weights has no `a`");
  CHECK(
      wrong("{" + loras + R"("batch_size": 2, "requests": [{"lora_name": "a", )" + message + "}, {" + message +
            "}]}") ==
      "requests[1].lora_name: different LoRA weights within the same batch are not supported; requests[0] has others");
  CHECK(wrong("{" + loras + R"("requests": [{"lora_name": "a", )" + message + "}, {" + message + "}]}") == "");
}

}  // namespace
}  // namespace rondo::edge
