// Claims, settlements, renewals: first the rows that may be changed are locked, then they are changed. And changes of
// rows that the caller has locked.

#include <algorithm>
#include <map>
#include <utility>

#include <easyretry/json.h>

#include "base/later.h"
#include "base/utf8.h"
#include "storage/mysql/session.h"
#include "storage/mysql/statements.h"
#include "storage/mysql/values.h"
#include "task/transitions.h"

namespace easyretry::storage::mysql {
namespace {

// One row of a JSON array of arrays, escaped for a statement.
class JsonRow {
 public:
  explicit JsonRow(TaskId id) : text_("[" + literal(id)) {}
  JsonRow& number(std::int64_t value) { return add(literal(value)); }
  JsonRow& time(const std::optional<TimePoint>& time) { return add(time ? literal(*time) : "null"); }
  JsonRow& hex(std::string_view bytes) { return add("\"" + digits_of(bytes) + "\""); }
  JsonRow& name(std::string_view name) { return add("\"" + std::string{name} + "\""); }
  // Empty is null.
  JsonRow& text(std::string_view text) {
    if (text.empty()) return add("null");
    return add(escaped(to_json(base::storable_utf8(base::cut_utf8(text, kErrorBytes)))));
  }
  std::string done() { return std::move(text_.append("]")); }

 private:
  JsonRow& add(std::string_view value) {
    text_.append(",").append(value);
    return *this;
  }
  static std::string digits_of(std::string_view bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string digits;
    digits.reserve(2 * bytes.size());
    for (const char c : bytes) {
      const auto byte = static_cast<unsigned char>(c);
      digits.push_back(kDigits[byte >> 4]);
      digits.push_back(kDigits[byte & 15]);
    }
    return digits;
  }

