#pragma once
// Counts, members, pauses and the inbox. The statements are in the .sql files of these names.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "storage/mysql/connection.h"

namespace easyretry::storage::mysql {

class MysqlLedger final : public sql::Ledger {
 public:
  // `sums` are those of the session's transaction.
  MysqlLedger(Connection& connection, const Sums& sums) : connection_(connection), sums_(sums) {}

  // The statement that writes the sums; empty if there are none. For a commit, at no cost of a round trip.
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

  std::vector<InboxRow> inbox(const IntakeQuery& query) override;
  void refuse_inbox(std::int64_t id, const std::string& why, TimePoint now) override;
  void clear_inbox(std::span<const std::int64_t> ids) override;
  sql::Glance glance(const LoadQuery& query, std::optional<TimePoint> now) override;

 private:
  // The members as this session has read them last. A heartbeat asks only whether they are still the same.
  struct MemberList {
    std::string space;
    std::string node;  // whose heartbeats read it
    std::vector<Member> members;
    std::optional<std::int64_t> mark;  // of the list; empty if there is no list
  };
  BeatReply read_members(const Beat& beat, const std::string& now);

  Connection& connection_;
  const Sums& sums_;
  base::Random random_{base::random_seed()};
  MemberList list_;
};

}  // namespace easyretry::storage::mysql
