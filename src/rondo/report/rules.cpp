// The rules, and what each means.
#include "report/report.h"

namespace rondo::report {

const std::vector<Rule>& rules() {
  static const std::vector<Rule> kRules = {
      {"reasoning-dropped", Level::kWarning, "history does not show reasoning that the model has seen"},
      {"reasoning-added", Level::kWarning, "history shows reasoning markup that the model has not seen"},
      {"whitespace-stripped", Level::kWarning, "the template cuts white space off a message's text"},
      {"whitespace-added", Level::kNote, "the template writes white space that the model did not"},
      {"json-respelled", Level::kWarning,
       "the template serialises a value again, in another spelling than the model's"},
      {"literal-envelope", Level::kWarning, "JSON punctuation of a call stands in the template, in one spelling"},
      {"python-value", Level::kWarning, "a value is printed as Python prints it"},
      {"double-encoded", Level::kWarning, "arguments given as a string of JSON are serialised once more"},
      {"generation-prompt", Level::kWarning, "the history form of a turn does not begin as the generation prompt does"},
      {"moved-message", Level::kWarning, "a message is written by another part of the template once others follow"},
      {"moved-tools", Level::kWarning, "tool declarations or system text move to another turn"},
      {"rewritten-id", Level::kWarning, "the ids of calls are made anew, or cut"},
      {"forced-close", Level::kWarning, "a block that was cut off is closed"},
      {"lost-markup", Level::kWarning, "what was sampled cannot be said as a message"},
      {"dropped-field", Level::kError, "a field of a message is not written"},
      {"reordered", Level::kWarning, "parts of a turn stand in another order than they were sampled in"},
      {"replaced-close", Level::kWarning, "history ends a turn with another token than the stop token"},
      {"retokenized", Level::kWarning, "the same text becomes other tokens"},
      {"clock", Level::kWarning, "the prompt holds a date or a time"},
      {"refused", Level::kError, "the template raises on a conversation that is legal"},
      {"condition", Level::kWarning, "a condition of the template goes another way once messages follow"},
      {"not-played", Level::kNote, "there are settings that were not played"},
      {"unreadable-turn", Level::kError, "the parser does not read a message out of what the template wrote for it"},
      {"collision", Level::kNote, "different messages are written alike"},
      {"argument-fidelity", Level::kWarning, "an argument's value or type cannot be told from what is written"},
      {"unescaped-quotes", Level::kWarning, "a text is put between quotes, and the quotes inside it are not escaped"},
      {"parts-differ", Level::kWarning, "content as text and content as text parts are written differently"},
      {"tools-not-written", Level::kError, "tools of the request do not appear in the prompt"},
      {"results-reordered", Level::kNote, "tool results are written in another order than they were sent"},
      {"unclosed-turn", Level::kError, "no stop token stands behind a turn, so that a model cannot learn to end it"},
      {"double-close", Level::kWarning, "a turn is closed twice"},
      {"generation-block", Level::kWarning,
       "{% generation %} covers text that no model samples, or leaves sampled text out"},
      {"strict-differs", Level::kNote, "transformers' sandbox refuses the template, or writes another prompt"},
      {"grammar-gap", Level::kError, "the grammar of the format does not accept what the template writes"},
      {"engine-parity", Level::kNote,
       "another template engine, or a front end that wraps content, writes another prompt"},
      {"control-text", Level::kNote,
       "text that reads like a control token becomes one where a prompt is tokenized as a whole"},
      {"glued-token", Level::kWarning, "a field of a message completes a control token that the template begins"},
  };
  return kRules;
}

}  // namespace rondo::report
