// SQLite statements as C++ values.  Internal to spans/.
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

// Returns the database's latest error.
[[nodiscard]] Error database_error(sqlite3* database, const std::string& path);

// A prepared statement for repeated use: bind(...), then step() until it returns false, then reset().
class Statement {
 public:
  Statement() = default;
  // Returns false if the statement cannot be prepared.
  [[nodiscard]] bool prepare(sqlite3* database, const char* sql);

  // Binds a value.  `place` counts from 1.  Texts must live until reset().
  Statement& bind(int place, std::int64_t value);
  Statement& bind(int place, std::string_view bytes);
  Statement& bind(int place, const Digest& digest) { return bind(place, digest.view()); }

  // Returns true if there is a row.  After false, either there are no more rows or failed() is true; the error is then
  // the database's.
  [[nodiscard]] bool step();
  [[nodiscard]] bool failed() const { return failed_; }
  void reset();
  // Steps once and resets.  Returns false if it failed.
  [[nodiscard]] bool run();

  // Returns a column of the row; `column` counts from 0.
  [[nodiscard]] std::int64_t number(int column) const { return sqlite3_column_int64(statement_.get(), column); }
  [[nodiscard]] std::string_view bytes(int column) const;
  [[nodiscard]] bool is_null(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }
  // Returns a zero digest if the column holds none.
  [[nodiscard]] Digest digest(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  bool failed_ = false;
};

}  // namespace rondo::spans
