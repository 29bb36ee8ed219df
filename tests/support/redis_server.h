// A Redis server of a test's own, on a socket in a folder of its own.
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <memory>
#include <string>

#include "spans/redis_connection.h"
#include "tests/support/own_folder.h"

namespace rondo::testing {

class RedisServer {
 public:
  // Null where Redis is not installed, which is said.
  [[nodiscard]] static std::unique_ptr<RedisServer> start() {
    std::unique_ptr<RedisServer> out(new RedisServer());
    if (out->run()) return out;
    MESSAGE("skipped: redis-server is not installed");
    return nullptr;
  }
  ~RedisServer() { stop(); }
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  [[nodiscard]] spans::RedisAddress address() const {
    spans::RedisAddress out;
    out.socket = folder_.path("redis.sock");
    return out;
  }
  [[nodiscard]] std::string url() const { return "unix://" + folder_.path("redis.sock"); }

  // Kills it: what it did not write down is gone.
  void stop() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = -1;
    ::close(output_);
  }
  // Runs it, until it takes connections.  False where there is no such program.
  bool run() {
    std::array<int, 2> pipe{};
    REQUIRE(::pipe(pipe.data()) == 0);
    const std::string socket = folder_.path("redis.sock");
    process_ = ::fork();
    REQUIRE(process_ >= 0);
    if (process_ == 0) {
      ::dup2(pipe[1], STDOUT_FILENO);
      ::close(pipe[0]);
      ::close(pipe[1]);
      ::execlp("redis-server", "redis-server", "--port", "0", "--unixsocket", socket.c_str(), "--save", "",
               "--appendonly", "yes", "--appendfsync", "no", "--dir", folder_.path().c_str(), nullptr);
      ::_exit(127);
    }
    ::close(pipe[1]);
    std::string said;
    std::array<char, 512> bytes{};
    for (ssize_t count = 0; (count = ::read(pipe[0], bytes.data(), bytes.size())) > 0;) {
      said.append(bytes.data(), static_cast<std::size_t>(count));
      if (said.find("eady to accept") != std::string::npos) break;
    }
    output_ = pipe[0];  // it goes on to write
    if (said.find("eady to accept") != std::string::npos) return true;
    stop();
    return false;
  }

 private:
  RedisServer() : folder_("redis" + std::to_string(++count())) {}
  static int& count() {
    static int made = 0;
    return made;
  }

  OwnFolder folder_;
  pid_t process_ = -1;
  int output_ = -1;
};

}  // namespace rondo::testing
