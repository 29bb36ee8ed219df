// llama.cpp's parser of chat output, a peer of bench_parse: `llama_parse_peer TEMPLATE TOOLS TEXT TOKEN_BYTES EVERY`.
//
// Its server parses all text so far again with each token; so does this, with `common` of the pinned source package.  As
// that takes long, only every EVERY-th token is parsed and the sum is multiplied: the time grows evenly with the length.
// Prints the processor time of all tokens in microseconds, then what the last parse found.
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "chat.h"
#include "json.h"
#include "llama.h"
#include "log.h"

// What `common` refers to of llama.cpp's libraries; a parser without a model calls none of it.
extern "C" {
void ggml_abort(const char* file, int line, const char* format, ...) {
  std::fprintf(stderr, "%s:%d: %s\n", file, line, format);
  std::abort();
}
std::int32_t llama_chat_apply_template(const char*, const llama_chat_message*, std::size_t, bool, char*, std::int32_t) {
  return -1;
}
const char* llama_model_chat_template(const llama_model*, const char*) { return nullptr; }
const llama_vocab* llama_model_get_vocab(const llama_model*) { return nullptr; }
std::int32_t llama_token_to_piece(const llama_vocab*, llama_token, char*, std::int32_t, std::int32_t, bool) {
  return 0;
}
llama_token llama_vocab_bos(const llama_vocab*) { return -1; }
llama_token llama_vocab_eos(const llama_vocab*) { return -1; }
bool llama_vocab_get_add_bos(const llama_vocab*) { return false; }
bool llama_vocab_get_add_eos(const llama_vocab*) { return false; }
}

namespace {

double cpu_us() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

std::string read(const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 6) return 2;
  common_log_set_verbosity_thold(-1);
  const auto templates = common_chat_templates_init(nullptr, read(arguments[1]));
  common_chat_templates_inputs inputs;
  common_chat_msg user;
  user.role = "user";
  user.content = "Hi.";
  inputs.messages = {user};
  inputs.tools = common_chat_tools_parse_oaicompat(common_json::parse(read(arguments[2])));
  inputs.parallel_tool_calls = true;
  inputs.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
  const common_chat_params applied = common_chat_templates_apply(templates.get(), inputs);
  common_chat_parser_params params(applied);
  params.reasoning_format = inputs.reasoning_format;
  params.parser.load(applied.parser);

  const std::string text = read(arguments[3]);
  const auto token_bytes = static_cast<std::size_t>(std::atoi(arguments[4]));
  const auto every = static_cast<std::size_t>(std::atoi(arguments[5]));
  double spent_us = 0;
  common_chat_msg message;
  for (std::size_t end = token_bytes * every; end <= text.size(); end += token_bytes * every) {
    const std::string so_far = text.substr(0, end);
    const double start = cpu_us();
    message = common_chat_parse(so_far, true, params);
    spent_us += cpu_us() - start;
  }
  std::printf("%.1f\t%zu\t%zu\t%zu\n", spent_us * static_cast<double>(every), message.content.size(),
              message.tool_calls.size(), message.tool_calls.empty() ? 0 : message.tool_calls[0].arguments.size());
  return 0;
}
