#include "storage/sqlite/claimed_rows.h"

#include "storage/sqlite/columns.h"
#include "storage/sqlite/loader.h"
#include "storage/sqlite/snapshot.h"
#include "storage/sqlite/statements.h"

namespace easyretry::storage::sqlite {
namespace {

constexpr int kCacheKib = 2 * 1024;  // nothing in it outlives a commit of the writer

bool holds(const TaskRecord& record, const Ticket& ticket, std::string_view owner) {
  return record.info.version == ticket.version && record.info.state == TaskState::running && record.locked_by == owner;
}

}  // namespace

ClaimedRows::ClaimedRows(const std::filesystem::path& path)
    : db_(open_reader(path, kCacheKib)), record_(db_.prepare(sql::live_record())) {}

std::vector<TaskRecord> ClaimedRows::read(std::span<const Ticket> won, std::string_view owner) {
  const std::lock_guard lock{mutex_};
  const Snapshot snapshot{db_};
  std::vector<TaskRecord> records;
  records.reserve(won.size());
  for (const Ticket& ticket : won) {
    record_.bind(1, number(ticket.id));
    Rows rows{record_};
    if (!rows.next()) continue;
    if (TaskRecord record = read_record(record_); holds(record, ticket, owner)) records.push_back(std::move(record));
  }
  return records;
}

}  // namespace easyretry::storage::sqlite
