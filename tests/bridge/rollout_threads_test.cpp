// Many rollouts of one model at once, in eight threads: each comes out as it does alone.  `./dev tsan` runs it under the
// thread sanitizer.
#include <doctest/doctest.h>

#include <thread>
#include <vector>

#include "render/rollout.h"
#include "tests/support/byte_tokenizer.h"

namespace rondo {
namespace {

using tokenizer::TokenId;

constexpr std::size_t kThreads = 8;
constexpr std::size_t kRollouts = 64;
constexpr std::size_t kSteps = 6;

const char* const kTemplate =
    "{% for m in messages %}[{{ m.role }}]{% if m.role == 'assistant' and m.reasoning_content %}"
    "<muse>{{ m.reasoning_content }}</muse>{% endif %}{{ m.content }}~end~{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}";

std::shared_ptr<const render::RolloutModel> make_model() {
  auto format = std::make_shared<format::Format>();
  format->header = "[assistant]";
  format->generation_prompts = {{"default", "[assistant]"}};
  format->input.reasoning_field = "reasoning_content";
  format->reasoning = {true, "<muse>", "</muse>", false};
  format->stops.content = {"~end~"};
  render::RolloutModel::Parts parts;
  parts.chat_template = jinja::Template::compile(kTemplate, {}, "test").value();
  parts.tokenizer = test::byte_tokenizer({"~end~", "<muse>", "</muse>"}, "~end~");
  parts.format = format;
  return render::RolloutModel::make(parts);
}

// The ids of rollout `number` behind its last step; empty where a step failed.
std::vector<TokenId> roll_out(const std::shared_ptr<const render::RolloutModel>& model, std::size_t number) {
  auto started =
      render::Rollout::start(model, {json::Object{{"role", "user"}, {"content", "Hi " + std::to_string(number)}}});
  if (!started.ok()) return {};
  render::Rollout& rollout = started.value();
  for (std::size_t step = 0; step < kSteps; ++step) {
    const std::string said = "<muse>Hm " + std::to_string(step) + "</muse>Yes~end~";
    if (!rollout.complete(model->parts().tokenizer->encode_ids(said, {})).ok()) return {};
    json::Array next{json::Object{{"role", "user"}, {"content", std::to_string(number * step)}}};
    // Two messages at once are rendered with the whole history.
    if (step % 2 == 1) next.push_back(json::Object{{"role", "user"}, {"content", "and"}});
    if (!rollout.extend(std::move(next)).ok()) return {};
  }
  return {rollout.ids().begin(), rollout.ids().end()};
}

TEST_CASE("rollouts of one model in many threads are those of one thread") {
  const auto model = make_model();
  std::vector<std::vector<TokenId>> alone;
  for (std::size_t i = 0; i < kRollouts; ++i) alone.push_back(roll_out(model, i));
  REQUIRE(!alone.front().empty());
  std::vector<std::vector<TokenId>> together(kRollouts);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = t; i < kRollouts; i += kThreads) together[i] = roll_out(model, i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(together == alone);
  CHECK(model->parts().tokenizer->decode(alone[3], {}).value().ends_with("~end~[user]and~end~[assistant]"));
}

}  // namespace
}  // namespace rondo
