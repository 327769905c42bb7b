// PostgresSession: new rows, and the keys that they take.

#include <algorithm>
#include <deque>
#include <tuple>

#include "storage/postgres/session.h"
#include "storage/postgres/statements.h"
#include "storage/sql/lane.h"
#include "task/task_id.h"

namespace easyretry::storage::postgres {
namespace {

// Rows in the order of their keys: two batches with the same keys wait for each other, but never in a circle.
std::vector<TaskRecord> by_key(std::span<const TaskRecord> rows) {
  std::vector<TaskRecord> sorted{rows.begin(), rows.end()};
  std::stable_sort(sorted.begin(), sorted.end(), [](const TaskRecord& a, const TaskRecord& b) {
    return std::tie(a.info.space, a.info.key) < std::tie(b.info.space, b.info.key);
  });
  return sorted;
}

std::string_view on_conflict(Duplicates duplicates) {
  return duplicates == Duplicates::are_left_out ? "ON CONFLICT DO NOTHING" : "";
}

// The columns that a task and its history share.
RowColumns<TaskRecord> record_columns(Params& params, std::span<const TaskRecord> rows) {
  using R = TaskRecord;
  TextCleaner clean;
  std::deque<std::string> tags;
  RowColumns<R> columns{params, rows};
  columns.numbers("id", [](const R& r) { return number(r.info.id); })
      .texts("namespace", [](const R& r) { return std::string_view{r.info.space}; })
      .texts("task_key", [](const R& r) { return std::string_view{r.info.key}; })
      .texts("method_name", [](const R& r) { return std::string_view{r.info.handler}; })
      .numbers("version", [](const R& r) { return r.info.version; })
      .texts("stage", [](const R& r) { return to_string(r.info.stage); })
      .texts("outcome", [](const R& r) { return r.info.outcome ? to_string(*r.info.outcome) : std::string_view{}; })
      .numbers("next_retry_time", [](const R& r) { return to_ms(r.info.next_at); })
      .numbers("attempt_count", [](const R& r) { return r.info.attempts; })
      .numbers("callback_count", [](const R& r) { return r.callback_attempts; })
      .numbers("crash_count", [](const R& r) { return r.info.crashes; })
      .numbers("delivery_count", [](const R& r) { return r.info.deliveries; })
      .numbers("generation", [](const R& r) { return r.info.generation; })
      .numbers("payload_version", [](const R& r) { return r.payload_version; })
      .numbers("max_attempts", [](const R& r) { return r.rules.max_attempts; })
      .numbers("created_at", [](const R& r) { return to_ms(r.info.created_at); })
      .numbers("max_retry_duration", [](const R& r) { return r.rules.max_duration.count(); })
      .numbers("deadline", [](const R& r) { return ms(r.rules.deadline); })
      .numbers("first_failed_at", [](const R& r) { return ms(r.info.first_failed_at); })
      .numbers("last_error_time", [](const R& r) { return ms(r.info.last_failed_at); })
      .texts("backoff_strategy", [](const R& r) { return or_null(r.rules.backoff); })
      .texts("business_type", [](const R& r) { return or_null(r.info.business_type); })
      .texts("business_id", [](const R& r) { return or_null(r.info.business_id); })
      .texts("tags",
             [&](const R& r) {
               if (r.info.tags.empty()) return std::string_view{};
               return or_null(clean(tags.emplace_back(tags_text(r.info.tags))));
             })
      .texts("traceparent", [&](const R& r) { return or_null(clean(r.info.traceparent)); })
      .texts("progress", [&](const R& r) { return or_null(clean(r.info.progress)); })
      .texts("last_error_msg", [&](const R& r) { return or_null(clean(r.info.last_error)); })
      .bytes("params_json", [](const R& r) { return std::string_view{r.payload}; })
      .bytes("result_json", [](const R& r) { return or_null(r.result); });
  return columns;
}

std::string insert_statement(const std::string& table, const RowColumns<TaskRecord>& columns,
                             const std::string& history, Duplicates duplicates) {
  const std::string unless_ended =
      history.empty() ? std::string{} : statements::insert_unless_ended.with({{"history", history}});
  return statements::insert.with({{"table", table},
                                  {"columns", columns.columns()},
                                  {"values", columns.values()},
                                  {"arrays", columns.arrays()},
                                  {"varying", columns.varying()},
                                  {"unless_ended", unless_ended},
                                  {"on_conflict", on_conflict(duplicates)}});
}

Params key_params(std::span<const TaskRecord> rows) {
  Params params;
  Batch<TaskRecord>{params, rows}
      .texts([](const TaskRecord& r) { return std::string_view{r.info.space}; })
      .texts([](const TaskRecord& r) { return std::string_view{r.info.key}; });
  return params;
}

}  // namespace

std::vector<TaskId> PostgresSession::insert(const std::string& table, const std::string& history,
                                            std::span<const TaskRecord> rows) {
  using R = TaskRecord;
  const std::vector<R> sorted = by_key(rows);
  Params params;
  TextCleaner clean;
  auto columns = record_columns(params, sorted);
  columns.numbers("scan_time", [](const R& r) { return to_ms(r.info.next_at); })
      .texts("status", [](const R& r) { return to_string(r.info.state); })
      .numbers("shard", [](const R& r) { return static_cast<std::int64_t>(task::shard_of(r.info.id)); })
      .numbers("lane", [](const R& r) { return sql::lane_of(r.info.space, task::shard_of(r.info.id)); })
      .numbers("lease_until", [](const R& r) { return to_ms(r.lease_until); })
      .texts("locked_by", [&](const R& r) { return or_null(clean(r.locked_by)); })
      .numbers("locked_at",
               [](const R& r) -> std::optional<std::int64_t> {
                 if (r.locked_by.empty()) return std::nullopt;
                 return to_ms(r.info.created_at);
               })
      .numbers("updated_at", [](const R& r) { return to_ms(r.info.created_at); });
  return expect_new(rows.size(), [&](Duplicates duplicates) {
    return db_.run(insert_statement(table, columns, history, duplicates), params).ids();
  });
}

std::vector<sql::LiveKey> PostgresSession::live_keys(const std::string& table, std::span<const TaskRecord> keys) {
  const Rows rows = db_.run(statements::live_keys.with({{"table", table}}), key_params(keys));
  return rows.each([&](int row) {
    return sql::LiveKey{rows.str(row, 0),
                        rows.str(row, 1),
                        {TaskId{rows.integer(row, 2)}, rows.integer(row, 3), from_ms(rows.integer(row, 4)), false}};
  });
}

void PostgresSession::update_rules(const std::string& table, std::span<const sql::NewRules> updates) {
  std::vector<sql::NewRules> sorted{updates.begin(), updates.end()};
  std::ranges::sort(sorted, {}, [](const sql::NewRules& r) { return r.ticket.id; });
  Params params;
  Batch<sql::NewRules>{params, sorted}
      .numbers([](const sql::NewRules& r) { return number(r.ticket.id); })
      .numbers([](const sql::NewRules& r) { return r.rules.max_attempts; })
      .numbers([](const sql::NewRules& r) { return r.rules.max_duration.count(); })
      .maybe_numbers([](const sql::NewRules& r) { return ms(r.rules.deadline); })
      .maybe_texts([](const sql::NewRules& r) { return or_null(r.rules.backoff); });
  db_.run(statements::update_rules.with({{"table", table}}), params);
}

std::vector<TaskId> PostgresSession::take_keys(std::span<const TaskRecord> rows) {
  const std::vector<TaskRecord> sorted = by_key(rows);
  Params params;
  Batch<TaskRecord>{params, sorted}
      .numbers([](const TaskRecord& r) { return number(r.info.id); })
      .texts([](const TaskRecord& r) { return std::string_view{r.info.space}; })
      .texts([](const TaskRecord& r) { return std::string_view{r.info.key}; });
  return expect_new(rows.size(), [&](Duplicates duplicates) {
    return db_.run(statements::take_keys.with({{"on_conflict", on_conflict(duplicates)}}), params).ids();
  });
}

std::vector<sql::KeyHolder> PostgresSession::key_holders(std::span<const TaskRecord> keys) {
  const Rows rows = db_.run(statements::key_holders, key_params(keys));
  return rows.each([&](int row) {
    return sql::KeyHolder{rows.str(row, 0), rows.str(row, 1), TaskId{rows.integer(row, 2)}};
  });
}

void PostgresSession::insert_history(const std::string& history, std::span<const TaskRecord> rows) {
  Params params;
  auto columns = record_columns(params, rows);
  columns.numbers("finished_at", [](const TaskRecord& r) { return ms(r.info.finished_at); });
  db_.run(insert_statement(history, columns, {}, Duplicates::are_left_out), params);
}

}  // namespace easyretry::storage::postgres
