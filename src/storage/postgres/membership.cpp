#include "storage/postgres/membership.h"

#include "base/later.h"
#include "storage/record_columns.h"

namespace easyretry::storage::postgres {

std::string create_members() {
  return "CREATE TABLE IF NOT EXISTS retry_member (namespace text COLLATE \"C\" NOT NULL, "
         "node text COLLATE \"C\" NOT NULL, since bigint NOT NULL, alive_until bigint NOT NULL, says text NOT NULL, "
         "PRIMARY KEY (namespace, node)) WITH (fillfactor = 50);"
         "COMMENT ON TABLE retry_member IS 'EasyRetry: instances, each alive until so long after it was last heard'";
}

// One that is back after it was taken for dead has joined again. A dead row that is locked is about to live again, or
// removed by another: two that are back at once must not wait for each other.
void beat(Connection& db, const Beat& beat, TimePoint now) {
  db.run(
      "INSERT INTO retry_member AS m (namespace, node, since, alive_until, says) VALUES ($1, $2, $3, $4, $5) "
      "ON CONFLICT (namespace, node) DO UPDATE SET alive_until = excluded.alive_until, says = excluded.says, "
      "since = CASE WHEN m.alive_until <= $3 THEN $3 ELSE m.since END",
      Params{}.add(beat.space).add(beat.node).add(to_ms(now)).add(to_ms(base::later(now, beat.ttl))).add(beat.says));
  db.run(
      "DELETE FROM retry_member WHERE ctid = ANY(ARRAY(SELECT ctid FROM retry_member "
      "WHERE namespace = $1 AND alive_until <= $2 FOR UPDATE SKIP LOCKED))",
      Params{}.add(beat.space).add(to_ms(now)));
}

std::vector<Member> members(Connection& db, std::string_view space, TimePoint now) {
  const Rows rows =
      db.run("SELECT node, since, says FROM retry_member WHERE namespace = $1 AND alive_until > $2 ORDER BY node",
             Params{}.add(space).add(to_ms(now)));
  std::vector<Member> members;
  for (int i = 0; i < rows.size(); ++i) {
    members.push_back({.node = std::string{rows.text(i, 0)},
                       .since = from_ms(rows.integer(i, 1)),
                       .says = std::string{rows.text(i, 2)}});
  }
  return members;
}

bool leave(Connection& db, std::string_view space, std::string_view node) {
  return db.run("DELETE FROM retry_member WHERE namespace = $1 AND node = $2 RETURNING 1",
                Params{}.add(space).add(node))
             .size() > 0;
}

}  // namespace easyretry::storage::postgres
