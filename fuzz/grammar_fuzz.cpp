// Any JSON as a schema: no crash, no endless work, and what is printed reads back.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "grammar/gbnf.h"
#include "grammar/gbnf_reader.h"
#include "grammar/lark.h"
#include "grammar/matcher.h"
#include "grammar/schema.h"
#include "json/parse.h"

using namespace rondo;  // NOLINT(google-build-using-namespace)

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 20'000) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto document = json::parse(text);
  if (!document.ok()) return 0;
  const grammar::Spelling spellings[] = {grammar::Spelling::json(), grammar::Spelling::python(),
                                         grammar::Spelling::delimited("<|\"|>", "<|\"|>"), grammar::Spelling::bare()};
  grammar::Grammar made;
  grammar::SchemaContext context;
  grammar::SchemaCompiler compiler(made, document.value(), "schema", context);
  const grammar::RuleId root = made.declare("root");
  made.define(root, compiler.value(compiler.root(), grammar::Speller(made, spellings[data[0] % 4]), "value"));
  made.set_root(root);
  if (made.node_count() > 20'000) return 0;  // printing takes its time
  if (!grammar::read_gbnf(grammar::to_gbnf(made)).ok()) std::abort();
  if (grammar::to_lark(made).empty()) std::abort();
  grammar::Matcher matcher(made);
  (void)matcher.feed("{\"a\": [1, \"x\"]}");
  return 0;
}
