#include "storage/postgres/ledger.h"

#include "storage/member_text.h"
#include "storage/postgres/statements.h"
#include "storage/record_columns.h"
#include "storage/sql/inbox_columns.h"
#include "storage/sql/row_id.h"

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
    values.append(values.empty() ? "(" : ",(").append(std::to_string(sql::row_id(random_))).append(",");
    values.append(std::to_string(to_ms(key.day))).append(",");
    values.append(db_.literal(key.space)).append(",").append(db_.literal(key.handler)).append(",");
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
      .texts([](const Entry& row) { return std::string_view{row.first.space}; })
      .texts([](const Entry& row) { return std::string_view{row.first.handler}; })
      .texts([](const Entry& row) { return std::string_view{row.first.kind}; })
      .numbers([](const Entry& row) { return row.second; });
  db_.run(statements::add_totals, params);
}

void PostgresLedger::read_counts(std::string_view space, Sums& into) {
  add_rows(db_.run(statements::read_counts, Params{}.add(space)), into);
}

bool PostgresLedger::has_sums() {
  return db_.run(statements::has_sums).size() > 0;
}

BeatReply PostgresLedger::beat(const Beat& beat, std::optional<TimePoint> now) {
  const std::string text = member_text(beat.says, beat.handlers);
  Params params;
  params.add(beat.space).add(beat.node).add(ms(now)).add(beat.ttl.count()).add(text);
  const Rows rows = db_.run(statements::beat, params);
  return {from_ms(rows.integer(0, 0)), rows.each([&](int row) { return member_in(rows, row, 1); })};
}

std::vector<Member> PostgresLedger::members(std::string_view space, TimePoint now) {
  const Rows rows = db_.run(statements::members, Params{}.add(space).add(to_ms(now)));
  return rows.each([&](int row) { return member_in(rows, row, 0); });
}

bool PostgresLedger::leave(std::string_view space, std::string_view node) {
  return db_.run(statements::leave, Params{}.add(space).add(node)).size() > 0;
}

// Stored first, and taken back if there are too many: a handler that is paused already adds nothing.
Pausing PostgresLedger::pause(std::string_view space, const PausedHandler& handler) {
  Params params;
  params.add(space).add(handler.handler).add(to_ms(handler.since)).add(handler.why);
  if (db_.run(statements::pause, params).size() == 0) return Pausing::was_paused;
  const Rows there = db_.run(statements::count_pauses, Params{}.add(space));
  if (static_cast<std::size_t>(there.integer(0, 0)) <= kMostPaused) return Pausing::done;
  resume(space, handler.handler);
  return Pausing::too_many;
}

bool PostgresLedger::resume(std::string_view space, std::string_view handler) {
  return db_.run(statements::resume, Params{}.add(space).add(handler)).size() > 0;
}

PausedReply PostgresLedger::paused(std::string_view space, std::optional<TimePoint> now) {
  const Rows rows = db_.run(statements::paused, Params{}.add(space).add(ms(now)));
  PausedReply reply{from_ms(rows.integer(0, 0)), {}};
  for (int i = 0; i < rows.size(); ++i) {
    if (rows.is_null(i, 1)) continue;
    reply.handlers.push_back({rows.str(i, 1), from_ms(rows.integer(i, 2)), rows.str(i, 3)});
  }
  return reply;
}

sql::Glance PostgresLedger::glance(const LoadQuery& query, std::optional<TimePoint> now) {
  Params params;
  params.add(query.space).add(views(query.handlers)).add(ms(now));
  const Rows rows = db_.run(statements::glance, params);
  return {.now = from_ms(rows.integer(0, 0)),
          .total_shards = maybe_text(rows, 0, 2),
          .layout = maybe_text(rows, 0, 3),
          .inbox = rows.integer(0, 1) != 0};
}

std::vector<InboxRow> PostgresLedger::inbox(const IntakeQuery& query) {
  Params params;
  params.add(query.space).add(views(query.handlers)).add(limit(query.limit));
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

void PostgresLedger::announce(const std::string& space) {
  db_.run(statements::announce, Params{}.add(space));
}

}  // namespace easyretry::storage::postgres
