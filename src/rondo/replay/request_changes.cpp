#include "replay/request_changes.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/utf8.h"
#include "json/parse.h"
#include "json/print.h"
#include "replay/prompt_maker.h"
#include "template/chat_template.h"

namespace rondo::replay {
namespace {

constexpr std::size_t kShownBytes = 80;

std::string shown(std::string_view text) {
  if (text.size() <= kShownBytes) return std::string(text);
  return std::string(utf8::head(text, kShownBytes)) + "…";
}

std::string place(std::size_t message) { return "messages[" + std::to_string(message) + "]"; }

std::string tool_name(const json::Value& tool) {
  const json::Value* function = tool.find("function");
  return std::string((function == nullptr ? tool : *function).find_string("name").value_or("?"));
}

std::string reasoning_of(const json::Value& message) {
  const json::Value* value = message.find(tmpl::reasoning_field(message));
  return value != nullptr && value->is_string() ? value->as_string() : "";
}

const json::Array* calls_of(const json::Value& message) {
  const json::Value* calls = message.find("tool_calls");
  return calls != nullptr && calls->is_array() ? &calls->as_array() : nullptr;
}

// The message without members that say nothing.  Null content means the same as empty or absent content.
json::Object said(const json::Value& message) {
  json::Object out;
  for (const json::Member& member : message.as_object()) {
    const bool is_empty = member.value.is_null() || (member.key == "content" && !chat::is_filled(&member.value));
    if (!is_empty) out.set(member.key, member.value);
  }
  return out;
}

std::string arguments_text(const json::Value& call) {
  const json::Value* function = call.find("function");
  const json::Value* arguments = (function == nullptr ? call : *function).find("arguments");
  if (arguments == nullptr) return "";
  return arguments->is_string() ? arguments->as_string() : json::to_compact(*arguments);
}

// Whether two calls have the same arguments, in any spelling.
bool has_same_arguments(const json::Value& before, const json::Value& after) {
  const std::string was = arguments_text(before);
  const std::string is = arguments_text(after);
  if (was == is) return true;
  const auto old_value = json::parse(was);
  const auto new_value = json::parse(is);
  return old_value.ok() && new_value.ok() && old_value.value() == new_value.value();
}

// The first difference between calls: ".tool_calls[0].function.arguments".
std::string edited_call(const json::Array& before, const json::Array& after) {
  std::string calls = ".tool_calls";
  if (before.size() != after.size()) return calls;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const std::string function = calls + "[" + std::to_string(i) + "].function";
    if (tool_name(before[i]) != tool_name(after[i])) return function + ".name";
    if (!has_same_arguments(before[i], after[i])) return function + ".arguments";
  }
  return calls;
}

// The only field in which the two messages differ: ".content", or one of the calls; "" if there are several.
std::string edited_field(const json::Value& before, const json::Value& after) {
  json::Object was = said(before);
  json::Object is = said(after);
  const auto differ_only_in = [&](std::string_view key) {
    const json::Value* old_value = was.find(key);
    const json::Value* new_value = is.find(key);
    if (old_value == nullptr || new_value == nullptr || *old_value == *new_value) return false;
    json::Object old_rest = was;
    json::Object new_rest = is;
    old_rest.erase(key);
    new_rest.erase(key);
    return old_rest == new_rest;
  };
  if (differ_only_in("content")) return ".content";
  const json::Array* old_calls = calls_of(before);
  const json::Array* new_calls = calls_of(after);
  if (old_calls == nullptr || new_calls == nullptr || !differ_only_in("tool_calls")) return "";
  return edited_call(*old_calls, *new_calls);
}

class Comparer {
 public:
  Comparer(const RequestView& before, std::size_t answers, const RequestView& after)
      : before_(before), first_answer_(before.messages.size() - answers), after_(after) {}

  Comparison run() {
    compare_tools();
    if (*before_.kwargs != *after_.kwargs) {
      add({ChangeKind::kVariablesChanged, -1, "kwargs", "the template variables changed",
           shown(json::to_compact(json::Value(*before_.kwargs))),
           shown(json::to_compact(json::Value(*after_.kwargs)))});
    }
    compare_instructions();
    while (old_ < before_.messages.size() && new_ < after_.messages.size()) {
      if (before_.marks[old_].loose != after_.marks[new_].loose) {
        if (!pass_over_difference()) break;
        continue;
      }
      if (before_.marks[old_].exact != after_.marks[new_].exact) compare_details();
      ++old_;
      ++new_;
    }
    end();
    return std::move(out_);
  }

 private:
  void add(Change change) { out_.changes.push_back(std::move(change)); }

