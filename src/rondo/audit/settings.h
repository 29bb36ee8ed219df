// The settings under which an audit plays its scenarios: the template's defaults, and each value of its own variables
// that changes what it writes.
#pragma once

#include <string>
#include <vector>

#include "chat/conversation.h"
#include "format/format.h"
#include "jinja/template.h"
#include "report/report.h"
#include "template/chat_template.h"

namespace rondo::audit {

struct Setting {
  std::string name;     // "default", "enable_thinking=false", "thinking=true, keep=true"
  json::Object kwargs;  // those of the request and of the setting
};

struct Settings {
  std::vector<Setting> list;        // the default first
  std::vector<report::Knob> knobs;  // variables, with the values that change something
  std::string note;                 // a sentence, if there were more settings than are played
};

// `base` has the kwargs of the request, which every setting includes, and tools, bos and eos.  A template that refuses
// everything has only the default.
[[nodiscard]] Settings find_settings(const jinja::Template& chat_template, const format::Format& format,
                                     const chat::Conversation& base, const tmpl::ApplyOptions& options);

}  // namespace rondo::audit
