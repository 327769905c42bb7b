#pragma once
// Counts, members, pauses and the inbox of PostgreSQL.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "storage/postgres/connection.h"
#include "storage/sql/session.h"

namespace easyretry::storage::postgres {

class PostgresLedger final : public sql::Ledger {
 public:
  // Neither is used before both are constructed.
  PostgresLedger(Connection& db, const Sums& sums) : db_(db), sums_(sums) {}

  // The sums of this transaction as a statement that ends in a semicolon, so that it shares a round trip with the next
  // one. Empty if there is nothing to count.
  std::string insert_sums();
  void write_sums() override;
  std::size_t take_sums(std::size_t limit, Sums& into) override;
  std::size_t take_days(TimePoint before, std::size_t limit, Sums& into) override;
  void add_totals(const Sums& sums) override;
  void read_counts(std::string_view space, Sums& into) override;
  bool has_sums() override;

  BeatReply beat(const Beat& beat, std::optional<TimePoint> now) override;
  std::vector<Member> members(std::string_view space, TimePoint now) override;
  bool leave(std::string_view space, std::string_view node) override;

  Pausing pause(std::string_view space, const PausedHandler& handler) override;
  bool resume(std::string_view space, std::string_view handler) override;
  PausedReply paused(std::string_view space, std::optional<TimePoint> now) override;

  sql::Glance glance(const LoadQuery& query, std::optional<TimePoint> now) override;
  std::vector<InboxRow> inbox(const IntakeQuery& query) override;
  void refuse_inbox(std::int64_t id, const std::string& why, TimePoint now) override;
  void clear_inbox(std::span<const std::int64_t> ids) override;
  void announce(const std::string& space) override;

 private:
  Connection& db_;
  const Sums& sums_;
  base::Random random_{base::random_seed()};
};

}  // namespace easyretry::storage::postgres
