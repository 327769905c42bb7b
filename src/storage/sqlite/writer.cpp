#include "storage/sqlite/writer.h"

#include <algorithm>

#include "base/random.h"
#include "storage/sqlite/history_tables.h"

namespace easyretry::storage::sqlite {
namespace {

TaskId highest_id(Connection& db) {
  std::int64_t highest = db.integer("SELECT max(id) FROM retry_state");
  for (const std::string& table : history_tables(db)) {
    highest = std::max(highest, db.integer("SELECT max(id) FROM " + table));
  }
  return TaskId{highest};
}

}  // namespace

Writer::Writer(const SqliteOptions& options, Connection opened, const Clock& clock)
    : options_(options),
      clock_(clock),
      ids_(base::random_seed(), highest_id(opened)),
      session_(std::make_shared<Session>(std::move(opened), options_, ids_)),
      group_({.commit = [this](GroupCommit::Group group) { run(group); },
              .between =
                  [this] {
                    if (session_) session_->checkpoint();
                  },
              .harden = [this](GroupCommit::Group group) { harden(group); }}) {}

void Writer::run(GroupCommit::Group group) {
  const auto failure = transact(group);
  if (!failure) {
    ++commits_;
    return;
  }
  for (GroupCommit::Entry* const& entry : group) {
    if (group.size() > 1 && failure->alone_may_work) {
      run({&entry, 1});
    } else {
      auto& write = static_cast<Write&>(*entry);
      write.error = failure->error;
      write.error->where = write.where;
    }
  }
}

std::optional<Writer::Failed> Writer::transact(GroupCommit::Group group) {
  During during = During::work;
  bool begun = false;
  try {
    if (!session_) session_ = std::make_shared<Session>(open_writer(options_, Connection::Mode::write), options_, ids_);
    session_->begin.run();
    begun = true;
    const TimePoint now = clock_.now();
    for (GroupCommit::Entry* entry : group) static_cast<Write*>(entry)->apply(*session_, now);
    session_->write_sums();
    during = During::commit;
    session_->commit.run();
    const std::uint64_t number = disk_.committed();
    for (GroupCommit::Entry* entry : group) {
      auto& write = static_cast<Write&>(*entry);
      write.commit = number;
      write.committed_by = session_;
    }
    return std::nullopt;
  } catch (const SqliteError& error) {
    return failed(error, during, begun);
  } catch (const Refusal& refusal) {
    roll_back();
    return Failed{refusal.error, true};
  } catch (const std::exception& error) {  // no memory, say
    roll_back();
    return Failed{{Errc::unavailable, {}, error.what()}, begun};
  }
}

GroupCommit::Entry::Answered Writer::when(Promise promise) const {
  return options_.full_sync && promise == Promise::kept ? GroupCommit::Entry::Answered::on_disk
                                                        : GroupCommit::Entry::Answered::at_commit;
}

// Seen by others it is already, but what a sync failed for may be gone with the power.
void Writer::harden(GroupCommit::Group group) {
  for (GroupCommit::Entry* entry : group) {
    auto& write = static_cast<Write&>(*entry);
    if (write.commit == 0) continue;
    const int code = disk_.wait_for(write.commit, [&write] { return write.committed_by->sync_log(); });
    if (code == SQLITE_OK) continue;
    write.error = to_error({code, sqlite3_errstr(code)}, write.where, During::commit);
  }
}

Writer::Failed Writer::failed(const SqliteError& error, During during, bool begun) {
  Failed failure{to_error(error, {}, during), begun};
  roll_back();
  if (failure.error.code == Errc::in_doubt) failure.alone_may_work = false;  // it may be there already
  if (breaks_connection(error)) session_.reset();
  return failure;
}

void Writer::roll_back() {
  try {
    if (session_) session_->roll_back();
  } catch (const SqliteError&) {
    session_.reset();  // closing it rolls back
  }
}

}  // namespace easyretry::storage::sqlite
