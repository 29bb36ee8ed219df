// What the dialects share for writing and reading JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/serving.h"
#include "json/reader.h"
#include "json/value.h"
#include "rondo/result.h"

namespace rondo::remote {

// Returns an object with the ids under `key`, then the members of `rest`.
[[nodiscard]] std::string object_with_ids(std::string_view key, std::span<const engine::TokenId> ids,
                                          const json::Object& rest);

// Appends the ids of an array's text, or of the part of it after a comma.  Returns false if it contains anything but
// integers.
[[nodiscard]] bool append_ids(std::string_view text, std::vector<engine::SampledToken>& out);

// Reads the next value if it is a number that is not negative.  Skips anything else, such as null.
void read_count(json::Reader& in, std::optional<std::size_t>& out);
// Reads the next value if it is a string, and skips it otherwise.
void read_text(json::Reader& in, std::string& out);

// Returns a member of a value that was read completely.
[[nodiscard]] std::optional<engine::TokenId> id_in(const json::Value& value, std::string_view key);
[[nodiscard]] float number_in(const json::Value& value, std::string_view key);

// Returns the sentence in an error of any form that servers use; the whole body if there is none.
[[nodiscard]] std::string sentence_of(const json::Value& body);
[[nodiscard]] std::string sentence_of(std::string_view body);

// A number of engine::kSamplingNumbers, and its name in a server's API.
struct SpelledNumber {
  std::string_view name;
  std::string_view here;
};
// Adds the numbers of `sampling` that the API of `server` has.  Fails with kInvalidArgument if another one is not at its
// default.
[[nodiscard]] Status add_numbers(const engine::Sampling& sampling, std::span<const SpelledNumber> names,
                                 std::string_view server, json::Object& out);

// Returns the change of logits for each id, as these servers name it.  None is beyond `most`.  `-most` excludes an id, as
// it does for a row of one id in `bad_ids`.
[[nodiscard]] json::Object bias_of(const engine::Request& request, float most);

// Returns whether `bad_ids` has a row of several ids, which no change of a logit can exclude.
[[nodiscard]] bool has_long_rows(const engine::Request& request);

// Returns the text of `grammar` as a JSON value, for servers that take one.
[[nodiscard]] Result<json::Value> schema_of(const engine::Grammar& grammar);

// Returns a name of letters and digits that distinguishes tenants.
[[nodiscard]] std::string salt_of(std::string_view tenant);

// Returns a name for the conversation that a request belongs to, for load balancers before the server.  It reveals no
// name of a client.  Returns "" if the request names none.
[[nodiscard]] std::string session_of(const engine::Request& request);

// Returns kInvalidArgument: such a server cannot be asked for `what`.
[[nodiscard]] Error no_word_for(std::string_view server, std::string_view what);

}  // namespace rondo::remote
