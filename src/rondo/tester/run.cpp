#include "tester/run.h"

#include <algorithm>
#include <utility>

#include "render/training.h"
#include "tester/checks.h"

namespace rondo::tester {
namespace {

std::string ids_text(std::span<const core::TokenId> ids, std::size_t around) {
  constexpr std::size_t kSide = 6;
  const std::size_t begin = around > kSide ? around - kSide : 0;
  const std::size_t end = std::min(ids.size(), around + kSide);
  std::string out = begin > 0 ? "..." : "";
  for (std::size_t i = begin; i < end; ++i) out += (out.empty() ? "" : " ") + std::to_string(ids[i]);
  return out + (end < ids.size() ? " ..." : "");
}

class Runner {
 public:
  Runner(const std::shared_ptr<const core::Model>& model, const Case& test)
      : model_(model), test_(test), out_(result_) {
    result_.name = test.name;
    result_.line = test.line;
  }

  CaseResult run() {
    const auto bench = Bench::make(model_, test_);
    if (!bench.ok()) {
      out_.begin("rendered", test_.line);
      out_.fail("nothing can be told of the template", bench.error());
      return std::move(result_);
    }
    const auto prompt = bench.value().render(test_.call);
    if (test_.error) {
      check_error(prompt);
      return std::move(result_);
    }
    out_.begin("rendered", test_.rendered ? test_.rendered->line : test_.line);
    if (!prompt.ok()) {
      out_.fail("the template fails", prompt.error());
      return std::move(result_);
    }
    check_prompt(bench.value(), prompt.value());
    check_turn(bench.value());
    if (test_.states_nothing()) check_laws(bench.value(), test_, out_);
    return std::move(result_);
  }

 private:
  void check_error(const Result<Rendering>& prompt) {
    const auto& [expected, line] = *test_.error;
    out_.begin("error", line);
    if (prompt.ok())
      return out_.fail("the template fails with no error; it writes",
                       {{ShownLine::Kind::kGot, quoted(prompt.value().text())}});
    const Error& error = prompt.error();
    if (error.message.find(expected.message) == std::string::npos)
      out_.fail("the template fails with another error", difference(expected.message, error.message));
    if (const std::string code = to_string(error.code); expected.code && *expected.code != code)
      out_.fail("the error is a " + code + ", expected a " + *expected.code);
    if (expected.line && *expected.line != error.line)
      out_.fail("the error is of template line " + std::to_string(error.line) + ", expected line " +
                std::to_string(*expected.line));
  }

  void check_prompt(const Bench& bench, const Rendering& prompt) {
    if (test_.rendered) check_rendered(prompt, test_.rendered->value);
    if (test_.ids) check_ids(bench, prompt);
    if (test_.mask) check_mask(bench, prompt);
  }

  void check_rendered(const Rendering& prompt, const RenderedExpectation& expected) {
    const Writers writers = prompt.writers();
    const std::string& text = prompt.text();
    if (expected.text && *expected.text != text)
      out_.fail("the prompt is another text", difference(*expected.text, text, {.got = &writers}));
    for (const std::string& part : expected.contains) {
      if (text.find(part) == std::string::npos)
        out_.fail("the prompt does not contain " + quoted(part), {{ShownLine::Kind::kGot, quoted(text)}});
    }
    for (const std::string& part : expected.excludes) {
      const std::size_t at = text.find(part);
      if (at == std::string::npos || part.empty()) continue;
      out_.fail("the prompt contains " + quoted(part) + " at byte " + std::to_string(at),
                {{ShownLine::Kind::kPlace, "^ " + writers.at(at)}});
    }
  }

  // The encoded prompt, if the model has its own tokenizer or none is needed.
  std::optional<render::Encoded> encoded(const Bench& bench, bool needs_own) {
    if (needs_own && !bench.has_tokenizer()) {
      out_.fail("the model brings no tokenizer");
      return std::nullopt;
    }
    core::Call call = test_.call;
    auto out = bench.model().encode(call);
    if (!out.ok()) {
      out_.fail("the prompt cannot be encoded", out.error());
      return std::nullopt;
    }
    return std::move(out).value();
  }

  void check_ids(const Bench& bench, const Rendering& prompt) {
    const std::vector<core::TokenId>& expected = test_.ids->value;
    out_.begin("ids", test_.ids->line);
    const auto found = encoded(bench, true);
    if (!found || found->ids == expected) return;
    const auto at = static_cast<std::size_t>(std::ranges::mismatch(expected, found->ids).in2 - found->ids.begin());
    std::vector<ShownLine> shown = {{ShownLine::Kind::kExpected, ids_text(expected, at)},
                                    {ShownLine::Kind::kGot, ids_text(found->ids, at)}};
    const std::size_t byte = at < found->ids.size() ? found->begins[at] : found->text.size();
    shown.push_back({ShownLine::Kind::kPlace, "^ " + prompt.writers().at(byte)});
    out_.fail("the ids differ from index " + std::to_string(at) + " on", std::move(shown));
  }

