// The server itself runs what changes the store or walks through it, as atomic scripts.  Private to redis_store.cpp.
//
// Keys; each begins with `rondo:`:
//   t:SCOPE TURN     the turn: a byte (1: it has a parent), session and parent (16 bytes each), the count of hashes
//                    (two bytes, the lower one first), the hashes, the record
//   h:SCOPE HASH     sorted set of TURN SESSION by the order in which turns were put
//   b:SCOPE OBJECT   its group (16 bytes) and its bytes
//   g:SCOPE GROUP    sorted set of its objects by the order in which they were put; a group is a session
//   s:SCOPE SESSION  hash: name, first, last, turns, bytes, order
//   l:SCOPE SESSION  list of its turns
//   o:SCOPE          sorted set of its sessions by their order
//   sessions         sorted set of SCOPE SESSION by the time of the last turn
//   bytes, order     counters; version: of all this; secret: of the hashes
#pragma once

namespace rondo::spans {

// A script, preceded by a function that several scripts share.  They are not joined by the preprocessor, because g++
// accepts no raw string of several lines in a directive.
struct StoredScript {
  const char* function;
  const char* body;
};

// Adds a turn or an object to a session; makes the session if there is none.
inline constexpr const char* kFileFunction = R"(
local function file(scope, session, name, time, turns, bytes)
  local info = 'rondo:s:' .. scope .. session
  if redis.call('EXISTS', info) == 0 then
    local order = redis.call('INCR', 'rondo:order')
    redis.call('HSET', info, 'name', name, 'first', time, 'last', time, 'order', order)
    redis.call('ZADD', 'rondo:o:' .. scope, order, session)
  end
  redis.call('HINCRBY', info, 'turns', turns)
  redis.call('HINCRBY', info, 'bytes', bytes)
  redis.call('INCRBY', 'rondo:bytes', bytes)
  if tonumber(time) >= tonumber(redis.call('HGET', info, 'last')) then
    redis.call('HSET', info, 'last', time)
    redis.call('ZADD', 'rondo:sessions', time, scope .. session)
  end
end
)";

