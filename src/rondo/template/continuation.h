// continue_final_message: a prompt that ends inside the last message, which the model continues.
//
// As in the reference, a tag marks the place: it is appended to the text before rendering, and the output is cut where
// the tag appears.  So this works for templates that trim, split or move the text, without knowing how they do it.
#pragma once

#include <string>

#include "jinja/template.h"
#include "json/value.h"
#include "rondo/result.h"

namespace rondo::tmpl {

class Continuation {
 public:
  // Appends the tag to the text of `field` in the last of `messages` (for a list of content parts, to its last text
  // part).  Fails with kTemplateError if there is no such text, or if `template_source` never mentions the field.
  [[nodiscard]] static Result<Continuation> mark(json::Array& messages, const std::string& field,
                                                 const std::string& template_source);

  // Ends `rendered` directly after the continued text.  If the template trims that text, the end of the output is
  // trimmed too.  Fails with kTemplateError if the template did not write the text.
  [[nodiscard]] Status cut(jinja::Rendered& rendered) const;

 private:
  std::string field_;
  std::string text_;  // the text that is continued
};

}  // namespace rondo::tmpl
