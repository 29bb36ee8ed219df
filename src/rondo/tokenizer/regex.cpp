#define PCRE2_CODE_UNIT_WIDTH 8
#include "tokenizer/regex.h"

#include <pcre2.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/utf8.h"
#include "tokenizer/damaged.h"

namespace rondo::tokenizer {
namespace {

// A match that needs more than this is given up, and the searched text is then one piece.
constexpr std::size_t kJitStackBytes = std::size_t{8} << 20U;
constexpr std::uint32_t kHeapKilobytes = 256 * 1024;
// How many steps a match may take without being charged for them, and how many at most; 10 million take about 50 ms.
constexpr std::uint32_t kFreeSteps = 10'000;
constexpr std::uint32_t kMostSteps = 10'000'000;

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

// What a thread needs for matching.  It is kept between calls because making it costs more than most matches.
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

// Whether `name` is a script.  PCRE2 reads \p{NAME} as the wider set of characters that are used with the script
// (Script_Extensions).  Oniguruma and Rust's regex crate read it as the characters of the script itself.
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
  // In Oniguruma's default dialect, ^ and $ also match at line ends.
  constexpr std::uint32_t kOptions = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C;
  auto state = std::make_unique<State>();
  state->code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(), kOptions, &code,
                                  &offset, context.get()));
  if (state->code == nullptr) {
    std::array<PCRE2_UCHAR, 256> text{};
    pcre2_get_error_message(code, text.data(), text.size());
    return damaged("the regular expression `" + std::string(pattern) +
                   "` does not compile: " + reinterpret_cast<const char*>(text.data()));
  }
  state->jit = pcre2_jit_compile(state->code.get(), PCRE2_JIT_COMPLETE) == 0;
  return Regex(std::move(state));
}

struct Regex::Subject {
  PCRE2_SPTR bytes;
  PCRE2_SIZE size;
  PCRE2_SIZE from;  // where the search begins
};

// Like pcre2_match().  Tries few steps first, and then ten times as many while the effort lasts, because the library
// does not report how many it took.
int Regex::match(const Subject& subject, Effort& effort) const {
  Workspace& work = workspace();
  const pcre2_code* code = state_->code.get();
  for (std::uint32_t steps = kFreeSteps;; steps *= 10) {
    pcre2_set_match_limit(work.context.get(), steps);
    int rc = state_->jit ? pcre2_jit_match(code, subject.bytes, subject.size, subject.from, 0, work.data.get(),
                                           work.context.get())
                         : PCRE2_ERROR_JIT_STACKLIMIT;
    if (rc == PCRE2_ERROR_JIT_STACKLIMIT) {
      rc = pcre2_match(code, subject.bytes, subject.size, subject.from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT,
                       work.data.get(), work.context.get());
    }
    const std::uint64_t more = std::uint64_t{steps} * 10;
    if (rc != PCRE2_ERROR_MATCHLIMIT || more > kMostSteps || more > effort.left_) return rc;
    effort.left_ -= more;
  }
}

void Regex::find_all(std::string_view text, Range piece, std::vector<Range>& matches) const {
  Effort effort(piece.end - piece.begin);
  find_all(text, piece, matches, effort);
}

void Regex::find_all(std::string_view text, Range piece, std::vector<Range>& matches, Effort& effort) const {
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data()) + piece.begin;
  const PCRE2_SIZE size = piece.end - piece.begin;
  const PCRE2_SIZE* found = pcre2_get_ovector_pointer(workspace().data.get());
  PCRE2_SIZE at = 0;
  PCRE2_SIZE last_end = PCRE2_UNSET;
  while (at <= size) {
    const int rc = match({subject, size, at}, effort);
    if (rc == PCRE2_ERROR_NOMATCH) return;
    if (rc < 0) {
      // A limit was reached.  The rest becomes one piece, so that nothing is lost.
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
    if (end < at || end < begin) return;  // \K in a look-around; no sensible match follows
    matches.push_back({piece.begin + static_cast<std::uint32_t>(begin), piece.begin + static_cast<std::uint32_t>(end)});
    at = end;
    last_end = end;
  }
}

}  // namespace rondo::tokenizer
