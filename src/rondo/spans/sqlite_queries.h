// The tables of sqlite_store.h, and the queries on them.  Internal to spans/.
#pragma once

#include <array>
#include <cstdint>

namespace rondo::spans {

inline constexpr const char* kSqliteSchema = R"(
CREATE TABLE IF NOT EXISTS sessions(
  number INTEGER PRIMARY KEY AUTOINCREMENT, scope BLOB NOT NULL, session BLOB NOT NULL, name BLOB NOT NULL,
  first_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL, turns INTEGER NOT NULL, bytes INTEGER NOT NULL,
  UNIQUE(scope, session));
CREATE INDEX IF NOT EXISTS sessions_by_time ON sessions(last_ms);
CREATE TABLE IF NOT EXISTS turns(
  number INTEGER PRIMARY KEY AUTOINCREMENT, turn BLOB NOT NULL UNIQUE, session INTEGER NOT NULL, parent INTEGER,
  hashes BLOB NOT NULL, record BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS turns_by_session ON turns(session, number);
CREATE TABLE IF NOT EXISTS hashes(hash BLOB NOT NULL, turn INTEGER NOT NULL, PRIMARY KEY(hash, turn)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS objects(
  number INTEGER PRIMARY KEY AUTOINCREMENT, object BLOB NOT NULL UNIQUE, session INTEGER NOT NULL, bytes BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS objects_by_session ON objects(session, number);
)";

// The queries of a connection, which inherits their names.
struct SqliteQueries {
  enum Query : std::uint8_t {
    kSessionOf,
    kAddSession,
    kCountTurn,
    kTurnOf,
    kAddTurn,
    kAddHash,
    kLineage,
    kFind,
    kGet,
    kSessions,
    kTurns,
    kTurnsToForget,
    kForgetHash,
    kForgetTurns,
    kForgetSession,
    kAllBytes,
    kOldest,
    kObjectOf,
    kAddObject,
    kReplaceObject,
    kCountObject,
    kGetObject,
    kGroup,
    kForgetObject,
    kForgetObjects,
    kForgetEmpty,
    kQueries
  };

  static constexpr std::array<const char*, kQueries> kSql = {
      "SELECT number FROM sessions WHERE scope = ?1 AND session = ?2",
      "INSERT INTO sessions(scope, session, name, first_ms, last_ms, turns, bytes) VALUES(?1, ?2, ?3, ?4, ?4, 0, 0)",
      "UPDATE sessions SET turns = turns + 1, bytes = bytes + ?2, last_ms = max(last_ms, ?3) WHERE number = ?1",
      "SELECT number, session FROM turns WHERE turn = ?1",
      "INSERT INTO turns(turn, session, parent, hashes, record) VALUES(?1, ?2, ?3, ?4, ?5)",
      "INSERT OR IGNORE INTO hashes(hash, turn) VALUES(?1, ?2)",
      "WITH RECURSIVE line(number, depth) AS (SELECT t.number, 0 FROM turns t JOIN sessions s ON s.number = t.session "
      "WHERE t.turn = ?1 AND s.scope = ?2 UNION ALL SELECT t.parent, depth + 1 FROM line JOIN turns t ON "
      "t.number = line.number WHERE t.parent IS NOT NULL AND depth < ?3) "
      "SELECT t.record FROM line JOIN turns t ON t.number = line.number ORDER BY depth",
      "SELECT t.turn, s.session FROM hashes h JOIN turns t ON t.number = h.turn JOIN sessions s ON "
      "s.number = t.session WHERE h.hash = ?1 AND s.scope = ?2 ORDER BY h.turn LIMIT ?3",
      "SELECT s.session, t.record FROM turns t JOIN sessions s ON s.number = t.session WHERE t.turn = ?1 AND s.scope = "
      "?2",
      "SELECT number, session, name, turns, bytes, first_ms, last_ms FROM sessions WHERE scope = ?1 AND "
      "(?2 = 0 OR number < ?2) ORDER BY number DESC LIMIT ?3",
      "SELECT t.record FROM turns t JOIN sessions s ON s.number = t.session WHERE s.scope = ?1 AND s.session = ?2 "
      "ORDER BY t.number",
      "SELECT number, hashes FROM turns WHERE session = ?1",
      "DELETE FROM hashes WHERE hash = ?1 AND turn = ?2",
      "DELETE FROM turns WHERE session = ?1",
      "DELETE FROM sessions WHERE number = ?1",
      "SELECT coalesce(sum(bytes), 0) FROM sessions",
      "SELECT number, last_ms, bytes FROM sessions ORDER BY last_ms, number",
      "SELECT o.number, o.session, length(o.bytes), s.scope FROM objects o JOIN sessions s ON s.number = o.session "
      "WHERE o.object = ?1",
      "INSERT INTO objects(object, session, bytes) VALUES(?1, ?2, ?3)",
      "UPDATE objects SET bytes = ?2 WHERE number = ?1",
      "UPDATE sessions SET bytes = bytes + ?2, last_ms = max(last_ms, ?3) WHERE number = ?1",
      "SELECT o.bytes FROM objects o JOIN sessions s ON s.number = o.session WHERE o.object = ?1 AND s.scope = ?2",
      "SELECT o.bytes FROM objects o JOIN sessions s ON s.number = o.session WHERE s.scope = ?1 AND s.session = ?2 "
      "ORDER BY o.number",
      "DELETE FROM objects WHERE number = ?1",
      "DELETE FROM objects WHERE session = ?1",
      "DELETE FROM sessions WHERE number = ?1 AND NOT EXISTS(SELECT 1 FROM objects WHERE session = ?1) AND turns = 0",
  };
};

}  // namespace rondo::spans
