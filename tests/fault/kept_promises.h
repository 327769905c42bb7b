#pragma once
// Whether what was acknowledged is in a store.

#include <set>
#include <string>

#include "fault/crew.h"
#include "storage/store.h"

namespace easyretry::fault {

std::size_t acknowledged(Crew& crew);

// Fails the test for what was acknowledged and is neither live nor ended in the SQLite store of this url, and where the
// file is damaged.
void expect_all_acknowledged_in(const std::string& url, Crew& crew);

}  // namespace easyretry::fault
