#pragma once
// One transaction that changes many tasks. If another transaction holds the row of one task, the other tasks are
// changed anyway, and this one is `unanswered`.

#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "storage/sql/live_rows.h"
#include "storage/sql/transactions.h"

namespace easyretry::storage::sql {

// Batches may name a task several times, and a later entry must see the change of an earlier one. A statement for many
// rows has no order, so it gets each task only once.
//
// Calls body(part) for one part after the other, nearly always one. No part names a task twice.
template <class T, class IdOf, class Body>
void for_distinct(std::span<const T> batch, IdOf id_of, Body body) {
  while (!batch.empty()) {
    std::unordered_set<TaskId> seen;
    seen.reserve(batch.size());
    std::size_t size = 0;
    while (size < batch.size() && seen.insert(id_of(batch[size])).second) ++size;
    body(batch.first(size));
    batch = batch.subspan(size);
  }
}

// change(session, part, now) returns the ids of the tasks that it changed; no part names a task twice. Use it once.
template <class T, class IdOf, class Change>
class BatchChanges {
 public:
  BatchChanges(Writes& writes, Tables& tables, std::string where, IdOf id_of, Change change)
      : writes_(writes), tables_(tables), where_(std::move(where)), id_of_(id_of), change_(std::move(change)) {}

  // Changes all or nothing, after waiting for other transactions that hold a row; `locks` says for how long.
  Result<Applied> together(std::span<const T> batch, Locks locks) {
    return writes_.run(where_, Promise::kept, locks,
                       [&](Session& session, TimePoint now) { return changed(session, batch, {}, now); });
  }

  // Optimistic, unless a locked row was found recently.
  Result<Applied> around_locks(std::span<const T> batch, Caution& caution) {
    if (!caution.advised()) {
      auto reply = together(batch, Locks::told);
      if (reply || reply.error().code != Errc::conflict) return reply;
      caution.advise();
    }
    until_ = Caution::Steady::now() + kSearch;
    change_free(batch);
    if (!trouble_) return std::move(reply_);
    caution.advise();
    if (reply_.now == TimePoint{} || batch.size() == 1) return tl::make_unexpected(*std::move(trouble_));
    reply_.trouble = std::move(trouble_);
    return std::move(reply_);
  }

 private:
  // A locked table cannot be found by halving batches.
  static constexpr std::chrono::seconds kSearch{3};

  // A later entry of the same task sees the change of an earlier one.
  Applied changed(Session& session, std::span<const T> batch, const std::unordered_set<TaskId>& busy, TimePoint now) {
    Applied reply{now, {}};
    reply.applied.reserve(batch.size());
    for_distinct(batch, id_of_, [&](std::span<const T> part) {
      const auto ids = busy.empty() ? change_(session, part, now) : change_(session, without(part, busy), now);
      const std::unordered_set<TaskId> applied{ids.begin(), ids.end()};
      for (const T& entry : part) {
        if (busy.contains(id_of_(entry))) reply.unanswered.push_back(reply.applied.size());
        reply.applied.push_back(applied.contains(id_of_(entry)));
      }
    });
    return reply;
  }
  std::vector<T> without(std::span<const T> part, const std::unordered_set<TaskId>& busy) const {
    std::vector<T> rest;
    std::copy_if(part.begin(), part.end(), std::back_inserter(rest),
                 [&](const T& entry) { return !busy.contains(id_of_(entry)); });
    return rest;
  }

  // Looks for locks first, which finds every lock on a row of a task. A lock on an index, or in another table, is found
  // by halving.
  void change_free(std::span<const T> batch) {
    auto reply = writes_.run(where_, Promise::kept, Locks::told_at_once, [&](Session& session, TimePoint now) {
      std::unordered_set<TaskId> ids;
      for (const T& entry : batch) ids.insert(id_of_(entry));
      const std::vector<TaskId> each{ids.begin(), ids.end()};
      return changed(session, batch, LiveRows{session, tables_, now}.hold_all_but_busy(each), now);
    });
    if (reply) return add(*reply);
    const bool locked = reply.error().code == Errc::conflict;
    if (locked && batch.size() > 1 && Caution::Steady::now() < until_) {
      change_free(batch.first(batch.size() / 2));
      change_free(batch.subspan(batch.size() / 2));
      return;
    }
    leave_unanswered(batch.size(), locked ? Error{Errc::unavailable, where_, reply.error().detail} : reply.error());
  }
  void add(const Applied& part) {
    const std::size_t before = reply_.applied.size();
    reply_.now = part.now;
    reply_.applied.insert(reply_.applied.end(), part.applied.begin(), part.applied.end());
    for (const std::size_t place : part.unanswered) reply_.unanswered.push_back(before + place);
    if (part.unanswered.empty()) return;
    trouble_ = Error{Errc::unavailable, where_,
                     "another transaction holds the rows of " + std::to_string(part.unanswered.size()) +
                         " task(s); look for one that stays open"};
  }
  void leave_unanswered(std::size_t count, Error why) {
    for (std::size_t i = 0; i < count; ++i) {
      reply_.unanswered.push_back(reply_.applied.size());
      reply_.applied.push_back(false);
    }
    trouble_ = std::move(why);
  }

  Writes& writes_;
  Tables& tables_;
  const std::string where_;
  const IdOf id_of_;
  Change change_;
  Applied reply_;
  std::optional<Error> trouble_;
  Caution::Steady::time_point until_{};
};

}  // namespace easyretry::storage::sql
