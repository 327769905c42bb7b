#include "storage/sqlite/claimed_rows.h"

#include "storage/sqlite/columns.h"
#include "storage/sqlite/loader.h"
#include "storage/sqlite/statements.h"

namespace easyretry::storage::sqlite {
namespace {

constexpr int kCacheKib = 2 * 1024;  // nothing in it outlives a commit of the writer

bool holds(const TaskRecord& record, const Ticket& ticket, std::string_view owner) {
  return record.info.version == ticket.version && record.info.state == TaskState::running && record.locked_by == owner;
}

}  // namespace

ClaimedRows::Prepared::Prepared(const std::filesystem::path& path)
    : db(open_reader(path, kCacheKib)), records(db.prepare(sql::live_records())) {}

std::vector<TaskRecord> ClaimedRows::read(std::span<const Ticket> won, std::string_view owner) {
  return reader_.read([&](Prepared& on) {
    on.ids.clear();
    for (const Ticket& ticket : won) on.ids.push_back(ticket.id);
    const IdList ids{on.ids};
    bind_ids(on.records, 1, ids);
    std::vector<TaskRecord> records;
    records.reserve(won.size());
    Rows rows{on.records};
    for (auto ticket = won.begin(); rows.next(); ++ticket) {
      TaskRecord record = read_record(on.records);
      while (ticket->id != record.info.id) ++ticket;
      if (holds(record, *ticket, owner)) records.push_back(std::move(record));
    }
    return records;
  });
}

}  // namespace easyretry::storage::sqlite
