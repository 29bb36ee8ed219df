// test: runs a suite of tests of a template, and returns the results.
#include <string>
#include <utility>

#include "protocol/ops.h"
#include "tester/run.h"
#include "yaml/document.h"

namespace rondo::protocol {
namespace {

// What a request says about the model replaces what the suite says.
core::Source read_source(Fields& fields) {
  core::Source out;
  out.path = fields.text("model").value_or("");
  out.chat_template = fields.text("template_file");
  out.tokenizer = fields.text("tokenizer");
  out.polyfill = core::polyfill_named(fields.choice("polyfill", {"off", "auto", "on"})).value_or(core::Polyfill::kOff);
  return out;
}

}  // namespace

Reply op_test(const OpContext& context, Fields& fields) {
  const std::string text = fields.required_text("suite");
  const std::string name = fields.text("source").value_or("suite");
  core::Source given = read_source(fields);
  const std::string mode = fields.choice("mode", {"suite", "lenient", "strict"});
  tester::RunOptions options;
  options.now = context.models.time_or_clock(fields.time("now"));
  options.filter = fields.text("filter").value_or("");
  if (Status status = fields.finish(); !status.ok()) return status.error();

  const auto document = yaml::read_document(text, name);
  if (!document.ok()) return document.error();
  const auto suite = tester::read_suite(document.value(), {text, name});
  if (!suite.ok()) return suite.error();
  auto source = tester::model_source(suite.value(), name, std::move(given));
  if (!source.ok()) return source.error();
  source.value().strict = mode == "suite" ? suite.value().strict.value_or(false) : mode == "strict";
  const auto model = context.models.load(std::move(source).value());
  if (!model.ok()) return model.error();
  return tester::to_json(name, tester::run_suite(model.value(), suite.value(), options));
}

}  // namespace rondo::protocol
