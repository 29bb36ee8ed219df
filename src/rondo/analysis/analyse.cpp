#include "analysis/analyse.h"

#include "analysis/analyst.h"

namespace rondo::analysis {

Result<std::shared_ptr<const format::Format>> Analyst::run() {
  find_shape();
  find_reasoning_shape();
  find_generation_prompts();
  find_own_reasoning();
  collect_variants();
  find_atoms();
  find_header();
  infer_content_and_reasoning();
  infer_stops();
  if (shows_calls_) infer_calls();
  find_made_ids();
  find_heading_close();
  find_content_behind_calls();
  find_open_sections();
  infer_other_stops();
  infer_inline_reasoning();
  mine_instructions();
  find_lost_parts();
  find_lost_borders();
  find_lost_calls();
  find_lost_values();
  infer_trims();
  find_other_prompts();
  if (prober_.limit()) return *prober_.limit();
  finish();
  return std::make_shared<const format::Format>(std::move(format_));
}

Result<std::shared_ptr<const format::Format>> analyse(const jinja::Template& chat_template, const Options& options) {
  return Analyst(chat_template, options).run();
}

}  // namespace rondo::analysis
