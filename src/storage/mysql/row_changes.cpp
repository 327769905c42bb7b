#include "storage/mysql/row_changes.h"

#include <easyretry/json.h>

#include "base/later.h"
#include "base/utf8.h"
#include "storage/mysql/columns.h"
#include "storage/mysql/literals.h"

namespace easyretry::storage::mysql {
namespace {

// One row of a JSON array of arrays.
class JsonRow {
 public:
  explicit JsonRow(TaskId id) : text_("[" + literal(id)) {}
  JsonRow& number(std::int64_t value) { return add(literal(value)); }
  JsonRow& time(const std::optional<TimePoint>& time) { return add(time ? literal(*time) : "null"); }
  // Without the detour through JSON's escapes, which cannot carry every byte.
  JsonRow& bytes(std::string_view value) { return add("\"" + hex(value) + "\""); }
  JsonRow& name(std::string_view name) { return add("\"" + std::string{name} + "\""); }
  JsonRow& null() { return add("null"); }
  // Empty is null.
  JsonRow& error(std::string_view error) {
    if (error.empty()) return null();
    return add(escaped(to_json(base::storable_utf8(base::cut_utf8(error, kErrorBytes)))));
  }
  std::string done() { return std::move(text_.append("]")); }

 private:
  JsonRow& add(std::string_view value) {
    text_.append(",").append(value);
    return *this;
  }
  static std::string hex(std::string_view value) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string digits;
    digits.reserve(2 * value.size());
    for (const char c : value) {
      const auto byte = static_cast<unsigned char>(c);
      digits.push_back(kDigits[byte >> 4]);
      digits.push_back(kDigits[byte & 15]);
    }
    return digits;
  }

  std::string text_;
};

constexpr std::string_view kNumber = "BIGINT";
constexpr std::string_view kCharacters = "MEDIUMTEXT CHARACTER SET utf8mb4";
constexpr std::string_view kName = "VARCHAR(20) CHARACTER SET ascii";
constexpr std::string_view kHex = "LONGTEXT CHARACTER SET ascii";

struct Field {
  std::string_view name;
  std::string_view type;
};

// The id and these fields, in the order of the rows. STRAIGHT_JOIN: the list is walked and each task looked up. What is
// assigned must not depend on another assignment: with two tables, their order is not defined.
RowChanges changes_of(const std::string& table, std::initializer_list<Field> fields, const std::string& assignments) {
  RowChanges changes;
  changes.head = "UPDATE JSON_TABLE('[";
  changes.tail = "]', '$[*]' COLUMNS (id BIGINT PATH '$[0]'";
  int place = 0;
  for (const Field& field : fields) {
    changes.tail.append(", ").append(field.name).append(" ").append(field.type);
    changes.tail.append(" PATH '$[").append(std::to_string(++place)).append("]'");
  }
  changes.tail.append(")) AS n STRAIGHT_JOIN " + table + " AS t FORCE INDEX (PRIMARY) ON t.id = n.id SET ");
  changes.tail.append(assignments);
  return changes;
}

// Back to pending; whoever held the old version holds nothing any more. What went wrong is noted only if something did.
std::string released(const std::string& assignments, TimePoint now) {
  const std::string time = literal(now);
  return "t.status = 'PENDING', t.version = t.version + 1, t.locked_by = NULL, t.locked_at = NULL, t.lease_until = 0, "
         "t.updated_at = " +
         time + ", t.first_failed_at = IF(n.error IS NULL, t.first_failed_at, COALESCE(t.first_failed_at, " + time +
         ")), t.last_error_time = IF(n.error IS NULL, t.last_error_time, " + time +
         "), t.last_error_msg = COALESCE(n.error, t.last_error_msg), " + assignments;
}

}  // namespace

RowChanges retries(const std::string& table, std::span<const Settlement* const> settlements, TimePoint now) {
  RowChanges changes =
      changes_of(table, {{"error", kCharacters}, {"next_at", kNumber}}, released("t.next_retry_time = n.next_at", now));
  for (const Settlement* s : settlements) {
    changes.rows.push_back(JsonRow{s->ticket.id}.error(s->error).time(base::later(now, s->delay)).done());
  }
  return changes;
}

RowChanges advances(const std::string& table, std::span<const Settlement* const> settlements, TimePoint now) {
  RowChanges changes = changes_of(
      table, {{"error", kCharacters}, {"next_at", kNumber}, {"stage", kName}, {"outcome", kName}, {"result", kHex}},
      released("t.next_retry_time = n.next_at, t.stage = n.stage, t.outcome = n.outcome, "
               "t.result_json = UNHEX(n.result)",
               now));
  for (const Settlement* s : settlements) {
    JsonRow row{s->ticket.id};
    row.error(s->error).time(base::later(now, s->delay)).name(to_string(s->stage)).name(to_string(s->outcome));
    changes.rows.push_back(row.bytes(s->result).done());
  }
  return changes;
}

RowChanges hand_backs(const std::string& table, std::span<const Settlement* const> settlements, TimePoint now) {
  RowChanges changes = changes_of(
      table, {{"error", kCharacters}, {"next_at", kNumber}},
      released(std::string{"t.attempt_count = t.attempt_count - ("} + kIsRun +
                   "), t.callback_count = t.callback_count - (" + kIsCallback +
                   "), t.next_retry_time = GREATEST(t.next_retry_time, COALESCE(n.next_at, t.next_retry_time))",
               now));
  for (const Settlement* s : settlements) {
    JsonRow row{s->ticket.id};
    row.error(s->error).time(s->delay > Millis{0} ? std::optional{base::later(now, s->delay)} : std::nullopt);
    changes.rows.push_back(row.done());
  }
  return changes;
}

RowChanges renewals(const std::string& table, std::span<const Renewal* const> renewals, TimePoint now) {
  RowChanges changes =
      changes_of(table, {{"lease_until", kNumber}, {"progress", kHex}},
                 "t.lease_until = n.lease_until, t.updated_at = " + literal(now) + ", t.progress = UNHEX(n.progress)");
  for (const Renewal* r : renewals) {
    changes.rows.push_back(JsonRow{r->ticket.id}.time(base::later(now, r->lease)).bytes(r->progress.value()).done());
  }
  return changes;
}

RowChanges new_rules(const std::string& table, std::span<const sql::NewRules> updates) {
  RowChanges changes =
      changes_of(table, {{"most", kNumber}, {"lasting", kNumber}, {"deadline", kNumber}, {"backoff", kHex}},
                 "t.max_attempts = n.most, t.max_retry_duration = n.lasting, t.deadline = n.deadline, "
                 "t.backoff_strategy = UNHEX(n.backoff)");
  for (const auto& [ticket, rules] : updates) {
    JsonRow row{ticket.id};
    row.number(rules.max_attempts).number(rules.max_duration.count()).time(rules.deadline);
    changes.rows.push_back(row.bytes(rules.backoff).done());
  }
  return changes;
}

}  // namespace easyretry::storage::mysql
