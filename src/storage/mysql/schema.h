#pragma once
// The tables, retry_meta, and rows that change their table or their shard. The DDL is in sql/tables.sql and
// migrations/.

#include <optional>
#include <string>
#include <vector>

#include "storage/durability.h"
#include "storage/mysql/connection.h"

namespace easyretry::storage::mysql {

class MysqlSchema final : public sql::Schema {
 public:
  explicit MysqlSchema(Connection& connection) : connection_(connection) {}

  std::vector<std::string> tables() override;
  std::vector<sql::TableFacts> table_facts() override;
  void create_tasks(const std::string& table, sql::KeysIn keys) override;
  void create_keys() override;
  void create_history(const std::string& table) override;
  void complete_history(const std::string& table) override;
  void drop(const std::string& table) override;
  bool drop_empty(const std::string& table) override;
  void note(const KeepStep& step, TimePoint now, TimePoint forget_before) override;

  int version() const override { return 2; }
  std::vector<std::string> migration(int version) override;
  void define(const std::string& what, const std::string& statement) override;

  std::optional<std::string> meta(const std::string& name) override;
  std::string agree(const std::string& name, const std::string& value) override;
  std::string hold_layout() override;
  bool change_meta(const std::string& name, const std::string& from, const std::string& to) override;

  sql::Moved move(const sql::Move& move) override;
  ShardPage shard_page(const ShardPageQuery& query, TimePoint now) override;
  void renumber(const ShardPageQuery& query, TaskId last) override;

  Durability durability() override;
  // InnoDB shows a commit to others before it is flushed.
  bool reads_run_ahead() const override { return true; }

 private:
  bool lacks_requeued_as(const std::string& history);

  Connection& connection_;
};

}  // namespace easyretry::storage::mysql
