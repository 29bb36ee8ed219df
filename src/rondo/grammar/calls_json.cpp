// Calls in JSON, and arguments as one JSON object.
#include <algorithm>
#include <optional>

#include "format/units.h"
#include "grammar/calls.h"
#include "json/parse.h"

namespace rondo::grammar {
namespace {

using format::trimmed;

// What is under one path of the call's object: a value, or an object with more members.
struct Slot {
  std::optional<NodeId> value;
  bool is_constant = false;       // the call may lack it
  std::vector<std::string> keys;  // of `members`
  std::vector<Slot> members;
};

// Puts `value` under `path`, and makes the objects on the way.  Returns the place.
Slot& put(Slot& at, const std::vector<std::string>& path, NodeId value) {
  Slot* slot = &at;
  for (const std::string& key : path) {
    const auto found = std::find(slot->keys.begin(), slot->keys.end(), key);
    const auto index = static_cast<std::size_t>(found - slot->keys.begin());
    if (found == slot->keys.end()) {
      slot->keys.push_back(key);
      slot->members.emplace_back();
    }
    slot = &slot->members[index];
  }
  slot->value = value;
  return *slot;
}

bool has_parameter(const json::Value& parameters, std::string_view key) {
  const json::Value* properties = parameters.find("properties");
  return properties != nullptr && properties->is_object() && properties->as_object().find(key) != nullptr;
}

NodeId any_scalar(const Speller& speller) {
  return speller.grammar().choice({speller.any_string(), speller.number(), speller.boolean(), speller.null()});
}

// The members named `others` are accepted too, with any scalar.
NodeId object_of(const Speller& speller, const Slot& slot, const std::vector<std::string_view>& others) {
  Grammar& g = speller.grammar();
  const NodeId space = speller.space();
  const NodeId colon = g.sequence({space, g.literal(":"), space});
  Members members;
  for (std::size_t i = 0; i < slot.keys.size(); ++i) {
    const Slot& inner = slot.members[i];
    const NodeId value = inner.value ? *inner.value : object_of(speller, inner, others);
    (inner.is_constant ? members.others : members.required)
        .push_back(g.sequence({speller.key(slot.keys[i]), colon, value}));
  }
  const NodeId scalar = any_scalar(speller);
  for (const std::string_view key : others) {
    if (std::ranges::find(slot.keys, key) == slot.keys.end())
      members.others.push_back(g.sequence({speller.key(key), colon, scalar}));
  }
  const NodeId list = in_any_order(g, members, g.sequence({space, g.literal(","), space}), "call");
  return g.sequence({g.literal("{"), space, list, space, g.literal("}")});
}

}  // namespace

// A rule: what `make` makes of any tool.
NodeId CallBuilder::any_object(NodeId (CallBuilder::*make)(const Tool& tool)) {
  const RuleId rule = grammar_.declare("call");
  std::vector<NodeId> ways;
  for (const Tool& tool : tools_) ways.push_back((this->*make)(tool));
  grammar_.define(rule, grammar_.choice(ways));
  return grammar_.reference(rule);
}

// Adds the opening of a call that is alone, if that is written with markers of its own.
std::vector<CallBuilder::Opening> CallBuilder::with_lone_call(std::vector<Opening> openings) {
  const format::Calls& calls = format_.calls;
  const std::string_view open = trimmed(calls.call_open);
  if (!calls.lone_is_bare || open.empty()) return openings;
  const std::string word(first_unit(open));
  Line line(grammar_);
  line.marker(open.substr(word.size())).space().add(any_object(&CallBuilder::call_object)).space();
  openings.push_back({word, line.marker(trimmed(calls.call_close)).node(), "", true});
  return openings;
}

// An array whose elements are calls, or an object whose members are calls.
NodeId CallBuilder::value_of_calls(bool is_parallel) {
  Grammar& g = grammar_;
  const bool is_object = format_.calls.roles.shares_object;
  const Speller speller(g, Spelling::json());
  const NodeId space = speller.space();
  const NodeId one = any_object(is_object ? &CallBuilder::call_member : &CallBuilder::call_object);
  const NodeId comma = g.sequence({space, g.literal(","), space});
  const NodeId more = is_parallel && !format_.input.single_call ? g.any_number(g.sequence({comma, one})) : g.empty();
  const NodeId list =
      g.sequence({g.literal(is_object ? "{" : "["), space, one, more, space, g.literal(is_object ? "}" : "]")});
  const bool may_be_object = format_.calls.lone_is_bare && format::is_blank(format_.calls.call_open);
  return may_be_object ? g.choice({list, one}) : list;
}

// "NAME": ARGUMENTS
NodeId CallBuilder::call_member(const Tool& tool) {
  const Speller speller(grammar_, Spelling::json());
  const NodeId space = speller.space();
  return grammar_.sequence({speller.key(tool.written), space, grammar_.literal(":"), space, json_or_text(tool)});
}

// The arguments; where the template copies a text, also in a string, because a message may have them as one.  A template
// that prints the call as Python does has that string in single quotes.
NodeId CallBuilder::json_or_text(const Tool& tool) {
  const NodeId made = arguments(tool);
  if (format_.calls.arguments != format::ArgumentStyle::kJsonText) return made;
  const auto in_string = [&](const std::string& quote) {
    const std::vector<format::Escape> escapes = {
        {quote, "\\" + quote}, {"\\", "\\\\"}, {"\n", "\\n"}, {"\r", "\\r"}, {"\t", "\\t"}};
    const NodeId mark = grammar_.literal(quote);
    return grammar_.sequence({mark, json_arguments(tool, escapes), mark});
  };
  const auto has_quote = [](const std::string& text) { return text.find('\'') != std::string::npos; };
  const bool is_python = has_quote(format_.calls.call_open) ||
                         std::ranges::any_of(format_.calls.pieces, has_quote, &format::CallPiece::text);
  return grammar_.choice({made, in_string("\""), is_python ? in_string("'") : grammar_.never()});
}

NodeId CallBuilder::call_object(const Tool& tool) {
  Grammar& g = grammar_;
  const Speller speller(g, Spelling::json());
  const format::JsonRoles& roles = format_.calls.roles;
  if (roles.name_is_key) {
    const NodeId space = speller.space();
    Members members{{call_member(tool)}, {}};
    if (!roles.id.empty())
      members.required.push_back(
          g.sequence({speller.key(roles.id.back()), space, g.literal(":"), space, speller.any_string()}));
    const NodeId list = in_any_order(g, members, g.sequence({space, g.literal(","), space}), "call");
    return g.sequence({g.literal("{"), space, list, space, g.literal("}")});
  }
  // Of members that the format does not name, those are accepted that calls of the public APIs have, such as
  // `"type": "function"`, unless a parameter has that name.  Where nothing announces a call, they would hide it.
  std::vector<std::string_view> others{chat::kCallTypeKey};
  if (!may_be_bare()) others.insert(others.end(), {chat::kCallIdKey, chat::kCallIndexKey});
  std::erase_if(others, [&](std::string_view key) {
    const auto ends_so = [key](const std::vector<std::string>& role) { return !role.empty() && role.back() == key; };
    return has_parameter(tool.parameters, key) || ends_so(roles.name) || ends_so(roles.id) || ends_so(roles.arguments);
  });
  Slot call;
  if (!roles.id.empty()) put(call, roles.id, speller.any_string());
  put(call, roles.name, speller.string(tool.written));
  for (const format::JsonConstant& constant : roles.constants) {
    const auto value = json::parse(constant.value);
    put(call, constant.path, value.ok() ? speller.constant(value.value()) : any_scalar(speller)).is_constant = true;
  }
  std::vector<Slot> shapes{call};
  if (!roles.arguments.empty()) {
    put(shapes[0], roles.arguments, json_or_text(tool));
    if (may_omit_arguments(tool)) shapes.push_back(call);
  }
  std::vector<NodeId> ways;
  for (const Slot& shape : shapes) {
    ways.push_back(object_of(speller, shape, others));
    if (roles.reasoning.empty()) continue;
    Slot reasoned = shape;
    put(reasoned, roles.reasoning, speller.any_string());
    ways.push_back(object_of(speller, reasoned, others));
  }
  return g.choice(ways);
}

NodeId CallBuilder::json_arguments(const Tool& tool, const std::vector<format::Escape>& escapes) {
  SchemaCompiler schema(grammar_, tool.parameters, "tool `" + tool.name + "`", context_);
  const EscapedText as_written(grammar_, escapes);
  const Speller speller(grammar_, Spelling::json());
  const NodeId made = tool.parameters.is_null()
                          ? schema.anything(speller, kObjectType)
                          : schema.value(schema.root(), speller, tool.name + "-arguments", kObjectType);
  is_exhausted_ = is_exhausted_ || schema.is_exhausted();
  return made;
}

}  // namespace rondo::grammar
