#include "render/transcript.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "chat/results.h"

namespace rondo::render {
namespace {

std::string place_of(std::size_t message) { return "messages[" + std::to_string(message) + "]"; }

// Whether the shaping of later messages depends on nothing before this message.
bool begins_anew(const json::Value& message) {
  const auto role = message.find_string("role");
  return role != "tool" && (role != "assistant" || !chat::open_calls(message).empty());
}

}  // namespace

// Undoes changes to a text whose end was changed a few times.
class Transcript::Undo {
 public:
  explicit Undo(std::string& text) : text_(text), kept_(text.size()) {}
  // Call before everything from byte `from` is replaced.
  void note(std::size_t from) {
    if (from >= kept_) return;
    removed_.insert(0, text_, from, kept_ - from);
    kept_ = from;
  }
  void run() {
    text_.resize(kept_);
    text_ += removed_;
  }
  [[nodiscard]] std::size_t kept() const { return kept_; }

 private:
  std::string& text_;
  std::size_t kept_;  // bytes that were never touched
  std::string removed_;
};

TranscriptModel::TranscriptModel(Parts parts)
    : parts_(std::move(parts)),
      setting_{*parts_.chat_template, parts_.base, parts_.apply},
      growth_(Growth::prove(setting_, parts_.input)) {}

std::shared_ptr<const TranscriptModel> TranscriptModel::make(Parts parts) {
  parts.base.messages.clear();
  parts.base.continue_final_message.reset();
  parts.apply.origins = true;
  parts.apply.whole_dumps = true;  // the owner of a dump also owns its parts
  return std::shared_ptr<const TranscriptModel>(new TranscriptModel(std::move(parts)));
}

std::string_view to_string(Grown::Way way) { return way == Grown::Way::kIncremental ? "incremental" : "full"; }

Result<Transcript> Transcript::start(std::shared_ptr<const TranscriptModel> model, json::Array messages) {
  Transcript out(std::move(model));
  out.unknown_ = out.model_->growth().general_reason();
  Shaped shaped = out.shape(messages);
  out.keep_sent(std::move(messages));
  out.messages_ = std::move(shaped.messages);
  out.shaped_ = tmpl::sentences(shaped.shaping);
  for (std::size_t i = 0; i < out.messages_.size(); ++i) out.note(out.messages_[i], i);
  const Setting& setting = out.model_->setting();
  const auto rendered = tmpl::apply(setting.chat_template, setting.base, out.messages_,
                                    setting.base.add_generation_prompt, setting.options);
  if (!rendered.ok()) return rendered.error();
  if (out.unknown_.empty()) out.unknown_ = out.model_->growth().unknown_in(rendered.value());
  out.text_ = rendered.value().text.bytes();
  return out;
}

std::string Transcript::grow(const json::Value& message, Undo& undo, std::size_t& window) {
  const std::size_t at = messages_.size();
  note(message, at);
  if (!unknown_.empty()) return unknown_;
  const GrowthStep step = this->step(message);
  if (step.fault.empty()) {
    undo.note(step.kept);
    text_.resize(step.kept);
    text_ += step.added;
    window = std::max(window, step.window + 1);
    return "";
  }
  const std::string why = place_of(at) + ": " + step.fault;
  if (step.is_unknown) unknown_ = why;
  return why;
}

Result<Grown> Transcript::append(json::Array new_messages) {
  Grown out;
  Shaped shaped = shape(new_messages);
  out.shaped = tmpl::sentences(shaped.shaping, "new_messages");
  const std::size_t old_count = messages_.size();
  const json::Array before(messages_.begin() + static_cast<std::ptrdiff_t>(shaped.from), messages_.end());
  const bool was_marked = is_marked_;
  const std::string was_unknown = unknown_;
  Undo undo(text_);
  std::string why = shaped.replaced.empty() ? "" : "the new messages change the form of earlier ones";
  if (!why.empty()) {
    messages_.resize(shaped.from);
    std::ranges::move(shaped.replaced, std::back_inserter(messages_));
    if (ready_) ready_->shrink(std::min(ready_->size(), shaped.from));
  }
  std::size_t window = 0;
  for (json::Value& message : shaped.messages) {
    if (why.empty()) {
      why = grow(message, undo, window);
    } else {
      note(message, messages_.size());
    }
    messages_.push_back(std::move(message));
  }
  if (why.empty()) {
    out.way = Grown::Way::kIncremental;
    out.why = "each new message was rendered in a window of at most " + std::to_string(window) +
              " messages: nothing depends on the others";
    out.kept = undo.kept();
    keep_sent(std::move(new_messages));
    return out;
  }
  undo.run();
  auto rendered = render_all();
  if (!rendered.ok()) {
    messages_.resize(shaped.from);
    messages_.insert(messages_.end(), before.begin(), before.end());
    if (ready_) ready_->shrink(std::min(ready_->size(), shaped.replaced.empty() ? old_count : shaped.from));
    is_marked_ = was_marked;
    unknown_ = was_unknown;
    return rendered.error();
  }
  if (unknown_.empty()) unknown_ = model_->growth().unknown_in(rendered.value());
  const std::string& text = rendered.value().text.bytes();
  out.kept = static_cast<std::size_t>(std::ranges::mismatch(text_, text).in1 - text_.begin());
  out.why = std::move(why);
  text_ = text;
  keep_sent(std::move(new_messages));
  return out;
}

GrowthStep Transcript::step(const json::Value& message) const {
  if (messages_.empty()) {
    GrowthStep first;
    first.fault = "there was no message before it";
    return first;
  }
  return step_in_window(model_->setting(), model_->growth(), messages_, text_, message, is_marked_);
}

void Transcript::note(const json::Value& message, std::size_t at) {
  const Growth& growth = model_->growth();
  is_marked_ = is_marked_ || growth.marks(message);
  if (!unknown_.empty()) return;
  const std::string reason = growth.unknown_in(std::span(messages_).first(at), message, is_marked_);
  if (!reason.empty()) unknown_ = place_of(at) + ": " + reason;
}

Result<jinja::Rendered> Transcript::render_all() {
  const Setting& setting = model_->setting();
  if (!ready_) ready_.emplace(setting.base, messages_);
  while (ready_->size() < messages_.size()) ready_->push(messages_[ready_->size()]);
  tmpl::ApplyOptions options = setting.options;
  options.origins = unknown_.empty();
  return ready_->render(setting.chat_template, setting.base.add_generation_prompt, options);
}

// Shapes the messages again from the last one after which nothing earlier matters, together with the new ones.  A new
// result may belong before one that came earlier.
Transcript::Shaped Transcript::shape(const json::Array& new_messages) const {
  Shaped out;
  const std::size_t known = sent_.size();
  json::Array all = sent_;
  all.insert(all.end(), new_messages.begin(), new_messages.end());
  tmpl::ShapingContext context;
  context.calls_before = calls_before_;
  if (!model_->parts().apply.strict) out.shaping = tmpl::shape(all, model_->parts().rules, context);
  const auto behind = all.begin() + static_cast<std::ptrdiff_t>(known);
  out.messages.assign(std::make_move_iterator(behind), std::make_move_iterator(all.end()));
  all.resize(known);
  out.from = messages_.size() - known;
  if (!std::ranges::equal(all, std::span(messages_).subspan(out.from))) out.replaced = std::move(all);
  if (out.replaced.empty()) out.from = messages_.size();
  std::erase_if(out.shaping.changes, [&](const tmpl::MessageChange& change) { return change.message < known; });
  for (tmpl::MessageChange& change : out.shaping.changes) change.message -= known;
  if (!messages_.empty()) {
    out.shaping.polyfills =
        tmpl::changes_of_new(model_->parts().polyfills, out.messages, tmpl::preceding_of(messages_));
  } else {
    chat::Conversation first = model_->parts().base;
    first.messages = out.messages;
    out.shaping.polyfills = tmpl::changes_of(model_->parts().polyfills, first);
  }
  return out;
}

void Transcript::keep_sent(json::Array new_messages) {
  std::ranges::move(new_messages, std::back_inserter(sent_));
  std::size_t last = sent_.size();
  while (last > 0 && !begins_anew(sent_[last - 1])) --last;
  if (last < 2) return;
  for (std::size_t i = 0; i + 1 < last; ++i) calls_before_ += chat::open_calls(sent_[i]).size();
  sent_.erase(sent_.begin(), sent_.begin() + static_cast<std::ptrdiff_t>(last - 1));
}

}  // namespace rondo::render
