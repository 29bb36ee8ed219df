// The fields that several operations of the line protocol share: template, tokenizer, conversation (docs/batch.md
// section 3).
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

// What a request says about its template.  Nothing is loaded yet.
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
// `has_messages` tells whether the request has messages (an empty array counts).
struct ConversationFields {
  chat::Conversation conversation;
  bool has_messages = false;
};
[[nodiscard]] ConversationFields read_conversation(Fields& fields, const ConversationDefaults& defaults);

// Reads the field `corrections`: parts of a format's JSON (docs/format.md) that override the inferred ones.
[[nodiscard]] std::optional<json::Object> read_corrections(Fields& fields);

// Reads the field `retention`, which says which earlier reasoning stays; nullopt if it is absent.
[[nodiscard]] std::optional<render::Retention> read_retention(Fields& fields);

// The models that requests have named.  Each is loaded once and kept.  Thread-safe.
class Models {
 public:
  // `clock` returns the local time for requests without `now`; it may be empty.
  Models(std::string cache_folder, std::function<jinja::LocalTime()> clock)
      : cache_folder_(std::move(cache_folder)), loader_(cache_folder_), clock_(std::move(clock)) {}

  // Returns the model of `fields`.  Fails as Loader does.
  [[nodiscard]] Result<std::shared_ptr<const core::Model>> model(const TemplateFields& fields,
                                                                 const std::optional<json::Object>& corrections = {});
  // Returns a model as core::Model::load() makes it; ignores the cache folder in `source`.
  [[nodiscard]] Result<std::shared_ptr<const core::Model>> load(core::Source source);
  [[nodiscard]] core::TokenizerResult tokenizer(const std::string& path) { return loader_.tokenizer(path); }
  // Returns the request's call in the form that the model takes.
  [[nodiscard]] core::Call call(const TemplateFields& fields, ConversationFields input) const;

  // Returns `now`, or the time of the clock if there is one.
  [[nodiscard]] std::optional<jinja::LocalTime> time_or_clock(std::optional<jinja::LocalTime> now) const;

 private:
  [[nodiscard]] core::TemplateResult template_named(const std::string& name, const TemplateFields& fields);
  std::string cache_folder_;
  core::Loader loader_;
  core::Memo<core::Model> models_{1024};
  std::function<jinja::LocalTime()> clock_;
};

}  // namespace rondo::protocol
