// Edge JSON: any bytes are a template or give findings with places; what is one comes back from its own JSON, and the Jinja
// template that is made of it writes what the format writes.  Any JSON is a file of requests or gives an Error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "edge/edge_template.h"
#include "edge/format.h"
#include "edge/requests.h"
#include "edge/to_jinja.h"
#include "jinja/template.h"
#include "json/parse.h"
#include "json/print.h"

namespace {

using rondo::json::Value;

void require(bool holds) {
  if (!holds) std::abort();
}

void check_requests(const rondo::edge::EdgeTemplate& edge_template, const Value& file) {
  const auto requests = rondo::edge::read_requests(file);
  if (requests.ok()) (void)rondo::edge::format_all(edge_template, requests.value());
}

// Conversations with every role and part that the template knows, and some that it does not.
Value conversation(const rondo::edge::EdgeTemplate& edge_template, bool leads) {
  rondo::json::Array messages;
  if (leads) messages.emplace_back(rondo::json::Object{{"role", "system"}, {"content", "s"}});
  rondo::json::Array parts{rondo::json::Object{{"type", "text"}, {"text", "t"}},
                           rondo::json::Object{{"type", "image_url"}}};
  for (const rondo::edge::ContentType& type : edge_template.content_types) {
    if (type.name != "text") parts.emplace_back(rondo::json::Object{{"type", type.name}});
  }
  for (const rondo::edge::Role& role : edge_template.roles) {
    if (!leads && messages.empty() && role.name == "system") continue;
    messages.emplace_back(rondo::json::Object{{"role", role.name}, {"content", parts}});
  }
  messages.emplace_back(rondo::json::Object{{"role", "nobody there"}, {"content", "x"}});
  return messages;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto validated = rondo::edge::validate(text);
  if (!validated.edge_template) {
    require(!validated.findings.empty());
    const auto value = rondo::json::parse(text);
    if (value.ok()) check_requests({}, value.value());
    return 0;
  }
  const rondo::edge::EdgeTemplate& edge_template = *validated.edge_template;
  const Value printed = rondo::edge::to_json(edge_template);
  const auto again = rondo::edge::parse(rondo::json::to_compact(printed), "again");
  require(again.ok() && rondo::edge::to_json(again.value()) == printed);

  const auto chat_template = rondo::jinja::Template::compile(rondo::edge::to_jinja(edge_template), {}, "imported");
  require(chat_template.ok());
  require(rondo::edge::unseen_of(chat_template.value()->source()).has_value());
  for (const bool flag : {false, true}) {
    const Value messages = conversation(edge_template, flag);
    const auto formatted =
        rondo::edge::format(edge_template, messages, {.add_generation_prompt = flag, .enable_thinking = size % 2 == 0});
    const rondo::json::Object variables{
        {"messages", messages}, {"add_generation_prompt", flag}, {"enable_thinking", size % 2 == 0}};
    const auto rendered = chat_template.value()->render(variables, {});
    require(formatted.ok());
    if (rendered.ok()) require(rendered.value().text.bytes() == formatted.value().complete);
  }
  return 0;
}
