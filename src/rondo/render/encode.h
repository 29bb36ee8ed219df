// Turns a conversation into token ids, with the owner of each id and the masks that training needs.
//
// Text from messages, tools or documents never becomes a control token.  Added tokens are recognised only in bytes that
// the template itself wrote, or that came from bos_token or eos_token.
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
  kText,   // input text is always ordinary text
  kParse,  // the whole rendered text is tokenized at once, as apply_chat_template(tokenize=True) does
};

// Reasoning that the model wrote into the content of an assistant message: a marker at the content's beginning opens
// it, and another closes it.  Both markers then count as sampled, control tokens included.
struct InlineReasoning {
  std::string_view open = {};  // "": no marker is trusted
  std::string_view close = {};
  std::span<const json::Value> messages = {};  // the rendered messages; only their roles are used
};

// Returns where added tokens may be recognised in `rendered`: the bytes that came from no message, tool or document.
// There are two exceptions.  A role name between two literals counts, if it is a role of the chat APIs or one that the
// template compares with.  The markers of inline reasoning count, if the template writes the content unchanged.
[[nodiscard]] std::vector<tokenizer::ByteRange> trusted_ranges(const jinja::Template& chat_template,
                                                               const jinja::Rendered& rendered,
                                                               const InlineReasoning& reasoning = {});

// Returns the tokens of bytes [begin, end) of a rendered prompt.  Offsets count from `begin`.
//
// REQUIRES: begin <= end <= size of the text.
[[nodiscard]] std::vector<tokenizer::Piece> encode_range(const TurnContext& context, const jinja::Rendered& rendered,
                                                         std::size_t begin, std::size_t end, ContentSpecials specials,
                                                         const InlineReasoning& reasoning = {});

// The source of a byte.
enum class OriginKind : std::uint8_t {
  kTemplate,   // literal text, a constant, or something that the template computed
  kMessage,    // a message, including its role
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

// Ids whose first bytes came from one field of a message, of the tools or of the documents.
struct FieldSpan {
  IdSpan ids;
  std::int32_t message = text::kNoMessage;
  std::string path;  // "messages[2].tool_calls[0].function.arguments.city"
};

// A prompt as token ids.  Every vector but the last three has one entry per id.
struct Encoded {
  std::string text;
  std::vector<tokenizer::TokenId> ids;
  std::vector<std::uint32_t> begins;          // first byte of each id in `text`
  std::vector<std::uint32_t> ends;            // the offset after its last byte
  std::vector<std::int32_t> message_indices;  // the message that owns the id's first byte; -1: none
  std::vector<std::uint8_t> content_mask;     // 1: the first byte is a message's own data
  std::vector<std::uint8_t> straddles;     // 1: its bytes belong to different messages, or mix data and template text
  std::vector<std::uint8_t> sampled_mask;  // 1: the model would have written it as a part of an assistant turn
  std::vector<std::int32_t> samplers;      // the assistant message of that turn; -1 if sampled_mask is 0
  std::vector<std::uint8_t> generation_mask;  // 1: the first byte was written inside {% generation %}
  std::vector<OriginKind> origins;            // the source of the first byte
  std::vector<FieldSpan> fields;              // in the order of the ids
  bool has_generation_blocks = false;         // whether the template has {% generation %} blocks
  // Sentences.  For raw turns: what was synthesised, and why (render/raw_turns.h).  For a continued message: what the
  // template does not write (core/prompt.h).
  std::vector<std::string> notes;
  std::vector<std::string> shaped;  // sentences: where the template got a message in another form than it was sent
};

// Renders and encodes a conversation.  Fails as tmpl::apply() does.
[[nodiscard]] Result<Encoded> encode(const jinja::Template& chat_template, const tokenizer::Tokenizer& tokenizer,
                                     const chat::Conversation& conversation, const tmpl::ApplyOptions& options,
                                     ContentSpecials specials);

// Encodes a prompt that was already rendered from the messages of `context`.
[[nodiscard]] Encoded encode(const TurnContext& context, const jinja::Rendered& rendered, ContentSpecials specials,
                             const InlineReasoning& reasoning = {});

// The bytes of one assistant message that the model would have written: from the end of the generation prompt in the
// turn to the end of the stop token.
struct SampledExtent : Extent {
  std::int32_t message = text::kNoMessage;
};

// Appends `pieces` to `out`.  They are the bytes `range` of a render, and their offsets count from its beginning.
// `sampled` are the sampled extents of the render, in order.
void add_pieces(Encoded& out, const jinja::Rendered& rendered, const Extent& range,
                const std::vector<tokenizer::Piece>& pieces, const std::vector<SampledExtent>& sampled);

// Returns the owner of each piece's first byte.  Offsets count from byte `begin` of the text.
[[nodiscard]] std::vector<std::int32_t> piece_owners(const jinja::Rendered& rendered, std::size_t begin,
                                                     const std::vector<tokenizer::Piece>& pieces);

// Returns for each piece 1 if its first byte is a message's own data.  Offsets count from byte `begin`.
[[nodiscard]] std::vector<std::uint8_t> piece_content(const jinja::Rendered& rendered, std::size_t begin,
                                                      const std::vector<tokenizer::Piece>& pieces);

// Returns the extents of the assistant messages that the template wrote: one for each, or several where the template
// writes a message of another role, such as a result, inside the turn.  No byte of that message is in an extent, except
// a token that opens it and stops the model.
[[nodiscard]] std::vector<SampledExtent> sampled_extents(const TurnContext& context, const jinja::Rendered& rendered,
                                                         const json::Array& messages);

}  // namespace rondo::render
