// Parser: any text, in any pieces, gives the same message, and every byte lies in exactly one event.
//
// Input: two bytes for the format, one for the options, one for the pieces, then the text.  In it the control characters
// (but line end and tab) stand for the format's own markers, so that short inputs reach every phase of every format.
// Formats are those of the parser's rows and, where the corpus stands beside the checkout, of its templates.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analyse.h"
#include "base/files.h"
#include "json/parse.h"
#include "parse/parser.h"
#include "parse/partial_value.h"

namespace {

namespace fs = std::filesystem;
using rondo::format::Format;
using rondo::parse::Event;
using rondo::parse::EventKind;
using rondo::parse::Options;
using rondo::parse::Parser;
using rondo::parse::Piece;

constexpr std::size_t kEveryTemplate = 8;  // reading all of the corpus would take half of a short run

struct Target {
  std::shared_ptr<const Format> format;
  std::vector<std::string> markers;
};

Target make_target(std::shared_ptr<const Format> format) {
  Target out;
  const auto add = [&out](const std::string& text) {
    if (!text.empty()) out.markers.push_back(text);
  };
  const auto& calls = format->calls;
  for (const auto* text : {&format->header, &format->reasoning.open, &format->reasoning.close, &format->content.open,
                           &format->content.close, &calls.section_open, &calls.section_close, &calls.call_open,
                           &calls.call_close, &calls.separator, &calls.heading_close, &calls.parameters.open,
                           &calls.parameters.key_close, &calls.parameters.close, &calls.parameters.separator})
    add(*text);
  for (const auto& piece : calls.pieces) add(piece.text);
  for (const auto& form : calls.parameters.forms) {
    add(form.open);
    add(form.close);
  }
  for (const auto* stops : {&format->stops.content, &format->stops.tool}) {
    for (const std::string& stop : *stops) add(stop);
  }
  out.markers.emplace_back(R"({"name":"find","arguments":{"q":)");
  out.format = std::move(format);
  return out;
}

std::vector<Target> targets() {
  std::vector<Target> out;
  std::ifstream rows(RONDO_SOURCE_DIR "/src/rondo/parse/testdata/messy.jsonl");
  for (std::string line; std::getline(rows, line);) {
    const auto row = rondo::json::parse(line).value();
    const auto* format = row.find("format");
    if (format == nullptr || !format->is_object()) continue;
    out.push_back(make_target(std::make_shared<const Format>(rondo::format::from_json(*format).value())));
  }
  if (out.empty()) std::abort();
  std::vector<fs::path> paths;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(RONDO_SOURCE_DIR "/../shared/corpus/templates", error)) {
    if (entry.path().extension() == ".jinja") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  const bool is_full = std::getenv("RONDO_TEST_FULL") != nullptr;
  for (std::size_t i = 0; i < paths.size(); i += is_full ? 1 : kEveryTemplate) {
    const auto source = rondo::files::read(paths[i].string());
    if (!source.ok()) continue;
    const auto compiled = rondo::jinja::Template::compile(source.value(), {}, "template");
    if (!compiled.ok()) continue;
    const auto format = rondo::analysis::analyse(*compiled.value(), {});
    if (format.ok() && format.value()->calls.present) out.push_back(make_target(format.value()));
  }
  return out;
}

// A stretch of the text; a marker that the input put in.
struct Part {
  std::string text;
  bool is_marker = false;
};

std::vector<Part> parts_of(std::string_view data, const std::vector<std::string>& markers) {
  std::vector<Part> out;
  for (const char byte : data) {
    const auto code = static_cast<unsigned char>(byte);
    if (code < 0x20 && byte != '\n' && byte != '\t') {
      out.push_back({markers[code % markers.size()], true});
    } else {
      if (out.empty() || out.back().is_marker) out.emplace_back();
      out.back().text += byte;
    }
  }
  return out;
}

std::string show(const rondo::chat::AssistantMessage& message) {
  std::string out = message.content + "\x01" + message.reasoning.value_or("\x02") + (message.complete ? "." : "");
  for (const auto& call : message.tool_calls) {
    out += "\x03" + call.id.value_or("") + "\x04" + call.name + "\x04" + call.arguments + "\x04";
    out += rondo::chat::to_string(call.status);
  }
  return out;
}

class Run {
 public:
  Run(const Target& target, const Options& options) : parser_(target.format, options) {}