  void compare_tools() {
    if (std::ranges::equal(before_.tool_hashes, after_.tool_hashes)) return;
    static const json::Array kNone;
    const json::Array& before = *before_.tools ? (*before_.tools)->as_array() : kNone;
    const json::Array& after = *after_.tools ? (*after_.tools)->as_array() : kNone;
    std::vector<std::uint64_t> old_hashes(before_.tool_hashes.begin(), before_.tool_hashes.end());
    std::vector<std::uint64_t> new_hashes(after_.tool_hashes.begin(), after_.tool_hashes.end());
    const auto first = static_cast<std::size_t>(std::ranges::mismatch(old_hashes, new_hashes).in1 - old_hashes.begin());
    const std::string was = first < before.size() ? tool_name(before[first]) : "";
    const std::string is = first < after.size() ? tool_name(after[first]) : "";
    std::ranges::sort(old_hashes);
    std::ranges::sort(new_hashes);
    const std::string path = "tools[" + std::to_string(first) + "]";
    if (old_hashes == new_hashes) {
      add({ChangeKind::kToolsReordered, -1, path, "the same tools stand in another order", was, is});
    } else if (was == is && first < std::min(before.size(), after.size())) {
      add({ChangeKind::kToolsChanged, -1, path, "the tool `" + is + "` is described otherwise",
           shown(json::to_compact(before[first])), shown(json::to_compact(after[first]))});
    } else {
      add({ChangeKind::kToolsChanged, -1, path,
           std::to_string(before.size()) + " tools became " + std::to_string(after.size()), was, is});
    }
  }

  void compare_instructions() {
    const std::size_t old_count = leading_instructions(before_.messages);
    const std::size_t new_count = leading_instructions(after_.messages);
    for (std::size_t i = 0; i < std::min(old_count, new_count); ++i) {
      if (before_.marks[i].exact == after_.marks[i].exact) continue;
      const std::vector<TextChange> changes =
          text_changes(chat::content_text(before_.messages[i]), chat::content_text(after_.messages[i]));
      for (const TextChange& change : changes) {
        const std::size_t same = common_prefix(change.before, change.after);
        add({change.is_time ? ChangeKind::kDate : ChangeKind::kVolatileHeader, static_cast<std::int32_t>(i),
             place(i) + ".content", "byte " + std::to_string(change.begin + same) + " of the system text changed",
             shown(change.before), shown(change.after), change.begin + same});
      }
      if (changes.empty()) respelled(i, place(i) + ".content");
    }
    if (old_count != new_count) {
      add({ChangeKind::kMessageEdited, static_cast<std::int32_t>(std::min(old_count, new_count)),
           place(std::min(old_count, new_count)),
           new_count > old_count ? "a system message was added" : "a system message is gone", "", ""});
    }
    old_ = old_count;
    new_ = new_count;
  }

  void respelled(std::size_t index, const std::string& path) {
    add({ChangeKind::kContentRespelled, static_cast<std::int32_t>(index), path, "the same content is spelled otherwise",
         "", ""});
  }

  // Compares the same message in another form.
  void compare_details() {
    const json::Value& before = before_.messages[old_];
    const json::Value& after = after_.messages[new_];
    const auto index = static_cast<std::int32_t>(new_);
    const std::size_t known = out_.changes.size();
    const std::string old_reasoning = reasoning_of(before);
    const std::string new_reasoning = reasoning_of(after);
    if (!old_reasoning.empty() && new_reasoning.empty()) {
      add({ChangeKind::kReasoningLeftOut, index, place(new_) + ".reasoning_content",
           "the reasoning that the model wrote was not sent back", shown(old_reasoning), ""});
    } else if (old_reasoning != new_reasoning) {
      add({ChangeKind::kContentRespelled, index, place(new_) + ".reasoning_content", "the reasoning is another one",
           shown(old_reasoning), shown(new_reasoning)});
    }
    compare_calls(before, after);
    const json::Object was = said(before);
    const json::Object is = said(after);
    const json::Value* old_content = was.find("content");
    const json::Value* new_content = is.find("content");
    const bool same_content =
        old_content != nullptr && new_content != nullptr ? *old_content == *new_content : old_content == new_content;
    if (!same_content || (out_.changes.size() == known && was != is)) respelled(new_, place(new_));
  }

  void compare_calls(const json::Value& before, const json::Value& after) {
    const json::Array* old_calls = calls_of(before);
    const json::Array* new_calls = calls_of(after);
    if (old_calls == nullptr || new_calls == nullptr) return;
    for (std::size_t i = 0; i < std::min(old_calls->size(), new_calls->size()); ++i) {
      const std::string path = place(new_) + ".tool_calls[" + std::to_string(i) + "]";
      const std::string was = arguments_text((*old_calls)[i]);
      const std::string is = arguments_text((*new_calls)[i]);
      if (was != is) {
        add({ChangeKind::kArgumentsRespelled, static_cast<std::int32_t>(new_), path + ".function.arguments",
             "the arguments were serialised again", shown(was), shown(is)});
      }
      const auto old_id = (*old_calls)[i].find_string("id");
      const auto new_id = (*new_calls)[i].find_string("id");
      if (old_id != new_id) {
        add({ChangeKind::kCallIdsChanged, static_cast<std::int32_t>(new_), path + ".id", "the call has another id",
             std::string(old_id.value_or("")), std::string(new_id.value_or(""))});
      }
    }
  }

