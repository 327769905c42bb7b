#include "storage/member_text.h"
#include "storage/postgres/session.h"
#include "storage/postgres/statements.h"

namespace easyretry::storage::postgres {
namespace {

std::size_t add_rows(const Rows& rows, Sums& into) {
  for (int i = 0; i < rows.size(); ++i) read_count(Row{rows, i}, into);
  return static_cast<std::size_t>(rows.size());
}

Member member_in(const Rows& rows, int row, int first_column) {
  Member member{.node = rows.str(row, first_column), .since = from_ms(rows.integer(row, first_column + 1))};
  read_member_text(rows.text(row, first_column + 2), member);
  return member;
}

std::optional<std::string> maybe_text(const Rows& rows, int row, int column) {
  if (rows.is_null(row, column)) return std::nullopt;
  return rows.str(row, column);
}

std::vector<std::string_view> views(std::span<const std::string> texts) {
  return {texts.begin(), texts.end()};
}

}  // namespace

std::string PostgresLedger::insert_sums() {
  std::string values;
  for (const auto& [key, tasks] : sums_.rows()) {
    values.append(values.empty() ? "(" : ",(").append(std::to_string(random_row_id())).append(",");
    values.append(std::to_string(to_ms(key.day))).append(",");
    values.append(db_.literal(key.name_space)).append(",").append(db_.literal(key.handler)).append(",");
    values.append(db_.literal(key.kind)).append(",").append(std::to_string(tasks)).append(")");
  }
  return values.empty() ? values : statements::insert_sums.with({{"values", values}}) + ";";
}

void PostgresLedger::write_sums() {
  if (!sums_.empty()) db_.run(insert_sums());
}

std::size_t PostgresLedger::take_sums(std::size_t most, Sums& into) {
  return add_rows(db_.run(statements::take_sums, Params{}.add(limit(most))), into);
}

std::size_t PostgresLedger::take_days(TimePoint before, std::size_t most, Sums& into) {
  return add_rows(db_.run(statements::take_days, Params{}.add(limit(most)).add(to_ms(before))), into);
}

void PostgresLedger::add_totals(const Sums& sums) {
  using Entry = Sums::Rows::value_type;
  const std::vector<Entry> rows{sums.rows().begin(), sums.rows().end()};
  Params params;
  Batch<Entry>{params, rows}
      .numbers([](const Entry& row) { return to_ms(row.first.day); })
      .texts([](const Entry& row) { return std::string_view{row.first.name_space}; })
      .texts([](const Entry& row) { return std::string_view{row.first.handler}; })
      .texts([](const Entry& row) { return std::string_view{row.first.kind}; })
      .numbers([](const Entry& row) { return row.second; });
  db_.run(statements::add_totals, params);
}

void PostgresLedger::read_counts(std::string_view name_space, Sums& into) {
  add_rows(db_.run(statements::read_counts, Params{}.add(name_space)), into);
}

bool PostgresLedger::has_sums() {
  return db_.run(statements::has_sums).size() > 0;
}

BeatReply PostgresLedger::beat(const Beat& beat, std::optional<TimePoint> now) {
  const std::string text = member_text(beat.says, beat.handlers);
  Params params;
  params.add(beat.name_space).add(beat.node).add(ms(now)).add(beat.ttl.count()).add(text);
  params.add(std::int64_t{beat.promise == Promise::kept ? 1 : 0});
  const Rows rows = db_.run(statements::beat, params);
  return {from_ms(rows.integer(0, 0)), rows.each([&](int row) { return member_in(rows, row, 1); })};
}

std::vector<Member> PostgresLedger::members(std::string_view name_space, TimePoint now) {
  const Rows rows = db_.run(statements::members, Params{}.add(name_space).add(to_ms(now)));
  return rows.each([&](int row) { return member_in(rows, row, 0); });
}

bool PostgresLedger::leave(std::string_view name_space, std::string_view node) {
  return db_.run(statements::leave, Params{}.add(name_space).add(node)).size() > 0;
}

void PostgresLedger::keep_results(std::span<const sql::KeptResult> results) {
  Params params;
  Batch<sql::KeptResult>{params, results}
      .numbers([](const sql::KeptResult& r) { return number(r.id); })
      .numbers([](const sql::KeptResult& r) { return to_ms(r.until); })
      .bytes([](const sql::KeptResult& r) { return r.result; });
  db_.run(statements::keep_results, params);
}

std::size_t PostgresLedger::drop_results(TimePoint now, std::size_t most) {
  return db_.run(statements::drop_results, Params{}.add(to_ms(now)).add(limit(most))).ids().size();
}

// Stores it first, and takes it back if there are too many: a handler that is already paused does not add to them.
PauseOutcome PostgresLedger::pause(std::string_view name_space, const PausedHandler& handler) {
  Params params;
  params.add(name_space).add(handler.handler).add(to_ms(handler.since)).add(handler.why);
  if (db_.run(statements::pause, params).size() == 0) return PauseOutcome::was_paused;
  const Rows there = db_.run(statements::count_pauses, Params{}.add(name_space));
  if (static_cast<std::size_t>(there.integer(0, 0)) <= kMostPaused) return PauseOutcome::paused;
  resume(name_space, handler.handler);
  return PauseOutcome::too_many;
}

bool PostgresLedger::resume(std::string_view name_space, std::string_view handler) {
  return db_.run(statements::resume, Params{}.add(name_space).add(handler)).size() > 0;
}

PausedReply PostgresLedger::paused(std::string_view name_space, std::optional<TimePoint> now) {
  const Rows rows = db_.run(statements::paused, Params{}.add(name_space).add(ms(now)));
  PausedReply reply{from_ms(rows.integer(0, 0)), {}};
  for (int i = 0; i < rows.size(); ++i) {
    if (rows.is_null(i, 1)) continue;
    reply.handlers.push_back({rows.str(i, 1), from_ms(rows.integer(i, 2)), rows.str(i, 3)});
  }
  return reply;
}

void PostgresLedger::save_series(std::string_view name_space, const SeriesPart& part) {
  db_.run(statements::save_series, Params{}.add(name_space).add(part.number).add(part.text));
}

std::vector<SeriesPart> PostgresLedger::saved_series(std::string_view name_space) {
  const Rows rows = db_.run(statements::saved_series, Params{}.add(name_space));
  return rows.each([&](int row) { return SeriesPart{rows.integer(row, 0), rows.str(row, 1)}; });
}

RetentionMarks PostgresLedger::retention_marks() {
  const Rows rows = db_.run(statements::retention_marks, Params{});
  RetentionMarks marks;
  for (int i = 0; i < rows.size(); ++i) {
    marks[{rows.str(i, 0), rows.str(i, 1)}] = {from_ms(rows.integer(i, 2)), from_ms(rows.integer(i, 3))};
  }
  return marks;
}

void PostgresLedger::mark_retention(const Walk& walk, TimePoint until) {
  const bool tasks = walk.what == Expiry::tasks;
  Params params;
  params.add(walk.name_space).add(views(walk.handlers));
  params.add(to_ms(tasks ? until : TimePoint{})).add(to_ms(tasks ? TimePoint{} : until));
  db_.run(statements::mark_retention, params);
}

std::vector<sql::EndedAt> PostgresLedger::ended(const std::string& history, const Walk& walk, std::size_t most) {
  const std::vector<std::string_view> handlers{walk.handlers.begin(), walk.handlers.end()};
  Params params;
  params.add(to_ms(walk.from)).add(to_ms(walk.until)).add(limit(most)).add(walk.name_space).add(handlers);
  const Rows rows = db_.run(statements::ended.with({{"table", history}}), params);
  return rows.each([&](int i) {
    return sql::EndedAt{TaskId{rows.integer(i, 0)}, from_ms(rows.integer(i, 1)), rows.integer(i, 2) != 0};
  });
}

void PostgresLedger::remove_arguments(const std::string& history, std::span<const TaskId> ids) {
  db_.run(statements::remove_arguments.with({{"table", history}}), id_params(ids));
}

sql::Glance PostgresLedger::glance(const LoadQuery& query, std::optional<TimePoint> now) {
  Params params;
  params.add(query.name_space).add(views(query.handlers)).add(ms(now));
  const Rows rows = db_.run(statements::glance, params);
  return {.now = from_ms(rows.integer(0, 0)),
          .total_shards = maybe_text(rows, 0, 2),
          .layout = maybe_text(rows, 0, 3),
          .inbox = rows.integer(0, 1) != 0};
}

std::vector<InboxRow> PostgresLedger::inbox(const IntakeQuery& query) {
  Params params;
  params.add(query.name_space).add(views(query.handlers)).add(limit(query.limit));
  const Rows rows = db_.run(statements::inbox, params);
  return rows.each([&](int row) { return sql::read_inbox_row(Row{rows, row}); });
}

void PostgresLedger::refuse_inbox(std::int64_t id, const std::string& why, TimePoint now) {
  TextCleaner clean;
  db_.run(statements::refuse_inbox, Params{}.add(id).add(clean(why)).add(to_ms(now)));
}

void PostgresLedger::clear_inbox(std::span<const std::int64_t> ids) {
  db_.run(statements::clear_inbox, Params{}.add(ids));
}

void PostgresLedger::announce(const std::string& name_space) {
  db_.run(statements::announce, Params{}.add(name_space));
}

}  // namespace easyretry::storage::postgres
