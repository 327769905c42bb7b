#include "storage/postgres/changes.h"

#include <algorithm>
#include <iterator>

#include "base/later.h"
#include "storage/postgres/batch.h"
#include "storage/postgres/rows.h"
#include "storage/postgres/statements.h"

namespace easyretry::storage::postgres {
namespace {

template <class T>
std::vector<T> by_id(std::span<const T> batch) {
  std::vector<T> sorted{batch.begin(), batch.end()};
  std::sort(sorted.begin(), sorted.end(), [](const T& a, const T& b) { return a.ticket.id < b.ticket.id; });
  return sorted;
}

// A text is found in its array by counting from the front: 6 us among 2,000, and 1.5 us among 500. Calls body(part) for
// one part after the other, and gives what all of them gave.
template <class T, class Body>
auto in_parts(std::span<const T> batch, Body body) {
  constexpr std::size_t kPart = 500;
  decltype(body(batch)) all;
  while (!batch.empty()) {
    const auto part = batch.first(std::min(batch.size(), kPart));
    auto applied = body(part);
    std::move(applied.begin(), applied.end(), std::back_inserter(all));
    batch = batch.subspan(part.size());
  }
  return all;
}

template <class T>
Batch<T> with_tickets(Params& params, std::span<const T> batch) {
  Batch<T> columns{params, batch};
  columns.numbers([](const T& entry) { return number(entry.ticket.id); });
  columns.numbers([](const T& entry) { return entry.ticket.version; });
  return columns;
}

}  // namespace

void update_rules(Connection& db, const std::string& table, std::span<const sql::NewRules> updates) {
  const std::vector<sql::NewRules> sorted = by_id(updates);
  Params params;
  Batch<sql::NewRules>{params, sorted}
      .numbers([](const sql::NewRules& r) { return number(r.ticket.id); })
      .numbers([](const sql::NewRules& r) { return r.rules.max_attempts; })
      .numbers([](const sql::NewRules& r) { return r.rules.max_duration.count(); })
      .maybe_numbers([](const sql::NewRules& r) { return ms(r.rules.deadline); })
      .maybe_texts([](const sql::NewRules& r) { return or_null(r.rules.backoff); });
  db.run(statements::update_rules(table), params);
}

std::vector<TaskRecord> claim(Connection& db, const std::string& table, const ClaimRequest& request, TimePoint now) {
  std::vector<Ticket> tickets{request.tickets.begin(), request.tickets.end()};
  std::sort(tickets.begin(), tickets.end());
  Params params;
  Batch<Ticket>{params, tickets}
      .numbers([](const Ticket& ticket) { return number(ticket.id); })
      .numbers([](const Ticket& ticket) { return ticket.version; });
  params.add(request.owner).add(to_ms(now)).add(to_ms(base::later(now, request.lease)));
  params.add(request.begin ? std::optional{to_ms(now)} : std::nullopt);
  return records_in(db.run(statements::claim(table), params));
}

std::vector<sql::EndedRow> finish(Connection& db, const std::string& table, const std::string& history,
                                  std::span<const Settlement> settlements, TimePoint now, Duplicates duplicates) {
  const std::vector<Settlement> sorted = by_id(settlements);
  return in_parts<Settlement>(sorted, [&](std::span<const Settlement> part) {
    Params params;
    auto batch = with_tickets<Settlement>(params, part);
    if (history.empty()) return ended_in(db.run(statements::forget(table), params));
    params.add(to_ms(now));
    batch.free_texts([](const Settlement& s) { return or_null(s.error); });
    batch.texts([](const Settlement& s) { return to_string(s.outcome); });
    return ended_in(db.run(statements::finish(table, history, duplicates), params));
  });
}

std::vector<TaskId> reschedule(Connection& db, const std::string& table, std::span<const Settlement> settlements,
                               TimePoint now) {
  using Kind = Settlement::Kind;
  const auto advances = [](const Settlement& s) { return s.kind == Kind::advance; };
  const std::vector<Settlement> sorted = by_id(settlements);
  return in_parts<Settlement>(sorted, [&](std::span<const Settlement> part) {
    Params params;
    auto batch = with_tickets<Settlement>(params, part);
    params.add(to_ms(now));
    batch.free_texts([](const Settlement& s) { return or_null(s.error); })
        .numbers([&](const Settlement& s) {
          const bool as_it_was = s.kind == Kind::hand_back && s.delay <= Millis{0};
          return as_it_was ? to_ms(TimePoint::min()) : to_ms(base::later(now, s.delay));
        })
        .numbers([](const Settlement& s) { return s.kind == Kind::hand_back ? 1 : 0; })
        .maybe_texts([&](const Settlement& s) { return advances(s) ? to_string(s.stage) : std::string_view{}; })
        .maybe_texts([&](const Settlement& s) { return advances(s) ? to_string(s.outcome) : std::string_view{}; })
        .bytes([&](const Settlement& s) { return advances(s) ? std::string_view{s.result} : std::string_view{}; });
    return ids_in(db.run(statements::reschedule(table), params));
  });
}

std::vector<TaskId> renew(Connection& db, const std::string& table, std::span<const Renewal> renewals, TimePoint now) {
  const std::vector<Renewal> sorted = by_id(renewals);
  Params params;
  auto batch = with_tickets<Renewal>(params, sorted);
  params.add(to_ms(now));
  batch.numbers([&](const Renewal& renewal) { return to_ms(base::later(now, renewal.lease)); });
  batch.free_texts([](const Renewal& renewal) {
    return renewal.progress ? std::string_view{*renewal.progress} : std::string_view{};
  });
  return ids_in(db.run(statements::renew(table), params));
}

void hold(Connection& db, const std::string& table, std::span<const TaskId> ids) {
  db.run(statements::hold(table), id_params(ids));
}

std::vector<TaskRecord> lock(Connection& db, const std::string& table, std::span<const TaskId> ids) {
  return records_in(db.run(statements::lock(table), id_params(ids)));
}

std::vector<TaskRecord> lock_history(Connection& db, const std::string& table, std::span<const TaskId> ids) {
  return records_in(db.run(statements::lock_history(table), id_params(ids)));
}

void mark_requeued(Connection& db, const std::string& table, std::span<const sql::Requeued> requeued) {
  Params params;
  Batch<sql::Requeued>{params, requeued}
      .numbers([](const sql::Requeued& r) { return number(r.id); })
      .numbers([](const sql::Requeued& r) { return number(r.as); });
  db.run(statements::mark_requeued(table), params);
}

void update(Connection& db, const std::string& table, std::span<const TaskRecord> rows, TimePoint now) {
  Params params;
  Batch<TaskRecord> batch{params, rows};
  batch.numbers([](const TaskRecord& r) { return number(r.info.id); })
      .numbers([](const TaskRecord& r) { return r.info.version; })
      .texts([](const TaskRecord& r) { return to_string(r.info.state); })
      .texts([](const TaskRecord& r) { return to_string(r.info.stage); })
      .maybe_texts(
          [](const TaskRecord& r) { return r.info.outcome ? to_string(*r.info.outcome) : std::string_view{}; });
  params.add(to_ms(now));
  batch.numbers([](const TaskRecord& r) { return to_ms(r.info.next_at); });
  db.run(statements::update(table), params);
}

void remove(Connection& db, const std::string& table, std::span<const TaskId> ids) {
  db.run(statements::remove(table), id_params(ids));
}

sql::Moved move(Connection& db, const sql::Move& move) {
  Params params;
  params.add(limit(move.limit)).add(number(move.after));
  if (!move.shards.empty()) {
    Batch<ShardId>{params, move.shards}.numbers([](ShardId shard) { return static_cast<std::int64_t>(shard); });
  }
  const Rows moved = db.run(statements::move(move.from, move.to, !move.shards.empty()), params);
  return {static_cast<std::size_t>(moved.integer(0, 0)), TaskId{moved.integer(0, 1)}};
}

}  // namespace easyretry::storage::postgres
