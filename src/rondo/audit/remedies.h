// Finds what would mend a break: each remedy that can be tried is tried on the same scenario.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "audit/play.h"
#include "report/report.h"

namespace rondo::audit {

// The stages of a subject, by setting.  Each is made on first use.
class Stages {
 public:
  // `first` is a stage that already exists.
  Stages(const Subject& subject, std::unique_ptr<const Stage> first) : subject_(subject) {
    std::string name = first->setting().name;
    made_.emplace(std::move(name), std::move(first));
  }
  // Returns nullptr if the template exceeds its limits under that setting.
  [[nodiscard]] const Stage* get(const Setting& setting);

 private:
  const Subject& subject_;
  std::map<std::string, std::unique_ptr<const Stage>> made_;  // by name
};

// Fills in the remedies of `played.outcome.broken`, best first.  `settings` may be tried instead of `stage`'s own.
void add_remedies(Stages& stages, const std::vector<Setting>& settings, const Stage& stage, const Scenario& scenario,
                  Played& played);

}  // namespace rondo::audit
