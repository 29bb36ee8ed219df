#include "spans/redis_connection.h"

#include <hiredis/hiredis.h>
#include <pthread.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <ctime>
#include <optional>
#include <utility>

#include "base/hex.h"

namespace rondo::spans {
namespace {

struct FreeReply {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
struct FreeContext {
  void operator()(redisContext* context) const { redisFree(context); }
};

// hiredis writes to sockets that the other end may have closed.  That must not end the process.
class WithoutPipeSignal {
 public:
  WithoutPipeSignal() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutPipeSignal() {
    if (sigismember(&before_, SIGPIPE) == 1) return;
    constexpr timespec kNow{};
    while (sigtimedwait(&pipe_, nullptr, &kNow) > 0) {}
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutPipeSignal(const WithoutPipeSignal&) = delete;
  WithoutPipeSignal& operator=(const WithoutPipeSignal&) = delete;

 private:
  sigset_t pipe_{};
  sigset_t before_{};
};

timeval time_of(int milliseconds) {
  return {.tv_sec = milliseconds / 1000, .tv_usec = static_cast<suseconds_t>(milliseconds % 1000) * 1000};
}

// hiredis nests lists at most seven deep.
RedisReply reply_of(const redisReply& from) {
  RedisReply out;
  using Kind = RedisReply::Kind;
  switch (from.type) {
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS: out.kind = Kind::kText; break;
    case REDIS_REPLY_ERROR: out.kind = Kind::kError; break;
    case REDIS_REPLY_INTEGER: out.kind = Kind::kNumber; break;
    case REDIS_REPLY_ARRAY: out.kind = Kind::kList; break;
    default: break;
  }
  if (from.str != nullptr) out.text.assign(from.str, from.len);
  out.number = from.integer;
  if (out.kind != Kind::kList) return out;
  out.list.reserve(from.elements);
  for (const redisReply* element : std::span(from.element, from.elements))
    out.list.push_back(element == nullptr ? RedisReply() : reply_of(*element));
  return out;
}

std::optional<int> number_in(std::string_view text, int most) {
  int value = -1;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || value < 0 || value > most) return std::nullopt;
  return value;
}

// Decodes `%41` to `A`; nullopt if a `%` does not begin a code.
std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const std::optional<char> byte = hex::byte(text, i + 1);
    if (!byte) return std::nullopt;
    out += *byte;
    i += 2;
  }
  return out;
}

Error unreadable(const std::string& what) {
  return Error(
      ErrorCode::kInvalidArgument,
      "a store on Redis is `redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE]` or `unix:///PATH[?db=DATABASE]`: " + what);
}

constexpr int kMostDatabases = 1'000'000;

Result<RedisAddress> parse_socket(std::string_view rest) {
  RedisAddress out;
  const std::size_t query = std::min(rest.find('?'), rest.size());
  out.socket = rest.substr(0, query);
  if (!out.socket.starts_with('/')) return unreadable("the path of a socket begins with `/`");
  if (query == rest.size()) return out;
  const std::string_view database = rest.substr(query + 1);
  const auto number = database.starts_with("db=") ? number_in(database.substr(3), kMostDatabases) : std::nullopt;
  if (!number) return unreadable("`db=NUMBER` was expected behind the `?`");
  out.database = *number;
  return out;
}

}  // namespace

Result<RedisAddress> RedisAddress::parse(std::string_view url) {
  constexpr std::string_view kRedis = "redis://";
  constexpr std::string_view kUnix = "unix://";
  if (url.starts_with("rediss:"))
    return Error(ErrorCode::kUnsupported, "Redis over TLS is not spoken: a tunnel in front of it is, or a socket");
  if (url.starts_with(kUnix)) return parse_socket(url.substr(kUnix.size()));
  if (!url.starts_with(kRedis)) return unreadable("it begins otherwise");
  RedisAddress out;
  std::string_view rest = url.substr(kRedis.size());
  if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
    const std::string_view who = rest.substr(0, at);
    const std::size_t colon = who.find(':');
    if (colon == std::string_view::npos) return unreadable("there is no `:` in front of the password");
    const auto user = decoded(who.substr(0, colon));
    const auto password = decoded(who.substr(colon + 1));
    if (!user || !password) return unreadable("a `%` is not followed by two hexadecimal digits");
    out.user = *user;
    out.password = *password;
    rest = rest.substr(at + 1);
  }
  if (const std::size_t slash = rest.find('/'); slash != std::string_view::npos) {
    const std::string_view database = rest.substr(slash + 1);
    const auto number = database.empty() ? std::optional(0) : number_in(database, kMostDatabases);
    if (!number) return unreadable("the database is no number");
    out.database = *number;
    rest = rest.substr(0, slash);
  }
  const std::size_t bracket = rest.find(']');
  const std::size_t colon = rest.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (colon != std::string_view::npos) {
    const auto number = number_in(rest.substr(colon + 1), 65'535);
    if (!number) return unreadable("the port is no number");
    out.port = *number;
    rest = rest.substr(0, colon);
  }
  if (rest.starts_with('[') && rest.ends_with(']')) rest = rest.substr(1, rest.size() - 2);
  out.host = rest;
  if (out.host.empty()) return unreadable("there is no host");
  return out;
}