  void check_mask(const Bench& bench, const Rendering& prompt) {
    out_.begin("mask", test_.mask->line);
    const auto found = encoded(bench, false);
    if (!found) return;
    const auto mask = render::loss_mask(*found, prompt.call.conversation.messages, test_.mask->value.options);
    if (!mask.ok()) return out_.fail("there is no such mask", mask.error());
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < mask.value().size(); ++i) {
      if (mask.value()[i] == 0) continue;
      if (i == 0 || mask.value()[i - 1] == 0) texts.emplace_back();
      texts.back() += found->text.substr(found->begins[i], found->ends[i] - found->begins[i]);
    }
    const auto listed = [](const std::vector<std::string>& list) {
      std::string out;
      for (const std::string& one : list) out += quoted(one) + "\n";
      return out;
    };
    if (texts != test_.mask->value.texts)
      out_.fail("other texts are learned", difference(listed(test_.mask->value.texts), listed(texts)));
  }

  // What was sampled after the prompt, or the turn that the template writes for the last message.
  [[nodiscard]] Result<Turn> turn(const Bench& bench) const {
    core::Call call = test_.call;
    if (test_.sampled) return Turn{std::move(call), test_.sampled->value};
    json::Array& messages = call.conversation.messages;
    if (messages.empty() || !is_assistant(messages.back()))
      return Error(ErrorCode::kInvalidArgument,
                   "no turn of the assistant is there: give `sampled`, or messages that end with one of the assistant");
    const json::Value last = std::move(messages.back());
    messages.pop_back();
    return bench.written(std::move(call), last);
  }

  void check_turn(const Bench& bench) {
    const bool has_pieces = test_.pieces ? test_.pieces->value : test_.sampled.has_value();
    const bool has_roundtrip = test_.roundtrip && test_.roundtrip->value;
    if (!test_.parsed && !has_pieces && !test_.bridge && !test_.grammar && !has_roundtrip) return;
    const auto turn = this->turn(bench);
    if (!turn.ok()) {
      out_.begin("sampled", test_.line);
      return out_.fail("there is no turn to look at", turn.error());
    }
    if (has_roundtrip) {
      out_.begin("roundtrip", test_.roundtrip->line);
      check_last(bench, turn.value());
    }
    if (test_.parsed) {
      out_.begin("parsed", test_.parsed->line);
      check_parsed(bench, turn.value(), test_.parsed->value, out_);
    }
    if (has_pieces) {
      out_.begin("pieces", test_.pieces ? test_.pieces->line : test_.sampled->line);
      check_pieces(bench, turn.value(), out_);
    }
    if (test_.grammar) {
      out_.begin("grammar", test_.grammar->line);
      check_grammar(bench, turn.value(), test_.grammar->value);
    }
    if (test_.bridge) {
      out_.begin("bridge", test_.bridge->line);
      check_bridge(bench, turn.value(), test_.bridge->value, out_);
    }
  }

  void check_last(const Bench& bench, const Turn& turn) {
    const json::Array& messages = test_.call.conversation.messages;
    if (messages.empty() || !is_assistant(messages.back()))
      return out_.fail("`roundtrip` needs messages that end with one of the assistant");
    check_roundtrip(bench, turn, messages.back(), out_);
  }

  void check_grammar(const Bench& bench, const Turn& turn, const GrammarExpectation& expected) {
    if (expected.accepts_sampled) check_accepts(bench, turn, turn.text, out_);
    for (const std::string& text : expected.accepts) check_accepts(bench, turn, text, out_);
    for (const std::string& text : expected.refuses) check_refuses(bench, turn, text, out_);
  }

  const std::shared_ptr<const core::Model>& model_;
  const Case& test_;
  CaseResult result_;
  Findings out_;
};

}  // namespace

CaseResult run_case(const std::shared_ptr<const core::Model>& model, const Case& test) {
  return Runner(model, test).run();
}

std::vector<CaseResult> run_suite(const std::shared_ptr<const core::Model>& model, const Suite& suite,
                                  const RunOptions& options) {
  std::vector<CaseResult> out;
  for (Case test : suite.cases) {
    if (test.name.find(options.filter) == std::string::npos) continue;
    if (!test.call.now) test.call.now = options.now;
    out.push_back(run_case(model, test));
  }
  return out;
}

}  // namespace rondo::tester
