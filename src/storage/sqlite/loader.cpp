#include "storage/sqlite/loader.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>

#include "storage/sqlite/columns.h"
#include "storage/sqlite/snapshot.h"
#include "storage/sqlite/statements.h"

namespace easyretry::storage::sqlite {
namespace {

constexpr int kCacheKib = 8 * 1024;

}  // namespace

Connection open_reader(const std::filesystem::path& path, int cache_kib) {
  Connection db{path, Connection::Mode::read};
  sqlite3_db_config(db.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  sqlite3_wal_autocheckpoint(db.get(), 0);
  db.run("PRAGMA cache_size = -" + std::to_string(cache_kib));
  return db;
}

// One answer in the making. A row that makes no sense (edited by hand, say) is passed over: it must not stop the
// others.
class Loader::Scan {
 public:
  Scan(Statement& load, const LoadQuery& query, TimePoint now)
      : load_(load), query_(query), until_(to_ms(later(now, query.ahead))) {
    reply_.now = now;
  }

  void shard(const ShardCursor& from) {
    load_.bind(1, query_.space).bind(2, static_cast<std::int64_t>(from.shard)).bind(3, to_ms(from.next_at));
    load_.bind(4, static_cast<std::int64_t>(from.id)).bind(5, until_);
    Rows rows{load_};
    for (std::size_t room = query_.limit; room > 0 && rows.next();) {
      if (!claimable()) continue;
      add();
      if (--room == 0) reply_.more.push_back({from.shard, next_at(), id()});
    }
  }

  LoadReply take() { return std::move(reply_); }

 private:
  enum Column : int { kId, kVersion, kNextAt, kStatus, kLeaseUntil, kHandler };

  TaskId id() const { return TaskId{load_.integer(kId)}; }
  TimePoint next_at() const { return from_ms(load_.integer(kNextAt)); }

  bool claimable() const {
    if (load_.integer(kVersion) < 1) return false;
    const std::string_view status = load_.text(kStatus);
    if (status == to_string(TaskState::pending)) return true;
    return status == to_string(TaskState::running) &&
           from_ms(load_.integer(kLeaseUntil)) <= std::max(reply_.now, next_at());
  }

  void add() { reply_.tasks.push_back({{id(), load_.integer(kVersion)}, next_at(), handler(load_.text(kHandler))}); }

  std::uint32_t handler(std::string_view name) {
    if (last_ < reply_.handlers.size() && reply_.handlers[last_] == name) return last_;
    const auto known = index_.find(name);
    if (known != index_.end()) return last_ = known->second;
    last_ = static_cast<std::uint32_t>(reply_.handlers.size());
    reply_.handlers.emplace_back(name);
    index_.emplace(name, last_);
    return last_;
  }

  Statement& load_;
  const LoadQuery& query_;
  const std::int64_t until_;
  LoadReply reply_;
  std::map<std::string, std::uint32_t, std::less<>> index_;
  std::uint32_t last_ = 0;  // neighbours mostly have the same handler
};

Loader::Loader(const std::filesystem::path& path, const Clock& clock)
    : clock_(clock), db_(open_reader(path, kCacheKib)), load_(db_.prepare(sql::load())) {}

LoadReply Loader::load(const LoadQuery& query) {
  const std::lock_guard lock{mutex_};
  const Snapshot snapshot{db_};
  Scan scan{load_, query, clock_.now()};
  for (const ShardCursor& from : query.from) scan.shard(from);
  return scan.take();
}

}  // namespace easyretry::storage::sqlite
