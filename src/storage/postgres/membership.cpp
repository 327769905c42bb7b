#include "storage/postgres/membership.h"

#include "storage/member_text.h"
#include "storage/postgres/batch.h"
#include "storage/postgres/statements.h"
#include "storage/record_columns.h"

namespace easyretry::storage::postgres {

namespace {

// One that is back after it was taken for dead has joined again. A dead row that is locked is about to live again, or
// removed by another: two that are back at once must not wait for each other, so each has its own row before it looks
// for the dead. Said again in seconds, so a power cut may take it.
std::string beat_statement() {
  return std::string{
             "WITH clock AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true), coalesce($3, "} +
         statements::kServerTime +
         ") AS now), "
         "me AS (INSERT INTO retry_member AS m (namespace, node, since, alive_until, says) SELECT $1, $2, now, " +
         statements::later("now", "$4") +
         ", $5 FROM clock ON CONFLICT (namespace, node) DO UPDATE SET alive_until = excluded.alive_until, "
         "says = excluded.says, since = CASE WHEN m.alive_until <= excluded.since THEN excluded.since ELSE m.since END "
         "RETURNING node, since, says), "
         "dead AS (DELETE FROM retry_member WHERE ctid = ANY(ARRAY(SELECT ctid FROM retry_member WHERE namespace = $1 "
         "AND node <> (SELECT node FROM me) AND alive_until <= (SELECT now FROM clock) FOR UPDATE SKIP LOCKED))) "
         "SELECT now, node, since, says FROM clock, me UNION ALL SELECT now, node, since, says FROM clock, "
         "retry_member WHERE namespace = $1 AND node <> $2 AND alive_until > now ORDER BY node";
}

Member member_in(const Rows& rows, int row, int first_column) {
  Member member{.node = std::string{rows.text(row, first_column)},
                .since = from_ms(rows.integer(row, first_column + 1))};
  read_member_text(rows.text(row, first_column + 2), member);
  return member;
}

}  // namespace

std::string create_members() {
  return "CREATE TABLE IF NOT EXISTS retry_member (namespace text COLLATE \"C\" NOT NULL, "
         "node text COLLATE \"C\" NOT NULL, since bigint NOT NULL, alive_until bigint NOT NULL, says text NOT NULL, "
         "PRIMARY KEY (namespace, node)) WITH (fillfactor = 50);"
         "COMMENT ON TABLE retry_member IS 'EasyRetry: instances, and until when each counts as alive'";
}

BeatReply beat(Connection& db, const Beat& beat, std::optional<TimePoint> now) {
  static const std::string statement = beat_statement();
  const std::string text = member_text(beat.says, beat.handlers);
  const Rows rows =
      db.run(statement, Params{}.add(beat.space).add(beat.node).add(ms(now)).add(beat.ttl.count()).add(text));
  BeatReply reply{from_ms(rows.integer(0, 0)), {}};
  for (int i = 0; i < rows.size(); ++i) reply.members.push_back(member_in(rows, i, 1));
  return reply;
}

std::vector<Member> members(Connection& db, std::string_view space, TimePoint now) {
  const Rows rows =
      db.run("SELECT node, since, says FROM retry_member WHERE namespace = $1 AND alive_until > $2 ORDER BY node",
             Params{}.add(space).add(to_ms(now)));
  return rows.each([&](int row) { return member_in(rows, row, 0); });
}

bool leave(Connection& db, std::string_view space, std::string_view node) {
  return db.run("DELETE FROM retry_member WHERE namespace = $1 AND node = $2 RETURNING 1",
                Params{}.add(space).add(node))
             .size() > 0;
}

}  // namespace easyretry::storage::postgres
