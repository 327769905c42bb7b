#pragma once
// Counts what the runs have covered: a run in which nothing goes wrong, or nothing works, proves nothing.

#include <cstdint>
#include <map>
#include <string>

#include "sim/journal.h"
#include "sim/user_code.h"

namespace easyretry::sim {

using Coverage = std::map<std::string, std::uint64_t>;

void add_coverage(Coverage& coverage, const std::vector<Entry>& journal, const std::map<std::string, Plan>& plans);

// Compares with the least that a thousand runs must cover. Returns what is missing; empty: nothing.
std::string missing_coverage(const Coverage& coverage, std::uint64_t runs);

}  // namespace easyretry::sim
