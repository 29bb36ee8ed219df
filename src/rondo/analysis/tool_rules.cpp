#include "analysis/tool_rules.h"

#include <string>
#include <utility>

#include "base/bytes.h"
#include "probe/messages.h"
#include "probe/variables.h"
#include "probe/words.h"

namespace rondo::analysis {
namespace {

constexpr const char* kDescription = "description";
constexpr const char* kParameters = "parameters";
constexpr const char* kProperties = "properties";

// Renders a question with one tool, in the form that every template takes and in others.
class ToolFinder {
 public:
  ToolFinder(Prober& prober, const json::Value& question)
      : prober_(prober), question_(question), tool_(probe::small_tool()), usual_(text_with(tool_)) {}

  [[nodiscard]] tmpl::ToolRules find() {
    if (!usual_ || usual_->find(probe::kSmallTool) == std::string::npos) return {};
    tmpl::ToolRules rules;
    rules.wraps = !takes(*tool_.find("function"));
    rules.takes_nulls = takes(changed([](json::Object& function) {
                          function.set(kDescription, nullptr);
                          function.set(kParameters, nullptr);
                        })) &&
                        takes(changed_parameter([](json::Object& schema) { schema.set(kDescription, nullptr); }));
    rules.describes = !takes(changed([](json::Object& function) { function.erase(kDescription); })) &&
                      takes(changed([](json::Object& function) { function.set(kDescription, ""); }));
    const json::Object bare{{"type", "object"}};
    const json::Object empty{{"type", "object"}, {kProperties, json::Object()}};
    rules.gives_properties = (!takes(changed([](json::Object& function) { function.erase(kParameters); })) ||
                              !takes(changed([&](json::Object& function) { function.set(kParameters, bare); }))) &&
                             takes(changed([&](json::Object& function) { function.set(kParameters, empty); }));
    rules.describes_parameters = !takes(changed_parameter([](json::Object& schema) { schema.erase(kDescription); })) &&
                                 takes(changed_parameter([](json::Object& schema) { schema.set(kDescription, ""); }));
    // `None` may well be the name of such a type.
    rules.takes_null_types = text_with(changed_parameter([](json::Object& schema) {
                               schema.set("type", json::Array{"string", "null"});
                             })).has_value();
    return rules;
  }

 private:
  [[nodiscard]] std::optional<std::string> text_with(const json::Value& tool) {
    ProbeSetting setting{.tools = false};
    setting.variable = json::Member{"tools", json::Array{tool}};
    return prober_.text_of({question_}, setting);
  }

  // Returns whether the template writes the tool, and `None` no more often than for the usual form.
  [[nodiscard]] bool takes(const json::Value& tool) {
    const auto text = text_with(tool);
    if (!text || text->find(probe::kSmallTool) == std::string::npos) return false;
    return occurrences(*text, "None") <= occurrences(*usual_, "None");
  }

  template <typename Change>
  [[nodiscard]] json::Value changed(Change change) const {
    json::Value tool = tool_;
    change(tool.as_object().find("function")->as_object());
    return tool;
  }
  template <typename Change>
  [[nodiscard]] json::Value changed_parameter(Change change) const {
    return changed([&](json::Object& function) {
      json::Object& properties = function.find(kParameters)->as_object().find(kProperties)->as_object();
      change(properties.find(probe::kSmallParameter)->as_object());
    });
  }

  Prober& prober_;
  const json::Value& question_;
  json::Value tool_;
  std::optional<std::string> usual_;
};

}  // namespace

tmpl::ToolRules find_tool_rules(Prober& prober, const json::Value& question) {
  if (!probe::reads_variable(prober.chat_template(), "tools")) return {};
  return ToolFinder(prober, question).find();
}

}  // namespace rondo::analysis
