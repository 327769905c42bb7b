#pragma once
// Sums of tasks stored and ended. Transactions append theirs to retry_count_delta, so that none waits for another; they
// are added up in retry_count later (sql/folding.h).

#include <string>

#include "base/random.h"
#include "storage/counts.h"
#include "storage/mysql/connection.h"

namespace easyretry::storage::mysql {

std::string create_count();
std::string create_count_delta();

std::string insert_sums(const Sums& sums, base::Random& ids);  // not to be run where there are none

// See sql::Session.
std::size_t take_sums(Connection& connection, std::size_t limit, Sums& into);
std::size_t take_days(Connection& connection, TimePoint before, std::size_t limit, Sums& into);
void add_totals(Connection& connection, const Sums& sums);
void read_counts(Connection& connection, std::string_view space, Sums& into);

}  // namespace easyretry::storage::mysql
