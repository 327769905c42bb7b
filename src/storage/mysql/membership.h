#pragma once
// Instances that say that they live: retry_member.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/mysql/connection.h"
#include "storage/store.h"

namespace easyretry::storage::mysql {

std::string create_members();

// See sql::Session.
std::vector<Member> members(Connection& connection, std::string_view space, TimePoint now);
bool leave(Connection& connection, std::string_view space, std::string_view node);

// The members as a session has seen them. MySQL cannot write and read in one statement, but for one number: so a beat
// asks whether they are still the same, and the list is read when they are not.
class MemberList {
 public:
  BeatReply beat(Connection& connection, const Beat& beat, std::optional<TimePoint> now);

 private:
  BeatReply read(Connection& connection, const Beat& beat, std::optional<TimePoint> now);

  std::string space_;
  std::string node_;  // by whose beats it was read
  std::vector<Member> members_;
  std::optional<std::int64_t> mark_;  // of the list; nothing: there is none
};

}  // namespace easyretry::storage::mysql
