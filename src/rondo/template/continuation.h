// continue_final_message: a prompt that ends inside the last message, which the model goes on writing.
//
// Where a template writes that message's text is found as the reference does it: a tag is put behind the text before
// rendering, and the output is cut where the tag appears.  So templates that trim, split or move the text are handled
// without knowing how they do it.
#pragma once

#include <string>

#include "jinja/template.h"
#include "json/value.h"
#include "rondo/result.h"

namespace rondo::tmpl {

class Continuation {
 public:
  // Puts the tag into the last of `messages`, behind the text of `field` (or, for a list of content parts, behind its
  // last text part).  Fails with kTemplateError when there is no such text, or when `template_source` never mentions
  // the field.
  [[nodiscard]] static Result<Continuation> mark(json::Array& messages, const std::string& field,
                                                 const std::string& template_source);

  // Ends `rendered` right behind the continued text.  If the template trims that text, so is the end of the output.
  // Fails with kTemplateError when the template did not write the text.
  [[nodiscard]] Status cut(jinja::Rendered& rendered) const;

 private:
  std::string field_;
  std::string text_;  // the text that is continued
};

}  // namespace rondo::tmpl
