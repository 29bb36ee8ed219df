// What the dialects share in writing and reading JSON.
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

// An object: the ids under `key`, then the members of `rest`.
[[nodiscard]] std::string object_with_ids(std::string_view key, std::span<const engine::TokenId> ids,
                                          const json::Object& rest);

// Appends the ids of an array's text, or of what stands in it from a comma on.  False if it is none of whole numbers.
[[nodiscard]] bool append_ids(std::string_view text, std::vector<engine::SampledToken>& out);

// The next value: a number that is not negative.  Anything else, null for one, is passed over.
void read_count(json::Reader& in, std::optional<std::size_t>& out);
// A string, else passed over.
void read_text(json::Reader& in, std::string& out);

// A member of a value that was read whole.
[[nodiscard]] std::optional<engine::TokenId> id_in(const json::Value& value, std::string_view key);
[[nodiscard]] float number_in(const json::Value& value, std::string_view key);

// The sentence of an error in any of the shapes that servers give it; what was sent where it has none.
[[nodiscard]] std::string sentence_of(const json::Value& body);
[[nodiscard]] std::string sentence_of(std::string_view body);

// `text` as a JSON value, where it is to be sent as one.
[[nodiscard]] Result<json::Value> schema_of(const engine::Grammar& grammar);

// A name that tells tenants apart, of letters and digits.
[[nodiscard]] std::string salt_of(std::string_view tenant);

// A name for the conversation that a request belongs to, for balancers behind the server; it shows nobody's own name.
// "" where the request names none.
[[nodiscard]] std::string session_of(const engine::Request& request);

// kInvalidArgument: `what` cannot be asked of such a server.
[[nodiscard]] Error no_word_for(std::string_view server, std::string_view what);

}  // namespace rondo::remote
