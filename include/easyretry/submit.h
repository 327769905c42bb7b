#pragma once
// Storing a task: options in addition to its arguments, and the caller's own transaction.

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <easyretry/task.h>

struct sqlite3;
struct pg_conn;
struct st_mysql;

#pragma GCC visibility push(default)
namespace easyretry {

enum class OnDuplicate {
  keep,           // the existing task stays unchanged, and its id is returned
  update_policy,  // like keep, but the existing task gets the new policy
  reject,         // DuplicateTask is thrown and nothing is stored
};

struct SubmitOptions {
  // There is one live task per key: submitting the same key again returns the existing task. Empty: the handler's name
  // and a hash of the arguments.
  std::string key{};
  OnDuplicate on_duplicate = OnDuplicate::keep;
  std::string business_type{};            // a filter for searches
  std::string business_id{};              // indexed for search; tasks with the same one share a shard
  std::vector<std::string> tags{};        // up to 8, each up to 64 bytes
  std::string traceparent{};              // W3C trace context, passed to the handler as info.traceparent
  std::optional<TaskClass> task_class{};  // nullopt: the handler's (HandlerOptions::task_class)
  std::optional<TimePoint> deadline{};    // instead of the policy's
  std::optional<TimePoint> due_at{};      // does not run before; submit_at and submit_after set it for one task
};

// Thrown with OnDuplicate::reject if a live task has the same key. Nothing was stored.
class DuplicateTask : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The caller's own database transaction, for tasks that must be stored if and only if it commits. Borrows the
// connection, which must be inside a transaction that the caller has begun and will end.
struct Transaction {
  enum class Kind { sqlite, postgres, mysql } kind;
  void* connection;
};

// The connection must have the engine's own file open. It is set to leave checkpoints to the engine.
inline Transaction sqlite_tx(sqlite3* connection) {
  return {Transaction::Kind::sqlite, connection};
}

// A PGconn to the engine's database. It is only used during submit, and its settings do not change.
inline Transaction postgres_tx(pg_conn* connection) {
  return {Transaction::Kind::postgres, connection};
}

// A MYSQL handle of MariaDB's client library, connected to the engine's database, with the character set utf8mb4. It is
// only used during submit, and its settings do not change.
inline Transaction mysql_tx(st_mysql* connection) {
  return {Transaction::Kind::mysql, connection};
}

}  // namespace easyretry
#pragma GCC visibility pop
