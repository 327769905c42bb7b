#include "storage/mysql/membership.h"

#include "base/later.h"
#include "storage/mysql/literals.h"

namespace easyretry::storage::mysql {
namespace {

std::string of(std::string_view space, std::string_view node) {
  return " WHERE namespace = " + bytes(space) + " AND node = " + bytes(node);
}

}  // namespace

std::string create_members() {
  return "CREATE TABLE IF NOT EXISTS retry_member (namespace VARBINARY(128) NOT NULL, node VARBINARY(512) NOT NULL, "
         "since BIGINT NOT NULL, alive_until BIGINT NOT NULL COMMENT 'so long after it was last heard', "
         "says VARBINARY(4096) NOT NULL COMMENT 'of its shards', "
         "PRIMARY KEY (namespace, node)) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin "
         "COMMENT='instances'";
}

// One that is back after it was taken for dead has joined again. The dead are removed one by one, each by its key: a
// range would lock what lies between them, too. A row that is locked is about to live again, or removed by another: two
// that are back at once must not wait for each other.
void beat(Connection& connection, const Beat& beat, TimePoint now) {
  const std::string time = literal(now);
  connection.run("INSERT INTO retry_member (namespace, node, since, alive_until, says) VALUES (" + bytes(beat.space) +
                 ", " + bytes(beat.node) + ", " + time + ", " + literal(base::later(now, beat.ttl)) + ", " +
                 bytes(beat.says) + ") ON DUPLICATE KEY UPDATE since = IF(alive_until <= " + time + ", " + time +
                 ", since), alive_until = VALUES(alive_until), says = VALUES(says)");
  std::string removals;
  Rows dead = connection.select("SELECT node FROM retry_member WHERE namespace = " + bytes(beat.space) +
                                " AND alive_until <= " + time + " FOR UPDATE SKIP LOCKED");
  while (dead.next()) {
    removals.append(removals.empty() ? "" : ";").append("DELETE FROM retry_member");
    removals.append(of(beat.space, dead.text(0))).append(" AND alive_until <= " + time);
  }
  if (!removals.empty()) connection.run(removals);
}

std::vector<Member> members(Connection& connection, std::string_view space, TimePoint now) {
  std::vector<Member> members;
  Rows rows = connection.select("SELECT node, since, says FROM retry_member WHERE namespace = " + bytes(space) +
                                " AND alive_until > " + literal(now) + " ORDER BY node");
  while (rows.next())
    members.push_back(
        {.node = std::string{rows.text(0)}, .since = from_ms(rows.integer(1)), .says = std::string{rows.text(2)}});
  return members;
}

bool leave(Connection& connection, std::string_view space, std::string_view node) {
  return connection.run("DELETE FROM retry_member" + of(space, node)) > 0;
}

}  // namespace easyretry::storage::mysql
