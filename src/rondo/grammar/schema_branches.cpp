// Which schemas hold together: references, allOf, and the alternatives of anyOf and oneOf.
#include <algorithm>
#include <iterator>
#include <utility>

#include "grammar/schema.h"
#include "json/pointer.h"

namespace rondo::grammar {
namespace {

constexpr std::size_t kMostAlternatives = 4096;
// So many comparisons with known schemas take the time of one schema.
constexpr std::size_t kComparisons = 32;

// Returns the parts as a set: two lists of the same schemas are the same.
PartsId identity(const Parts& parts) {
  PartsId out;
  for (const Part& part : parts) out.emplace_back(part.schema, part.distributed);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

// ---- References

void SchemaCompiler::index_anchors() {
  anchors_are_indexed_ = true;
  std::vector<const json::Value*> open{document_};
  while (!open.empty()) {
    const json::Value* value = open.back();
    open.pop_back();
    if (value->is_array()) {
      for (const json::Value& item : value->as_array()) open.push_back(&item);
    }
    if (!value->is_object()) continue;
    for (const char* keyword : {"$anchor", "$dynamicAnchor"}) {
      if (const auto name = value->find_string(keyword)) anchors_.emplace("#" + std::string(*name), value);
    }
    for (const char* keyword : {"$id", "id"}) {
      if (const auto name = value->find_string(keyword)) anchors_.emplace(std::string(*name), value);
    }
    for (const json::Member& member : value->as_object()) open.push_back(&member.value);
  }
}

// Returns the schema that `name` names as an anchor or an id; nullptr if none has that name.
const json::Value* SchemaCompiler::anchored(std::string_view name) {
  if (!anchors_are_indexed_) index_anchors();
  const auto found = anchors_.find(name);
  return found != anchors_.end() ? found->second : nullptr;
}

// Returns the schema that `reference` names, and sets `where` to its pointer; nullptr if it is not in this document.
const json::Value* SchemaCompiler::resolve(std::string_view reference, std::string& where) {
  where.clear();
  const std::size_t hash = reference.find('#');
  const bool has_fragment = hash != std::string_view::npos;
  const bool is_pointer = has_fragment && (hash + 1 == reference.size() || reference[hash + 1] == '/');
  if (!is_pointer) {
    where = reference;
    const json::Value* named = anchored(reference);
    return named == nullptr && has_fragment ? anchored(reference.substr(hash)) : named;
  }
  const json::Value* base = hash > 0 ? anchored(reference.substr(0, hash)) : document_;
  return base != nullptr ? json::follow_pointer(*base, reference.substr(hash + 1), where) : nullptr;
}

// ---- Schemas that all hold

// Returns the schemas that $ref and allOf of a part name.
Parts SchemaCompiler::implied(const Part& part) {
  Parts out;
  for (const char* keyword : {"$ref", "$dynamicRef", "$recursiveRef"}) {
    const auto reference = part.schema->find_string(keyword);
    if (!reference) continue;
    std::string where;
    const json::Value* target = resolve(*reference, where);
    if (target == nullptr) {
      warn(part.where, "the reference `" + std::string(*reference) + "` leads nowhere; taken for any value");
    } else {
      out.push_back({target, where, 0});
    }
  }
  const json::Value* all = part.schema->find("allOf");
  if (all == nullptr || !all->is_array()) return out;
  for (std::size_t i = 0; i < all->as_array().size(); ++i)
    out.push_back({&all->as_array()[i], part.where + "/allOf/" + std::to_string(i), 0});
  return out;
}

// Adds `first` and the schemas that its $ref and allOf name, each before those that it names.  Returns false if nothing
// satisfies them.
bool SchemaCompiler::flatten(const Part& first, Parts& out) {
  Parts open{first};
  while (!open.empty()) {
    const Part part = std::move(open.back());
    open.pop_back();
    const json::Value& schema = *part.schema;
    if (schema.is_bool()) {
      if (!schema.as_bool()) return false;
      continue;
    }
    if (!schema.is_object()) {
      warn(part.where, "a schema must be an object or a boolean; taken for any value");
      continue;
    }
    const auto known = std::ranges::find(out, part.schema, &Part::schema);
    if (known != out.end()) {
      known->distributed |= part.distributed;
      continue;
    }
    if (!can_afford(1 + out.size() / kComparisons, {part})) return true;
    check_keywords(part);
    out.push_back(part);
    Parts next = implied(part);
    open.insert(open.end(), std::make_move_iterator(next.rbegin()), std::make_move_iterator(next.rend()));
  }
  return true;
}

// Returns everything that must hold, without parts that say nothing more; nullopt if nothing satisfies all of it.
std::optional<Parts> SchemaCompiler::flat(const Parts& parts) {
  Parts out;
  for (const Part& part : parts) {
    if (!flatten(part, out)) return std::nullopt;
  }
  std::erase_if(out, [](const Part& part) { return !has_constraints(part); });
  return out;
}

// ---- Schemas of which one holds

// Returns the first anyOf or oneOf of which no alternative was chosen yet.
std::optional<SchemaCompiler::Branch> SchemaCompiler::branch_of(const Parts& parts) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto list_of = [&](const char* keyword) {
      const json::Value* list = parts[i].schema->find(keyword);
      return list != nullptr && list->is_array() ? list : nullptr;
    };
    const json::Value* any = list_of("anyOf");
    if (any != nullptr && (parts[i].distributed & 1U) == 0) return Branch{i, any, "anyOf", 1};
    const json::Value* one = list_of("oneOf");
    if (one != nullptr && (parts[i].distributed & 2U) == 0) return Branch{i, one, "oneOf", 2};
  }
  return std::nullopt;
}

// Returns whether `branch` is only a reference to a schema whose branches are being chosen, or to itself.  Such a
// branch adds nothing new, and following it would not end.
bool SchemaCompiler::leads_back(const Part& branch, const Parts& chosen) {
  std::set<const json::Value*> seen;
  const json::Value* at = branch.schema;
  while (const auto reference = at->find_string("$ref")) {
    std::string where;
    at = resolve(*reference, where);
    if (at == nullptr || !can_afford(1, {branch})) return false;
    const bool is_open = std::any_of(chosen.begin(), chosen.end(),
                                     [at](const Part& part) { return part.schema == at && part.distributed != 0; });
    if (is_open || !seen.insert(at).second) return true;
  }
  return false;
}

// Chooses the alternatives of one anyOf or oneOf after the other, in all combinations.  What was looked at once is not
// looked at again, so branches that lead to each other end, and cost no more than their number.
std::vector<Parts> SchemaCompiler::expanded(const Parts& parts) {
  std::vector<Parts> out;
  std::vector<Parts> open{parts};
  std::set<PartsId> seen;
  while (!open.empty()) {
    auto followed = flat(open.back());
    open.pop_back();
    if (!followed || !seen.insert(identity(*followed)).second) continue;
    if (!can_afford(followed->size(), *followed)) break;
    const auto branch = branch_of(*followed);
    if (!branch) {
      if (out.size() == kMostAlternatives) {
        exhaust(parts, "has more than " + std::to_string(kMostAlternatives) + " alternatives");
        break;
      }
      out.push_back(*std::move(followed));
      continue;
    }
    Part& from = (*followed)[branch->part];
    from.distributed |= branch->bit;
    if (branch->bit == 2) check_one_of(from, *branch->list);
    for (std::size_t i = branch->list->as_array().size(); i-- > 0;) {
      const Part one{&branch->list->as_array()[i], from.where + "/" + branch->keyword + "/" + std::to_string(i), 0};
      if (!can_afford(1 + followed->size(), {one})) break;
      if (leads_back(one, *followed)) continue;
      open.push_back(*followed);
      open.back().push_back(one);
    }
  }
  return out;
}

const std::vector<Parts>& SchemaCompiler::alternatives(const Parts& parts) {
  const auto followed = flat(parts);
  static const std::vector<Parts> kNoAlternatives;
  if (!followed) return kNoAlternatives;
  PartsId id;  // in this order, as the members of objects have it
  for (const Part& part : *followed) id.emplace_back(part.schema, part.distributed);
  const auto found = alternatives_.find(id);
  if (found != alternatives_.end()) return found->second;
  return alternatives_.emplace(std::move(id), expanded(parts)).first->second;
}

}  // namespace rondo::grammar
