#include "jinja/builtins/json_sink.h"

#include "jinja/value/runtime.h"
#include "jinja/value/strings.h"

namespace rondo::jinja {

// The buffers are filled on first use.
JsonSink::JsonSink(Runtime& runtime, text::Text& text, bool is_output)  // NOLINT(*-member-init)
    : runtime_(runtime),
      text_(text),
      is_output_(is_output),
      writes_runs_(runtime.tracing),
      checked_(text.size() + text.runs().size_bytes()),
      chain_(runtime.extend(text::ChainId::kNone, "json")),
      computed_(computed_run(runtime)) {
  if (!is_output) return;
  context_ = runtime.context;
  expression_ = runtime.expression;
  computed_.expression = runtime.expression;
  reopen();
}

void JsonSink::begin_whole() {
  flush();
  is_whole_ = true;
  writes_runs_ = false;
  parts_ = 0;
  whole_begin_ = text_.size();
}

void JsonSink::end_whole(text::PathId path) {
  flush();
  add(text::RunKind::kDump, path, text_.size() - whole_begin_, parts_);
}

void JsonSink::reopen() {
  const text::Run* const last = text_.open_run();
  const bool is_structure = last != nullptr && last->kind == text::RunKind::kSerialiser && last->context == context_ &&
                            last->chain == chain_ && last->expression == expression_;
  open_ = is_structure ? last->path() : kNothingOpen;
}

void JsonSink::check(std::size_t size) {
  runtime_.spend_bytes(size - checked_);
  checked_ = size;
  if (is_output_) runtime_.check_output_size(text_.size());
  runtime_.heap.require(size);
}

void JsonSink::put_slowly(std::string_view bytes) {
  flush();
  if (bytes.size() > bytes_.size()) {
    if (bytes.size() > kCheckBytes) check(size() + bytes.size());  // before they take memory
    text_.append_bytes(bytes);
  } else {
    copy(bytes_.data(), bytes);
    used_ = bytes.size();
  }
}

}  // namespace rondo::jinja
