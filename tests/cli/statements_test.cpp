// What the documents of tests/statements say of templates, parsers and grammars: each case asks the line protocol and
// holds the reply against what the place in the document says.
//
// A line of a .jsonl file names a value (`let`), which `$name` stands for from there on, or is a case: `ask` is put to
// each of the `rows` of the corpus that are there, and to the `template`.  Paths lead through the reply:
// `tool_calls/0/name`.
//   is      the value; null also where there is none           ends    the text ends so
//   has     the text, or the value's JSON, holds all of these  lacks   ... none of these
//   absent  there is no such value
// Each case is asked at least once, with the small corpus too.
#include <doctest/doctest.h>

#include <charconv>
#include <map>
#include <sstream>

#include "base/files.h"
#include "json/parse.h"
#include "json/print.h"
#include "protocol/service.h"
#include "tests/support/corpus.h"

namespace rondo {
namespace {

using Names = std::map<std::string, json::Value>;

json::Value filled(const json::Value& value, const Names& names) {
  if (value.is_string() && value.as_string().starts_with("$")) {
    const auto found = names.find(value.as_string().substr(1));
    REQUIRE_MESSAGE(found != names.end(), value.as_string());
    return found->second;
  }
  if (value.is_array()) {
    json::Array out;
    for (const json::Value& element : value.as_array()) out.push_back(filled(element, names));
    return json::Value(std::move(out));
  }
  if (!value.is_object()) return value;
  json::Object out;
  for (const json::Member& member : value.as_object()) out.set(member.key, filled(member.value, names));
  return json::Value(std::move(out));
}

const json::Value* at(const json::Value& reply, const std::string& path) {
  const json::Value* found = &reply;
  std::istringstream steps(path);
  for (std::string step; found != nullptr && std::getline(steps, step, '/');) {
    if (!found->is_array()) {
      found = found->find(step);
      continue;
    }
    std::size_t index = 0;
    const bool is_index = std::from_chars(step.data(), step.data() + step.size(), index).ec == std::errc{};
    found = is_index && index < found->as_array().size() ? &found->as_array()[index] : nullptr;
  }
  return found;
}

std::string text_at(const json::Value& reply, const std::string& path) {
  const json::Value* found = at(reply, path);
  if (found == nullptr) return "";
  return found->is_string() ? found->as_string() : json::to_compact(*found);
}

// The members of `entry` under that name; none if it has no such list.
const json::Object& wanted(const json::Value& entry, const char* name) {
  static const json::Object kNone;
  const json::Value* found = entry.find(name);
  return found == nullptr ? kNone : found->as_object();
}

void check_texts(const json::Value& reply, const json::Value& entry) {
  for (const json::Member& member : wanted(entry, "ends"))
    CHECK_MESSAGE(text_at(reply, member.key).ends_with(member.value.as_string()), text_at(reply, member.key));
  for (const char* const name : {"has", "lacks"}) {
    for (const json::Member& member : wanted(entry, name)) {
      const std::string text = text_at(reply, member.key);
      for (const json::Value& part : member.value.as_array()) {
        const bool has_it = text.find(part.as_string()) != std::string::npos;
        CHECK_MESSAGE(has_it == (std::string_view(name) == "has"), name << " " << part.as_string() << "\n" << text);
      }
    }
  }
}

void check_reply(const json::Value& reply, const json::Value& entry) {
  CHECK_MESSAGE((reply.find("error") == nullptr || wanted(entry, "is").find("error/code") != nullptr),
                json::to_compact(reply));
  for (const json::Member& member : wanted(entry, "is")) {
    const json::Value* found = at(reply, member.key);
    INFO(member.key);
    CHECK(json::to_compact(found == nullptr ? json::Value() : *found) == json::to_compact(member.value));
  }
  check_texts(reply, entry);
  if (const json::Value* absent = entry.find("absent")) {
    for (const json::Value& path : absent->as_array()) {
      INFO(path.as_string());
      CHECK(at(reply, path.as_string()) == nullptr);
    }
  }
}

json::Object request_of(const json::Value& entry, const Names& names) {
  json::Object request{{"mode", "lenient"}, {"now", "2026-03-14T15:09:26"}};
  const json::Value asked = filled(*entry.find("ask"), names);
  for (const json::Member& member : asked.as_object()) request.set(member.key, member.value);
  return request;
}

// The file of an invented template, which the larger corpus lacks, or the name of one of rondo's own; "" for the others.
std::string own_template(const std::string& row) {
  constexpr std::string_view kOwn = "own-";
  constexpr std::string_view kShared = "share-";
  if (row.starts_with(kShared)) return row.substr(kShared.size());
  if (!row.starts_with(kOwn)) return "";
  return RONDO_SOURCE_DIR "/tests/corpus/templates/" + row.substr(kOwn.size()) + ".jinja";
}

// The requests of a case, with what they are asked of.
std::vector<std::pair<std::string, json::Object>> requests_of(const json::Value& entry, const Names& names,
                                                              const test::Corpus& corpus) {
  std::vector<std::pair<std::string, json::Object>> out;
  if (const json::Value* source = entry.find("template")) {
    out.emplace_back("its template", request_of(entry, names));
    out.back().second.set("template", filled(*source, names));
  }
  const json::Value* rows = entry.find("rows");
  if (rows == nullptr) return out;
  for (const json::Value& id : rows->as_array()) {
    const test::CorpusRow* row = corpus.find(id.as_string());
    const std::string own = own_template(id.as_string());
    if (row == nullptr && own.empty()) continue;
    out.emplace_back(id.as_string(), request_of(entry, names));
    json::Object& request = out.back().second;
    request.set("template_file", own.empty() ? row->template_path : own);
    if (row != nullptr && row->bos_token) request.set("bos_token", *row->bos_token);
    if (row != nullptr && row->eos_token) request.set("eos_token", *row->eos_token);
  }
  return out;
}

// How many cases the file has.
int check_document(const std::string& name) {
  const auto corpus = test::Corpus::open();
  if (!corpus) return 0;
  const protocol::Service service{protocol::ServiceOptions{}};
  std::istringstream lines(files::read(RONDO_SOURCE_DIR "/tests/statements/" + name).value());
  Names names;
  int count = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto parsed = json::parse(line);
    REQUIRE_MESSAGE(parsed.ok(), line);
    const json::Value& entry = parsed.value();
    if (const auto given = entry.find_string("let")) {
      names[std::string(*given)] = filled(*entry.find("value"), names);
      continue;
    }
    INFO(*entry.find_string("at") << ": " << *entry.find_string("it"));
    const auto requests = requests_of(entry, names, *corpus);
    CHECK_FALSE(requests.empty());
    for (const auto& [asked, request] : requests) {
      INFO(asked);
      check_reply(service.handle(json::Value(request)), entry);
    }
    ++count;
  }
  return count;
}

TEST_CASE("the statements of document 000") { CHECK(check_document("000.jsonl") > 80); }
TEST_CASE("the statements of document 001") { CHECK(check_document("001.jsonl") > 120); }
TEST_CASE("the statements of document 004") { CHECK(check_document("004.jsonl") > 30); }

}  // namespace
}  // namespace rondo
