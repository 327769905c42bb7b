#include "storage/sql/intake.h"

namespace easyretry::storage::sql {

IntakeReply take_in(Session& session, const IntakeQuery& query, const Convert& convert, TimePoint now,
                    const InsertAll& insert) {
  IntakeReply reply{.now = now};
  std::vector<std::int64_t> taken;
  std::vector<InboxRow> rows = session.ledger().inbox(query);
  reply.more = rows.size() == query.limit;
  for (InboxRow& row : rows) {
    const std::int64_t id = row.id;
    auto task = convert(std::move(row));
    if (task) {
      taken.push_back(id);
      reply.tasks.push_back(*std::move(task));
    } else {
      session.ledger().refuse_inbox(id, task.error(), now);
      reply.refused.push_back(task.error());
    }
  }
  if (taken.empty()) return reply;
  std::vector<const NewTask*> tasks;
  for (const NewTask& task : reply.tasks) tasks.push_back(&task);
  reply.inserted = insert(tasks);
  session.ledger().clear_inbox(taken);
  return reply;
}

}  // namespace easyretry::storage::sql
