#include "storage/mysql/membership.h"

#include <algorithm>

#include "storage/member_text.h"
#include "storage/mysql/literals.h"

namespace easyretry::storage::mysql {
namespace {

std::string of(std::string_view space, std::string_view node) {
  return " WHERE namespace = " + bytes(space) + " AND node = " + bytes(node);
}

// A number for all that is told of a member; of oneself not what one says, which one knows.
std::string mark_of_row(const Beat& beat) {
  return "CAST(CONV(LEFT(SHA2(CONCAT_WS('\\n', node, since, IF(node = " + bytes(beat.node) +
         ", '', says)), 256), 15), 16, 10) AS SIGNED)";
}

// Leaves the time in insert_id() where the living are those of `mark`, and otherwise 0. One that is back after it was
// taken for dead has joined again.
std::string beat_statement(const Beat& beat, const std::string& now, std::optional<std::int64_t> mark) {
  const std::string same = "(SELECT BIT_XOR(" + mark_of_row(beat) +
                           ") FROM retry_member WHERE namespace = " + bytes(beat.space) + " AND alive_until > " + now +
                           ") = " + literal(mark.value_or(-1));
  return "INSERT INTO retry_member (namespace, node, since, alive_until, says) SELECT " + bytes(beat.space) + ", " +
         bytes(beat.node) + ", " + now + ", " + later(now, beat.ttl) + ", " +
         bytes(member_text(beat.says, beat.handlers)) + " FROM (SELECT IF(" + same + ", " + now +
         ", 0) AS answer) AS looked ON DUPLICATE KEY UPDATE since = IF(alive_until <= VALUES(since), VALUES(since), "
         "since), alive_until = VALUES(alive_until) + 0 * LAST_INSERT_ID(looked.answer), says = VALUES(says)";
}

Member member_in(const Rows& rows) {
  Member member{.node = std::string{rows.text(0)}, .since = from_ms(rows.integer(1))};
  read_member_text(rows.text(2), member);
  return member;
}

}  // namespace

std::string create_members() {
  return "CREATE TABLE IF NOT EXISTS retry_member (namespace VARBINARY(128) NOT NULL, node VARBINARY(512) NOT NULL, "
         "since BIGINT NOT NULL, alive_until BIGINT NOT NULL COMMENT 'until when it counts as alive', "
         "says VARBINARY(4096) NOT NULL COMMENT 'its shards, for display', "
         "PRIMARY KEY (namespace, node)) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin "
         "COMMENT='instances'";
}

BeatReply MemberList::beat(Connection& connection, const Beat& beat, std::optional<TimePoint> now) {
  if (space_ != beat.space || node_ != beat.node) mark_.reset();
  connection.run(beat_statement(beat, time_or_servers(now), mark_));
  const std::int64_t answer = connection.insert_id();
  if (answer == 0) return read(connection, beat, now);
  read_member_text(member_text(beat.says, beat.handlers), *std::ranges::find(members_, beat.node, &Member::node));
  return {from_ms(answer), members_};
}

// The dead are removed one by one, each by its key: a range would lock what lies between them, too.
BeatReply MemberList::read(Connection& connection, const Beat& beat, std::optional<TimePoint> now) {
  mark_.reset();
  const std::string time = time_or_servers(now);
  Rows rows = connection.select("SELECT node, since, says, alive_until > " + time + ", " + mark_of_row(beat) + ", " +
                                time + " FROM retry_member WHERE namespace = " + bytes(beat.space) + " ORDER BY node");
  BeatReply reply;
  std::int64_t mark = 0;
  std::string removals;
  while (rows.next()) {
    reply.now = from_ms(rows.integer(5));
    if (rows.integer(3) != 0) {
      reply.members.push_back(member_in(rows));
      mark ^= rows.integer(4);
    } else {
      removals.append(removals.empty() ? "" : ";").append("DELETE FROM retry_member");
      removals.append(of(beat.space, rows.text(0))).append(" AND alive_until <= " + time);
    }
  }
  if (!removals.empty()) connection.run(removals);
  space_ = beat.space;
  node_ = beat.node;
  members_ = reply.members;
  if (std::ranges::find(members_, beat.node, &Member::node) != members_.end()) mark_ = mark;
  return reply;
}

std::vector<Member> members(Connection& connection, std::string_view space, TimePoint now) {
  std::vector<Member> members;
  Rows rows = connection.select("SELECT node, since, says FROM retry_member WHERE namespace = " + bytes(space) +
                                " AND alive_until > " + literal(now) + " ORDER BY node");
  while (rows.next()) members.push_back(member_in(rows));
  return members;
}

bool leave(Connection& connection, std::string_view space, std::string_view node) {
  return connection.run("DELETE FROM retry_member" + of(space, node)) > 0;
}

}  // namespace easyretry::storage::mysql
