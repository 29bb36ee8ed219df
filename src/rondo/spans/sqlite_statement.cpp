#include "spans/sqlite_statement.h"

namespace rondo::spans {

Error database_error(sqlite3* database, const std::string& path) {
  const std::string what = database == nullptr ? "no memory is left" : sqlite3_errmsg(database);
  return Error(ErrorCode::kIo, "the store of turns cannot be used: " + what, path);
}

bool Statement::prepare(sqlite3* database, const char* sql) {
  sqlite3_stmt* made = nullptr;
  const int code = sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &made, nullptr);
  statement_.reset(made);
  return code == SQLITE_OK;
}

Statement& Statement::bind(int place, std::int64_t value) {
  sqlite3_bind_int64(statement_.get(), place, value);
  return *this;
}

Statement& Statement::bind(int place, std::string_view bytes) {
  const char* data = bytes.empty() ? "" : bytes.data();  // a null pointer would bind NULL
  sqlite3_bind_blob64(statement_.get(), place, data, bytes.size(), SQLITE_STATIC);
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  failed_ = code != SQLITE_ROW && code != SQLITE_DONE;
  return code == SQLITE_ROW;
}

void Statement::reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
}

bool Statement::run() {
  (void)step();
  reset();
  return !failed_;
}

std::string_view Statement::bytes(int column) const {
  const void* data = sqlite3_column_blob(statement_.get(), column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  return data == nullptr ? std::string_view() : std::string_view(static_cast<const char*>(data), size);
}

Digest Statement::digest(int column) const {
  const std::string_view found = bytes(column);
  return found.size() == sizeof(Digest) ? digest_of(found) : Digest();
}

}  // namespace rondo::spans
