// Builds a tokenizer from vocab.json and merges.txt, or from vocab.txt.  What the classes of transformers add to them
// is expressed as a tokenizer.json, so that from there on there is one code path and one cache.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "base/utf8.h"
#include "json/print.h"
#include "json/reader.h"
#include "tokenizer/damaged.h"
#include "tokenizer/state.h"
#include "tokenizer/vocabulary_styles.h"
#include "unicode/classes.h"

namespace rondo::tokenizer {
namespace {

using StateResult = Result<std::unique_ptr<Tokenizer::State>>;

// The names that every class has; they come first.
constexpr std::string_view kNames[] = {"bos_token", "eos_token", "unk_token", "sep_token",
                                       "pad_token", "cls_token", "mask_token"};

const json::Value* member(const json::Value* object, std::string_view key) {
  return object != nullptr && object->is_object() ? object->find(key) : nullptr;
}

// A token that the files name, as an entry of `added_tokens`; nothing for null and for values that are not tokens.
std::optional<json::Object> named_entry(const json::Value* value) {
  json::Object entry;
  if (value != nullptr && value->is_object()) {
    for (const json::Member& flag : value->as_object()) {
      if (flag.value.is_bool() || flag.key == "content") entry.set(flag.key, flag.value);
    }
  } else if (value != nullptr && value->is_string()) {
    entry.set("content", value->as_string());
  }
  const json::Value* content = entry.find("content");
  if (content == nullptr || !content->is_string()) return std::nullopt;
  entry.set("special", true);
  return entry;
}

// The tokens of a folder, in the order in which transformers adds them: the list with ids, sorted by id, then those
// with a name, then the others.
class FolderTokens {
 public:
  FolderTokens(const model::TokenizerSource& source, const VocabularyStyle& style) {
    const json::Value* config = source.tokenizer_config.get();
    for (const std::string_view name : kNames) set_named(name, {});
    for (const NamedDefault& token : style.defaults) set_named(token.name, json::Value(std::string(token.content)));
    take_names(config);
    const json::Value* list = member(config, "added_tokens_decoder");
    has_list_ = list != nullptr && list->is_object();
    if (!has_list_) take_names(source.special_tokens.get());
    take_others(config);
    if (has_list_) take_list(*list);
    if (!has_list_ && source.added_tokens != nullptr) take_old_list(*source.added_tokens);
    if (!has_list_) take_others(source.special_tokens.get());
  }

  // The content of "bos_token", ...
  [[nodiscard]] std::optional<std::string> content(std::string_view name) const {
    for (const auto& [key, value] : named_) {
      if (key != name) continue;
      const auto entry = named_entry(&value);
      return entry ? std::optional(entry->find("content")->as_string()) : std::nullopt;
    }
    return std::nullopt;
  }

  // With `forgets`, tokens that are not in a list lose their flags at the end.
  [[nodiscard]] json::Array entries(bool forgets) const {
    json::Array out;
    std::set<std::string> listed;
    std::set<std::string> named;
    for (const auto& [key, value] : named_) {
      if (const auto entry = named_entry(&value)) named.insert(entry->find("content")->as_string());
    }
    for (const auto& [id, token] : listed_) {
      json::Object entry = token;
      const std::string text = entry.find("content")->as_string();
      if (named.contains(text)) entry.set("special", true);
      if (listed.insert(text).second) out.emplace_back(std::move(entry));
    }
    // A token may come both as a string and as an object.  The two count as different, and the last one's flags apply.
    std::set<std::pair<std::string, bool>> known;
    std::vector<std::string> all;
    const auto add = [&](const json::Value& value) {
      auto entry = named_entry(&value);
      if (!entry) return;
      all.push_back(entry->find("content")->as_string());
      if (listed.contains(all.back()) || !known.emplace(all.back(), value.is_string()).second) return;
      out.emplace_back(*std::move(entry));
    };
    for (const auto& [key, value] : named_) add(value);
    for (const json::Value& value : others_) add(value);
    for (std::size_t i = 0; forgets && i < all.size(); ++i) {
      out.emplace_back(json::Object{{"content", all[i]}, {"special", true}});
    }
    return out;
  }

 private:
  using Named = std::pair<std::string, json::Value>;

  void set_named(std::string_view name, const json::Value& value) {
    for (Named& named : named_) {
      if (named.first == name) {
        named.second = value;
        return;
      }
    }
    named_.emplace_back(std::string(name), value);
  }

  // Takes "bos_token" and so on, and other members with such names; null removes a token.
  void take_names(const json::Value* file) {
    if (file == nullptr || !file->is_object()) return;
    for (const json::Member& entry : file->as_object()) {
      const std::string_view key = entry.key;
      const bool is_known = std::find(std::begin(kNames), std::end(kNames), key) != std::end(kNames);
      if (is_known || (key.ends_with("_token") && named_entry(&entry.value))) set_named(key, entry.value);
    }
  }

