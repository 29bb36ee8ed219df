#include "tokenizer/tokenizer.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <utility>

#include "tokenizer/encoding.h"
#include "tokenizer/state.h"

namespace rondo::tokenizer {
namespace {

std::uint32_t size_of(std::string_view text) { return static_cast<std::uint32_t>(text.size()); }

}  // namespace

const AddedToken* Tokenizer::State::find_added(TokenId id) const {
  const std::int32_t place = added_index[static_cast<std::size_t>(id)];
  return place < 0 ? nullptr : &added[static_cast<std::size_t>(place)];
}

const AddedToken* Tokenizer::State::find_content(std::string_view content) const {
  const auto found =
      std::lower_bound(added.begin(), added.end(), content,
                       [](const AddedToken& token, std::string_view wanted) { return token.content < wanted; });
  return found != added.end() && found->content == content ? &*found : nullptr;
}

std::optional<TokenId> Tokenizer::State::find(std::string_view content) const {
  if (const AddedToken* token = find_content(content)) return token->id;
  return vocabulary.find_text(content);
}

void Tokenizer::State::finish() {
  std::sort(added.begin(), added.end(), [](const AddedToken& a, const AddedToken& b) { return a.content < b.content; });
  vocab_size = vocabulary.size();
  for (const AddedToken& token : added) vocab_size = std::max(vocab_size, token.id + 1);
  added_index.assign(static_cast<std::size_t>(vocab_size), -1);
  for (std::size_t i = 0; i < added.size(); ++i) {
    added_index[static_cast<std::size_t>(added[i].id)] = static_cast<std::int32_t>(i);
    if (added[i].special) {
      model->set_control(added[i].id);
      text_can_be_control = text_can_be_control || vocabulary.contains(added[i].id);
    }
    const std::string& content = added[i].content;
    const bool was_normalized =
        std::find(once_normalized.begin(), once_normalized.end(), added[i].id) != once_normalized.end();
    const bool is_changed = (added[i].normalized || was_normalized) && !search.patterns_as_written;
    std::string text = is_changed ? normalizer.apply(std::string_view(content)) : content;
    (added[i].normalized ? search.normalized : search.raw).add(added[i].normalized ? text : content, &added[i]);
    const AddedToken* named = find_content(text);
    added_texts.push_back({std::move(text), named != nullptr && named->special});
  }
  search.raw.finish();
  search.normalized.finish();
  if (!vocabulary.is_byte_level()) {
    inner_begin.reserve(static_cast<std::size_t>(vocabulary.size()) + 1);
    inner_begin.push_back(0);
    for (TokenId id = 0; id < vocabulary.size(); ++id) {
      if (vocabulary.contains(id)) inner += decoder.inner_bytes(vocabulary.bytes(id));
      inner_begin.push_back(static_cast<std::uint32_t>(inner.size()));
    }
    joined_before_mark = model->joined_before(kSpaceMark);
  }
}

Tokenizer::Tokenizer(std::unique_ptr<const State> state) : state_(std::move(state)) {}
Tokenizer::~Tokenizer() = default;

Result<std::shared_ptr<const Tokenizer>> Tokenizer::load(const model::TokenizerSource& source,
                                                         const LoadOptions& options) {
  Result<std::unique_ptr<State>> state = source.gguf != nullptr             ? load_gguf(source)
                                         : source.sentence_piece != nullptr ? load_sentence_piece(source)
                                         : source.ranks != nullptr          ? load_tiktoken(source)
                                         : source.tekken_json != nullptr    ? load_tekken(source)
                                         : source.vocabulary != nullptr     ? load_vocabulary_files(source, options)
                                                                            : load_json(source, options);
  if (!state.ok()) {
    Error error = state.error();
    if (error.source.empty()) error.source = source.path;
    return error;
  }
  State& loaded = *state.value();
  loaded.path = source.path;
  auto& ends = loaded.edges.ends;
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  std::erase_if(ends, [&loaded](TokenId id) { return id >= loaded.vocab_size; });
  return std::shared_ptr<const Tokenizer>(new Tokenizer(std::move(state).value()));
}

std::vector<Piece> Tokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  std::vector<Piece> out;
  out.reserve(text.size() / 4 + 8);
  if (options.add_special) {
    for (const TokenId id : state_->edges.prefix) out.push_back({id, 0, 0});
  }
  {
    Workbenches::Loan bench(state_->benches);
    encode_to(*state_, text, options, *bench, out);
  }
  if (options.add_special) {
    for (const TokenId id : state_->edges.suffix) out.push_back({id, size_of(text), size_of(text)});
  }
  return out;
}

