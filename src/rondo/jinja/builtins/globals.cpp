// The global functions: jinja2's own and those of chat templates.
#include "jinja/builtins/globals.h"

#include <algorithm>
#include <array>

#include "jinja/builtins/strftime.h"
#include "jinja/types/container_methods.h"
#include "jinja/types/methods.h"
#include "jinja/types/params.h"
#include "jinja/types/repr.h"
#include "jinja/types/views.h"
#include "jinja/value/dicts.h"
#include "jinja/value/making.h"
#include "jinja/value/numbers.h"
#include "jinja/value/object.h"
#include "jinja/value/runtime.h"
#include "jinja/value/state.h"
#include "jinja/value/strings.h"
#include "jinja/value/type_names.h"
#include "jinja/value/value.h"

namespace rondo::jinja {
namespace {

using GlobalCode = Value (*)(Runtime& runtime, const Args& args);

Value make_dict_of(Runtime& runtime, const Args& args);

class GlobalFunction final : public Object {
 public:
  GlobalFunction(std::string_view name, std::string_view type, GlobalCode function)
      : name_(name), type_(type), function_(function) {}
  [[nodiscard]] std::string_view type_name() const override { return type_; }
  [[nodiscard]] std::string repr(Runtime&) override {
    if (type_ == "type") return "<class '" + std::string(name_) + "'>";
    return "<function " + std::string(name_) + ">";
  }
  [[nodiscard]] std::optional<Value> attribute(Runtime& runtime, std::string_view name) override {
    if (function_ != make_dict_of) return std::nullopt;
    const Method* method = find_method(dict_methods(), name);  // only those that need no dict
    if (method == nullptr || !method->of_class) return std::nullopt;
    return bind_method(runtime, Value::object(this), *method);
  }
  [[nodiscard]] bool callable() const override { return true; }
  Value call(Runtime& runtime, const Args& args) override { return function_(runtime, args); }

 private:
  std::string_view name_;
  std::string_view type_;
  GlobalCode function_;
};

class Cycler final : public Object {
 public:
  explicit Cycler(std::vector<Value> items) : items_(std::move(items)) {}
  [[nodiscard]] std::string_view type_name() const override { return "Cycler"; }
  [[nodiscard]] std::string object_type() const override { return "jinja2.utils.Cycler object"; }
  [[nodiscard]] std::optional<Value> attribute(Runtime& runtime, std::string_view name) override {
    if (name == "current") return items_[at_];
    if (name == "pos") return make_length(at_);
    if (name == "items") return jinja::make_tuple(runtime, items_);
    if (name == "next") return Value::object(runtime.heap.make_object<Step>(*this, false));
    if (name == "reset") return Value::object(runtime.heap.make_object<Step>(*this, true));
    return std::nullopt;
  }

 private:
  class Step final : public Object {
   public:
    Step(Cycler& cycler, bool reset) : cycler_(cycler), reset_(reset) {}
    [[nodiscard]] std::string_view type_name() const override { return "method"; }
    [[nodiscard]] bool callable() const override { return true; }
    Value call(Runtime& runtime, const Args& args) override {
      const Params params(runtime, python(reset_ ? "Cycler.reset" : "Cycler.next", 1), args, {});
      const std::size_t now = cycler_.at_;
      cycler_.at_ = reset_ ? 0 : (now + 1) % cycler_.items_.size();
      return reset_ ? Value::none() : cycler_.items_[now];
    }

   private:
    Cycler& cycler_;
    bool reset_;
  };

  std::vector<Value> items_;
  std::size_t at_ = 0;
};

class Joiner final : public Object {
 public:
  explicit Joiner(Value separator) : separator_(separator) {}
  [[nodiscard]] std::string_view type_name() const override { return "Joiner"; }
  [[nodiscard]] std::string object_type() const override { return "jinja2.utils.Joiner object"; }
  [[nodiscard]] std::optional<Value> attribute(Runtime&, std::string_view name) override {
    if (name == "sep") return separator_;
    if (name == "used") return Value::boolean(used_);
    return std::nullopt;
  }
  [[nodiscard]] bool callable() const override { return true; }
  Value call(Runtime& runtime, const Args& args) override {
    const Params params(runtime, python("Joiner.__call__", 1), args, {});
    if (used_) return separator_;
    used_ = true;
    return empty_string(runtime);
  }