  // Takes "extra_special_tokens", formerly "additional_special_tokens": a list, or an object with names.
  void take_others(const json::Value* file) {
    for (const char* key : {"extra_special_tokens", "additional_special_tokens"}) {
      const json::Value* list = member(file, key);
      if (list == nullptr) continue;
      if (list->is_object()) {
        for (const json::Member& entry : list->as_object()) set_named(entry.key, entry.value);
      }
      if (!list->is_array() || !others_.empty()) continue;
      for (const json::Value& entry : list->as_array()) others_.push_back(entry);
    }
  }

  void take_list(const json::Value& list) {
    for (const json::Member& entry : list.as_object()) {
      const json::Value* content = member(&entry.value, "content");
      if (content == nullptr || !content->is_string()) continue;
      json::Object token;
      for (const json::Member& flag : entry.value.as_object()) {
        if (flag.value.is_bool() || flag.key == "content") token.set(flag.key, flag.value);
      }
      listed_.insert_or_assign(std::strtol(entry.key.c_str(), nullptr, 10), std::move(token));
    }
  }

  // added_tokens.json maps content to id.  Then only tokens with a name, and others of the configuration, are special.
  void take_old_list(const json::Value& list) {
    if (!list.is_object()) return;
    std::set<std::string> special;
    for (const auto& [key, value] : named_) {
      // The reference compares with an object of the configuration as it is.
      const bool is_taken = std::find(std::begin(kNames), std::end(kNames), key) != std::end(kNames) &&
                            member(&value, "__type") == nullptr;
      if (const auto entry = is_taken ? named_entry(&value) : std::nullopt) {
        special.insert(entry->find("content")->as_string());
      }
    }
    for (const json::Value& value : others_) {
      if (const auto entry = named_entry(&value)) special.insert(entry->find("content")->as_string());
    }
    for (const json::Member& entry : list.as_object()) {
      const auto id = to_id(&entry.value);
      if (!id) continue;
      json::Object token;
      token.set("content", entry.key);
      token.set("special", special.contains(entry.key));
      token.set("normalized", !special.contains(entry.key));
      listed_.insert_or_assign(*id, std::move(token));
    }
  }

  bool has_list_ = false;
  std::vector<Named> named_;
  std::vector<json::Value> others_;
  std::map<long, json::Object> listed_;
};

bool flag(const json::Value* config, std::string_view key, bool otherwise) {
  const json::Value* value = member(config, key);
  return value != nullptr && value->is_bool() ? value->as_bool() : otherwise;
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  json::append_escaped(out, text, false);
  return out + "\"";
}

template <typename Use>
void each_line(std::string_view text, Use use) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (end != std::string_view::npos && line.ends_with('\r')) line.remove_suffix(1);
    use(line);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
}

// Without trailing white space, which may be of any kind in vocab.txt.
std::string_view trimmed(std::string_view line) {
  while (!line.empty()) {
    std::size_t start = line.size() - 1;
    while (start > 0 && utf8::is_continuation(line[start])) --start;
    if (!unicode::is_white_space(utf8::decode(line, start).code_point)) break;
    line = line.substr(0, start);
  }
  return line;
}

Result<std::string> merges_model(const model::VocabularyFiles& files) {
  const std::string& vocab = *files.tokens;
  json::Reader in(vocab);
  const bool is_object = in.peek() == '{';
  in.skip();
  if (!in.finish()) return in.error();
  if (!is_object) return damaged("vocab.json is no object");
  std::string merges;
  std::size_t number = 0;
  std::size_t wrong = 0;
  each_line(files.merges, [&](std::string_view line) {
    ++number;
    if (line.starts_with("#version")) return;
    const std::size_t space = line.find(' ');
    const bool is_pair = space != std::string_view::npos && line.find(' ', space + 1) == std::string_view::npos;
    if (!is_pair && wrong == 0) wrong = number;
    merges += merges.empty() ? "" : ",";
    merges += json_string(line);
  });
  if (wrong != 0) return damaged("line " + std::to_string(wrong) + " of merges.txt is no pair of tokens");
  return R"({"type":"BPE","vocab":)" + vocab + R"(,"merges":[)" + merges + "]}";
}

std::string words_model(std::string_view words, const std::string& unknown) {
  // The last line with a word counts; earlier ones leave holes.
  std::vector<std::string_view> lines;
  std::map<std::string_view, std::size_t> last;
  each_line(words, [&](std::string_view line) {
    lines.push_back(trimmed(line));
    last.insert_or_assign(lines.back(), lines.size() - 1);
  });
  std::string vocab;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (last[lines[i]] != i) continue;
    vocab += (vocab.empty() ? "" : ",") + json_string(lines[i]) + ":" + std::to_string(i);
  }
  return R"({"type":"WordPiece","unk_token":)" + json_string(unknown) +
         R"(,"continuing_subword_prefix":"##","max_input_chars_per_word":100,"vocab":{)" + vocab + "}}";
}

