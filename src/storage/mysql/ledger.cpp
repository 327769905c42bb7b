#include <algorithm>

#include "storage/member_text.h"
#include "storage/mysql/session.h"
#include "storage/mysql/statements.h"
#include "storage/mysql/values.h"

namespace easyretry::storage::mysql {
namespace {

std::string count_values(const CountKey& key, std::int64_t tasks) {
  return literal(key.day) + "," + bytes(key.name_space) + "," + bytes(key.handler) + "," + bytes(key.kind) + "," +
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
    return "(" + literal(random_row_id()) + "," + count_values(row.first, row.second) + ")";
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

void MysqlLedger::read_counts(std::string_view name_space, Sums& into) {
  Rows rows = connection_.select(statements::counts.with({{"namespace", bytes(name_space)}}));
  while (rows.next()) read_count(rows, into);
}

bool MysqlLedger::has_sums() {
  return connection_.select(statements::has_sums.str()).next();
}

// --- Members ---

BeatReply MysqlLedger::beat(const Beat& beat, std::optional<TimePoint> now) {
  if (list_.name_space != beat.name_space || list_.node != beat.node) list_.mark.reset();
  const std::string time = time_or_servers(now);
  const std::string says = member_text(beat.says, beat.handlers);
  connection_.run(statements::beat.with({{"namespace", bytes(beat.name_space)},
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
  const std::string name_space = bytes(beat.name_space);
  Rows rows = connection_.select(
      statements::read_members.with({{"namespace", name_space}, {"node", bytes(beat.node)}, {"now", now}}));
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
          statements::remove_dead.with({{"namespace", name_space}, {"node", bytes(rows.text(0))}, {"now", now}}));
    }
  }
  if (!removals.empty()) connection_.run(removals);
  list_ = {std::string{beat.name_space}, std::string{beat.node}, reply.members, std::nullopt};
  if (std::ranges::find(list_.members, beat.node, &Member::node) != list_.members.end()) list_.mark = mark;
  return reply;
}

std::vector<Member> MysqlLedger::members(std::string_view name_space, TimePoint now) {
  std::vector<Member> members;
  Rows rows = connection_.select(statements::members.with({{"namespace", bytes(name_space)}, {"now", literal(now)}}));
  while (rows.next()) members.push_back(member_in(rows));
  return members;
}

bool MysqlLedger::leave(std::string_view name_space, std::string_view node) {
  return connection_.run(statements::leave.with({{"namespace", bytes(name_space)}, {"node", bytes(node)}})) > 0;
}

// --- Results ---

void MysqlLedger::keep_results(std::span<const sql::KeptResult> results) {
  std::vector<std::string> rows;
  for (const sql::KeptResult& one : results) {
    rows.push_back("(" + literal(one.id) + "," + literal(one.until) + "," + bytes(one.result) + ")");
  }
  const std::string statement = statements::keep_results.with({{"rows", kRows}});
  for (const Piece& piece : cut_rows(statement, rows, connection_.most_bytes())) connection_.run(piece.statement);
}

std::size_t MysqlLedger::drop_results(TimePoint now, std::size_t limit) {
  return connection_.run(statements::drop_results.with({{"now", literal(now)}, {"limit", std::to_string(limit)}}));
}

// --- Pauses ---

// Stores it first, and takes it back if there are too many: a handler that is already paused does not add to them.
PauseOutcome MysqlLedger::pause(std::string_view name_space, const PausedHandler& handler) {
  const auto stored = connection_.run(statements::pause.with({{"namespace", bytes(name_space)},
                                                              {"handler", bytes(handler.handler)},
                                                              {"since", literal(handler.since)},
                                                              {"why", bytes(handler.why)}}));
  if (stored == 0) return PauseOutcome::was_paused;
  const auto there = std::stoull(connection_.ask(statements::count_paused.with({{"namespace", bytes(name_space)}})));
  if (there <= kMostPaused) return PauseOutcome::paused;
  resume(name_space, handler.handler);
  return PauseOutcome::too_many;
}

bool MysqlLedger::resume(std::string_view name_space, std::string_view handler) {
  return connection_.run(statements::resume.with({{"namespace", bytes(name_space)}, {"handler", bytes(handler)}})) > 0;
}

PausedReply MysqlLedger::paused(std::string_view name_space, std::optional<TimePoint> now) {
  Rows rows =
      connection_.select(statements::paused.with({{"now", time_or_servers(now)}, {"namespace", bytes(name_space)}}));
  PausedReply reply;
  while (rows.next()) {
    reply.now = from_ms(rows.integer(0));
    if (rows.is_null(1)) continue;
    reply.handlers.push_back({std::string{rows.text(1)}, from_ms(rows.integer(2)), std::string{rows.text(3)}});
  }
  return reply;
}

// --- Counts over time ---

void MysqlLedger::save_series(std::string_view name_space, const SeriesPart& part) {
  connection_.run(statements::save_series.with(
      {{"namespace", bytes(name_space)}, {"part", literal(part.number)}, {"text", bytes(part.text)}}));
}

std::vector<SeriesPart> MysqlLedger::saved_series(std::string_view name_space) {
  std::vector<SeriesPart> parts;
  Rows rows = connection_.select(statements::saved_series.with({{"namespace", bytes(name_space)}}));
  while (rows.next()) parts.push_back({rows.integer(0), std::string{rows.text(1)}});
  return parts;
}

// --- Retention ---

RetentionMarks MysqlLedger::retention_marks() {
  RetentionMarks marks;
  Rows rows = connection_.select(statements::retention_marks.str());
  while (rows.next()) {
    marks[{std::string{rows.text(0)}, std::string{rows.text(1)}}] = {from_ms(rows.integer(2)),
                                                                     from_ms(rows.integer(3))};
  }
  return marks;
}

void MysqlLedger::mark_retention(const Walk& walk, TimePoint until) {
  const bool tasks = walk.what == Expiry::tasks;
  const std::string times =
      "," + literal(tasks ? until : TimePoint{}) + "," + literal(tasks ? TimePoint{} : until) + ")";
  const std::string name_space = bytes(walk.name_space);
  const std::string rows = list_of(
      walk.handlers, [&](const std::string& handler) { return "(" + name_space + "," + bytes(handler) + times; });
  connection_.run(statements::mark_retention.with({{"rows", rows}}));
}

std::vector<sql::EndedAt> MysqlLedger::ended(const std::string& history, const Walk& walk, std::size_t limit) {
  const std::string handlers = list_of(walk.handlers, [](const std::string& handler) { return bytes(handler); });
  std::vector<sql::EndedAt> tasks;
  Rows rows = connection_.select(statements::ended.with({{"table", history},
                                                         {"namespace", bytes(walk.name_space)},
                                                         {"handlers", handlers},
                                                         {"from", literal(walk.from)},
                                                         {"until", literal(walk.until)},
                                                         {"limit", std::to_string(limit)}}));
  while (rows.next()) tasks.push_back({TaskId{rows.integer(0)}, from_ms(rows.integer(1)), rows.integer(2) != 0});
  return tasks;
}

void MysqlLedger::remove_arguments(const std::string& history, std::span<const TaskId> ids) {
  by_pieces(ids, [&](std::span<const TaskId> piece) {
    connection_.run(statements::remove_arguments.with({{"table", history}, {"ids", id_list(piece)}}));
  });
}

// --- Inbox ---

std::vector<InboxRow> MysqlLedger::inbox(const IntakeQuery& query) {
  std::vector<InboxRow> found;
  Rows rows = connection_.select(statements::lock_inbox.with({{"namespace", in_quotes(escaped(query.name_space))},
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
                                                          {"namespace", in_quotes(escaped(query.name_space))},
                                                          {"handlers", handler_list(query.handlers)}}));
  rows.next();
  return {.now = from_ms(rows.integer(0)),
          .total_shards = text_or_nothing(rows, 2),
          .layout = text_or_nothing(rows, 3),
          .inbox = rows.integer(1) != 0};
}

}  // namespace easyretry::storage::mysql
