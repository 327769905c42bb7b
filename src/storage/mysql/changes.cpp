#include "storage/mysql/changes.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/later.h"
#include "storage/mysql/columns.h"
#include "storage/mysql/pieces.h"
#include "storage/mysql/row_changes.h"
#include "storage/mysql/statements.h"
#include "task/transitions.h"

namespace easyretry::storage::mysql {
namespace {

// Ascending, so that rows are locked in the same order everywhere, also where a batch is cut.
template <class Change>
std::vector<Ticket> sorted_tickets(std::span<const Change> changes) {
  std::vector<Ticket> tickets;
  for (const Change& change : changes) tickets.push_back(change.ticket);
  std::ranges::sort(tickets);
  return tickets;
}

// Those whose holder the ticket names; they stay locked. take(rows) is called for each.
template <class Take>
void lock_held(Connection& connection, const std::string& table, std::span<const Ticket> tickets, Take take) {
  by_pieces(tickets, [&](std::span<const Ticket> piece) {
    Rows rows = connection.select(held(table, piece, connection.for_update_of_many()));
    while (rows.next()) take(rows);
  });
}

std::vector<TaskId> lock_held(Connection& connection, const std::string& table, std::span<const Ticket> tickets) {
  std::vector<TaskId> ids;
  lock_held(connection, table, tickets, [&](const Rows& rows) { ids.push_back(TaskId{rows.integer(0)}); });
  return ids;
}

// The changes of rows that were won, by id.
template <class Change>
std::vector<const Change*> of_winners(std::span<const Change> changes, std::span<const TaskId> winners) {
  std::vector<const Change*> won;
  for (const Change& change : changes) {
    if (std::ranges::binary_search(winners, change.ticket.id)) won.push_back(&change);
  }
  std::ranges::sort(won, {}, [](const Change* change) { return change->ticket.id; });
  return won;
}

void send(Connection& connection, const RowChanges& changes) {
  for (const Piece& piece : cut_rows(changes.head, changes.rows, changes.tail, connection.most_bytes())) {
    connection.run(piece.statement);
  }
}

std::vector<TaskRecord> lock_claimable(Connection& connection, const std::string& table,
                                       std::span<const Ticket> tickets, TimePoint now) {
  std::vector<TaskRecord> found;
  Rows rows = connection.select(claimable(table, tickets, now));
  while (rows.next()) {
    found.push_back(read_record(rows));
    found.back().began = !rows.is_null(rows.columns() - 1);
  }
  return found;
}

// As the UPDATE leaves them.
void mark_claimed(std::vector<TaskRecord>& records, const ClaimRequest& request, TimePoint now) {
  for (TaskRecord& record : records) {
    const Ticket ticket{record.info.id, record.info.version};
    const auto event = task::claim_event(record, ticket, now);
    if (event) task::apply_claim(record, *event, request.owner, now, request.lease, request.begin);
  }
}

// Many tasks end alike: one statement for each way.
using Endings = std::map<std::pair<Outcome, std::string_view>, std::vector<TaskId>>;

Endings endings_of(std::span<const Settlement* const> settlements) {
  Endings endings;
  for (const Settlement* s : settlements) endings[{s->outcome, s->error}].push_back(s->ticket.id);
  return endings;
}

void move_into(Connection& connection, const std::string& table, const std::string& history, const Endings& endings,
               TimePoint now) {
  for (const auto& [ending, ids] : endings) {
    by_pieces(std::span<const TaskId>{ids}, [&, &ending = ending](std::span<const TaskId> piece) {
      connection.run(finish_into(table, history, piece, ending.first, ending.second, now));
    });
  }
}

// A heartbeat renews all for the same time: a list of ids costs a quarter of rows with values of their own.
void extend_alike(Connection& connection, const std::string& table, const std::map<Millis, std::vector<TaskId>>& alike,
                  TimePoint now) {
  for (const auto& [lease, ids] : alike) {
    by_pieces(std::span<const TaskId>{ids}, [&, lease = lease](std::span<const TaskId> piece) {
      connection.run(extend(table, piece, now, base::later(now, lease)));
    });
  }
}

std::vector<const Settlement*> of_kind(std::span<const Settlement* const> settlements, Settlement::Kind kind) {
  std::vector<const Settlement*> some;
  std::ranges::copy_if(settlements, std::back_inserter(some), [&](const Settlement* s) { return s->kind == kind; });
  return some;
}

// A transaction that changes nothing is committed without a flush. Whoever renews nothing waits for the flush of the
// commits before it (StoreInfo::reads_run_ahead).
void write_something(Connection& connection) {
  connection.run(
      "INSERT INTO retry_meta (name, value) VALUES ('written', 1) ON DUPLICATE KEY UPDATE value = value + 1");
}

}  // namespace

std::vector<TaskRecord> claim(Connection& connection, const std::string& table, const ClaimRequest& request,
                              TimePoint now) {
  check_length(request.owner, kOwnerLimit);
  std::vector<Ticket> tickets{request.tickets.begin(), request.tickets.end()};
  std::ranges::sort(tickets);
  std::vector<TaskRecord> won;
  by_pieces(std::span<const Ticket>{tickets}, [&](std::span<const Ticket> piece) {
    std::vector<TaskRecord> records = lock_claimable(connection, table, piece, now);
    if (records.empty()) return;
    std::vector<TaskId> ids;
    ids.reserve(records.size());
    for (const TaskRecord& record : records) ids.push_back(record.info.id);
    connection.run(claim(table, ids, request, now));
    mark_claimed(records, request, now);
    std::ranges::move(records, std::back_inserter(won));
  });
  return won;
}

std::vector<sql::EndedRow> finish(Connection& connection, const std::string& table, const std::string& history,
                                  std::span<const Settlement> settlements, TimePoint now) {
  std::vector<TaskId> ids;
  std::vector<sql::EndedRow> ended;
  lock_held(connection, table, sorted_tickets(settlements), [&](const Rows& rows) {
    ids.push_back(TaskId{rows.integer(0)});
    ended.push_back({ids.back(), std::string{rows.text(1)}, std::string{rows.text(2)}});
  });
  if (!history.empty()) {
    move_into(connection, table, history, endings_of(of_winners(settlements, ids)), now);
  }
  by_pieces(std::span<const TaskId>{ids}, [&](std::span<const TaskId> piece) { connection.run(remove(table, piece)); });
  return ended;
}

std::vector<TaskId> reschedule(Connection& connection, const std::string& table,
                               std::span<const Settlement> settlements, TimePoint now) {
  // Two hex digits for each byte. Checked first: writing down a result of 20 MB only to refuse it takes most of a
  // second, and once more for each half of the batch that it is in.
  for (const Settlement& settlement : settlements) check_row(2 * settlement.result.size(), connection.most_bytes());
  std::vector<TaskId> ids = lock_held(connection, table, sorted_tickets(settlements));
  const auto won = of_winners(settlements, ids);
  send(connection, retries(table, of_kind(won, Settlement::Kind::retry), now));
  send(connection, advances(table, of_kind(won, Settlement::Kind::advance), now));
  send(connection, hand_backs(table, of_kind(won, Settlement::Kind::hand_back), now));
  return ids;
}

std::vector<TaskId> renew(Connection& connection, const std::string& table, std::span<const Renewal> renewals,
                          TimePoint now) {
  for (const Renewal& renewal : renewals) check_length(renewal.progress.value_or(""), kProgressLimit);
  std::vector<TaskId> ids = lock_held(connection, table, sorted_tickets(renewals));
  if (ids.empty()) write_something(connection);
  std::vector<const Renewal*> with_progress;
  std::map<Millis, std::vector<TaskId>> alike;
  for (const Renewal* renewal : of_winners(renewals, ids)) {
    if (renewal->progress) {
      with_progress.push_back(renewal);
    } else {
      alike[renewal->lease].push_back(renewal->ticket.id);
    }
  }
  extend_alike(connection, table, alike, now);
  send(connection, mysql::renewals(table, with_progress, now));
  return ids;
}

void update_rules(Connection& connection, const std::string& table, std::span<const sql::NewRules> updates) {
  for (const sql::NewRules& update : updates) check_length(update.rules.backoff, kBackoffLimit);
  send(connection, new_rules(table, updates));
}

}  // namespace easyretry::storage::mysql
