#include "storage/mysql/ledger.h"

#include <algorithm>

#include "storage/member_text.h"
#include "storage/mysql/statements.h"
#include "storage/mysql/values.h"
#include "storage/sql/inbox_columns.h"
#include "storage/sql/row_id.h"

namespace easyretry::storage::mysql {
namespace {

std::string count_values(const CountKey& key, std::int64_t tasks) {
  return literal(key.day) + "," + bytes(key.space) + "," + bytes(key.handler) + "," + bytes(key.kind) + "," +
         literal(tasks);
}

Member member_in(const Rows& rows) {
  Member member{.node = std::string{rows.text(0)}, .since = from_ms(rows.integer(1))};
  read_member_text(rows.text(2), member);
  return member;
}

std::optional<std::string> text_or_nothing(const Rows& row, int column) {
  if (row.is_null(column)) return std::nullopt;
  return std::string{row.text(column)};
}

}  // namespace

// --- Counts ---

std::string MysqlLedger::insert_sums() {
  if (sums_.empty()) return {};
  const std::string rows = list_of(sums_.rows(), [&](const auto& row) {
    return "(" + literal(sql::row_id(random_)) + "," + count_values(row.first, row.second) + ")";
  });
  return statements::insert_sums.with({{"rows", rows}});
}

void MysqlLedger::write_sums() {
  if (!sums_.empty()) connection_.run(insert_sums());
}

std::size_t MysqlLedger::take_sums(std::size_t limit, Sums& into) {
  std::vector<std::string> ids;
  Rows rows = connection_.select(statements::lock_sums.with({{"limit", std::to_string(limit)}}));
  while (rows.next()) {
    read_count(rows, into);
    ids.emplace_back(rows.text(5));
  }
  if (ids.empty()) return 0;
  const std::string list = list_of(ids, [](const std::string& id) { return id; });
  connection_.run(statements::remove_rows.with({{"table", "retry_count_delta"}, {"ids", list}}));
  return ids.size();
}

std::size_t MysqlLedger::take_days(TimePoint before, std::size_t limit, Sums& into) {
  std::string removals;
  std::size_t taken = 0;
  Rows rows =
      connection_.select(statements::lock_days.with({{"before", literal(before)}, {"limit", std::to_string(limit)}}));
  for (; rows.next(); ++taken) {
    read_count(rows, into);
    removals.append(taken == 0 ? "" : ";");
    removals.append(statements::remove_day.with({{"day", rows.text(0)},
                                                 {"namespace", bytes(rows.text(1))},
                                                 {"handler", bytes(rows.text(2))},
                                                 {"kind", bytes(rows.text(3))}}));
  }
  if (taken > 0) connection_.run(removals);
  return taken;
}

void MysqlLedger::add_totals(const Sums& sums) {
  const std::string rows =
      list_of(sums.rows(), [](const auto& row) { return "(" + count_values(row.first, row.second) + ")"; });
  connection_.run(statements::add_totals.with({{"rows", rows}}));
}

void MysqlLedger::read_counts(std::string_view space, Sums& into) {
  Rows rows = connection_.select(statements::counts.with({{"namespace", bytes(space)}}));
  while (rows.next()) read_count(rows, into);
}

bool MysqlLedger::has_sums() {
  return connection_.select(statements::has_sums.str()).next();
}

// --- Members ---

BeatReply MysqlLedger::beat(const Beat& beat, std::optional<TimePoint> now) {
  if (list_.space != beat.space || list_.node != beat.node) list_.mark.reset();
  const std::string time = time_or_servers(now);
  const std::string says = member_text(beat.says, beat.handlers);
  connection_.run(statements::beat.with({{"namespace", bytes(beat.space)},
                                         {"node", bytes(beat.node)},
                                         {"now", time},
                                         {"alive_until", later(time, beat.ttl)},
                                         {"says", bytes(says)},
                                         {"mark", literal(list_.mark.value_or(-1))}}));
  const std::int64_t answer = connection_.insert_id();
  if (answer == 0) return read_members(beat, time);
  read_member_text(says, *std::ranges::find(list_.members, beat.node, &Member::node));
  return {from_ms(answer), list_.members};
}

BeatReply MysqlLedger::read_members(const Beat& beat, const std::string& now) {
  list_.mark.reset();
  const std::string space = bytes(beat.space);
  Rows rows = connection_.select(
      statements::read_members.with({{"namespace", space}, {"node", bytes(beat.node)}, {"now", now}}));
  BeatReply reply;
  std::int64_t mark = 0;
  std::string removals;
  while (rows.next()) {
    reply.now = from_ms(rows.integer(5));
    if (rows.integer(3) != 0) {
      reply.members.push_back(member_in(rows));
      mark ^= rows.integer(4);
    } else {
      removals.append(removals.empty() ? "" : ";");
      removals.append(
          statements::remove_dead.with({{"namespace", space}, {"node", bytes(rows.text(0))}, {"now", now}}));
    }
  }
  if (!removals.empty()) connection_.run(removals);
  list_ = {std::string{beat.space}, std::string{beat.node}, reply.members, std::nullopt};
  if (std::ranges::find(list_.members, beat.node, &Member::node) != list_.members.end()) list_.mark = mark;
  return reply;
}

std::vector<Member> MysqlLedger::members(std::string_view space, TimePoint now) {
  std::vector<Member> members;
  Rows rows = connection_.select(statements::members.with({{"namespace", bytes(space)}, {"now", literal(now)}}));
  while (rows.next()) members.push_back(member_in(rows));
  return members;
}

bool MysqlLedger::leave(std::string_view space, std::string_view node) {
  return connection_.run(statements::leave.with({{"namespace", bytes(space)}, {"node", bytes(node)}})) > 0;
}

// --- Pauses ---

// Stored first, and taken back if there are too many: a handler that is paused already makes them no more.
Pausing MysqlLedger::pause(std::string_view space, const PausedHandler& handler) {
  const auto stored = connection_.run(statements::pause.with({{"namespace", bytes(space)},
                                                              {"handler", bytes(handler.handler)},
                                                              {"since", literal(handler.since)},
                                                              {"why", bytes(handler.why)}}));
  if (stored == 0) return Pausing::was_paused;
  const auto there = std::stoull(connection_.ask(statements::count_paused.with({{"namespace", bytes(space)}})));
  if (there <= kMostPaused) return Pausing::done;
  resume(space, handler.handler);
  return Pausing::too_many;
}

bool MysqlLedger::resume(std::string_view space, std::string_view handler) {
  return connection_.run(statements::resume.with({{"namespace", bytes(space)}, {"handler", bytes(handler)}})) > 0;
}

PausedReply MysqlLedger::paused(std::string_view space, std::optional<TimePoint> now) {
  Rows rows = connection_.select(statements::paused.with({{"now", time_or_servers(now)}, {"namespace", bytes(space)}}));
  PausedReply reply;
  while (rows.next()) {
    reply.now = from_ms(rows.integer(0));
    if (rows.is_null(1)) continue;
    reply.handlers.push_back({std::string{rows.text(1)}, from_ms(rows.integer(2)), std::string{rows.text(3)}});
  }
  return reply;
}

// --- Inbox ---

std::vector<InboxRow> MysqlLedger::inbox(const IntakeQuery& query) {
  std::vector<InboxRow> found;
  Rows rows = connection_.select(statements::lock_inbox.with({{"namespace", in_quotes(escaped(query.space))},
                                                              {"handlers", handler_list(query.handlers)},
                                                              {"limit", std::to_string(query.limit)}}));
  while (rows.next()) found.push_back(sql::read_inbox_row(rows));
  return found;
}

void MysqlLedger::refuse_inbox(std::int64_t id, const std::string& why, TimePoint now) {
  connection_.run(
      statements::refuse_call.with({{"error", characters(why)}, {"now", literal(now)}, {"id", literal(id)}}));
}

void MysqlLedger::clear_inbox(std::span<const std::int64_t> ids) {
  by_pieces(ids, [&](std::span<const std::int64_t> piece) {
    const std::string list = list_of(piece, [](std::int64_t id) { return literal(id); });
    connection_.run(statements::clear_inbox.with({{"ids", list}}));
  });
}

sql::Glance MysqlLedger::glance(const LoadQuery& query, std::optional<TimePoint> now) {
  Rows rows = connection_.select(statements::glance.with({{"now", time_or_servers(now)},
                                                          {"namespace", in_quotes(escaped(query.space))},
                                                          {"handlers", handler_list(query.handlers)}}));
  rows.next();
  return {.now = from_ms(rows.integer(0)),
          .total_shards = text_or_nothing(rows, 2),
          .layout = text_or_nothing(rows, 3),
          .inbox = rows.integer(1) != 0};
}

}  // namespace easyretry::storage::mysql
