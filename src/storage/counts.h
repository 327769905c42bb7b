#pragma once
// Sums of tasks stored and ended, as the stores keep them: one number for each day, namespace, handler and kind.

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <easyretry/counts.h>

namespace easyretry::storage {

// Of days that are no longer told apart.
inline constexpr TimePoint kFormerDays{};

struct CountKey {
  TimePoint day{};  // its beginning, UTC; or kFormerDays
  std::string space{};
  std::string handler{};
  std::string kind{};  // STORED, or an outcome
  friend auto operator<=>(const CountKey&, const CountKey&) = default;
};

TimePoint day_of(TimePoint time);
// Days before this one are no longer told apart.
TimePoint first_day_kept(TimePoint now);

class Sums {
 public:
  using Rows = std::map<CountKey, std::int64_t>;

  Sums() = default;
  Sums(const Sums&) = delete;
  Sums& operator=(const Sums&) = delete;

  void stored(std::string_view space, std::string_view handler, TimePoint now);
  void ended(std::string_view space, std::string_view handler, Outcome outcome, TimePoint now);
  void add(CountKey key, std::int64_t tasks);
  // Days before this one become kFormerDays.
  void join_days(TimePoint before);

  const Rows& rows() const { return rows_; }
  bool empty() const { return rows_.empty(); }
  void clear();

 private:
  void add_one(std::string_view space, std::string_view handler, std::string_view kind, TimePoint now);

  Rows rows_;
  Rows::iterator last_ = rows_.end();  // tasks of a batch are mostly alike
};

// What people are given, of one namespace. A kind that this release does not know is left out.
Counts counts_of(const Sums& sums, std::string_view space);

// What every SQL statement that gives sums selects, in this order.
inline constexpr std::string_view kCountColumns = "day, namespace, method_name, kind, tasks";

// Row has integer(column) and text(column).
template <class Row>
void read_count(const Row& row, Sums& into) {
  into.add(
      {TimePoint{Millis{row.integer(0)}}, std::string{row.text(1)}, std::string{row.text(2)}, std::string{row.text(3)}},
      row.integer(4));
}

}  // namespace easyretry::storage
