#include "engine/llama_batch.h"

#include <exception>
#include <string>

#include "engine/llama_log.h"

namespace rondo::engine {
namespace {

constexpr int kDecodeAborted = 2;

}  // namespace

LlamaBatch::LlamaBatch(llama_context* context)
    : context_(context),
      vocab_size_(static_cast<std::size_t>(llama_vocab_n_tokens(llama_model_get_vocab(llama_get_model(context))))),
      batch_(llama_batch_init(static_cast<std::int32_t>(llama_n_batch(context)), 0, 1)) {}

// Requests logits for the last id of each piece, and for others on demand.
void LlamaBatch::fill(std::span<const Piece> pieces) {
  std::size_t row = 0;
  for (const Piece& piece : pieces) {
    const std::size_t first_position = piece.sequence->tokens().size();
    for (std::size_t i = 0; i < piece.ids.size(); ++i, ++row) {
      batch_.token[row] = piece.ids[i];
      batch_.pos[row] = static_cast<llama_pos>(first_position + i);
      batch_.n_seq_id[row] = 1;
      batch_.seq_id[row][0] = piece.sequence->id();
      batch_.logits[row] = piece.each || i + 1 == piece.ids.size() ? 1 : 0;
    }
  }
  batch_.n_tokens = static_cast<std::int32_t>(row);
}

Status LlamaBatch::decode(std::span<const Piece> pieces) {
  const LlamaLog log;
  fill(pieces);
  const auto fail = [&](const std::string& sentence) {
    for (const Piece& piece : pieces) piece.sequence->resync();
    return Error(ErrorCode::kEngine, sentence);
  };
  int code = 0;
  try {
    code = llama_decode(context_, batch_);
  } catch (const std::exception& failure) { return fail(std::string("the engine failed: ") + failure.what()); }
  if (code == kDecodeAborted) return fail("cancelled");
  if (code != 0) return fail(log.last_error("the engine refused a batch") + " (code " + std::to_string(code) + ")");
  std::size_t row = 0;
  for (const Piece& piece : pieces) {
    const float* logits = nullptr;
    for (std::size_t i = piece.each ? 0 : piece.ids.size() - 1; i < piece.ids.size(); ++i) {
      logits = llama_get_logits_ith(context_, static_cast<std::int32_t>(row + i));
      if (logits == nullptr) return fail("the engine gave no logits");
      if (piece.each) piece.each(i, {logits, vocab_size_});
    }
    row += piece.ids.size();
    piece.sequence->decoded(piece.ids, {logits, vocab_size_});
  }
  return Done{};
}

}  // namespace rondo::engine
