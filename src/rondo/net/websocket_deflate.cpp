// Compresses messages (RFC 7692): raw deflate without the last four bytes, which are always the same.
#include <boost/beast/zlib/deflate_stream.hpp>
#include <boost/beast/zlib/inflate_stream.hpp>
#include <utility>

#include "net/websocket_frames.h"

namespace rondo::net::websocket {
namespace {

namespace zlib = boost::beast::zlib;
using ErrorValue = boost::system::error_code;

constexpr std::string_view kTail("\x00\x00\xFF\xFF", 4);
constexpr int kLevel = 6;
constexpr int kMemoryLevel = 8;
constexpr std::size_t kStep = std::size_t{16} << 10U;

// Appends the stream's output for the remaining bytes, at most one step's worth.
template <typename Stream>
ErrorValue advance(Stream& stream, zlib::z_params& params, std::string& out) {
  const std::size_t had = out.size();
  out.resize(had + kStep);
  params.next_out = out.data() + had;
  params.avail_out = kStep;
  ErrorValue error;
  stream.write(params, zlib::Flush::sync, error);
  out.resize(had + kStep - params.avail_out);
  return error;
}

// Unpacks `bytes` and appends to `out`.  False if they are damaged, or `out` would grow beyond `most`.
bool inflate(zlib::inflate_stream& stream, std::string_view bytes, std::size_t most, std::string& out,
             bool& has_ended) {
  zlib::z_params params;
  params.next_in = bytes.data();
  params.avail_in = bytes.size();
  while (true) {
    const ErrorValue error = advance(stream, params, out);
    if (out.size() > most) return false;
    has_ended = error == zlib::error::end_of_stream;
    // A final block may come before the end.  What follows it is a new stream.
    if (has_ended && params.avail_in > 0) {
      stream.reset(15);
      continue;
    }
    if (has_ended || error == zlib::error::need_buffers) return true;
    if (error) return false;
    if (params.avail_in == 0 && params.avail_out > 0) return true;
  }
}

}  // namespace

std::string pack(std::string_view message, int window_bits) {
  zlib::deflate_stream stream;
  stream.reset(kLevel, window_bits, kMemoryLevel, zlib::Strategy::normal);
  std::string out;
  zlib::z_params params;
  params.next_in = message.data();
  params.avail_in = message.size();
  while (!advance(stream, params, out) && params.avail_out == 0) {}
  if (out.ends_with(kTail)) out.resize(out.size() - kTail.size());
  return out;
}

std::optional<std::string> unpack(std::string_view packed, std::size_t most, bool& is_too_big) {
  zlib::inflate_stream stream;
  stream.reset(15);
  std::string out;
  bool has_ended = false;
  const bool is_good =
      inflate(stream, packed, most, out, has_ended) && (has_ended || inflate(stream, kTail, most, out, has_ended));
  is_too_big = out.size() > most;
  return is_good ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace rondo::net::websocket