  void take(std::span<const Event> events) {
    for (const Event& event : events) {
      if (event.begin != covered_ || event.end < event.begin) std::abort();
      covered_ = event.end;
      if (event.kind == EventKind::kCallStart) values_.push_back(std::make_unique<rondo::parse::PartialValue>());
      if (event.kind == EventKind::kArguments) values_.at(event.call)->feed(event.text);
    }
  }

  std::string finish(std::size_t size) {
    (void)parser_.closing_text();
    (void)parser_.place();
    take(parser_.close());
    if (covered_ != size && !is_partial_) std::abort();
    const auto message = parser_.finish();
    if (!message.ok()) return message.error().message;
    for (std::size_t i = 0; i < values_.size(); ++i) check_value(*values_[i], message.value().tool_calls.at(i));
    return show(message.value());
  }

  Parser& parser() { return parser_; }
  void set_partial() { is_partial_ = true; }

 private:
  // Arguments that are JSON are the same value read in pieces.
  static void check_value(rondo::parse::PartialValue& value, const rondo::chat::ToolCall& call) {
    value.close();
    const auto whole = rondo::json::parse(call.arguments);
    if (whole.ok() && value.is_valid() && value.is_complete() && !(whole.value() == value.value())) std::abort();
  }

  Parser parser_;
  std::size_t covered_ = 0;
  bool is_partial_ = false;
  std::vector<std::unique_ptr<rondo::parse::PartialValue>> values_;
};

std::string run(const Target& target, const Options& options, const std::vector<Part>& parts, std::size_t chunk) {
  Run out(target, options);
  if (options.partial) out.set_partial();
  const bool is_tokens = !options.special_tokens.empty();
  std::string text;
  for (const Part& part : parts) {
    if (!is_tokens) {
      text += part.text;
      continue;
    }
    const std::size_t step = part.is_marker ? part.text.size() : chunk;
    for (std::size_t at = 0; at < part.text.size(); at += step) {
      const Piece piece{1, std::string_view(part.text).substr(at, step), part.is_marker};
      out.take(out.parser().feed(std::span(&piece, 1)));
    }
    text += part.text;
  }
  for (std::size_t at = 0; !is_tokens && at < text.size(); at += chunk)
    out.take(out.parser().feed(std::string_view(text).substr(at, chunk)));
  return out.finish(text.size());
}

Options options_of(std::uint8_t bits, const Target& target) {
  static const auto kTools =
      rondo::json::parse(R"([{"type":"function","function":{"name":"find","parameters":{"type":"object","properties":{
        "q":{"type":"string"},"n":{"type":"integer"},"where":{"type":"object"}}}}},{"name":"f"}])")
          .value();
  Options out;
  if ((bits & 1U) != 0) out.tools = kTools;
  out.inline_reasoning = (bits & 2U) != 0;
  out.partial = (bits & 4U) != 0;
  out.strict = (bits & 8U) != 0;
  out.calls = (bits & 0x30U) != 0x30U;
  if ((bits & 0x40U) != 0) out.special_tokens = target.markers;
  if ((bits & 0x80U) != 0 && !target.format->generation_prompts.empty())
    out.prompt_tail = target.format->generation_prompts.back().text;
  if ((bits & 0x80U) != 0 && target.format->generation_prompts.empty())
    out.prompt_tail = target.format->header + target.format->reasoning.open;
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto kAll = targets();
  if (size < 4) return 0;
  const Target& target = kAll[(data[0] + data[1] * std::size_t{256}) % kAll.size()];
  const Options options = options_of(data[2], target);
  const auto parts = parts_of({reinterpret_cast<const char*>(data) + 4, size - 4}, target.markers);
  if (run(target, options, parts, std::string::npos) != run(target, options, parts, 1 + data[3] % 7)) std::abort();
  return 0;
}
