// Request files of TensorRT Edge-LLM (its INPUT_FORMAT): a batch of conversations with flags for all of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "edge/format.h"
#include "json/value.h"
#include "rondo/result.h"

namespace rondo::edge {

struct Request {
  json::Value messages;
  std::optional<std::string> lora_name;
  bool save_system_prompt_kv_cache = false;
  bool disable_spec_decode = false;
};

struct RequestFile {
  std::size_t batch_size = 1;
  FormatOptions options;
  std::vector<Request> requests;
  std::vector<std::string> remarks;  // sentences: members that the format does not have
};

// Reads an object with `requests`; an object with `messages` is a file with that one request.  Members about sampling
// are checked and otherwise ignored.  Fails with kInvalidArgument and the path of the first fault.
[[nodiscard]] Result<RequestFile> read_requests(const json::Value& file);

// Formats each request.  Fails as format() does.
[[nodiscard]] Result<std::vector<Formatted>> format_all(const EdgeTemplate& edge_template, const RequestFile& file);

}  // namespace rondo::edge
