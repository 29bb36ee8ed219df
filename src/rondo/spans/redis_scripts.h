// What changes a store on Redis, or walks through it, is done by the server at once.  Private to redis_store.cpp.
//
// Keys, each behind `rondo:`:
//   t:SCOPE TURN     the turn: a byte that is 1 with a parent, session, parent (16 bytes each), two bytes with the count of hashes,
//                    the lower one first, the hashes, the record
//   h:SCOPE HASH     sorted set of TURN SESSION by the order in which turns were put
//   s:SCOPE SESSION  hash: name, first, last, turns, bytes, order
//   l:SCOPE SESSION  list of its turns
//   o:SCOPE          sorted set of its sessions by their order
//   sessions         sorted set of SCOPE SESSION by the time of the last turn
//   bytes, order     counters; version: of all this; secret: of the hashes
#pragma once

namespace rondo::spans {

// SCOPE SESSION TURN PARENT|"" HASHES RECORD NAME TIME -> 1, 0 if it is there already, -1 without its parent.
inline constexpr const char* kPutScript = R"(
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
local info = 'rondo:s:' .. scope .. session
if redis.call('HINCRBY', info, 'turns', 1) == 1 then
  redis.call('HSET', info, 'name', ARGV[7], 'first', ARGV[8], 'last', ARGV[8], 'order', order)
  redis.call('ZADD', 'rondo:o:' .. scope, order, session)
end
local last = tonumber(redis.call('HGET', info, 'last'))
if tonumber(ARGV[8]) >= last then
  redis.call('HSET', info, 'last', ARGV[8])
  redis.call('ZADD', 'rondo:sessions', ARGV[8], scope .. session)
end
local bytes = 99 + #record + 2 * #hashes
redis.call('HINCRBY', info, 'bytes', bytes)
redis.call('INCRBY', 'rondo:bytes', bytes)
return 1
)";

// SCOPE TURN MOST -> the records of the turn and its ancestors.
inline constexpr const char* kLineageScript = R"(
local out, turn = {}, ARGV[2]
for i = 0, tonumber(ARGV[3]) do
  local value = redis.call('GET', 'rondo:t:' .. ARGV[1] .. turn)
  if not value or #value < 35 then break end
  out[#out + 1] = string.sub(value, 36 + 16 * (string.byte(value, 34) + 256 * string.byte(value, 35)))
  if string.byte(value, 1) == 0 then break end
  turn = string.sub(value, 18, 33)
end
return out
)";

// Ends with a call of forget(); put together with what follows it.
#define RONDO_REDIS_FORGET \
  R"(
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
  redis.call('DECRBY', 'rondo:bytes', redis.call('HGET', info, 'bytes') or 0)
  redis.call('DEL', list, info)
  redis.call('ZREM', 'rondo:o:' .. scope, session)
  redis.call('ZREM', 'rondo:sessions', scope .. session)
end
)"

// SCOPE SESSION -> 1, 0 without such a session.
inline constexpr const char* kEraseScript = RONDO_REDIS_FORGET R"(
if redis.call('EXISTS', 'rondo:s:' .. ARGV[1] .. ARGV[2]) == 0 then return 0 end
forget(ARGV[1], ARGV[2])
return 1
)";

// NOW TTL MAX_BYTES MOST -> how many sessions were forgotten, MOST at most.
inline constexpr const char* kExpireScript = RONDO_REDIS_FORGET R"(
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
)";

#undef RONDO_REDIS_FORGET

}  // namespace rondo::spans