  // Finds where both continue with the same message again; false if they never do.
  bool pass_over_difference() {
    if (old_ == first_answer_ && after_.messages[new_].find_string("role") != "assistant") {
      add({ChangeKind::kAnswerLeftOut, static_cast<std::int32_t>(new_), place(new_),
           "what the model answered was not sent back", "", ""});
      old_ = before_.messages.size();
      return true;
    }
    index_old();
    std::size_t resumed = new_;
    std::optional<std::size_t> old_resumed;
    for (; resumed < after_.messages.size() && !old_resumed; ++resumed)
      old_resumed = next_old(after_.marks[resumed].loose);
    if (!old_resumed) return false;
    --resumed;
    note_difference(*old_resumed - old_, resumed - new_);
    old_ = *old_resumed;
    new_ = resumed;
    return true;
  }

  void note_difference(std::size_t gone, std::size_t come) {
    Change change;
    change.message = static_cast<std::int32_t>(new_);
    change.path = place(new_);
    if (gone > 0) change.before = shown(chat::content_text(before_.messages[old_]));
    if (come > 0) change.after = shown(chat::content_text(after_.messages[new_]));
    if (come == 0) {
      change.kind = ChangeKind::kHistoryTruncated;
      change.sentence = std::to_string(gone) + " messages are gone";
    } else if (gone > come) {
      change.kind = ChangeKind::kHistoryCompacted;
      change.sentence = std::to_string(gone) + " messages were replaced by " + std::to_string(come);
    } else {
      change.kind = ChangeKind::kMessageEdited;
      if (gone > 0) change.path += edited_field(before_.messages[old_], after_.messages[new_]);
      if (change.path.ends_with("content"))
        change.byte =
            common_prefix(chat::content_text(before_.messages[old_]), chat::content_text(after_.messages[new_]));
      change.sentence = gone == 0 ? std::to_string(come) + " messages were put in between" : "the message was edited";
    }
    add(std::move(change));
  }

  void index_old() {
    if (!positions_.empty()) return;
    for (std::size_t i = 0; i < before_.marks.size(); ++i) positions_[before_.marks[i].loose].push_back(i);
  }

  std::optional<std::size_t> next_old(std::uint64_t loose) const {
    const auto found = positions_.find(loose);
    if (found == positions_.end()) return std::nullopt;
    const auto at = std::ranges::lower_bound(found->second, old_);
    return at == found->second.end() ? std::nullopt : std::optional(*at);
  }

  void end() {
    out_.appended_from = new_;
    out_.is_continuation = old_ == before_.messages.size();
    if (out_.is_continuation) return;
    const std::size_t lost = before_.messages.size() - old_;
    const std::size_t fresh = after_.messages.size() - new_;
    const bool only_instructions = new_ == leading_instructions(after_.messages);
    Change change{ChangeKind::kBranched,
                  static_cast<std::int32_t>(new_),
                  place(new_),
                  "the conversation goes on from here without the " + std::to_string(lost) + " messages that followed",
                  shown(chat::content_text(before_.messages[old_])),
                  new_ < after_.messages.size() ? shown(chat::content_text(after_.messages[new_])) : ""};
    if (only_instructions && fresh < lost) {
      change.kind = ChangeKind::kHistoryCompacted;
      change.sentence = std::to_string(lost) + " messages were replaced by " + std::to_string(fresh);
    }
    add(std::move(change));
  }

  const RequestView& before_;
  std::size_t first_answer_;
  const RequestView& after_;
  Comparison out_;
  std::size_t old_ = 0;
  std::size_t new_ = 0;
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> positions_;
};

}  // namespace

std::string_view to_string(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kVolatileHeader: return "volatile-header";
    case ChangeKind::kDate: return "date";
    case ChangeKind::kToolsReordered: return "tools-reordered";
    case ChangeKind::kToolsChanged: return "tools-changed";
    case ChangeKind::kVariablesChanged: return "variables-changed";
    case ChangeKind::kReasoningLeftOut: return "reasoning-left-out";
    case ChangeKind::kArgumentsRespelled: return "arguments-respelled";
    case ChangeKind::kCallIdsChanged: return "call-ids-changed";
    case ChangeKind::kContentRespelled: return "content-respelled";
    case ChangeKind::kMessageEdited: return "message-edited";
    case ChangeKind::kHistoryTruncated: return "history-truncated";
    case ChangeKind::kHistoryCompacted: return "history-compacted";
    case ChangeKind::kAnswerLeftOut: return "answer-left-out";
    case ChangeKind::kBranched: return "branched";
  }
  return "";
}

Comparison compare_requests(const RequestView& before, std::size_t answers, const RequestView& after) {
  return Comparer(before, answers, after).run();
}

}  // namespace rondo::replay
