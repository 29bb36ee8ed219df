#include "tokenizer/tokenizer.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "tokenizer/byte_level.h"
#include "tokenizer/state.h"

namespace rondo::tokenizer {
namespace {

constexpr std::string_view kMark = "\u2581";
constexpr std::size_t kCachedBytes = 27;  // longer pieces are rare and not kept

std::uint32_t size_of(std::string_view text) { return static_cast<std::uint32_t>(text.size()); }

// One encode() call.
class Encoding {
 public:
  Encoding(const Tokenizer::State& state, const EncodeOptions& options, Workbench& bench, std::vector<Piece>& out)
      : state_(state), options_(options), bench_(bench), out_(out) {
    if (bench_.scratch == nullptr) bench_.scratch = state_.model->make_scratch();
  }

  void run(std::string_view input) {
    const Aligned text = state_.takes_bytes ? Aligned(input, 0) : valid_text(input);
    split(text, state_.raw_matcher, [this](Aligned part) { normalised(std::move(part)); });
  }

 private:
  // Ill-formed bytes become U+FFFD.
  static Aligned valid_text(std::string_view input) {
    Aligned text(input, 0);
    if (utf8::is_valid(input)) return text;
    AlignedBuilder out(text);
    std::string replacement;
    utf8::append(replacement, utf8::kReplacement);
    for (std::uint32_t at = 0; at < input.size();) {
      const utf8::Decoded decoded = utf8::decode(input, at);
      const Range range{at, at + decoded.size};
      if (decoded.valid) {
        out.copy(range);
      } else {
        out.put(replacement, range);
      }
      at = range.end;
    }
    return out.finish();
  }

  // Puts out the added tokens in `text` and gives the parts between them to `rest`.
  template <typename Rest>
  void split(const Aligned& text, const AddedMatcher& matcher, Rest rest) {
    std::vector<AddedMatch> matches;
    if (options_.parse_special || options_.parse_added) matcher.find_all(text, options_, matches);
    std::uint32_t at = 0;
    for (const AddedMatch& match : matches) {
      if (at < match.range.begin) rest(text.part({at, match.range.begin}));
      const Range origin = text.origin(match.range);
      out_.push_back({match.token->id, origin.begin, origin.end});
      at = match.range.end;
    }
    if (at < size_of(text.text())) rest(text.part({at, size_of(text.text())}));
  }

  void normalised(Aligned part) {
    const Aligned text = state_.normalizer.apply(std::move(part));
    if (state_.normalized_matcher.empty()) return pre_tokenised(text.part({0, size_of(text.text())}));
    split(text, state_.normalized_matcher, [this](Aligned rest) { pre_tokenised(std::move(rest)); });
  }

  void pre_tokenised(Aligned part) {
    const Pieces pieces = state_.pre_tokenizer.apply(std::move(part));
    if (pieces.byte_spelled) return spelled(pieces);
    for (const Range range : pieces.ranges) {
      if (state_.joined_before_mark) {
        words(pieces.text, range);
      } else {
        piece(pieces.text, range);
      }
    }
  }

  // Cuts before the marks where that changes nothing; see State::joined_before_mark.
  void words(const Aligned& text, Range range) {
    const std::string_view view = text.text().substr(0, range.end);
    std::uint32_t begin = range.begin;
    for (std::size_t at = range.begin; (at = view.find(kMark, at)) != std::string_view::npos; at += kMark.size()) {
      if (at <= begin) continue;
      std::size_t before = at - 1;
      while (before > begin && utf8::is_continuation(view[before])) --before;
      if (state_.joined_before_mark->contains(utf8::decode(view, before).code_point)) continue;
      piece(text, {begin, static_cast<std::uint32_t>(at)});
      begin = static_cast<std::uint32_t>(at);
    }
    if (begin < range.end) piece(text, {begin, range.end});
  }

  // Steps behind the byte-level spelling cut in the middle of it; the model wants the bytes.
  void spelled(const Pieces& pieces) {
    for (const Range range : pieces.ranges) {
      AlignedBuilder bytes(pieces.text);
      const std::string_view view = pieces.text.text();
      for (std::uint32_t at = range.begin; at < range.end;) {
        const utf8::Decoded decoded = utf8::decode(view, at);
        const char byte = static_cast<char>(byte_level::to_byte(decoded.code_point).value_or(0));
        bytes.put({&byte, 1}, {at, at + decoded.size});
        at += decoded.size;
      }
      const Aligned text = bytes.finish();
      piece(text, {0, size_of(text.text())});
    }
  }

  void piece(const Aligned& text, Range range) {
    const std::string_view bytes = text.text().substr(range.begin, range.end - range.begin);
    std::vector<Unit>& units = bench_.units;
    units.clear();
    if (bytes.size() > kCachedBytes) {
      state_.model->encode(bytes, Control::kAllowed, *bench_.scratch, units);
    } else {
      const std::uint64_t hash = PieceCache::hash_of(bytes);
      if (!bench_.cache.find(bytes, hash, units)) {
        state_.model->encode(bytes, Control::kAllowed, *bench_.scratch, units);
        bench_.cache.keep(bytes, hash, units, 0);
      }
    }
    // Where only some bytes may be control tokens, the rest must not spell one by merging either.
    const auto is_control = [this](const Unit& unit) { return state_.model->is_control(unit.id); };
    if (options_.allowed != nullptr && std::any_of(units.begin(), units.end(), is_control)) {
      units.clear();
      state_.model->encode(bytes, Control::kForbidden, *bench_.scratch, units);
    }
    std::uint32_t at = range.begin;
    for (const Unit& unit : units) {
      const Range origin = text.origin({at, at + unit.size});
      out_.push_back({unit.id, origin.begin, origin.end});
      at += unit.size;
    }
  }

