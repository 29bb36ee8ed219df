// Parts of writer.h.  Internal to apis/.
#pragma once

#include <memory>
#include <vector>

#include "apis/writer.h"

namespace rondo::apis {

[[nodiscard]] std::unique_ptr<TurnWriter> make_chat_writer(const GenerateRequest& request, ReplyMeta meta);
[[nodiscard]] std::unique_ptr<TurnWriter> make_responses_writer(const GenerateRequest& request, ReplyMeta meta);
[[nodiscard]] std::unique_ptr<TurnWriter> make_messages_writer(const GenerateRequest& request, ReplyMeta meta);

[[nodiscard]] json::Value chat_body(const GenerateRequest& request, const ReplyMeta& meta,
                                    const std::vector<Choice>& choices, const TurnEnd& end);
[[nodiscard]] json::Value responses_body(const GenerateRequest& request, const ReplyMeta& meta, const Choice& choice,
                                         const TurnEnd& end);
[[nodiscard]] json::Value messages_body(const GenerateRequest& request, const ReplyMeta& meta, const Choice& choice,
                                        const TurnEnd& end);

// Returns a token as text.  One that is a part of a character is written as OpenAI writes it: `bytes:\xe4`.
[[nodiscard]] std::string shown_token(const std::string& bytes);
// Returns the name of a token among log probabilities: its text, or `token_id:5`.
[[nodiscard]] std::string token_name(const std::string& bytes, std::int32_t id, bool as_id);
// Returns `logprobs` in the form of the Chat and Responses APIs.
[[nodiscard]] json::Array logprobs_of(const GenerateRequest& request, const std::vector<Logprob>& logprobs);
// Returns `prompt_logprobs`: for each id of the prompt, the log probabilities of the id itself and of the `most`
// likeliest ones in its place, keyed by id; null for the first.
[[nodiscard]] json::Array scores_of(const std::vector<ScoredToken>& prompt, std::size_t most);
[[nodiscard]] json::Array ids_of(const std::vector<std::int32_t>& ids);
// Returns the `stop_reason` of the Chat API and of Completions: the text or the id that ended the choice; null for an
// end of the model's own.
[[nodiscard]] json::Value stop_reason(const std::string& stop_text, std::optional<std::int32_t> stop_id);
// Returns the `usage` of the Chat API and of Completions.
[[nodiscard]] json::Value chat_usage(const Usage& usage);

// The client's name for the tool of a call, and the kind of the tool.
struct CalledTool {
  bool is_custom = false;
  std::string name;
  std::string name_space;
};
[[nodiscard]] CalledTool called_tool(const GenerateRequest& request, const std::string& name);

}  // namespace rondo::apis
