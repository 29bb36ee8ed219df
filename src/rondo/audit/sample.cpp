#include "audit/sample.h"

#include <algorithm>
#include <utility>

#include "chat/reasoning_fields.h"
#include "format/escapes.h"
#include "format/units.h"
#include "parse/parser.h"
#include "probe/places.h"
#include "render/encode.h"

namespace rondo::audit {
namespace {

using render::Extent;

// How much of the beginning of `text` is already the end of `before`.
std::size_t already_written(std::string_view before, std::string_view text) {
  std::size_t size = std::min(before.size(), text.size());
  while (!before.ends_with(text.substr(0, size))) --size;
  return size;
}

class Sampler {
 public:
  Sampler(const AuditContext& context, const json::Array& history, const jinja::Rendered& prompt,
          const json::Value& message)
      : context_(context), format_(*context.format), prompt_(prompt.text.bytes()), messages_(history) {
    messages_.push_back(message);
    index_ = static_cast<std::int32_t>(history.size());
    std::size_t at = 0;
    for (const text::Run& run : prompt.text.runs()) {
      at += run.size;
      if (render::is_message_data(run, prompt.origins)) said_end_ = at;
    }
    for (const std::string_view field : chat::kReasoningFields) {
      if (const auto text = message.find_string(field)) reasoning_ = *text;
    }
    content_ = message.find_string("content").value_or("");
    take_reasoning_part(message);
    const json::Value* calls = message.find("tool_calls");
    has_calls_ = calls != nullptr && calls->is_array();
  }

  Sample run() {
    auto form = render::render_messages(context_.turn(), messages_, false);
    if (!form.ok()) return {std::nullopt, "the template refuses the turn: " + form.error().message};
    const auto extents = render::sampled_extents(context_.turn(), form.value(), messages_);
    if (extents.empty() || extents.back().message != index_ || extents.back().end <= extents.back().begin)
      return {std::nullopt, "the template writes nothing of the turn"};
    form_ = &form.value();
    extent_ = extents.back();
    const bool goes_on = form_->text.bytes().starts_with(prompt_) && prompt_.size() <= extent_.end;
    const std::size_t begin = goes_on ? prompt_.size() : extent_.begin;
    const Regions regions = find_regions(*form_, format_, index_, {begin, extent_.end});
    if (goes_on && (reasoning_.empty() ? !leaves_open(begin) : regions.reasoning.has_value()))
      return finish(begin, "", regions);
    return compose(regions);
  }

 private:
  void take_reasoning_part(const json::Value& message) {
    const json::Value* content = message.find("content");
    if (content == nullptr || !content->is_array() || format_.input.reasoning_part.empty()) return;
    for (const json::Value& part : content->as_array()) {
      if (const auto text = part.find_string(format_.input.reasoning_part)) reasoning_ = *text;
    }
  }

  // Whether the prompt has opened the reasoning.
  [[nodiscard]] bool is_open() const {
    parse::Options options;
    options.prompt_tail = prompt_;
    return parse::Parser(context_.format, std::move(options)).place() == parse::Place::kReasoning;
  }

  // Whether the prompt has opened reasoning that the template's form never closes.
  [[nodiscard]] bool leaves_open(std::size_t begin) const {
    const std::string_view close = format::trimmed(format_.reasoning.close);
    const std::string_view text = std::string_view(form_->text.bytes()).substr(begin, extent_.end - begin);
    return is_open() && text.find(close) == std::string_view::npos;
  }

