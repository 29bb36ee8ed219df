// One connection to a Redis server.  Internal to spans/.  Only its source file includes hiredis.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rondo/result.h"

namespace rondo::spans {

// The address of a Redis server, and the user to log in as.
struct RedisAddress {
  std::string host;
  int port = 6379;
  std::string socket;  // a path; replaces host and port
  std::string user;
  std::string password;
  int database = 0;
  int connect_timeout_ms = 2'000;
  int timeout_ms = 5'000;  // of a command

  // Parses "redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]" or "unix:///PATH[?db=DATABASE]".  Fails with
  // kInvalidArgument, or with kUnsupported for "rediss:".
  [[nodiscard]] static Result<RedisAddress> parse(std::string_view url);
  // Returns the address for people, without the password.
  [[nodiscard]] std::string name() const;
};

struct RedisReply {
  enum class Kind : std::uint8_t { kNothing, kText, kNumber, kList, kError };
  Kind kind = Kind::kNothing;
  std::string text;  // for an error: its sentence
  std::int64_t number = 0;
  std::vector<RedisReply> list;
};

// Only one thread at a time may use it.
class RedisConnection {
 public:
  // Connects, logs in, and selects the database.
  [[nodiscard]] static Result<std::unique_ptr<RedisConnection>> open(const RedisAddress& address);
  // Uses a socket that is already connected, and takes ownership of it.
  [[nodiscard]] static Result<std::unique_ptr<RedisConnection>> over(int socket, std::string name);
  ~RedisConnection();
  RedisConnection(const RedisConnection&) = delete;
  RedisConnection& operator=(const RedisConnection&) = delete;

  // Sends commands.  Several may be sent before an answer is read.  Read each answer once, in order.
  void say(std::span<const std::string_view> command);
  void say(std::initializer_list<std::string_view> command) { say(std::span(command.begin(), command.size())); }
  // Reads the next answer.  Fails with kIo if the connection is lost; it is useless then.  An error from the server is
  // a reply.
  [[nodiscard]] Result<RedisReply> read();
  // Sends a command and reads its answer.  An error from the server fails with kIo.
  [[nodiscard]] Result<RedisReply> ask(std::initializer_list<std::string_view> command);

  [[nodiscard]] bool is_lost() const { return is_lost_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] Error error(const std::string& what) const;

 private:
  struct Context;
  RedisConnection(std::unique_ptr<Context> context, std::string name);
  [[nodiscard]] Status greet(const RedisAddress& address);

  std::unique_ptr<Context> context_;
  std::string name_;
  bool is_lost_ = false;
};

}  // namespace rondo::spans
