// One cause for one event: what check, diff, replay and the bridge say of the same break, over every template of the corpus.
#include <doctest/doctest.h>

#include <cstdlib>

#include "base/files.h"
#include "tests/support/agreement.h"
#include "tests/support/audits.h"
#include "tests/support/corpus.h"

namespace rondo::audit {
namespace {

constexpr std::size_t kSample = 12;  // without RONDO_TEST_FULL every so many'th template of the larger corpus

TEST_CASE("check, diff, replay and the bridge name one cause, line and field for one event") {
  const auto corpus = test::Corpus::open();
  if (!corpus) return;
  test::AgreementCounts counts;
  const bool is_full = std::getenv("RONDO_TEST_FULL") != nullptr || test::is_small_corpus();
  for (std::size_t i = 0; i < corpus->rows().size(); i += is_full ? 1 : kSample) {
    const test::CorpusRow& row = corpus->rows()[i];
    const auto input = test::input_of(row, files::read(row.template_path).value());
    if (!input.ok()) continue;
    const auto subject = make_subject(input.value());
    if (!subject.ok()) continue;
    const auto stage = Stage::make(subject.value(), {"default", subject.value().base.kwargs});
    if (!stage.ok()) continue;
    for (const Scenario& scenario : scenarios()) {
      if (scenario.is_inherent) continue;
      const Played played = play(*stage.value(), scenario);
      if (test::is_event(played)) test::compare_tellers(subject.value(), *stage.value(), played, scenario.name, counts);
    }
  }
  MESSAGE(counts.events << " events, " << counts.compared << " comparisons, " << counts.differing << " differ, "
                        << counts.told_by_all << " events told by all four");
  CHECK(counts.compared > 0);
  CHECK(counts.differing == 0);
  const bool is_whole = std::getenv("RONDO_TEST_FULL") != nullptr && !test::is_small_corpus();
  CHECK(counts.told_by_all >= (is_whole ? 300 : 1));
}

}  // namespace
}  // namespace rondo::audit