  // The reasoning between the format's markers, followed by what history shows.
  Sample compose(const Regions& regions) {
    const bool open = is_open();
    if (reasoning_.empty()) {
      if (open) return {std::nullopt, "the prompt opens the reasoning, and the turn has none"};
      return finish(rest_begin(), "", find_regions(*form_, format_, index_, {rest_begin(), extent_.end}));
    }
    if (!format_.reasoning.present) return {std::nullopt, "the template knows no reasoning"};
    if (regions.reasoning && !open && !closes_reasoning())
      return finish(reasoning_begin(), "", regions_from(reasoning_begin()));
    std::string lead = format_.reasoning.open;
    if (open) {
      const std::size_t written = already_written(prompt_, lead);
      lead = written == 0 ? "" : lead.substr(written);
    } else if (closes_reasoning()) {
      return {std::nullopt, "the prompt closes the reasoning before the model begins"};
    }
    const std::size_t from = lead.size();
    lead += format::escaped(reasoning_, format_.reasoning.escapes);
    const std::size_t end = lead.size();
    lead += format_.reasoning.close;
    const std::size_t begin = rest_begin();
    Regions all = regions_from(begin);
    all.reasoning = Extent{from, end};
    const auto shift = [&](Extent& extent) {
      extent.begin += lead.size();
      extent.end += lead.size();
    };
    if (all.content) shift(*all.content);
    for (Extent& call : all.calls) shift(call);
    return finish(begin, lead, all);
  }

  [[nodiscard]] Regions regions_from(std::size_t begin) const {
    return find_regions(*form_, format_, index_, {begin, extent_.end});
  }

  // Whether the prompt ends with a closed reasoning block, because reasoning was switched off.
  [[nodiscard]] bool closes_reasoning() const {
    const std::string_view close = format::trimmed(format_.reasoning.close);
    const std::size_t header = format_.header.empty() ? std::string::npos : prompt_.rfind(format_.header);
    std::size_t from = header == std::string::npos ? prompt_.size() : header + format_.header.size();
    // Without a header between two turns, the last one belongs to an earlier turn.
    from = std::max(from, said_end_);
    return !close.empty() && std::string_view(prompt_).substr(from).find(close) != std::string_view::npos;
  }

  // Where content or calls begin in the template's form, including the markers that open them.  Everything before is
  // the template's: a header, the end of the previous turn, reasoning.
  [[nodiscard]] std::size_t rest_begin() const {
    const std::size_t turn = turn_begin();
    const Regions regions = regions_from(turn);
    const std::string_view text = std::string_view(form_->text.bytes()).substr(turn);
    const std::size_t content =
        regions.content ? opened_at(text, format_.content.open, regions.content->begin) : text.size();
    std::size_t calls = text.size();
    for (const Extent& call : regions.calls) calls = std::min(calls, call.begin);
    if (calls < text.size()) calls = opened_at(text, call_mark(), calls);
    const std::size_t begin = std::min(content, calls);
    // If the turn opens with white space only, the model writes it, unless the prompt already has it.
    const std::string_view lead = text.substr(0, begin);
    if (format::is_blank(lead) && !prompt_.ends_with(lead)) return turn;
    return begin < text.size() ? turn + begin : extent_.end;
  }

  // The same for a turn whose form shows its reasoning.
  [[nodiscard]] std::size_t reasoning_begin() const {
    const std::size_t turn = turn_begin();
    const std::string_view text = std::string_view(form_->text.bytes()).substr(turn);
    return turn + opened_at(text, format_.reasoning.open, regions_from(turn).reasoning->begin);
  }

  // This is not where the model began: a prompt that nobody continues does not show that.
  [[nodiscard]] std::size_t turn_begin() const {
    return std::min(extent_.begin, render::turn_begin(*form_, index_).value_or(extent_.begin));
  }

  // The last place before `data` at which `mark` begins; `data` itself if there is none.
  [[nodiscard]] static std::size_t opened_at(std::string_view text, std::string_view mark, std::size_t data) {
    const std::string_view core = format::trimmed(mark);
    const std::size_t found = core.empty() ? std::string_view::npos : text.substr(0, data).rfind(core);
    if (found == std::string_view::npos) return data;
    const std::size_t space = mark.find(core);
    return text.substr(0, found).ends_with(mark.substr(0, space)) ? found - space : found;
  }
  // The text that opens calls.  Bare JSON opens with its bracket.
  [[nodiscard]] std::string_view call_mark() const {
    const format::Calls& calls = format_.calls;
    if (!format::is_blank(calls.section_open)) return format::before_counter(calls.section_open);
    if (!format::is_blank(calls.call_open)) return format::before_counter(calls.call_open);
    if (calls.envelope == format::Envelope::kTags) return "";
    return calls.envelope == format::Envelope::kJsonArray ? "[" : "{";
  }

