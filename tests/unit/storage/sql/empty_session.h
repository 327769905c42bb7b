#pragma once
// A session without a server.

#include <optional>
#include <string>
#include <vector>

#include "storage/sql/session.h"

namespace easyretry::storage::sql {

struct EmptySession : Session, Ledger, Schema {
  EmptySession() : Session(*this, *this) {}
  bool broken_now = false;

  bool broken() const override { return broken_now; }
  TimePoint begin(Promise) override { return {}; }
  void commit() override {}
  void roll_back() noexcept override {}
  void write_sums() override {}
  TimePoint now() override { return {}; }
  bool in_transaction() override { return false; }
  void run(const std::string&) override {}
  std::vector<TaskId> insert(const std::string&, const std::string&, std::span<const TaskRecord>) override {
    return {};
  }
  std::vector<LiveKey> live_keys(const std::string&, std::span<const TaskRecord>) override { return {}; }
  void update_rules(const std::string&, std::span<const NewRules>) override {}
  std::vector<TaskId> take_keys(std::span<const TaskRecord>) override { return {}; }
  std::vector<KeyHolder> key_holders(std::span<const TaskRecord>) override { return {}; }
  std::vector<TaskRecord> claim(const std::string&, const ClaimRequest&, TimePoint) override { return {}; }
  std::vector<EndedRow> finish(const std::string&, const std::string&, std::span<const Settlement>,
                               TimePoint) override {
    return {};
  }
  std::vector<TaskId> reschedule(const std::string&, std::span<const Settlement>, TimePoint) override { return {}; }
  std::vector<TaskId> renew(const std::string&, std::span<const Renewal>, TimePoint) override { return {}; }
  void hold(const std::string&, std::span<const TaskId>) override {}
  std::vector<TaskId> hold_free(const std::string&, std::span<const TaskId>) override { return {}; }
  std::vector<TaskRecord> lock(const std::string&, std::span<const TaskId>) override { return {}; }
  void update(const std::string&, std::span<const TaskRecord>, TimePoint) override {}
  void remove(const std::string&, std::span<const TaskId>) override {}
  std::vector<TaskRecord> lock_history(const std::string&, std::span<const TaskId>) override { return {}; }
  void mark_requeued(const std::string&, std::span<const Requeued>) override {}
  std::vector<EndedAt> ended(const std::string&, const Walk&, std::size_t) override { return {}; }
  void remove_arguments(const std::string&, std::span<const TaskId>) override {}
  RetentionMarks retention_marks() override { return {}; }
  void save_series(std::string_view, const SeriesPart&) override {}
  std::vector<SeriesPart> saved_series(std::string_view) override { return {}; }
  void mark_retention(const Walk&, TimePoint) override {}
  void keep_results(std::span<const KeptResult>) override {}
  std::size_t drop_results(TimePoint, std::size_t) override { return 0; }
  void insert_history(const std::string&, std::span<const TaskRecord>) override {}
  Moved move(const Move&) override { return {}; }
  void renumber(const ShardPageQuery&, TaskId) override {}
  std::string hold_layout() override { return {}; }
  std::vector<InboxRow> inbox(const IntakeQuery&) override { return {}; }
  void refuse_inbox(std::int64_t, const std::string&, TimePoint) override {}
  void clear_inbox(std::span<const std::int64_t>) override {}
  std::size_t take_sums(std::size_t, Sums&) override { return 0; }
  std::size_t take_days(TimePoint, std::size_t, Sums&) override { return 0; }
  void add_totals(const Sums&) override {}
  void read_counts(std::string_view, Sums&) override {}
  bool has_sums() override { return false; }
  BeatReply beat(const Beat&, std::optional<TimePoint>) override { return {}; }
  Glance glance(const LoadQuery&, std::optional<TimePoint>) override { return {}; }
  DuePage load(const std::string&, const LoadQuery&, std::optional<TimePoint>) override { return {}; }
  std::vector<Member> members(std::string_view, TimePoint) override { return {}; }
  bool leave(std::string_view, std::string_view) override { return false; }
  std::vector<DueRow> due(const std::string&, const DueQuery&) override { return {}; }
  std::vector<TaskRecord> find(const std::string&, bool, std::span<const TaskId>) override { return {}; }
  std::vector<TaskRecord> page(const Search&) override { return {}; }
  Reach reach(const Search&, std::size_t) override { return {}; }
  std::int64_t count(const Search&) override { return 0; }
  ShardPage shard_page(const ShardPageQuery&, TimePoint) override { return {}; }
  std::vector<std::string> tables() override { return {}; }
  void create_tasks(const std::string&, UniqueKeys) override {}
  void create_keys() override {}
  void create_history(const std::string&) override {}
  void complete(const std::string&) override {}
  int version() const override { return 0; }
  std::vector<std::string> migration(int) override { return {}; }
  void define(const std::string&, const std::string&) override {}
  void drop(const std::string&) override {}
  bool drop_empty(const std::string&) override { return false; }
  PauseOutcome pause(std::string_view, const PausedHandler&) override { return PauseOutcome::paused; }
  bool resume(std::string_view, std::string_view) override { return false; }
  PausedReply paused(std::string_view, std::optional<TimePoint>) override { return {}; }
  std::vector<TableFacts> table_facts() override { return {}; }
  void note(const KeepStep&, TimePoint, TimePoint) override {}
  std::optional<std::string> meta(const std::string&) override { return {}; }
  std::string agree(const std::string&, const std::string& value) override { return value; }
  bool change_meta(const std::string&, const std::string&, const std::string&) override { return false; }
  Durability durability() override { return {}; }
};

}  // namespace easyretry::storage::sql
