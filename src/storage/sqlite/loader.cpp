#include "storage/sqlite/loader.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/later.h"
#include "storage/sqlite/columns.h"
#include "storage/sqlite/id_list.h"
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
  add_id_list(db);
  return db;
}

// One answer in the making. A row that makes no sense (edited by hand, say) is passed over: it must not stop the
// others.
//
// All shards are walked as one, in the order of their turn: a batch of claims then finds its rows side by side. Of a
// backlog of 100,000 tasks stored one by one, load, claim and settle get through 56,000 a second so, 26,000 otherwise.
class Loader::Scan {
 public:
  Scan(const LoadQuery& query, TimePoint now)
      : query_(query), until_(base::later(now, query.ahead)), room_(room_for(query)) {
    reply_.now = now;
    for (const ShardCursor& from : query.from) {
      const auto shard = static_cast<std::size_t>(from.shard);
      if (cursors_.size() <= shard) cursors_.resize(shard + 1);
      cursors_[shard] = &from;
      if (before(from, start_)) start_ = from;
    }
  }

  // First the rest of what is due at the very time of the cursor, then what is due later.
  LoadReply run(Statement& same_time, Statement& later) {
    if (query_.from.empty() || room_ == 0) return std::move(reply_);
    if (start_.place <= until_) {
      walk(same_time.bind(2, to_ms(start_.place)).bind(3, number(start_.id)));
    }
    walk(later.bind(2, to_ms(start_.place)).bind(3, to_ms(until_)));
    if (room_ == 0) tell_where_to_go_on();
    return std::move(reply_);
  }

 private:
  enum Column : int { kId, kVersion, kNextAt, kStatus, kLeaseUntil, kShard, kHandler, kCrashes, kLockedAt };

  static std::size_t room_for(const LoadQuery& query) {
    constexpr auto kMost = std::numeric_limits<std::size_t>::max();
    const std::size_t shards = query.from.size();
    return shards > 0 && query.limit > kMost / shards ? kMost : query.limit * shards;
  }
  static bool before(const ShardCursor& a, const ShardCursor& b) {
    return std::tie(a.place, a.id) < std::tie(b.place, b.id);
  }

  void walk(Statement& load) {
    load.bind(1, query_.space);
    Rows rows{load};
    while (room_ > 0 && rows.next()) {
      if (!asked_for(load) || !claimable(load)) continue;
      reply_.tasks.push_back({{TaskId{load.integer(kId)}, load.integer(kVersion)},
                              from_ms(load.integer(kNextAt)),
                              handler(load.text(kHandler)),
                              suspicion(load)});
      --room_;
    }
  }

  bool asked_for(const Statement& row) const {
    const std::int64_t shard = row.integer(kShard);
    if (shard < 0 || shard >= static_cast<std::int64_t>(cursors_.size())) return false;
    const ShardCursor* from = cursors_[static_cast<std::size_t>(shard)];
    return from != nullptr && before(*from, {{}, from_ms(row.integer(kNextAt)), TaskId{row.integer(kId)}});
  }

  void tell_where_to_go_on() {
    const DueTask& last = reply_.tasks.back();
    for (const ShardCursor& from : query_.from) {
      const ShardCursor here{from.shard, last.due, last.id};
      reply_.more.push_back(before(from, here) ? here : from);
    }
  }

  bool claimable(const Statement& row) const {
    if (row.integer(kVersion) < 1) return false;
    const std::string_view status = row.text(kStatus);
    if (status == to_string(TaskState::pending)) return true;
    const TimePoint when = std::max(reply_.now, from_ms(row.integer(kNextAt)));
    return status == to_string(TaskState::running) && from_ms(row.integer(kLeaseUntil)) <= when;
  }

  // As task::suspicion().
  static std::uint8_t suspicion(const Statement& row) {
    const bool held = row.text(kStatus) == to_string(TaskState::running);
    const std::int64_t crashes = row.integer(kCrashes) + (held && !row.is_null(kLockedAt) ? 1 : 0);
    return held || crashes > 0 ? suspicion_byte(crashes + 1) : 0;
  }

  std::uint32_t handler(std::string_view name) {
    if (last_ < reply_.handlers.size() && reply_.handlers[last_] == name) return last_;
    const auto known = index_.find(name);
    if (known != index_.end()) return last_ = known->second;
    last_ = static_cast<std::uint32_t>(reply_.handlers.size());
    reply_.handlers.emplace_back(name);
    index_.emplace(name, last_);
    return last_;
  }

  const LoadQuery& query_;
  const TimePoint until_;
  std::size_t room_;
  std::vector<const ShardCursor*> cursors_;  // by shard; null: not asked for
  ShardCursor start_{{}, TimePoint::max(), TaskId{std::numeric_limits<std::int64_t>::max()}};  // the first of them
  LoadReply reply_;
  std::map<std::string, std::uint32_t, std::less<>> index_;
  std::uint32_t last_ = 0;  // neighbours mostly have the same handler
};

Loader::Prepared::Prepared(const std::filesystem::path& path)
    : db(open_reader(path, kCacheKib)),
      same_time(db.prepare(sql::load_same_time())),
      later(db.prepare(sql::load_later())) {}

LoadReply Loader::load(const LoadQuery& query) {
  return reader_.read([&](Prepared& on) {
    const Snapshot snapshot{on.db};
    return Scan{query, clock_.now()}.run(on.same_time, on.later);
  });
}

}  // namespace easyretry::storage::sqlite