 private:
  Value separator_;
  bool used_ = false;
};

// `self`: the blocks of the template.  Chat templates have none.
class TemplateReference final : public Object {
 public:
  [[nodiscard]] std::string_view type_name() const override { return "TemplateReference"; }
  [[nodiscard]] std::string object_type() const override { return "jinja2.runtime.TemplateReference object"; }
  [[nodiscard]] std::string repr(Runtime&) override { return "<TemplateReference None>"; }
  // Python considers it iterable, but fails to find its first element.
  [[nodiscard]] Iterator* iterate(Runtime& runtime) override { return runtime.heap.make_object<NoBlock>(); }

 private:
  class NoBlock final : public Iterator {
   public:
    bool next(Runtime& runtime, Value&) override { runtime.fail("0"); }
  };
};

void fill_dict(Runtime& runtime, Dict& dict, const Args& args, std::string_view function) {
  if (args.positional.size() > 1) {
    runtime.fail(std::string(function) + " expected at most 1 argument, got " + std::to_string(args.positional.size()));
  }
  if (!args.positional.empty()) {
    require_defined(runtime, args.positional[0]);
    update_dict(runtime, dict, args.positional[0]);
  }
  for (const NamedValue& argument : args.named)
    set_item(runtime, dict, make_computed(runtime, argument.name), argument.value);
}

Value make_cycler(Runtime& runtime, const Args& args) {
  if (!args.named.empty()) {
    runtime.fail("Cycler.__init__() got an unexpected keyword argument '" + std::string(args.named.front().name) + "'");
  }
  if (args.positional.empty()) runtime.fail("at least one item has to be provided");
  return Value::object(
      runtime.heap.make_object<Cycler>(std::vector<Value>(args.positional.begin(), args.positional.end())));
}

Value make_dict_of(Runtime& runtime, const Args& args) {
  const Value out = make_dict(runtime);
  fill_dict(runtime, out.as_dict(), args, "dict");
  return out;
}

Value make_joiner(Runtime& runtime, const Args& args) {
  const Params params(runtime, python("Joiner.__init__", 1), args, {"sep"});
  return Value::object(runtime.heap.make_object<Joiner>(params.value(0, make_computed(runtime, ", "))));
}

Value make_namespace(Runtime& runtime, const Args& args) {
  Dict* dict = runtime.heap.make_dict();
  fill_dict(runtime, *dict, args, "dict");
  return Value::name_space(dict);
}

Value range(Runtime& runtime, const Args& args) {
  if (!args.named.empty()) {  // the sandbox's own function, which passes on positional arguments
    runtime.fail("safe_range() got an unexpected keyword argument '" + std::string(args.named.front().name) + "'");
  }
  require_positional(runtime, c_function("range"), args, 1, 3);
  std::array<std::int64_t, 3> bounds{};
  for (std::size_t i = 0; i < args.size(); ++i) {
    const Value& bound = args.positional[i];
    if (!bound.is_integral()) runtime.fail("'" + type_name(bound) + "' object cannot be interpreted as an integer");
    if (!bound.is_small_int()) runtime.fail("Python int too large to convert to C ssize_t");
    bounds[i] = bound.as_int();
  }
  const std::int64_t start = args.size() == 1 ? 0 : bounds[0];
  const std::int64_t stop = args.size() == 1 ? bounds[0] : bounds[1];
  const std::int64_t step = args.size() == 3 ? bounds[2] : 1;
  if (step == 0) runtime.fail("range() arg 3 must not be zero");
  constexpr std::size_t kMaxRange = 100'000;  // jinja2.sandbox.MAX_RANGE
  if (range_length(start, stop, step) > kMaxRange) {
    runtime.fail("Range too big. The sandbox blocks ranges larger than MAX_RANGE (100000).");
  }
  return make_range(runtime, start, stop, step);
}

// Filler text.  The reference chooses words at random; here the same call always writes the same.
Value lipsum(Runtime& runtime, const Args& args) {
  const Params params(runtime, python("generate_lorem_ipsum"), args, {"n", "html", "min", "max"});
  static constexpr std::array<std::string_view, 16> kWords = {
      "lorem", "ipsum", "dolor",   "sit",  "amet",    "consectetuer", "adipiscing", "elit",
      "sed",   "diam",  "nonummy", "nibh", "euismod", "tincidunt",    "ut",         "laoreet"};
  const std::int64_t paragraphs = params.integer(0, 5);
  const bool html = params.boolean(1, true);
  const std::int64_t least = params.integer(2, 20);
  if (least >= params.integer(3, 100)) runtime.fail("empty range for randrange()");
  constexpr std::int64_t kMost = 10'000;
  if (paragraphs > kMost || least > kMost)
    runtime.fail(ErrorCode::kLimit, "lipsum() of more than 10000 words or paragraphs");
  std::string out;
  for (std::int64_t i = 0; i < paragraphs; ++i) {
    runtime.spend(static_cast<std::uint64_t>(std::max<std::int64_t>(least, 1)));
    std::string text;
    for (std::int64_t word = 0; word < least; ++word) {
      if (word != 0) text += ' ';
      text += kWords[static_cast<std::size_t>(i + word) % kWords.size()];
    }
    if (!text.empty()) text[0] = static_cast<char>(text[0] - 'a' + 'A');
    if (i != 0) out += html ? "\n" : "\n\n";
    out += html ? "<p>" + text + ".</p>" : text + ".";
    runtime.heap.charge(text.size());
  }
  return make_computed(runtime, out).with_markup(html);
}

Value raise_exception(Runtime& runtime, const Args& args) {
  const Params params(runtime, python("raise_exception"), args, {"message"}, 1);
  runtime.fail(ErrorCode::kTemplateRaised, std::string(bytes_of(runtime, to_text(runtime, params[0]))));
}

Value strftime_now(Runtime& runtime, const Args& args) {
  const Params params(runtime, python("strftime_now"), args, {"format"}, 1);
  if (!params[0].is_string()) runtime.fail("strftime() argument 1 must be str, not " + type_name(params[0]));
  const Value format = params[0];
  if (!runtime.options.now) runtime.fail("strftime_now() needs the current time, and none was given");
  const std::string written = format_time(*runtime.options.now, bytes_of(runtime, format));
  runtime.spend(format.as_string().size + written.size() / 8);
  return make_string(runtime, text::Text::made(text::RunKind::kComputed, written, text::PathId::kNone, runtime.context,
                                               runtime.extend(text::ChainId::kNone, "strftime")));
}

struct Global {
  std::string_view name;
  std::string_view python_name;
  std::string_view type;  // the name that type() reports for it
  GlobalCode function;
  bool chat_only = false;
};

constexpr auto kGlobals = std::to_array<Global>({
    {"cycler", "jinja2.utils.Cycler", "type", make_cycler},
    {"dict", "dict", "type", make_dict_of},
    {"joiner", "jinja2.utils.Joiner", "type", make_joiner},
    {"lipsum", "generate_lorem_ipsum", "function", lipsum},
    {"namespace", "jinja2.utils.Namespace", "type", make_namespace},
    {"raise_exception", "raise_exception", "function", raise_exception, true},
    {"range", "safe_range", "function", range},
    {"strftime_now", "strftime_now", "function", strftime_now, true},
});

}  // namespace

Value template_reference(Runtime& runtime) { return Value::object(runtime.heap.make_object<TemplateReference>()); }

bool is_global_name(std::string_view name) {
  const auto has_name = [&](const Global& global) { return global.name == name; };
  return std::any_of(kGlobals.begin(), kGlobals.end(), has_name);
}

std::optional<Value> find_global(Runtime& runtime, std::string_view name) {
  std::pmr::vector<NamedValue>& made = runtime.state().globals;
  for (const NamedValue& global : made) {
    if (global.name == name) return global.value;
  }
  for (const Global& global : kGlobals) {
    if (global.name != name || (global.chat_only && !runtime.options.chat_globals)) continue;
    const Value value =
        Value::object(runtime.heap.make_object<GlobalFunction>(global.python_name, global.type, global.function));
    made.push_back({global.name, value});
    return value;
  }
  return std::nullopt;
}

}  // namespace rondo::jinja
