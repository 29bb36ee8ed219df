// The fields that several ops of the line protocol share: template, tokenizer, conversation (docs/batch.md section 3).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "chat/conversation.h"
#include "core/fields.h"
#include "core/model.h"

namespace rondo::protocol {

using core::Fields;

// What a request says about its template; nothing is loaded yet.
struct TemplateFields {
  std::optional<std::string> text;
  std::optional<std::string> file;
  std::optional<std::string> tokenizer;
  bool strict = true;
  core::Polyfill polyfill = core::Polyfill::kOff;
  std::optional<jinja::LocalTime> now;
  jinja::CompileOptions compile;
};

[[nodiscard]] TemplateFields read_template(Fields& fields, core::TokenizerUse tokenizer);

struct ConversationDefaults {
  bool messages_required = false;
  bool add_generation_prompt = false;
};
// `has_messages`: whether the request gave any (an empty array counts).
struct ConversationFields {
  chat::Conversation conversation;
  bool has_messages = false;
};
[[nodiscard]] ConversationFields read_conversation(Fields& fields, const ConversationDefaults& defaults);

// The field `corrections`: parts of a format's JSON (docs/format.md) that count instead of what was inferred.
[[nodiscard]] std::optional<json::Object> read_corrections(Fields& fields);

// The field `retention`: what of earlier reasoning stays; nullopt where it is absent.
[[nodiscard]] std::optional<render::Retention> read_retention(Fields& fields);

// The models that requests have named, loaded once and kept.  Thread-safe.
class Models {
 public:
  // `clock` tells the local time for requests without `now`; may be empty.
  Models(std::string cache_folder, std::function<jinja::LocalTime()> clock)
      : cache_folder_(std::move(cache_folder)), loader_(cache_folder_), clock_(std::move(clock)) {}

  // The model of `fields`.  Fails as Loader does.
  [[nodiscard]] Result<std::shared_ptr<const core::Model>> model(const TemplateFields& fields,
                                                                 const std::optional<json::Object>& corrections = {});
  // A model as core::Model::load() makes it; what `source` says of a cache does not count.
  [[nodiscard]] Result<std::shared_ptr<const core::Model>> load(core::Source source);
  [[nodiscard]] core::TokenizerResult tokenizer(const std::string& path) { return loader_.tokenizer(path); }
  // What a request says as the model takes it.
  [[nodiscard]] core::Call call(const TemplateFields& fields, ConversationFields input) const;

  // `now`, or else what the clock says, if there is one.
  [[nodiscard]] std::optional<jinja::LocalTime> time_or_clock(std::optional<jinja::LocalTime> now) const;

 private:
  std::string cache_folder_;
  core::Loader loader_;
  core::Memo<core::Model> models_{1024};
  std::function<jinja::LocalTime()> clock_;
};

}  // namespace rondo::protocol
