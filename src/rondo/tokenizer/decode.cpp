// Turns ids into text, all at once or one by one.
#include "base/utf8.h"
#include "tokenizer/byte_level.h"
#include "tokenizer/state.h"

namespace rondo::tokenizer {
namespace {

Error no_such_id(TokenId id, TokenId size) {
  return {ErrorCode::kTokenizer,
          "token id " + std::to_string(id) + " is out of range, the vocabulary has " + std::to_string(size)};
}

// What `id` means to a decoder.
struct Found {
  bool is_added = false;
  std::string_view added_text;
  bool is_silent = false;  // hidden, or an id without a token
};

Found look_up(const Tokenizer::State& state, TokenId id, const DecodeOptions& options) {
  Found found;
  if (const AddedToken* added = state.find_added(id)) {
    const AddedText& known = state.added_texts[static_cast<std::size_t>(added - state.added.data())];
    found.is_added = true;
    found.added_text = known.text;
    found.is_silent = known.is_hidden && options.skip_special;
  } else {
    found.is_silent = !state.vocabulary.contains(id);
  }
  return found;
}

void push(const Tokenizer::State& state, TokenId id, const DecodeOptions& options, Decoder::Run& run,
          std::string& out) {
  const Found found = look_up(state, id, options);
  if (found.is_silent) return;
  if (found.is_added) return run.push(found.added_text, out);
  if (state.has_bytes()) return run.push_bytes(state.vocabulary.bytes(id), out);
  run.push(state.vocabulary.text(id), out);
}

// For byte-level vocabularies: joins all bytes and makes them valid together.
std::string join_bytes(const Tokenizer::State& state, std::span<const TokenId> ids, const DecodeOptions& options) {
  std::string out;
  out.reserve(ids.size() * 5);
  for (const TokenId id : ids) {
    const Found found = look_up(state, id, options);
    if (found.is_silent) continue;
    if (!found.is_added) {
      out += state.vocabulary.bytes(id);
    } else if (!byte_level::append_bytes(found.added_text, out)) {
      out += found.added_text;
    }
  }
  return utf8::is_valid(out) ? out : utf8::to_valid(out);
}

// For vocabularies with byte fallback: joins texts, and runs of byte tokens between them.
std::string join_texts(const Tokenizer& tokenizer, const Tokenizer::State& state, std::span<const TokenId> ids,
                       const DecodeOptions& options) {
  std::string out;
  out.reserve(ids.size() * 5);
  std::string held;
  const auto release = [&] {
    if (utf8::is_valid(held)) {
      out += held;
    } else {
      for (std::size_t i = 0; i < held.size(); ++i) utf8::append(out, utf8::kReplacement);
    }
    held.clear();
  };
  for (const TokenId id : ids) {
    const Found found = look_up(state, id, options);
    if (found.is_silent) continue;
    const std::string_view spelled = found.is_added ? found.added_text : state.vocabulary.bytes(id);
    if (const auto byte = Decoder::fallback_byte(spelled)) {
      held.push_back(*byte);
      continue;
    }
    if (!held.empty()) release();
    if (found.is_added) {
      out += state.decoder.inner_bytes(spelled);
    } else {
      out += tokenizer.token_bytes(id);
    }
  }
  if (!held.empty()) release();
  state.decoder.strip_joined(out);
  return out;
}

}  // namespace

struct Tokenizer::Stream::State {
  const Tokenizer::State& tokenizer;
  DecodeOptions options;
  Decoder::Run run;
};

Tokenizer::Stream::Stream(const Tokenizer& tokenizer, DecodeOptions options)
    : state_(new State{*tokenizer.state_, options, Decoder::Run(tokenizer.state_->decoder)}) {}
Tokenizer::Stream::~Stream() = default;
Tokenizer::Stream::Stream(Stream&&) noexcept = default;

Status Tokenizer::Stream::next(TokenId id, std::string& out) {
  if (id < 0 || id >= state_->tokenizer.vocab_size) return no_such_id(id, state_->tokenizer.vocab_size);
  push(state_->tokenizer, id, state_->options, state_->run, out);
  return Done{};
}

Result<std::string> Tokenizer::Stream::next(TokenId id) {
  std::string out;
  if (Status pushed = next(id, out); !pushed.ok()) return pushed.error();
  return out;
}

void Tokenizer::Stream::finish(std::string& out) { state_->run.finish(out); }

std::string Tokenizer::Stream::finish() {
  std::string out;
  finish(out);
  return out;
}

Result<std::string> Tokenizer::decode(std::span<const TokenId> ids, const DecodeOptions& options) const {
  for (const TokenId id : ids) {
    if (id < 0 || id >= state_->vocab_size) return no_such_id(id, state_->vocab_size);
  }
  if (state_->vocabulary.is_byte_level() && state_->decoder.is_bytes_only()) return join_bytes(*state_, ids, options);
  if (!state_->vocabulary.is_byte_level() && state_->decoder.joins_inner_bytes()) {
    return join_texts(*this, *state_, ids, options);
  }
  std::string out;
  Decoder::Run run(state_->decoder);
  for (const TokenId id : ids) push(*state_, id, options, run, out);
  run.finish(out);
  return out;
}

}  // namespace rondo::tokenizer
