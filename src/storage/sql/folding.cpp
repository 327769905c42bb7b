#include "storage/sql/folding.h"

namespace easyretry::storage::sql {
namespace {

// A few milliseconds a transaction, and of 200 transactions a second, five seconds' worth.
constexpr std::size_t kRowsAFold = 1000;

}  // namespace

bool fold_sums(Session& session) {
  Sums sums;
  const std::size_t taken = session.ledger().take_sums(kRowsAFold, sums);
  if (taken > 0) session.ledger().add_totals(sums);
  return taken == kRowsAFold;
}

bool fold_days(Session& session, TimePoint now) {
  const TimePoint first = first_day_kept(now);
  Sums sums;
  const std::size_t taken = session.ledger().take_days(first, kRowsAFold, sums);
  sums.join_days(first);
  if (taken > 0) session.ledger().add_totals(sums);
  return taken == kRowsAFold;
}

}  // namespace easyretry::storage::sql
