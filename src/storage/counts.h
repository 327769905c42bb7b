#pragma once
// Counts of tasks that were stored and ended, as stores keep them: one number per day, namespace, handler and kind.

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <easyretry/stats.h>

namespace easyretry::storage {

// Stands for all days that are no longer counted one by one.
inline constexpr TimePoint kFormerDays{};

struct CountKey {
  TimePoint day{};  // midnight UTC, or kFormerDays
  std::string name_space{};
  std::string handler{};
  std::string kind{};  // STORED, or an outcome
  friend auto operator<=>(const CountKey&, const CountKey&) = default;
};

TimePoint day_of(TimePoint time);
// Days before this one are merged into kFormerDays.
TimePoint first_day_kept(TimePoint now);

class Sums {
 public:
  using Rows = std::map<CountKey, std::int64_t>;

  Sums() = default;
  Sums(const Sums&) = delete;
  Sums& operator=(const Sums&) = delete;

  void stored(std::string_view name_space, std::string_view handler, TimePoint now);
  void ended(std::string_view name_space, std::string_view handler, Outcome outcome, TimePoint now);
  void add(CountKey key, std::int64_t tasks);
  // Merges the days before this one into kFormerDays.
  void join_days(TimePoint before);

  const Rows& rows() const { return rows_; }
  bool empty() const { return rows_.empty(); }
  void clear();

 private:
  void add_one(std::string_view name_space, std::string_view handler, std::string_view kind, TimePoint now);

  Rows rows_;
  Rows::iterator last_ = rows_.end();  // where the last task was counted: most tasks of a batch have the same key
};

// The public form of one namespace's counts. Leaves out kinds that this release does not know.
Counts counts_of(const Sums& sums, std::string_view name_space);

// Reads a row of (day, namespace, method_name, kind, tasks). Row has integer(column) and text(column).
template <class Row>
void read_count(const Row& row, Sums& into) {
  into.add(
      {TimePoint{Millis{row.integer(0)}}, std::string{row.text(1)}, std::string{row.text(2)}, std::string{row.text(3)}},
      row.integer(4));
}

}  // namespace easyretry::storage
