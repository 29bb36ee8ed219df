// Calls in JSON, and arguments as one JSON object.
#include <algorithm>
#include <optional>

#include "format/units.h"
#include "grammar/calls.h"

namespace rondo::grammar {
namespace {

// What is under one path of the call's object: a value, or an object with more members.
struct Slot {
  std::optional<NodeId> value;
  std::vector<std::string> keys;  // of `members`
  std::vector<Slot> members;
};

// Puts `value` under `path`, and makes the objects on the way.
void put(Slot& at, const std::vector<std::string>& path, NodeId value) {
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
}

// Members that the format does not name are constants of the template, such as `"type": "function"`.  Any scalar is
// accepted there.
NodeId object_of(const Speller& speller, const Slot& slot) {
  Grammar& g = speller.grammar();
  const NodeId space = speller.space();
  const NodeId colon = g.sequence({space, g.literal(":"), space});
  Members members;
  for (std::size_t i = 0; i < slot.keys.size(); ++i) {
    const Slot& inner = slot.members[i];
    const NodeId value = inner.value ? *inner.value : object_of(speller, inner);
    members.required.push_back(g.sequence({speller.key(slot.keys[i]), colon, value}));
  }
  const NodeId scalar = g.choice({speller.any_string(), speller.number(), speller.boolean(), speller.null()});
  members.others.push_back(g.sequence({speller.key_except(slot.keys), colon, scalar}));
  const NodeId list = in_any_order(g, members, g.sequence({space, g.literal(","), space}), "call");
  return g.sequence({g.literal("{"), space, list, space, g.literal("}")});
}

}  // namespace

// An array whose elements are calls, or an object whose members are calls.
NodeId CallBuilder::value_of_calls(bool is_parallel) {
  Grammar& g = grammar_;
  const bool is_object = format_.calls.roles.shares_object;
  const Speller speller(g, Spelling::json());
  const NodeId space = speller.space();
  const RuleId rule = g.declare("call");
  std::vector<NodeId> ways;
  for (const Tool& tool : tools_) ways.push_back(is_object ? call_member(tool) : call_object(tool));
  g.define(rule, g.choice(ways));
  const NodeId one = g.reference(rule);
  const NodeId comma = g.sequence({space, g.literal(","), space});
  const NodeId more = is_parallel && !format_.input.single_call ? g.any_number(g.sequence({comma, one})) : g.empty();
  return g.sequence({g.literal(is_object ? "{" : "["), space, one, more, space, g.literal(is_object ? "}" : "]")});
}

// "NAME": ARGUMENTS
NodeId CallBuilder::call_member(const Tool& tool) {
  const Speller speller(grammar_, Spelling::json());
  const NodeId space = speller.space();
  return grammar_.sequence({speller.key(tool.written), space, grammar_.literal(":"), space, json_or_text(tool)});
}

// The arguments; where the template copies a text, also one that a string spells.
NodeId CallBuilder::json_or_text(const Tool& tool) {
  const NodeId made = arguments(tool);
  if (format_.calls.arguments != format::ArgumentStyle::kJsonText) return made;
  // A message may have its arguments as a string, and the template then writes that string.
  context_.warnings.add("arguments that are written as a string of JSON are not held to their schema");
  return grammar_.choice({made, Speller(grammar_, Spelling::json()).any_string()});
}

NodeId CallBuilder::call_object(const Tool& tool) {
  Grammar& g = grammar_;
  const Speller speller(g, Spelling::json());
  const format::JsonRoles& roles = format_.calls.roles;
  if (roles.name_is_key) {
    const NodeId space = speller.space();
    return g.sequence({g.literal("{"), space, call_member(tool), space, g.literal("}")});
  }
  Slot call;
  if (!roles.id.empty()) put(call, roles.id, speller.any_string());
  put(call, roles.name, speller.string(tool.written));
  const Slot bare = call;
  if (!roles.arguments.empty()) put(call, roles.arguments, json_or_text(tool));
  const NodeId whole = object_of(speller, call);
  return may_omit_arguments(tool) ? g.choice({whole, object_of(speller, bare)}) : whole;
}

NodeId CallBuilder::json_arguments(const Tool& tool) {
  SchemaCompiler schema(grammar_, tool.parameters, "tool `" + tool.name + "`", context_);
  const EscapedText as_written(grammar_, format_.calls.argument_escapes);
  const Speller speller(grammar_, Spelling::json());
  const NodeId made = tool.parameters.is_null()
                          ? schema.anything(speller, kObjectType)
                          : schema.value(schema.root(), speller, tool.name + "-arguments", kObjectType);
  is_exhausted_ = is_exhausted_ || schema.is_exhausted();
  return made;
}

}  // namespace rondo::grammar
