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
  std::vector<std::string> remarks;  // members that the format does not know
};

// An object with `requests`; one with `messages` is a file of that one request.  What concerns sampling is checked and left
// alone.  Fails with kInvalidArgument and the path of the first fault.
[[nodiscard]] Result<RequestFile> read_requests(const json::Value& file);

// One for each request.  Fails as format().
[[nodiscard]] Result<std::vector<Formatted>> format_all(const EdgeTemplate& edge_template, const RequestFile& file);

}  // namespace rondo::edge
