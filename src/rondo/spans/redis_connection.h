// One connection to a Redis server.  Internal to spans/; hiredis is seen by its source alone.
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

// Where a Redis server is, and as whom to speak to it.
struct RedisAddress {
  std::string host;
  int port = 6379;
  std::string socket;  // a path, instead of host and port
  std::string user;
  std::string password;
  int database = 0;
  int connect_timeout_ms = 2'000;
  int timeout_ms = 5'000;  // of a command

  // "redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]" or "unix:///PATH[?db=DATABASE]".  Fails with kInvalidArgument, with
  // kUnsupported for "rediss:".
  [[nodiscard]] static Result<RedisAddress> parse(std::string_view url);
  // For people; without the password.
  [[nodiscard]] std::string name() const;
};

struct RedisReply {
  enum class Kind : std::uint8_t { kNothing, kText, kNumber, kList, kError };
  Kind kind = Kind::kNothing;
  std::string text;  // of an error its sentence
  std::int64_t number = 0;
  std::vector<RedisReply> list;
};

// Used by one thread at a time.
class RedisConnection {
 public:
  // Connects, says who it is, and takes the database.
  [[nodiscard]] static Result<std::unique_ptr<RedisConnection>> open(const RedisAddress& address);
  // Over a socket that is connected already, which it owns from here on.
  [[nodiscard]] static Result<std::unique_ptr<RedisConnection>> over(int socket, std::string name);
  ~RedisConnection();
  RedisConnection(const RedisConnection&) = delete;
  RedisConnection& operator=(const RedisConnection&) = delete;

  // Commands may be said one behind the other; each answer is read once, in order.
  void say(std::span<const std::string_view> command);
  void say(std::initializer_list<std::string_view> command) { say(std::span(command.begin(), command.size())); }
  // Fails with kIo where the connection is lost; it is of no use any more then.  An error that the server tells is a reply.
  [[nodiscard]] Result<RedisReply> read();
  // Both; an error that the server tells is one, kIo.
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