  const Tokenizer::State& state_;
  const EncodeOptions& options_;
  Workbench& bench_;
  std::vector<Piece>& out_;
};

Error no_such_id(TokenId id, TokenId size) {
  Error error;
  error.code = ErrorCode::kTokenizer;
  error.message = "token id " + std::to_string(id) + " is out of range, the vocabulary has " + std::to_string(size);
  return error;
}

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
    if (added[i].special) model->set_control(added[i].id);
    const bool is_changed = added[i].normalized && !patterns_as_written;
    std::string text = is_changed ? normalizer.apply(added[i].content) : added[i].content;
    (added[i].normalized ? normalized_matcher : raw_matcher).add(text, &added[i]);
    const AddedToken* named = find_content(text);
    added_texts.push_back({std::move(text), named != nullptr && named->special});
  }
  raw_matcher.finish();
  normalized_matcher.finish();
  if (!vocabulary.is_byte_level()) {
    inner_begin.reserve(static_cast<std::size_t>(vocabulary.size()) + 1);
    inner_begin.push_back(0);
    for (TokenId id = 0; id < vocabulary.size(); ++id) {
      if (vocabulary.contains(id)) inner += decoder.inner_bytes(vocabulary.bytes(id));
      inner_begin.push_back(static_cast<std::uint32_t>(inner.size()));
    }
    joined_before_mark = model->joined_before(kMark);
  }
}

Tokenizer::Tokenizer(std::unique_ptr<const State> state) : state_(std::move(state)) {}
Tokenizer::~Tokenizer() = default;

Result<std::shared_ptr<const Tokenizer>> Tokenizer::load(const model::TokenizerSource& source) {
  const auto load_state = source.gguf != nullptr             ? load_gguf
                          : source.ranks != nullptr          ? load_tiktoken
                          : source.tekken_json != nullptr    ? load_tekken
                          : source.sentence_piece != nullptr ? load_sentence_piece
                                                             : load_json;
  Result<std::unique_ptr<State>> state = load_state(source);
  if (!state.ok()) {
    Error error = state.error();
    if (error.source.empty()) error.source = source.path;
    return error;
  }
  State& loaded = *state.value();
  loaded.path = source.path;
  auto& ends = loaded.end_ids;
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  std::erase_if(ends, [&loaded](TokenId id) { return id >= loaded.vocab_size; });
  return std::shared_ptr<const Tokenizer>(new Tokenizer(std::move(state).value()));
}

std::vector<Piece> Tokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  std::vector<Piece> out;
  out.reserve(text.size() / 4 + 8);
  if (options.add_special) {
    for (const TokenId id : state_->prefix) out.push_back({id, 0, 0});
  }
  {
    Workbenches::Loan bench(state_->benches);
    Encoding(*state_, options, *bench, out).run(text);
  }
  if (options.add_special) {
    for (const TokenId id : state_->suffix) out.push_back({id, size_of(text), size_of(text)});
  }
  return out;
}

std::vector<TokenId> Tokenizer::encode_ids(std::string_view text, const EncodeOptions& options) const {
  const std::vector<Piece> pieces = encode(text, options);
  std::vector<TokenId> ids;
  ids.reserve(pieces.size());
  for (const Piece& piece : pieces) ids.push_back(piece.id);
  return ids;
}

struct Tokenizer::Stream::State {
  const Tokenizer::State& tokenizer;
  DecodeOptions options;
  Decoder::Run run;
};

Tokenizer::Stream::Stream(const Tokenizer& tokenizer, DecodeOptions options)
    : state_(new State{*tokenizer.state_, options, Decoder::Run(tokenizer.state_->decoder)}) {}
Tokenizer::Stream::~Stream() = default;
Tokenizer::Stream::Stream(Stream&&) noexcept = default;

Result<std::string> Tokenizer::Stream::next(TokenId id) {
  const Tokenizer::State& tokenizer = state_->tokenizer;
  if (id < 0 || id >= tokenizer.vocab_size) return no_such_id(id, tokenizer.vocab_size);
  if (const AddedToken* added = tokenizer.find_added(id)) {
    const AddedText& known = tokenizer.added_texts[static_cast<std::size_t>(added - tokenizer.added.data())];
    if (known.is_hidden && state_->options.skip_special) return std::string();
    return state_->run.push(known.text);
  }
  if (!tokenizer.vocabulary.contains(id)) return std::string();
  if (tokenizer.has_bytes()) return state_->run.push_bytes(tokenizer.vocabulary.bytes(id));
  return state_->run.push(tokenizer.vocabulary.text(id));
}

std::string Tokenizer::Stream::finish() { return state_->run.finish(); }

Result<std::string> Tokenizer::decode(std::span<const TokenId> ids, const DecodeOptions& options) const {
  Stream stream(*this, options);
  std::string text;
  for (const TokenId id : ids) {
    Result<std::string> part = stream.next(id);
    if (!part.ok()) return part.error();
    text += part.value();
  }
  return text + stream.finish();
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
std::optional<TokenId> Tokenizer::bos() const { return state_->bos; }
std::optional<TokenId> Tokenizer::eos() const { return state_->eos; }
std::span<const TokenId> Tokenizer::end_ids() const { return state_->end_ids; }

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
