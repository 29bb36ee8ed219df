#include "net/websocket_frames.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/base64.h"
#include "base/utf8.h"

namespace rondo::net::websocket {
namespace {

constexpr std::size_t kMostControlBytes = 125;
constexpr std::size_t kMaskBytes = 4;

std::uint8_t byte_at(std::string_view bytes, std::size_t at) { return static_cast<std::uint8_t>(bytes[at]); }

bool is_control(Opcode opcode) { return (static_cast<unsigned>(opcode) & 8U) != 0; }

Failure broken(std::string reason) { return {kProtocolError, std::move(reason)}; }

// The size of a frame's head, whose first two bytes are known.
std::size_t head_bytes(std::string_view head) {
  const unsigned size = byte_at(head, 1) & 0x7FU;
  const std::size_t extended = size == 126 ? 2 : size == 127 ? 8 : 0;
  const bool is_masked = (byte_at(head, 1) & 0x80U) != 0;
  return 2 + extended + (is_masked ? kMaskBytes : 0);
}

std::uint64_t number_in(std::string_view bytes) {
  std::uint64_t out = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) out = out << 8U | byte_at(bytes, i);
  return out;
}

std::optional<Failure> check_close(const std::string& payload) {
  if (payload.empty()) return std::nullopt;
  if (payload.size() == 1) return broken("a close has a code of one byte");
  const std::uint16_t code = code_of(payload);
  const bool is_known =
      (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) || (code >= 3000 && code < 5000);
  if (!is_known) return broken("a close has the code " + std::to_string(code));
  if (!utf8::is_valid(std::string_view(payload).substr(2))) return Failure{kInvalidText, "a reason is no UTF-8"};
  return std::nullopt;
}

}  // namespace

// --- Reading ---

std::optional<Failure> Reader::read(std::string_view bytes, const std::function<bool(Message)>& take) {
  while (!has_ended_) {
    if (!in_payload_) {
      if (!has_head(bytes)) return std::nullopt;
      if (auto failure = read_head()) {
        has_ended_ = true;
        return failure;
      }
      in_payload_ = true;
      taken_ = 0;
    }
    const std::string_view piece =
        bytes.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), frame_.size - taken_)));
    std::string& to = is_control(frame_.opcode) ? control_ : message_;
    for (std::size_t i = 0; i < piece.size(); ++i) {
      const char mask = head_[frame_.mask_at + (taken_ + i) % kMaskBytes];
      to += static_cast<char>(piece[i] ^ mask);
    }
    taken_ += piece.size();
    bytes.remove_prefix(piece.size());
    if (taken_ < frame_.size) return std::nullopt;
    in_payload_ = false;
    head_.clear();
    if (auto failure = end_frame(take)) {
      has_ended_ = true;
      return failure;
    }
  }
  return std::nullopt;
}

bool Reader::has_head(std::string_view& bytes) {
  while (true) {
    const std::size_t wanted = head_.size() < 2 ? 2 : head_bytes(head_);
    if (head_.size() == wanted) return true;
    const std::string_view piece = bytes.substr(0, wanted - head_.size());
    if (piece.empty()) return false;
    head_ += piece;
    bytes.remove_prefix(piece.size());
  }
}

std::optional<Failure> Reader::read_head() {
  const std::uint8_t first = byte_at(head_, 0);
  frame_ = {};
  frame_.is_last = (first & 0x80U) != 0;
  frame_.is_packed = (first & 0x40U) != 0;
  if ((first & 0x30U) != 0) return broken("a reserved bit is set");
  const unsigned opcode = first & 0x0FU;
  if ((opcode > 2 && opcode < 8) || opcode > 10) return broken("the opcode " + std::to_string(opcode) + " is reserved");
  frame_.opcode = static_cast<Opcode>(opcode);
  if ((byte_at(head_, 1) & 0x80U) == 0) return broken("a frame is not masked");
  frame_.mask_at = static_cast<std::uint32_t>(head_.size() - kMaskBytes);
  const unsigned size = byte_at(head_, 1) & 0x7FU;
  frame_.size = size;
  if (size >= 126) {
    frame_.size = number_in(std::string_view(head_).substr(2, frame_.mask_at - 2));
    const bool is_short = size == 126 ? frame_.size < 126 : frame_.size <= 0xFFFFU;
    if (is_short) return broken("a size is written longer than it need be");
    if (frame_.size >> 63U != 0) return broken("a size is negative");
  }
  return check_head();
}

std::optional<Failure> Reader::check_head() const {
  if (is_control(frame_.opcode)) {
    if (!frame_.is_last) return broken("a control frame is in pieces");
    if (frame_.size > kMostControlBytes) return broken("a control frame is too long");
    if (frame_.is_packed) return broken("a control frame is packed");
    return std::nullopt;
  }
  const bool goes_on = frame_.opcode == Opcode::kContinuation;
  if (goes_on && !begun_) return broken("a message continues that has not begun");
  if (!goes_on && begun_) return broken("a message begins within another");
  if (frame_.is_packed && (goes_on || !options_.deflates)) return broken("a frame is packed where none may be");
  if (frame_.size > options_.message_bytes || message_.size() > options_.message_bytes - frame_.size)
    return Failure{kTooBig, "a message has more than " + std::to_string(options_.message_bytes) + " bytes"};
  return std::nullopt;
}