std::string truth(bool value) { return value ? "true" : "false"; }

// The members of a tokenizer.json other than the model and the added tokens.
std::string steps(const VocabularyStyle& style, const json::Value* config) {
  if (style.is_words) {
    const json::Value* strip = member(config, "strip_accents");
    const bool is_given = strip != nullptr && strip->is_bool();
    return R"("normalizer":{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":)" +
           truth(flag(config, "tokenize_chinese_chars", true)) + R"(,"strip_accents":)" +
           (is_given ? truth(strip->as_bool()) : "null") + R"(,"lowercase":)" +
           truth(flag(config, "do_lower_case", true)) +
           R"(},"pre_tokenizer":{"type":"BertPreTokenizer"},"decoder":{"type":"WordPiece","prefix":"##","cleanup":true})";
  }
  const bool has_pattern = !style.pattern.empty();
  const std::string bytes = R"({"type":"ByteLevel","add_prefix_space":)" +
                            truth(flag(config, "add_prefix_space", false)) + R"(,"trim_offsets":true,"use_regex":)" +
                            truth(!has_pattern) + "}";
  std::string out =
      R"("normalizer":)" + std::string(style.is_nfc ? R"({"type":"NFC"})" : "null") + R"(,"pre_tokenizer":)";
  if (has_pattern) {
    out += R"({"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":)" + json_string(style.pattern) +
           R"(},"behavior":"Isolated","invert":false},)" + bytes + "]}";
  } else {
    out += bytes;
  }
  return out + R"(,"decoder":{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true,"use_regex":true})";
}

Result<const VocabularyStyle*> find_style(const model::TokenizerSource& source) {
  const model::VocabularyFiles& files = *source.vocabulary;
  const json::Value* name = member(source.tokenizer_config.get(), "tokenizer_class");
  if (name == nullptr || !name->is_string()) return &default_vocabulary_style(!files.tokens);
  const VocabularyStyle* style = find_vocabulary_style(name->as_string());
  if (style == nullptr) {
    return damaged("`tokenizer_class` is `" + name->as_string() +
                   "`, of which is not known how it splits text; a tokenizer.json would say it");
  }
  if (style->is_words ? !files.words : !files.tokens) {
    return damaged("`" + name->as_string() + "` wants " +
                   (style->is_words ? "vocab.txt" : "vocab.json and merges.txt"));
  }
  return style;
}

}  // namespace

StateResult load_vocabulary_files(const model::TokenizerSource& source, const LoadOptions& options) {
  const Result<const VocabularyStyle*> found = find_style(source);
  if (!found.ok()) return found.error();
  const VocabularyStyle& style = *found.value();
  const json::Value* config = source.tokenizer_config.get();
  const FolderTokens tokens(source, style);
  Result<std::string> model =
      style.is_words ? words_model(*source.vocabulary->words, tokens.content("unk_token").value_or("[UNK]"))
                     : merges_model(*source.vocabulary);
  if (!model.ok()) return model.error();
  const std::string added = json::to_compact(json::Value(tokens.entries(style.forgets_flags)));
  model::TokenizerSource described;
  described.path = source.path;
  described.tokenizer_json = std::make_shared<const std::string>(
      R"({"added_tokens":)" + added + "," + steps(style, config) + R"(,"model":)" + model.value() + "}");
  described.generation_config = source.generation_config;
  StateResult loaded = load_json(described, options);
  if (!loaded.ok()) return loaded;
  Tokenizer::State& state = *loaded.value();
  const auto id = [&](std::string_view name) {
    const auto content = tokens.content(name);
    return content ? state.find(*content) : std::nullopt;
  };
  state.edges.bos = id("bos_token");
  state.edges.eos = id("eos_token");
  if (state.edges.eos) state.edges.ends.push_back(*state.edges.eos);
  const auto first = style.is_framed                        ? id("cls_token")
                     : flag(config, "add_bos_token", false) ? state.edges.bos
                                                            : std::nullopt;
  const auto last = style.is_framed                        ? id("sep_token")
                    : flag(config, "add_eos_token", false) ? state.edges.eos
                                                           : std::nullopt;
  if (first) state.edges.prefix.push_back(*first);
  if (last) state.edges.suffix.push_back(*last);
  return loaded;
}

}  // namespace rondo::tokenizer