// SCOPE SESSION TURN PARENT|"" HASHES RECORD NAME TIME -> 1; 0 if the turn is already stored; -1 if its parent is not.
inline constexpr StoredScript kPutScript{kFileFunction, R"(
local scope, session, turn, parent, hashes, record = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local at = 'rondo:t:' .. scope .. turn
if redis.call('EXISTS', at) == 1 then return 0 end
if parent ~= '' and redis.call('GETRANGE', 'rondo:t:' .. scope .. parent, 1, 16) ~= session then return -1 end
local count = #hashes / 16
local head = parent == '' and '\0' .. session .. string.rep('\0', 16) or '\1' .. session .. parent
redis.call('SET', at, head .. string.char(count % 256, math.floor(count / 256)) .. hashes .. record)
local order = redis.call('INCR', 'rondo:order')
for i = 1, #hashes, 16 do
  redis.call('ZADD', 'rondo:h:' .. scope .. string.sub(hashes, i, i + 15), order, turn .. session)
end
redis.call('RPUSH', 'rondo:l:' .. scope .. session, turn)
file(scope, session, ARGV[7], ARGV[8], 1, 99 + #record + 2 * #hashes)
return 1
)"};

// {SCOPE GROUP OBJECT BYTES TIME} -> 1.  An existing object stays in its group.
inline constexpr StoredScript kPutObjectsScript{kFileFunction, R"(
for i = 1, #ARGV, 5 do
  local scope, group, object, bytes = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]
  local at = 'rondo:b:' .. scope .. object
  local old = redis.call('GET', at)
  if old then
    group = string.sub(old, 1, 16)
  else
    redis.call('ZADD', 'rondo:g:' .. scope .. group, redis.call('INCR', 'rondo:order'), object)
  end
  redis.call('SET', at, group .. bytes)
  file(scope, group, '', ARGV[i + 4], 0, old and #bytes + 16 - #old or #bytes + 16)
end
return 1
)"};

// SCOPE TURN MOST -> the records of the turn and its ancestors.
inline constexpr StoredScript kLineageScript{"", R"(
local out, turn = {}, ARGV[2]
for i = 0, tonumber(ARGV[3]) do
  local value = redis.call('GET', 'rondo:t:' .. ARGV[1] .. turn)
  if not value or #value < 35 then break end
  out[#out + 1] = string.sub(value, 36 + 16 * (string.byte(value, 34) + 256 * string.byte(value, 35)))
  if string.byte(value, 1) == 0 then break end
  turn = string.sub(value, 18, 33)
end
return out
)"};

// Deletes a session and everything in it.
inline constexpr const char* kForgetFunction = R"(
local function forget(scope, session)
  local list, info = 'rondo:l:' .. scope .. session, 'rondo:s:' .. scope .. session
  for _, turn in ipairs(redis.call('LRANGE', list, 0, -1)) do
    local value = redis.call('GET', 'rondo:t:' .. scope .. turn)
    if value and #value >= 35 then
      for i = 1, string.byte(value, 34) + 256 * string.byte(value, 35) do
        redis.call('ZREM', 'rondo:h:' .. scope .. string.sub(value, 20 + 16 * i, 35 + 16 * i), turn .. session)
      end
    end
    redis.call('DEL', 'rondo:t:' .. scope .. turn)
  end
  local group = 'rondo:g:' .. scope .. session
  for _, object in ipairs(redis.call('ZRANGE', group, 0, -1)) do
    redis.call('DEL', 'rondo:b:' .. scope .. object)
  end
  redis.call('DECRBY', 'rondo:bytes', redis.call('HGET', info, 'bytes') or 0)
  redis.call('DEL', list, group, info)
  redis.call('ZREM', 'rondo:o:' .. scope, session)
  redis.call('ZREM', 'rondo:sessions', scope .. session)
end
)";

// SCOPE SESSION -> 1; 0 if there is no such session.
inline constexpr StoredScript kEraseScript{kForgetFunction, R"(
if redis.call('EXISTS', 'rondo:s:' .. ARGV[1] .. ARGV[2]) == 0 then return 0 end
forget(ARGV[1], ARGV[2])
return 1
)"};

// SCOPE {OBJECT} -> how many of them existed.
inline constexpr StoredScript kEraseObjectsScript{kForgetFunction, R"(
local scope, gone = ARGV[1], 0
for i = 2, #ARGV do
  local at = 'rondo:b:' .. scope .. ARGV[i]
  local old = redis.call('GET', at)
  if old then
    local session = string.sub(old, 1, 16)
    redis.call('DEL', at)
    redis.call('ZREM', 'rondo:g:' .. scope .. session, ARGV[i])
    redis.call('HINCRBY', 'rondo:s:' .. scope .. session, 'bytes', -#old)
    redis.call('DECRBY', 'rondo:bytes', #old)
    gone = gone + 1
    local there = redis.call('EXISTS', 'rondo:l:' .. scope .. session, 'rondo:g:' .. scope .. session)
    if there == 0 then forget(scope, session) end
  end
end
return gone
)"};

// NOW TTL MAX_BYTES MOST -> how many sessions were deleted; at most MOST.
inline constexpr StoredScript kExpireScript{kForgetFunction, R"(
local now, ttl, most = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local gone = 0
while gone < tonumber(ARGV[4]) do
  local oldest = redis.call('ZRANGE', 'rondo:sessions', 0, 0, 'WITHSCORES')
  if not oldest[1] then break end
  local late = ttl > 0 and now - tonumber(oldest[2]) > ttl
  if not late and not (most > 0 and tonumber(redis.call('GET', 'rondo:bytes') or 0) > most) then break end
  forget(string.sub(oldest[1], 1, 16), string.sub(oldest[1], 17))
  gone = gone + 1
end
return gone
)"};

}  // namespace rondo::spans