std::optional<Failure> Reader::end_frame(const std::function<bool(Message)>& take) {
  if (is_control(frame_.opcode)) {
    std::string payload = std::exchange(control_, {});
    if (frame_.opcode == Opcode::kClose) {
      if (auto failure = check_close(payload)) return failure;
      has_ended_ = true;
    }
    if (!take({frame_.opcode, std::move(payload)})) has_ended_ = true;
    return std::nullopt;
  }
  if (frame_.opcode != Opcode::kContinuation) {
    begun_ = frame_.opcode;
    is_packed_ = frame_.is_packed;
  }
  return frame_.is_last ? end_message(take) : std::nullopt;
}

std::optional<Failure> Reader::end_message(const std::function<bool(Message)>& take) {
  Message message{*std::exchange(begun_, std::nullopt), std::exchange(message_, {})};
  if (is_packed_) {
    bool is_too_big = false;
    auto unpacked = unpack(message.payload, options_.message_bytes, is_too_big);
    if (!unpacked && is_too_big)
      return Failure{kTooBig, "a message has more than " + std::to_string(options_.message_bytes) + " bytes"};
    if (!unpacked) return Failure{kInvalidText, "a packed message is damaged"};
    message.payload = *std::move(unpacked);
  }
  if (message.opcode == Opcode::kText && !utf8::is_valid(message.payload))
    return Failure{kInvalidText, "a text is no UTF-8"};
  if (!take(std::move(message))) has_ended_ = true;
  return std::nullopt;
}

// --- Writing ---

std::string frame(Opcode opcode, std::string_view payload, bool is_packed) {
  std::string out;
  out.reserve(payload.size() + 10);
  out += static_cast<char>(0x80U | (is_packed ? 0x40U : 0U) | static_cast<unsigned>(opcode));
  const auto number = [&out](std::uint64_t value, unsigned bytes) {
    for (unsigned i = bytes; i > 0; --i) out += static_cast<char>(value >> (8 * (i - 1)) & 0xFFU);
  };
  if (payload.size() < 126) {
    number(payload.size(), 1);
  } else if (payload.size() <= 0xFFFFU) {
    number(126, 1);
    number(payload.size(), 2);
  } else {
    number(127, 1);
    number(payload.size(), 8);
  }
  return out.append(payload);
}

std::string close_frame(std::uint16_t code, std::string_view reason) {
  std::string payload;
  payload += static_cast<char>(code >> 8U);
  payload += static_cast<char>(code & 0xFFU);
  payload += utf8::head(reason, kMostControlBytes - 2);
  return frame(Opcode::kClose, payload);
}

std::uint16_t code_of(std::string_view close_payload) {
  return close_payload.size() < 2 ? std::uint16_t{kNoCode}
                                  : static_cast<std::uint16_t>(number_in(close_payload.substr(0, 2)));
}

// --- The handshake ---

std::string accept_key(std::string_view key) {
  const std::string text = std::string(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr);
  return base64::encode(std::string_view(reinterpret_cast<const char*>(digest.data()), size));
}

namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Takes the part up to `separator`, and drops the separator.  In this extension only numbers may be quoted.
std::string_view take_part(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return trimmed(part);
}

std::optional<int> window_bits(std::string_view text) {
  if (text.size() > 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  if (text.empty() || text.size() > 2 || text.front() == '0') return std::nullopt;
  int out = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    out = out * 10 + (c - '0');
  }
  return out >= 8 && out <= 15 ? std::optional(out) : std::nullopt;
}

// nullopt for an offer that cannot be met.
std::optional<Deflate> meet(std::string_view offer) {
  if (take_part(offer, ';') != "permessage-deflate") return std::nullopt;
  Deflate out{"permessage-deflate; server_no_context_takeover; client_no_context_takeover"};
  std::vector<std::string_view> seen;
  while (!offer.empty()) {
    std::string_view parameter = take_part(offer, ';');
    const std::string_view name = take_part(parameter, '=');
    const std::string_view value = trimmed(parameter);
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) return std::nullopt;
    seen.push_back(name);
    if (name == "server_no_context_takeover" || name == "client_no_context_takeover") {
      if (!value.empty()) return std::nullopt;
    } else if (name == "client_max_window_bits") {
      if (!value.empty() && !window_bits(value)) return std::nullopt;
    } else if (name == "server_max_window_bits") {
      const auto bits = window_bits(value);
      // The compressor has no window of 8 bits.
      if (!bits || *bits < 9) return std::nullopt;
      out.window_bits = *bits;
      out.answer += "; server_max_window_bits=" + std::to_string(*bits);
    } else {
      return std::nullopt;
    }
  }
  return out;
}

}  // namespace

Deflate agree_on_deflate(const Headers& headers) {
  for (const Header& header : headers) {
    if (!equal_ignoring_case(header.name, "sec-websocket-extensions")) continue;
    std::string_view offers = header.value;
    while (!offers.empty()) {
      if (auto met = meet(take_part(offers, ','))) return *std::move(met);
    }
  }
  return {};
}

}  // namespace rondo::net::websocket
