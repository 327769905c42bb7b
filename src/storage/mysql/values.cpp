#include "storage/mysql/values.h"

#include <array>

#include "base/utf8.h"
#include "storage/server/server_error.h"
#include "task/task_id.h"

namespace easyretry::storage::mysql {
namespace {

// By byte; 0 for a byte that needs no escape.
constexpr std::array<char, 256> escapes() {
  std::array<char, 256> table{};
  table['\0'] = '0';
  table['\n'] = 'n';
  table['\r'] = 'r';
  table['\x1a'] = 'Z';
  table['\\'] = '\\';
  table['\''] = '\'';
  return table;
}

constexpr std::array<char, 256> kEscapes = escapes();

char escape_of(char c) {
  return kEscapes[static_cast<unsigned char>(c)];
}

class Values {
 public:
  Values& add(std::string_view literal) {
    text_.append(text_.size() > 1 ? "," : "").append(literal);
    return *this;
  }
  Values& add(std::int64_t value) { return add(literal(value)); }
  Values& add(TimePoint time) { return add(literal(time)); }
  std::string done() { return std::move(text_.append(")")); }

 private:
  std::string text_ = "(";
};

// The first columns of insert_tasks and insert_history, down to last_error_msg.
Values shared_values(const task::TaskRecord& record) {
  const TaskInfo& info = record.info;
  Values values;
  values.add(number(info.id)).add(bytes(info.name_space)).add(bytes(info.key)).add(bytes(info.handler));
  values.add(bytes_or_null(info.business_type)).add(bytes_or_null(info.business_id));
  values.add(in_quotes(task::stored_name(info.stage))).add(info.attempts).add(info.crashes);
  values.add(info.deliveries).add(info.generation).add(info.created_at).add(info.next_at);
  values.add(bytes(record.payload)).add(record.payload_version).add(record.rules.max_attempts);
  values.add(record.rules.max_duration.count()).add(maybe_time(record.rules.deadline));
  values.add(bytes_or_null(record.rules.backoff)).add(bytes_or_null(record.result)).add(record.callback_attempts);
  const std::string tags = tags_text(info.tags);
  values.add(tags.empty() ? "NULL" : characters(tags));
  values.add(bytes_or_null(info.traceparent)).add(bytes_or_null(info.progress));
  const bool normal = info.task_class == TaskClass::normal;
  values.add(normal ? "NULL" : literal(task::stored_number(info.task_class)));
  values.add(info.version).add(name_or_null(info.outcome)).add(maybe_time(info.first_failed_at));
  return values.add(maybe_time(info.last_failed_at)).add(error_or_null(info.last_error));
}

}  // namespace

// Copies long stretches: a statement has megabytes of arguments, and hardly any of their bytes are escaped.
std::string escaped(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() + bytes.size() / 8);
  std::size_t from = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const char escape = escape_of(bytes[at]);
    if (escape == 0) continue;
    text.append(bytes, from, at - from).append({'\\', escape});
    from = at + 1;
  }
  return text.append(bytes, from);
}

std::string bytes(std::string_view value) {
  return "_binary'" + escaped(value) + "'";
}

std::string bytes_or_null(std::string_view value) {
  return value.empty() ? "NULL" : bytes(value);
}

std::string characters(std::string_view value) {
  return "'" + escaped(base::storable_utf8(value)) + "'";
}

std::string maybe_time(const std::optional<TimePoint>& time) {
  return time ? literal(*time) : "NULL";
}

std::string in_quotes(std::string_view text) {
  return "'" + std::string{text} + "'";
}

std::string name_or_null(const std::optional<Outcome>& outcome) {
  return outcome ? in_quotes(task::stored_name(*outcome)) : "NULL";
}

std::string error_or_null(std::string_view error) {
  return error.empty() ? "NULL" : characters(base::cut_utf8(error, kErrorBytes));
}

std::string id_list(std::span<const TaskId> ids) {
  return list_of(ids, [](TaskId id) { return literal(id); });
}

