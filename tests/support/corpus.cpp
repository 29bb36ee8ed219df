#include "tests/support/corpus.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "base/files.h"
#include "json/parse.h"

namespace rondo::test {
namespace {

namespace fs = std::filesystem;

json::Value read_json(const std::string& path) {
  const auto text = files::read(path);
  REQUIRE_MESSAGE(text.ok(), text.error().to_string());
  auto parsed = json::parse(text.value());
  REQUIRE_MESSAGE(parsed.ok(), path << ": " << parsed.error().to_string());
  return std::move(parsed).value();
}

std::optional<std::string> optional_string(const json::Value& object, const char* key) {
  const auto found = object.find_string(key);
  return found ? std::optional<std::string>(*found) : std::nullopt;
}

std::vector<std::string> strings(const json::Value& object, const char* key) {
  std::vector<std::string> out;
  const json::Value* list = object.find(key);
  if (list == nullptr || !list->is_array()) return out;
  for (const json::Value& item : list->as_array()) out.push_back(item.as_string());
  return out;
}

CorpusRow read_row(const json::Value& row, const std::string& root, const std::string& models) {
  CorpusRow out;
  out.id = std::string(*row.find_string("id"));
  out.template_path = root + "/" + std::string(*row.find_string("template"));
  if (!models.empty() && files::is_folder(models + "/" + out.id)) out.model_folder = models + "/" + out.id;
  out.bos_token = optional_string(row, "bos_token");
  out.eos_token = optional_string(row, "eos_token");
  out.stop_tokens = strings(row, "stop_tokens");
  out.kwargs_sets = row.find("kwargs_sets")->as_array();
  return out;
}

CorpusConversation read_conversation(const std::string& path) {
  const json::Value file = read_json(path);
  CorpusConversation out;
  out.id = std::string(*file.find_string("id"));
  out.tags = strings(file, "tags");
  out.messages = file.find("messages")->as_array();
  if (const json::Value* tools = file.find("tools")) out.tools = *tools;
  if (const json::Value* documents = file.find("documents")) out.documents = *documents;
  if (const json::Value* kwargs = file.find("kwargs"); kwargs != nullptr && kwargs->is_object())
    out.kwargs = kwargs->as_object();
  return out;
}

}  // namespace

bool CorpusConversation::has_tag(const std::string& tag) const {
  return std::find(tags.begin(), tags.end(), tag) != tags.end();
}

std::optional<Corpus> Corpus::open() {
  const std::string root = corpus_folder();
  if (root.empty()) {
    MESSAGE(kNoCorpus);
    return std::nullopt;
  }
  const std::string models = corpus_models();
  Corpus corpus;
  const json::Value manifest = read_json(root + "/manifest.json");
  for (const json::Value& row : manifest.find("rows")->as_array()) corpus.rows_.push_back(read_row(row, root, models));
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(root + "/conversations")) paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) corpus.conversations_.push_back(read_conversation(path));
  return corpus;
}

std::optional<Corpus> Corpus::open_with_models() {
  auto corpus = open();
  if (corpus && corpus->rows_with_tokenizer().empty()) {
    MESSAGE(kNoCorpus);
    corpus.reset();
  }
  return corpus;
}

const CorpusRow* Corpus::find(std::string_view id) const {
  const auto found = std::ranges::find(rows_, id, &CorpusRow::id);
  return found == rows_.end() ? nullptr : &*found;
}

std::vector<CorpusRow> Corpus::rows_with_tokenizer() const {
  const bool full = std::getenv("RONDO_TEST_FULL") != nullptr;
  const std::size_t step = is_small_corpus() ? 7 : 16;
  std::vector<CorpusRow> out;
  std::size_t seen = 0;
  for (const CorpusRow& row : rows_) {
    if (row.model_folder.empty()) continue;
    if (full || seen % step == 0) out.push_back(row);
    ++seen;
  }
  return out;
}

std::vector<CorpusRow> Corpus::templates(std::size_t step) const {
  const bool is_whole = std::getenv("RONDO_TEST_FULL") != nullptr || is_small_corpus();
  std::set<std::string> seen;
  std::vector<CorpusRow> out;
  for (const CorpusRow& row : rows_) {
    if (seen.insert(row.template_path).second && (is_whole || seen.size() % step == 0)) out.push_back(row);
  }
  return out;
}

chat::Conversation Corpus::conversation(const CorpusRow& row, const CorpusConversation& item) const {
  chat::Conversation out;
  if (!item.tools.is_null()) out.tools = item.tools;
  if (!item.documents.is_null()) out.documents = item.documents;
  out.kwargs = item.kwargs;
  out.bos_token = row.bos_token;
  out.eos_token = row.eos_token;
  return out;
}

}  // namespace rondo::test
