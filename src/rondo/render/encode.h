// Conversation to token ids, with the owner of every id and the masks that training needs.
//
// Text that came from messages, tools or documents never becomes a control token: added tokens are recognised only in
// bytes that the template itself (or bos_token / eos_token) wrote.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "render/turn.h"
#include "rondo/result.h"
#include "tokenizer/tokenizer.h"

namespace rondo::render {

enum class ContentSpecials : std::uint8_t {
  kText,   // input text is ordinary text, whatever it reads like
  kParse,  // the rendered text is tokenized as a whole, as apply_chat_template(tokenize=True) does
};

// Reasoning that stands in the content of assistant messages, as the model wrote it there: behind the mark that opens it, at the
// content's begin, up to the one that closes it.  The two marks then are what was sampled, control tokens included.
struct InlineReasoning {
  std::string_view open = {};  // "": no mark is trusted
  std::string_view close = {};
  std::span<const json::Value> messages = {};  // of the render; their roles count
};

// Where added tokens may be recognised in `rendered`: bytes that no message, tool or document wrote.  Two exceptions: a
// role name glued between literals, when it is a role of the chat APIs or one that the template itself compares against; and
// the marks of inline reasoning, where the template writes the content as it is.
[[nodiscard]] std::vector<tokenizer::ByteRange> trusted_ranges(const jinja::Template& chat_template,
                                                               const jinja::Rendered& rendered,
                                                               const InlineReasoning& reasoning = {});

// The tokens of bytes [begin, end) of a rendered prompt, offsets relative to `begin`.
// REQUIRES: begin <= end <= size of the text.
[[nodiscard]] std::vector<tokenizer::Piece> encode_range(const TurnContext& context, const jinja::Rendered& rendered,
                                                         std::size_t begin, std::size_t end, ContentSpecials specials,
                                                         const InlineReasoning& reasoning = {});

// What wrote a byte.
enum class OriginKind : std::uint8_t {
  kTemplate,   // literal text or a constant, and what the template computed
  kMessage,    // a message, its role included
  kTools,      // the list of tools
  kDocuments,  // the list of documents
  kVariable,   // another variable of the request
  kSpecial,    // bos_token, eos_token
};

// Ids [begin, end).
struct IdSpan {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool operator==(const IdSpan&) const = default;
};

// Ids whose first bytes came from one field of a message, or of the tools or documents.
struct FieldSpan {
  IdSpan ids;
  std::int32_t message = text::kNoMessage;
  std::string path;  // "messages[2].tool_calls[0].function.arguments.city"
};

// A prompt in token ids.  All vectors but the last three have one entry per id.
struct Encoded {
  std::string text;
  std::vector<tokenizer::TokenId> ids;
  std::vector<std::uint32_t> begins;          // first byte of each id in `text`
  std::vector<std::uint32_t> ends;            // behind its last byte
  std::vector<std::int32_t> message_indices;  // the message an id belongs to, by its first byte; -1: nobody
  std::vector<std::uint8_t> content_mask;     // 1: the first byte is a message's own data
  std::vector<std::uint8_t> straddles;  // 1: its bytes are not all of the same message, or not all data or all template
  std::vector<std::uint8_t> sampled_mask;     // 1: the model would have written it as part of an assistant turn
  std::vector<std::int32_t> samplers;         // the assistant message of that turn; -1 where sampled_mask is 0
  std::vector<std::uint8_t> generation_mask;  // 1: the first byte was written inside {% generation %}
  std::vector<OriginKind> origins;            // of the first byte
  std::vector<FieldSpan> fields;              // in order of ids
  // Of raw turns what was synthesised, and why (render/raw_turns.h); of a continued message what the template does not
  // write (core/prompt.h).
  std::vector<std::string> notes;
  std::vector<std::string> shaped;  // what of the messages was given to the template otherwise than it was sent
};

// Fails as tmpl::apply does.
[[nodiscard]] Result<Encoded> encode(const jinja::Template& chat_template, const tokenizer::Tokenizer& tokenizer,
                                     const chat::Conversation& conversation, const tmpl::ApplyOptions& options,
                                     ContentSpecials specials);

// The same for a prompt that is rendered already, of the messages of `context`.
[[nodiscard]] Encoded encode(const TurnContext& context, const jinja::Rendered& rendered, ContentSpecials specials,
                             const InlineReasoning& reasoning = {});

// The bytes that the model would have written of one assistant message: from the end of the generation prompt inside the
// turn to the end of the stop token.
struct SampledExtent : Extent {
  std::int32_t message = text::kNoMessage;
};

// Puts `pieces` behind what `out` has: those of a render's bytes in `range`, whose begin their offsets count from.  `sampled`
// are the sampled extents of the render, in order.
void add_pieces(Encoded& out, const jinja::Rendered& rendered, const Extent& range,
                const std::vector<tokenizer::Piece>& pieces, const std::vector<SampledExtent>& sampled);

// The owner of each piece, by its first byte; pieces' offsets are relative to byte `begin` of the text.
[[nodiscard]] std::vector<std::int32_t> piece_owners(const jinja::Rendered& rendered, std::size_t begin,
                                                     const std::vector<tokenizer::Piece>& pieces);

// For each piece 1 if its first byte is a message's own data; offsets as above.
[[nodiscard]] std::vector<std::uint8_t> piece_content(const jinja::Rendered& rendered, std::size_t begin,
                                                      const std::vector<tokenizer::Piece>& pieces);

// One for each assistant message that the template wrote.
[[nodiscard]] std::vector<SampledExtent> sampled_extents(const TurnContext& context, const jinja::Rendered& rendered,
                                                         const json::Array& messages);

}  // namespace rondo::render
