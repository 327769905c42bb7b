#pragma once
// Instances that say that they live: retry_member.

#include <optional>
#include <string>

#include "storage/postgres/connection.h"
#include "storage/store.h"

namespace easyretry::storage::postgres {

std::string create_members();

// See sql::Session.
BeatReply beat(Connection& db, const Beat& beat, std::optional<TimePoint> now);
std::vector<Member> members(Connection& db, std::string_view space, TimePoint now);
bool leave(Connection& db, std::string_view space, std::string_view node);

}  // namespace easyretry::storage::postgres