std::vector<TokenId> Tokenizer::encode_ids(std::string_view text, const EncodeOptions& options) const {
  std::vector<TokenId> out;
  out.reserve(text.size() / 4 + 8);
  if (options.add_special) out.insert(out.end(), state_->edges.prefix.begin(), state_->edges.prefix.end());
  {
    Workbenches::Loan bench(state_->benches);
    encode_to(*state_, text, options, *bench, out);
  }
  if (options.add_special) out.insert(out.end(), state_->edges.suffix.begin(), state_->edges.suffix.end());
  return out;
}

std::vector<std::vector<TokenId>> Tokenizer::encode_batch(std::span<const std::string_view> texts,
                                                          const EncodeOptions& options, unsigned threads) const {
  std::vector<std::vector<TokenId>> out(texts.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < texts.size(); i = next++) out[i] = encode_ids(texts[i], options);
  };
  const std::size_t wanted =
      std::min<std::size_t>(threads == 0 ? std::thread::hardware_concurrency() : threads, texts.size());
  std::vector<std::jthread> others;  // joined when they are destroyed
  others.reserve(wanted);
  try {
    for (std::size_t i = 1; i < wanted; ++i) others.emplace_back(work);
    // NOLINTNEXTLINE(bugprone-empty-catch)
  } catch (const std::system_error&) {
    // The system gives no more threads.  Those that exist do the rest.
  }
  work();
  others.clear();
  return out;
}

std::string_view Tokenizer::token_bytes(TokenId id) const {
  if (const AddedToken* added = state_->find_added(id)) return added->content;
  if (!state_->vocabulary.contains(id)) return {};
  if (state_->vocabulary.is_byte_level()) return state_->vocabulary.bytes(id);
  const auto place = static_cast<std::size_t>(id);
  const std::uint32_t begin = state_->inner_begin[place];
  return std::string_view(state_->inner).substr(begin, state_->inner_begin[place + 1] - begin);
}

std::optional<TokenId> Tokenizer::find(std::string_view content) const { return state_->find(content); }

bool Tokenizer::is_added(TokenId id) const {
  return id >= 0 && id < state_->vocab_size && state_->find_added(id) != nullptr;
}

bool Tokenizer::is_special(TokenId id) const { return is_added(id) && state_->find_added(id)->special; }

std::span<const AddedToken> Tokenizer::added_tokens() const { return state_->added; }
TokenId Tokenizer::vocab_size() const { return state_->vocab_size; }
std::optional<TokenId> Tokenizer::bos() const { return state_->edges.bos; }
std::optional<TokenId> Tokenizer::eos() const { return state_->edges.eos; }
std::span<const TokenId> Tokenizer::end_ids() const { return state_->edges.ends; }

std::span<const std::string> Tokenizer::ignored() const { return state_->ignored; }

std::string Tokenizer::to_string() const {
  std::string out = state_->vocabulary.is_byte_level() ? "byte-level " : "character ";
  out += std::string(state_->model->name()) + ", " + std::to_string(state_->vocab_size) + " ids, " +
         std::to_string(state_->added.size()) + " added tokens, pre-tokenizer: " + state_->pre_tokenizer.to_string();
  for (const std::string& part : state_->ignored)
    out += (&part == state_->ignored.data() ? "; ignored: " : ", ") + part;
  return out;
}

}  // namespace rondo::tokenizer