std::string ticket_list(std::span<const task::Ticket> tickets) {
  return list_of(tickets, [](const task::Ticket& ticket) {
    return "(" + literal(ticket.id) + "," + literal(ticket.version) + ")";
  });
}

std::string handler_list(std::span<const std::string> handlers) {
  if (handlers.empty()) return "NULL";
  return list_of(handlers, [](const std::string& handler) { return in_quotes(escaped(handler)); });
}

std::string time_or_servers(std::optional<TimePoint> time) {
  return time ? literal(*time) : kServerTime;
}

std::string later(const std::string& time, Millis delay) {
  constexpr Millis kForEver = std::chrono::years{10'000};
  return delay >= kForEver ? literal(TimePoint::max()) : "(" + time + " + " + literal(delay.count()) + ")";
}

void check_length(std::string_view value, const ByteLimit& limit) {
  if (value.size() <= limit.bytes) return;
  throw server::ServerError(server::Trouble::bad_data,
                            std::string{limit.column} + " has " + std::to_string(value.size()) +
                                " bytes, but its column allows " + std::to_string(limit.bytes) + ": \"" +
                                std::string{base::cut_utf8(value, 60)} + "…\"");
}

void check_lengths(const task::TaskRecord& record) {
  check_length(record.info.name_space, kNamespaceLimit);
  check_length(record.info.key, kKeyLimit);
  check_length(record.info.handler, kHandlerLimit);
  check_length(record.info.business_type, kBusinessTypeLimit);
  check_length(record.info.business_id, kBusinessIdLimit);
  check_length(record.info.traceparent, kTraceparentLimit);
  check_length(record.info.progress, kProgressLimit);
  check_length(tags_text(record.info.tags), kTagsLimit);
  check_length(record.rules.backoff, kBackoffLimit);
  check_length(record.locked_by, kOwnerLimit);
}

std::string live_values(const task::TaskRecord& record) {
  Values values = shared_values(record);
  values.add(in_quotes(task::stored_name(record.info.state))).add(bytes_or_null(record.locked_by));
  values.add(record.locked_by.empty() ? "NULL" : literal(record.info.created_at)).add(record.lease_until);
  return values.add(static_cast<std::int64_t>(task::shard_of(record.info.id))).add(record.info.created_at).done();
}

std::string history_values(const task::TaskRecord& record) {
  Values values = shared_values(record);
  values.add(record.info.finished_at.value_or(record.info.next_at));
  return values.add(bytes_or_null(task::attempts_text(record.info.last_attempts))).done();
}

std::string key_values(const task::TaskRecord& record) {
  return Values{}.add(number(record.info.id)).add(bytes(record.info.name_space)).add(bytes(record.info.key)).done();
}

void check_row(std::size_t bytes, std::size_t most_bytes) {
  if (bytes <= most_bytes) return;
  throw server::ServerError(server::Trouble::bad_data,
                            "one task needs a statement of " + std::to_string(bytes) +
                                " bytes, but the server allows " + std::to_string(most_bytes) +
                                ": raise max_allowed_packet on the server, or store less with the task");
}

std::vector<Piece> cut_rows(std::string_view statement, std::span<const std::string> rows, std::size_t most_bytes) {
  const std::string_view head = statement.substr(0, statement.find(kRows));
  const std::string_view tail = statement.substr(head.size() + kRows.size());
  const std::size_t around = head.size() + tail.size();
  const std::size_t wanted = std::min(kMostBytes, most_bytes);
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    check_row(around + rows[i].size(), most_bytes);
    Piece* piece = pieces.empty() ? nullptr : &pieces.back();
    const bool fits = piece != nullptr && piece->count < kMostRows &&
                      piece->statement.size() + 1 + rows[i].size() + tail.size() <= wanted;
    if (!fits) piece = &pieces.emplace_back(Piece{i, 0, std::string{head}});
    piece->statement.append(piece->count > 0 ? "," : "").append(rows[i]);
    ++piece->count;
  }
  for (Piece& piece : pieces) piece.statement.append(tail);
  return pieces;
}

}  // namespace easyretry::storage::mysql
