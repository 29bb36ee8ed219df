#include "tests/support/corpus_templates.h"

#include <filesystem>
#include <map>
#include <utility>

#include "base/files.h"
#include "template/chat_template.h"

namespace rondo::test {

analysis::Options analysis_options(const CorpusRow& row) {
  analysis::Options out;
  out.bos_token = row.bos_token;
  out.eos_token = row.eos_token;
  out.now = kClock;
  return out;
}

Result<AnalysedTemplate> analysed_template(const std::string& path, const analysis::Options& options) {
  const auto source = files::read(path);
  if (!source.ok()) return source.error();
  AnalysedTemplate out;
  out.name = std::filesystem::path(path).stem().string();
  auto compiled = jinja::Template::compile(source.value(), {}, out.name);
  if (!compiled.ok()) return compiled.error();
  out.chat_template = std::move(compiled).value();
  auto format = analysis::analyse(*out.chat_template, options);
  if (!format.ok()) return format.error();
  out.format = std::move(format).value();
  out.bos_token = options.bos_token;
  out.eos_token = options.eos_token;
  return out;
}

Result<AnalysedTemplate> analysed_template(const CorpusRow& row) {
  return analysed_template(row.template_path, analysis_options(row));
}

std::vector<AnalysedTemplate> analysed_templates(const Corpus& corpus, std::size_t step) {
  std::map<std::string, const CorpusRow*> by_path;
  for (const CorpusRow& row : corpus.rows()) by_path.emplace(row.template_path, &row);
  std::vector<AnalysedTemplate> out;
  std::size_t at = 0;
  for (const auto& [path, row] : by_path) {
    if (at++ % step != 0) continue;
    if (auto found = analysed_template(*row); found.ok()) out.push_back(std::move(found).value());
  }
  return out;
}

std::optional<WrittenTurn> write_turn(const AnalysedTemplate& from, const TurnQuestion& question) {
  chat::Conversation conversation;
  conversation.messages = json::Array{json::Object{{"role", "user"}, {"content", "Hi."}}};
  conversation.tools = question.tools;
  if (question.thinking != "default") {
    const bool is_on = question.thinking == "on";
    conversation.kwargs = json::Object{{"enable_thinking", is_on}, {"thinking", is_on}};
  }
  conversation.bos_token = from.bos_token;
  conversation.eos_token = from.eos_token;
  tmpl::ApplyOptions apply;
  apply.origins = false;
  apply.now = kClock;
  const auto render = [&] { return tmpl::apply(*from.chat_template, conversation, apply); };
  const auto plain = render();
  conversation.add_generation_prompt = true;
  const auto prompt = render();
  conversation.add_generation_prompt = false;
  conversation.messages.insert(conversation.messages.end(), question.messages.begin(), question.messages.end());
  const auto full = render();
  if (!plain.ok() || !prompt.ok() || !full.ok()) return std::nullopt;
  const std::string& text = full.value().text.bytes();
  for (const auto* before : {&prompt.value(), &plain.value()}) {
    const std::string& start = before->text.bytes();
    if (text.starts_with(start)) return WrittenTurn{start, text.substr(start.size())};
    if (question.needs_prompt) break;
  }
  return std::nullopt;
}

}  // namespace rondo::test
