#include "storage/sqlite/id_list.h"

#include <memory>

namespace easyretry::storage::sqlite {
namespace {

constexpr const char* kPointerType = "easyretry.ids";
enum Column : int { kId, kIds };  // the result, and the parameter, which SQLite sees as a hidden column

struct Cursor : sqlite3_vtab_cursor {
  IdList ids{};
  std::size_t at = 0;
};

Cursor& own(sqlite3_vtab_cursor* cursor) {
  return *static_cast<Cursor*>(cursor);
}

int connect(sqlite3* db, void*, int, const char* const*, sqlite3_vtab** table, char**) {
  const int code = sqlite3_declare_vtab(db, "CREATE TABLE ids(id INTEGER, ids HIDDEN)");
  if (code == SQLITE_OK) *table = new sqlite3_vtab{};
  return code;
}

int disconnect(sqlite3_vtab* table) {
  delete table;
  return SQLITE_OK;
}

// Refuses a plan without the parameter: there is no list to read then.
int best_index(sqlite3_vtab*, sqlite3_index_info* plan) {
  for (int i = 0; i < plan->nConstraint; ++i) {
    const auto& constraint = plan->aConstraint[i];
    if (constraint.iColumn != kIds || constraint.op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
    if (constraint.usable == 0) return SQLITE_CONSTRAINT;
    plan->aConstraintUsage[i].argvIndex = 1;
    plan->aConstraintUsage[i].omit = 1;
    plan->estimatedCost = 1;
    plan->estimatedRows = 100;
    return SQLITE_OK;
  }
  return SQLITE_CONSTRAINT;
}

int open(sqlite3_vtab*, sqlite3_vtab_cursor** cursor) {
  *cursor = new Cursor{};
  return SQLITE_OK;
}

int close(sqlite3_vtab_cursor* cursor) {
  delete &own(cursor);
  return SQLITE_OK;
}

int filter(sqlite3_vtab_cursor* cursor, int, const char*, int count, sqlite3_value** values) {
  const void* list = count == 1 ? sqlite3_value_pointer(values[0], kPointerType) : nullptr;
  own(cursor).ids = list == nullptr ? IdList{} : *static_cast<const IdList*>(list);
  own(cursor).at = 0;
  return SQLITE_OK;
}

int next(sqlite3_vtab_cursor* cursor) {
  ++own(cursor).at;
  return SQLITE_OK;
}

int at_end(sqlite3_vtab_cursor* cursor) {
  return own(cursor).at >= own(cursor).ids.size() ? 1 : 0;
}

int column(sqlite3_vtab_cursor* cursor, sqlite3_context* context, int which) {
  if (which == kId) sqlite3_result_int64(context, static_cast<std::int64_t>(own(cursor).ids[own(cursor).at]));
  return SQLITE_OK;
}

int row_id(sqlite3_vtab_cursor* cursor, sqlite3_int64* id) {
  *id = static_cast<sqlite3_int64>(own(cursor).at);
  return SQLITE_OK;
}

// No xCreate: it needs no CREATE VIRTUAL TABLE, and can only be called like a function.
constexpr sqlite3_module kModule{
    .iVersion = 0,
    .xCreate = nullptr,
    .xConnect = connect,
    .xBestIndex = best_index,
    .xDisconnect = disconnect,
    .xDestroy = nullptr,
    .xOpen = open,
    .xClose = close,
    .xFilter = filter,
    .xNext = next,
    .xEof = at_end,
    .xColumn = column,
    .xRowid = row_id,
    .xUpdate = nullptr,
    .xBegin = nullptr,
    .xSync = nullptr,
    .xCommit = nullptr,
    .xRollback = nullptr,
    .xFindFunction = nullptr,
    .xRename = nullptr,
    .xSavepoint = nullptr,
    .xRelease = nullptr,
    .xRollbackTo = nullptr,
    .xShadowName = nullptr,
};

}  // namespace

void add_id_list(Connection& db) {
  const int code = sqlite3_create_module(db.get(), "id_list", &kModule, nullptr);
  if (code != SQLITE_OK) throw SqliteError{code, sqlite3_errstr(code)};
}

void bind_ids(PreparedStatement& statement, int index, const IdList& ids) {
  void* list = const_cast<IdList*>(&ids);  // SQLite takes no pointer to const; filter() makes it const again
  const int code = sqlite3_bind_pointer(statement.get(), index, list, kPointerType, nullptr);
  if (code != SQLITE_OK) throw SqliteError{code, sqlite3_errstr(code)};
}

}  // namespace easyretry::storage::sqlite