  std::string text_;
};

// Ascending, so that rows are locked in the same order everywhere, also where a batch is cut.
template <class Change>
std::vector<Ticket> sorted_tickets(std::span<const Change> changes) {
  std::vector<Ticket> tickets;
  for (const Change& change : changes) tickets.push_back(change.ticket);
  std::ranges::sort(tickets);
  return tickets;
}

// Locks the rows whose holder the ticket names, and calls take(rows) for each.
template <class Take>
void lock_held(Connection& connection, const std::string& table, std::span<const Ticket> tickets, Take take) {
  by_pieces(tickets, [&](std::span<const Ticket> piece) {
    Rows rows = connection.select(statements::lock_held.with(
        {{"table", table}, {"tickets", ticket_list(piece)}, {"lock", connection.for_update_of_many()}}));
    while (rows.next()) take(rows);
  });
}

std::vector<TaskId> lock_held(Connection& connection, const std::string& table, std::span<const Ticket> tickets) {
  std::vector<TaskId> ids;
  lock_held(connection, table, tickets, [&](const Rows& rows) { ids.push_back(TaskId{rows.integer(0)}); });
  return ids;
}

// The changes of the rows that were won, ordered by id.
template <class Change>
std::vector<const Change*> of_winners(std::span<const Change> changes, std::span<const TaskId> winners) {
  std::vector<const Change*> won;
  for (const Change& change : changes) {
    if (std::ranges::binary_search(winners, change.ticket.id)) won.push_back(&change);
  }
  std::ranges::sort(won, {}, [](const Change* change) { return change->ticket.id; });
  return won;
}

// Sends the changes whose rows have different values: to_row(change) for each.
template <class Changes, class ToRow>
void send_rows(Connection& connection, const std::string& statement, const Changes& changes, ToRow to_row) {
  std::vector<std::string> rows;
  for (const auto& change : changes) rows.push_back(to_row(change));
  for (const Piece& piece : cut_rows(statement, rows, connection.most_bytes())) connection.run(piece.statement);
}

std::vector<TaskRecord> lock_claimable(Connection& connection, const std::string& table,
                                       std::span<const Ticket> tickets, TimePoint now) {
  std::vector<TaskRecord> found;
  Rows rows = connection.select(
      statements::lock_claimable.with({{"table", table}, {"tickets", ticket_list(tickets)}, {"now", literal(now)}}));
  while (rows.next()) {
    found.push_back(read_record(rows));
    found.back().began = !rows.is_null(rows.columns() - 1);
  }
  return found;
}

// Changes the records as the UPDATE changes the rows.
void mark_claimed(std::vector<TaskRecord>& records, const ClaimRequest& request, TimePoint now) {
  for (TaskRecord& record : records) {
    const Ticket ticket{record.info.id, record.info.version};
    const auto event = task::claim_event(record, ticket, now);
    if (event) task::apply_claim(record, *event, request.owner, now, request.lease, request.begin);
    record.info.last_attempts.clear();  // the others were not read
  }
}

// Many tasks end in the same way: one statement for each outcome and error, and one for all with an attempt to record.
void copy_into_history(Connection& connection, const std::string& table, const std::string& history,
                       std::span<const Settlement* const> settlements, TimePoint now) {
  std::map<std::pair<Outcome, std::string_view>, std::vector<TaskId>> alike;
  std::vector<const Settlement*> noted;
  for (const Settlement* s : settlements) {
    if (s->attempt.empty()) {
      alike[{s->outcome, s->error}].push_back(s->ticket.id);
    } else {
      noted.push_back(s);
    }
  }
  const std::string statement =
      statements::finish_noted.with({{"table", table}, {"history", history}, {"now", literal(now)}, {"rows", kRows}});
  send_rows(connection, statement, noted, [](const Settlement* s) {
    return JsonRow{s->ticket.id}.text(s->error).name(task::stored_name(s->outcome)).text(s->attempt).done();
  });
  for (const auto& [ending, ids] : alike) {
    by_pieces(std::span<const TaskId>{ids}, [&, &ending = ending](std::span<const TaskId> piece) {
      connection.run(statements::finish_into.with({{"table", table},
                                                   {"history", history},
                                                   {"ids", id_list(piece)},
                                                   {"outcome", name_or_null(ending.first)},
                                                   {"failed", ending.second.empty() ? "FALSE" : "TRUE"},
                                                   {"error", error_or_null(ending.second)},
                                                   {"now", literal(now)}}));
    });
  }
}

void extend_alike(Connection& connection, const std::string& table, const std::map<Millis, std::vector<TaskId>>& alike,
                  TimePoint now) {
  for (const auto& [lease, ids] : alike) {
    by_pieces(std::span<const TaskId>{ids}, [&, lease = lease](std::span<const TaskId> piece) {
      connection.run(statements::extend_leases.with({{"table", table},
                                                     {"ids", id_list(piece)},
                                                     {"lease_until", literal(base::later(now, lease))},
                                                     {"now", literal(now)}}));
    });
  }
}

std::vector<const Settlement*> of_kind(std::span<const Settlement* const> settlements, Settlement::Kind kind) {
  std::vector<const Settlement*> some;
  std::ranges::copy_if(settlements, std::back_inserter(some), [&](const Settlement* s) { return s->kind == kind; });
  return some;
}

std::string update_statement(const std::string& table, const TaskRecord& record, TimePoint now) {
  const TaskInfo& info = record.info;
  return statements::update_task.with({{"table", table},
                                       {"status", in_quotes(task::stored_name(info.state))},
                                       {"stage", in_quotes(task::stored_name(info.stage))},
                                       {"outcome", name_or_null(info.outcome)},
                                       {"version", literal(info.version)},
                                       {"attempts", literal(info.attempts)},
                                       {"callbacks", literal(record.callback_attempts)},
                                       {"crashes", literal(info.crashes)},
                                       {"deliveries", literal(info.deliveries)},
                                       {"next_at", literal(info.next_at)},
                                       {"first_failed_at", maybe_time(info.first_failed_at)},
                                       {"last_failed_at", maybe_time(info.last_failed_at)},
                                       {"error", error_or_null(info.last_error)},
                                       {"max_attempts", literal(record.rules.max_attempts)},
                                       {"max_duration", literal(record.rules.max_duration.count())},
                                       {"deadline", maybe_time(record.rules.deadline)},
                                       {"backoff", bytes_or_null(record.rules.backoff)},
                                       {"result", bytes_or_null(record.result)},
                                       {"progress", bytes_or_null(info.progress)},
                                       {"locked_at", record.locked_by.empty() ? "NULL" : "locked_at"},
                                       {"owner", bytes_or_null(record.locked_by)},
                                       {"lease_until", literal(record.lease_until)},
                                       {"now", literal(now)},
                                       {"id", literal(info.id)}});
}

}  // namespace

std::vector<TaskRecord> MysqlSession::claim(const std::string& table, const ClaimRequest& request, TimePoint now) {
  check_length(request.owner, kOwnerLimit);
  std::vector<Ticket> tickets{request.tickets.begin(), request.tickets.end()};
  std::ranges::sort(tickets);
  std::vector<TaskRecord> won;
  by_pieces(std::span<const Ticket>{tickets}, [&](std::span<const Ticket> piece) {
    std::vector<TaskRecord> records = lock_claimable(connection_, table, piece, now);
    if (records.empty()) return;
    const bool takes_over =
        std::ranges::any_of(records, [](const TaskRecord& record) { return record.info.state == TaskState::running; });
    connection_.run(statements::claim.with(
        {{"table", table},
         {"lost", takes_over ? statements::note_lost.text : ""},
         {"ids", list_of(records, [](const TaskRecord& record) { return literal(record.info.id); })},
         {"owner", bytes(request.owner)},
         {"locked_at", request.begin ? literal(now) : "NULL"},
         {"lease_until", literal(base::later(now, request.lease))},
         {"now", literal(now)}}));
    mark_claimed(records, request, now);
    std::ranges::move(records, std::back_inserter(won));
  });
  return won;
}

std::vector<sql::EndedRow> MysqlSession::finish(const std::string& table, const std::string& history,
                                                std::span<const Settlement> settlements, TimePoint now) {
  std::vector<TaskId> ids;
  std::vector<sql::EndedRow> ended;
  lock_held(connection_, table, sorted_tickets(settlements), [&](const Rows& rows) {
    ids.push_back(TaskId{rows.integer(0)});
    ended.push_back({ids.back(), std::string{rows.text(1)}, std::string{rows.text(2)}});
  });
  if (!history.empty()) {
    copy_into_history(connection_, table, history, of_winners(settlements, ids), now);
  }
  remove(table, ids);
  return ended;
}

std::vector<TaskId> MysqlSession::reschedule(const std::string& table, std::span<const Settlement> settlements,
                                             TimePoint now) {
  // Two hex digits for each byte. Checked first: to write down a result of 20 MB only to refuse it takes most of a
  // second, and once more for each half of the batch that it is in.
  for (const Settlement& settlement : settlements) check_row(2 * settlement.result.size(), connection_.most_bytes());
  std::vector<TaskId> ids = lock_held(connection_, table, sorted_tickets(settlements));
  const auto won = of_winners(settlements, ids);
  const auto send = [&](Settlement::Kind kind, const Statement& statement, auto to_row) {
    send_rows(connection_, statement.with({{"table", table}, {"now", literal(now)}, {"rows", kRows}}),
              of_kind(won, kind), to_row);
  };
  send(Settlement::Kind::retry, statements::retry, [&](const Settlement* s) {
    return JsonRow{s->ticket.id}.text(s->error).time(base::later(now, s->delay)).text(s->attempt).done();
  });
  send(Settlement::Kind::advance, statements::advance, [&](const Settlement* s) {
    JsonRow row{s->ticket.id};
    row.text(s->error)
        .time(base::later(now, s->delay))
        .text(s->attempt)
        .name(task::stored_name(s->stage))
        .name(task::stored_name(s->outcome));
    return row.hex(s->result).done();
  });
  send(Settlement::Kind::hand_back, statements::hand_back, [&](const Settlement* s) {
    const auto next_at = s->delay > Millis{0} ? std::optional{base::later(now, s->delay)} : std::nullopt;
    return JsonRow{s->ticket.id}.text(s->error).time(next_at).done();
  });
  return ids;
}

std::vector<TaskId> MysqlSession::renew(const std::string& table, std::span<const Renewal> renewals, TimePoint now) {
  for (const Renewal& renewal : renewals) check_length(renewal.progress.value_or(""), kProgressLimit);
  std::vector<TaskId> ids = lock_held(connection_, table, sorted_tickets(renewals));
  if (ids.empty()) connection_.run(statements::write_something.str());
  std::vector<const Renewal*> with_progress;
  std::map<Millis, std::vector<TaskId>> alike;
  for (const Renewal* renewal : of_winners(renewals, ids)) {
    if (renewal->progress) {
      with_progress.push_back(renewal);
    } else {
      alike[renewal->lease].push_back(renewal->ticket.id);
    }
  }
  extend_alike(connection_, table, alike, now);
  const std::string statement =
      statements::renew_with_progress.with({{"table", table}, {"now", literal(now)}, {"rows", kRows}});
  send_rows(connection_, statement, with_progress, [&](const Renewal* renewal) {
    return JsonRow{renewal->ticket.id}.time(base::later(now, renewal->lease)).hex(renewal->progress.value()).done();
  });
  return ids;
}

void MysqlSession::update_rules(const std::string& table, std::span<const sql::NewRules> updates) {
  for (const sql::NewRules& update : updates) check_length(update.rules.backoff, kBackoffLimit);
  send_rows(connection_, statements::update_rules.with({{"table", table}, {"rows", kRows}}), updates,
            [](const sql::NewRules& update) {
              JsonRow row{update.ticket.id};
              row.number(update.rules.max_attempts).number(update.rules.max_duration.count());
              return row.time(update.rules.deadline).hex(update.rules.backoff).done();
            });
}

// One by one, 45 µs each: only requests of operators come this way.
void MysqlSession::update(const std::string& table, std::span<const TaskRecord> rows, TimePoint now) {
  for (const TaskRecord& row : rows) {
    check_lengths(row);
    connection_.run(update_statement(table, row, now));
  }
}

void MysqlSession::remove(const std::string& table, std::span<const TaskId> ids) {
  std::vector<TaskId> sorted{ids.begin(), ids.end()};
  std::ranges::sort(sorted);
  by_pieces(std::span<const TaskId>{sorted}, [&](std::span<const TaskId> piece) {
    connection_.run(statements::remove_rows.with({{"table", table}, {"ids", id_list(piece)}}));
  });
}

// One by one, as update().
void MysqlSession::mark_requeued(const std::string& history, std::span<const sql::Requeued> requeued) {
  for (const sql::Requeued& one : requeued) {
    connection_.run(
        statements::mark_requeued.with({{"history", history}, {"new_id", literal(one.as)}, {"id", literal(one.id)}}));
  }
}

}  // namespace easyretry::storage::mysql
