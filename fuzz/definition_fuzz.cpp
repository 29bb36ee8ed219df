// Any text as a client's grammar: no crash, no endless work, and what is printed reads back.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "grammar/definition.h"
#include "grammar/gbnf.h"
#include "grammar/gbnf_reader.h"
#include "grammar/lark.h"
#include "grammar/matcher.h"

using namespace rondo;  // NOLINT(google-build-using-namespace)

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 20'000) return 0;
  constexpr std::array<std::string_view, 3> kSyntaxes = {"gbnf", "lark", "regex"};
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto definition = grammar::read_definition(kSyntaxes[data[0] % kSyntaxes.size()], text);
  if (!definition.ok()) return 0;
  grammar::Grammar made;
  const grammar::Speller speller(made, data[0] >= 'a' ? grammar::Spelling::json() : grammar::Spelling::bare());
  const grammar::RuleId root = made.declare("root");
  made.define(root, speller.quoted([&](const grammar::Speller& inner) { return spelled(inner, definition.value()); }));
  made.set_root(root);
  grammar::Matcher matcher(made);
  (void)matcher.feed("\"aab(1 + 2)");
  if (made.node_count() > 5'000) return 0;  // printing takes its time
  if (!grammar::read_gbnf(grammar::to_gbnf(made)).ok()) std::abort();
  if (grammar::to_lark(made).empty()) std::abort();
  return 0;
}
