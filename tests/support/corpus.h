// The test corpus (support/corpus_files.h says which): manifest rows and conversations.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chat/conversation.h"
#include "jinja/template.h"
#include "json/value.h"
#include "tests/support/corpus_files.h"

namespace rondo::test {

// The time at which its prompts were rendered.
inline constexpr jinja::LocalTime kClock{2026, 3, 14, 15, 9, 26};

struct CorpusRow {
  std::string id;
  std::string template_path;  // absolute
  std::string model_folder;   // with tokenizer.json, tokenizer_config.json and chat_template.jinja; "" if none
  std::optional<std::string> bos_token;
  std::optional<std::string> eos_token;
  std::vector<std::string> stop_tokens;
  json::Array kwargs_sets;  // {"name", "kwargs"}
};

struct CorpusConversation {
  std::string id;
  std::vector<std::string> tags;
  json::Array messages;
  json::Value tools;
  json::Value documents;
  json::Object kwargs;
  [[nodiscard]] bool has_tag(const std::string& tag) const;
};

class Corpus {
 public:
  // nullopt when there is no corpus, which is said (kNoCorpus).  Fails the test when it is there and cannot be read.
  static std::optional<Corpus> open();
  // The same where its models have not been unpacked either.
  static std::optional<Corpus> open_with_models();

  [[nodiscard]] const std::vector<CorpusRow>& rows() const { return rows_; }
  // nullptr if this corpus has no such row: the larger one lacks the invented templates, the small one many others.
  [[nodiscard]] const CorpusRow* find(std::string_view id) const;
  // Rows whose model folder has been unpacked; without RONDO_TEST_FULL only a sample of them.
  [[nodiscard]] std::vector<CorpusRow> rows_with_tokenizer() const;
  // The first row of each template; of the larger corpus without RONDO_TEST_FULL only every step'th.
  [[nodiscard]] std::vector<CorpusRow> templates(std::size_t step) const;
  [[nodiscard]] const std::vector<CorpusConversation>& conversations() const { return conversations_; }
  // Everything but the messages: tools, documents, kwargs, bos and eos.
  [[nodiscard]] chat::Conversation conversation(const CorpusRow& row, const CorpusConversation& item) const;

 private:
  std::vector<CorpusRow> rows_;
  std::vector<CorpusConversation> conversations_;
};

}  // namespace rondo::test
