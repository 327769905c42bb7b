#pragma once
// Instances that say that they live: retry_member.

#include <string>

#include "storage/mysql/connection.h"
#include "storage/store.h"

namespace easyretry::storage::mysql {

std::string create_members();

// See sql::Session.
void beat(Connection& connection, const Beat& beat, TimePoint now);
std::vector<Member> members(Connection& connection, std::string_view space, TimePoint now);
bool leave(Connection& connection, std::string_view space, std::string_view node);

}  // namespace easyretry::storage::mysql