std::string RedisAddress::name() const {
  if (!socket.empty()) return "unix://" + socket;
  const bool is_bare = host.find(':') == std::string::npos;
  return "redis://" + (is_bare ? host : "[" + host + "]") + ":" + std::to_string(port) + "/" + std::to_string(database);
}

struct RedisConnection::Context {
  std::unique_ptr<redisContext, FreeContext> redis;
};

RedisConnection::RedisConnection(std::unique_ptr<Context> context, std::string name)
    : context_(std::move(context)), name_(std::move(name)) {}

RedisConnection::~RedisConnection() = default;

Error RedisConnection::error(const std::string& what) const {
  return Error(ErrorCode::kIo, "the store of turns cannot be used: " + what, name_);
}

Result<std::unique_ptr<RedisConnection>> RedisConnection::open(const RedisAddress& address) {
  const timeval wait = time_of(address.connect_timeout_ms);
  auto context = std::make_unique<Context>();
  context->redis.reset(address.socket.empty() ? redisConnectWithTimeout(address.host.c_str(), address.port, wait)
                                              : redisConnectUnixWithTimeout(address.socket.c_str(), wait));
  const redisContext* made = context->redis.get();
  if (made == nullptr || made->err != 0) {
    return Error(
        ErrorCode::kIo,
        std::string("the store of turns cannot be reached: ") + (made == nullptr ? "no memory is left" : made->errstr),
        address.name());
  }
  redisSetTimeout(context->redis.get(), time_of(address.timeout_ms));
  std::unique_ptr<RedisConnection> out(new RedisConnection(std::move(context), address.name()));
  if (const Status greeted = out->greet(address); !greeted.ok()) return greeted.error();
  return out;
}

Result<std::unique_ptr<RedisConnection>> RedisConnection::over(int socket, std::string name) {
  auto context = std::make_unique<Context>();
  context->redis.reset(redisConnectFd(socket));
  if (context->redis == nullptr) {
    ::close(socket);
    return Error(ErrorCode::kIo, "the store of turns cannot be used: no memory is left", std::move(name));
  }
  return std::unique_ptr<RedisConnection>(new RedisConnection(std::move(context), std::move(name)));
}

Status RedisConnection::greet(const RedisAddress& address) {
  if (!address.password.empty()) {
    const Result<RedisReply> known =
        address.user.empty() ? ask({"AUTH", address.password}) : ask({"AUTH", address.user, address.password});
    if (!known.ok()) return known.error();
  }
  if (address.database == 0) return Done{};
  const Result<RedisReply> taken = ask({"SELECT", std::to_string(address.database)});
  if (!taken.ok()) return taken.error();
  return Done{};
}

void RedisConnection::say(std::span<const std::string_view> command) {
  std::vector<const char*> texts;
  std::vector<std::size_t> sizes;
  for (const std::string_view part : command) {
    texts.push_back(part.data() == nullptr ? "" : part.data());
    sizes.push_back(part.size());
  }
  redisAppendCommandArgv(context_->redis.get(), static_cast<int>(texts.size()), texts.data(), sizes.data());
}

Result<RedisReply> RedisConnection::read() {
  void* got = nullptr;
  const WithoutPipeSignal without;
  if (is_lost_ || redisGetReply(context_->redis.get(), &got) != REDIS_OK || got == nullptr) {
    is_lost_ = true;
    const redisContext& context = *context_->redis;
    return error(context.err != 0 ? std::string(static_cast<const char*>(context.errstr)) : "the connection is lost");
  }
  const std::unique_ptr<redisReply, FreeReply> reply(static_cast<redisReply*>(got));
  return reply_of(*reply);
}

Result<RedisReply> RedisConnection::ask(std::initializer_list<std::string_view> command) {
  say(command);
  Result<RedisReply> reply = read();
  if (reply.ok() && reply.value().kind == RedisReply::Kind::kError) return error(reply.value().text);
  return reply;
}

}  // namespace rondo::spans
