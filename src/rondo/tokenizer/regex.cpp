#define PCRE2_CODE_UNIT_WIDTH 8
#include "tokenizer/regex.h"

#include <pcre2.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/utf8.h"

namespace rondo::tokenizer {
namespace {

// A match that needs more than this is given up; the text it was looked for in is then one piece.
constexpr std::size_t kJitStackBytes = std::size_t{8} << 20U;
constexpr std::uint32_t kHeapKilobytes = 256 * 1024;

struct FreeCode {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
};
struct FreeMatchData {
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};
struct FreeMatchContext {
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
};
struct FreeCompileContext {
  void operator()(pcre2_compile_context* context) const { pcre2_compile_context_free(context); }
};
struct FreeJitStack {
  void operator()(pcre2_jit_stack* stack) const { pcre2_jit_stack_free(stack); }
};

// What a thread needs to match; kept between calls because making it costs more than most matches.
struct Workspace {
  std::unique_ptr<pcre2_match_data, FreeMatchData> data{pcre2_match_data_create(1, nullptr)};
  std::unique_ptr<pcre2_match_context, FreeMatchContext> context{pcre2_match_context_create(nullptr)};
  std::unique_ptr<pcre2_jit_stack, FreeJitStack> stack{
      pcre2_jit_stack_create(std::size_t{32} * 1024, kJitStackBytes, nullptr)};
  Workspace() {
    pcre2_set_heap_limit(context.get(), kHeapKilobytes);
    if (stack != nullptr) pcre2_jit_stack_assign(context.get(), nullptr, stack.get());
  }
};

Workspace& workspace() {
  thread_local Workspace own;
  return own;
}

// Whether `name` names a script.  PCRE2 reads \p{NAME} as the wider set of characters that are used with the script
// (Script_Extensions), Oniguruma and Rust's regex crate as the characters of the script itself.
bool is_script(std::string_view name) {
  const bool is_word = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' || c == ' ';
  });
  if (!is_word || name.size() < 3 || name == "Any") return false;
  const std::string probe = "\\p{sc:" + std::string(name) + "}";
  int code = 0;
  PCRE2_SIZE offset = 0;
  return std::unique_ptr<pcre2_code, FreeCode>(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(probe.data()), probe.size(),
                                                             PCRE2_UTF, &code, &offset, nullptr)) != nullptr;
}

}  // namespace

struct Regex::State {
  std::unique_ptr<pcre2_code, FreeCode> code;
  bool jit = false;
};

Regex::Regex(std::unique_ptr<State> state) : state_(std::move(state)) {}
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;
Regex::~Regex() = default;

Result<Regex> Regex::compile(std::string_view pattern, Dialect dialect) {
  const std::string translated = to_pcre2(pattern, dialect, is_script);
  const std::unique_ptr<pcre2_compile_context, FreeCompileContext> context(pcre2_compile_context_create(nullptr));
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  int code = 0;
  PCRE2_SIZE offset = 0;
  // In Oniguruma's default dialect ^ and $ also match at lines.
  constexpr std::uint32_t kOptions = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C;
  auto state = std::make_unique<State>();
  state->code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(), kOptions, &code,
                                  &offset, context.get()));
  if (state->code == nullptr) {
    std::array<PCRE2_UCHAR, 256> text{};
    pcre2_get_error_message(code, text.data(), text.size());
    Error error;
    error.code = ErrorCode::kTokenizer;
    error.message = "the regular expression `" + std::string(pattern) +
                    "` does not compile: " + reinterpret_cast<const char*>(text.data());
    return error;
  }
  state->jit = pcre2_jit_compile(state->code.get(), PCRE2_JIT_COMPLETE) == 0;
  return Regex(std::move(state));
}

void Regex::find_all(std::string_view text, Range piece, std::vector<Range>& matches) const {
  Workspace& work = workspace();
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data()) + piece.begin;
  const PCRE2_SIZE size = piece.end - piece.begin;
  const PCRE2_SIZE* found = pcre2_get_ovector_pointer(work.data.get());
  PCRE2_SIZE at = 0;
  PCRE2_SIZE last_end = PCRE2_UNSET;
  while (at <= size) {
    int rc = state_->jit
                 ? pcre2_jit_match(state_->code.get(), subject, size, at, 0, work.data.get(), work.context.get())
                 : PCRE2_ERROR_JIT_STACKLIMIT;
    if (rc == PCRE2_ERROR_JIT_STACKLIMIT) {
      rc = pcre2_match(state_->code.get(), subject, size, at, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, work.data.get(),
                       work.context.get());
    }
    if (rc == PCRE2_ERROR_NOMATCH) return;
    if (rc < 0) {
      // A limit was met: the rest is one piece, so that nothing is lost.
      if (at < size) matches.push_back({piece.begin + static_cast<std::uint32_t>(at), piece.end});
      return;
    }
    const PCRE2_SIZE begin = found[0];
    const PCRE2_SIZE end = found[1];
    if (begin >= end && last_end == end) {
      if (at >= size) return;
      at += utf8::decode(text, piece.begin + at).size;
      continue;
    }
    if (end < at || end < begin) return;  // \K in a look-around; nothing sensible follows
    matches.push_back({piece.begin + static_cast<std::uint32_t>(begin), piece.begin + static_cast<std::uint32_t>(end)});
    at = end;
    last_end = end;
  }
}

}  // namespace rondo::tokenizer