  // If history does not show the content, it goes where models write it: before the calls.
  void add_content(std::size_t from, Sampled& out) const {
    if (content_.empty() || out.regions.content) return;
    std::size_t at = out.regions.reasoning ? std::max(from, rest_of(out)) : from;
    if (has_calls_) at = std::max(at, opened_at(out.text, call_mark(), out.regions.calls.front().begin));
    const std::string content = format::escaped(content_, format_.content.escapes);
    const std::string text = format_.content.open + content + format_.content.close;
    out.text.insert(at, text);
    const std::size_t begin = at + format_.content.open.size();
    out.regions.content = Extent{begin, begin + content.size()};
    for (Extent& call : out.regions.calls) {
      call.begin += text.size();
      call.end += text.size();
    }
  }

  // The offset after the close of the reasoning.
  [[nodiscard]] std::size_t rest_of(const Sampled& out) const {
    const std::size_t found = out.text.find(format_.reasoning.close, out.regions.reasoning->end);
    return found == std::string::npos ? out.regions.reasoning->end : found + format_.reasoning.close.size();
  }

  // `lead` and the template's form from `begin` on, with a stop.
  Sample finish(std::size_t begin, const std::string& lead, Regions regions) {
    if (has_calls_ && regions.calls.empty()) return {std::nullopt, "the template does not write the calls"};
    Sampled out;
    out.text = lead + form_->text.bytes().substr(begin, extent_.end - begin);
    out.regions = std::move(regions);
    add_content(lead.size(), out);
    const std::vector<std::string> stops = known_stops();
    cut_behind_stop(stops, out);
    std::size_t longest = 0;
    for (const std::string& stop : stops) {
      if (out.text.ends_with(stop)) longest = std::max(longest, stop.size());
    }
    if (longest == 0 && !stops.empty()) {
      out.text += stops.front();
      longest = stops.front().size();
    }
    out.stop_begin = out.text.size() - longest;
    return {std::move(out), ""};
  }

  // A model stops at the first stop after its output, even if a template writes more.
  static void cut_behind_stop(const std::vector<std::string>& stops, Sampled& out) {
    const std::size_t calls = out.regions.calls.empty() ? std::string::npos : out.regions.calls.back().end;
    const std::size_t content = out.regions.content ? out.regions.content->end : std::string::npos;
    std::size_t from = std::min(calls, content);
    if (from == std::string::npos) return;
    if (out.regions.reasoning) from = std::max(from, out.regions.reasoning->end);
    std::size_t end = out.text.size();
    for (const std::string& stop : stops) {
      const std::size_t found = out.text.find(stop, from);
      if (found != std::string::npos && !format::is_blank(stop)) end = std::min(end, found + stop.size());
    }
    if (content != std::string::npos && content > end) out.regions.content.reset();
    if (calls != std::string::npos && calls > end) out.regions.calls.clear();
    out.text.resize(end);
  }

  // The most likely stop first.
  [[nodiscard]] std::vector<std::string> known_stops() const {
    std::vector<std::string> out = has_calls_ ? format_.stops.tool : format_.stops.content;
    const std::vector<std::string>& others = has_calls_ ? format_.stops.content : format_.stops.tool;
    out.insert(out.end(), others.begin(), others.end());
    for (const tokenizer::TokenId id : context_.profile.stop_ids) out.emplace_back(context_.tokenizer.token_bytes(id));
    out.insert(out.end(), context_.profile.stop_strings.begin(), context_.profile.stop_strings.end());
    std::erase(out, "");
    return out;
  }

  const AuditContext& context_;
  const format::Format& format_;
  const std::string& prompt_;
  json::Array messages_;
  std::int32_t index_ = 0;
  std::size_t said_end_ = 0;  // in the prompt: after the last byte that came from a message
  std::string reasoning_;
  std::string content_;
  bool has_calls_ = false;
  const jinja::Rendered* form_ = nullptr;
  render::SampledExtent extent_;
};

}  // namespace

Sample sample(const AuditContext& context, const json::Array& history, const jinja::Rendered& prompt,
              const json::Value& message) {
  return Sampler(context, history, prompt, message).run();
}

}  // namespace rondo::audit
