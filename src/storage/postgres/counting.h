#pragma once
// Sums of tasks stored and ended. Transactions append theirs to retry_count_delta, so that none waits for another; they
// are added up in retry_count later (sql/folding.h).

#include <string>

#include "base/random.h"
#include "storage/counts.h"
#include "storage/postgres/connection.h"

namespace easyretry::storage::postgres {

std::string create_counts();

// Values in the text, so that it shares a round trip with what follows it. Empty where there is nothing to count.
std::string insert_sums(Connection& db, const Sums& sums, base::Random& ids);

// See sql::Session.
std::size_t take_sums(Connection& db, std::size_t limit, Sums& into);
std::size_t take_days(Connection& db, TimePoint before, std::size_t limit, Sums& into);
void add_totals(Connection& db, const Sums& sums);
void read_counts(Connection& db, std::string_view space, Sums& into);

}  // namespace easyretry::storage::postgres
