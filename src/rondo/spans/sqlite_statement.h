// SQLite statements as values of C++.  Internal to spans/.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "rondo/result.h"
#include "spans/hash.h"

namespace rondo::spans {

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;

// What went wrong last.
[[nodiscard]] Error database_error(sqlite3* database, const std::string& path);

// A prepared statement, used again and again: bind(...), then step() until it says false, then reset().
class Statement {
 public:
  Statement() = default;
  // False: the statement can't be prepared.
  [[nodiscard]] bool prepare(sqlite3* database, const char* sql);

  // `place`: from 1.  Texts must live until reset().
  Statement& bind(int place, std::int64_t value);
  Statement& bind(int place, std::string_view bytes);
  Statement& bind(int place, const Digest& digest) { return bind(place, digest.view()); }
  Statement& bind_null(int place);

  // True: there is a row.  False: no more, or failed(): the error is the database's.
  [[nodiscard]] bool step();
  [[nodiscard]] bool failed() const { return failed_; }
  void reset();
  // Steps once and resets; false if it failed.
  [[nodiscard]] bool run();

  // Of the row; `column` from 0.
  [[nodiscard]] std::int64_t number(int column) const { return sqlite3_column_int64(statement_.get(), column); }
  [[nodiscard]] std::string_view bytes(int column) const;
  [[nodiscard]] bool is_null(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }
  // A zero digest where the column holds no digest.
  [[nodiscard]] Digest digest(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  bool failed_ = false;
};

}  // namespace rondo::spans
