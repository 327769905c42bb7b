#include "storage/redis/records.h"

#include <cstddef>

#include "storage/record_columns.h"
#include "storage/redis/record_layout.h"
#include "task/attempt_log.h"
#include "task/transitions.h"

namespace easyretry::storage::redis {
namespace {

using task::RetryRules;
using task::TaskRecord;

namespace BodyHas = layout::BodyHas;

constexpr std::string_view kHex = "0123456789abcdef";
constexpr std::size_t kMd5Digits = 32;

// The digits of a derived key, which is the handler, a colon and 32 hexadecimal digits; they are stored as 16 bytes.
// Empty for other keys.
std::string_view digits_of(const TaskRecord& record) {
  std::string_view key = record.info.key;
  const std::string& handler = record.info.handler;
  if (key.size() != handler.size() + 1 + kMd5Digits || !key.starts_with(handler) || key[handler.size()] != ':')
    return {};
  key.remove_prefix(handler.size() + 1);
  return key.find_first_not_of(kHex) == std::string_view::npos ? key : std::string_view{};
}

void put_key(Packer& out, const TaskRecord& record, std::string_view digits) {
  if (digits.empty()) {
    out.text(record.info.key);
    return;
  }
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    out.u8(static_cast<unsigned>(kHex.find(digits[i]) << 4 | kHex.find(digits[i + 1])));
  }
}

std::string key_from(Unpacker& in, const std::string& handler, bool derived) {
  if (!derived) return std::string{in.text()};
  std::string key = handler + ":";
  for (const char byte : in.bytes(kMd5Digits / 2)) {
    key.push_back(kHex[static_cast<unsigned char>(byte) >> 4]);
    key.push_back(kHex[static_cast<unsigned char>(byte) & 15]);
  }
  return key;
}

void put_rules(Packer& out, const RetryRules& rules, unsigned backoff) {
  out.varint(static_cast<std::uint32_t>(rules.max_attempts));
  out.varint(static_cast<std::uint64_t>(rules.max_duration.count()));
  out.u8(rules.deadline ? 1 : 0);
  if (rules.deadline) out.number(rules.deadline->time_since_epoch().count());
  out.varint(backoff);
  if (backoff == 0) out.text(rules.backoff);
}

RetryRules rules_from(Unpacker& in, const NameTexts& texts) {
  RetryRules rules;
  rules.max_attempts = static_cast<int>(static_cast<std::uint32_t>(in.varint()));
  rules.max_duration = Millis{static_cast<std::int64_t>(in.varint())};
  if (in.u8() == 1) rules.deadline = TimePoint{Millis{in.number<std::int64_t>()}};
  const auto backoff = static_cast<unsigned>(in.varint());
  rules.backoff = backoff == 0 ? std::string{in.text()} : texts(backoff);
  return rules;
}

constexpr TimePoint kNever = TimePoint::min();
static_assert(layout::Time::never == static_cast<double>(kNever.time_since_epoch().count()));

std::optional<TimePoint> time_if_any(TimePoint time) {
  return time == kNever ? std::nullopt : std::optional{time};
}

// BodyHas: the optional fields that the body of this task has.
unsigned has_of(const TaskRecord& record, std::string_view digits) {
  const TaskInfo& info = record.info;
  unsigned has = digits.empty() ? 0U : BodyHas::derived_key;
  if (!info.business_type.empty() || !info.business_id.empty()) has |= BodyHas::business;
  if (!info.tags.empty()) has |= BodyHas::tags;
  if (!info.traceparent.empty()) has |= BodyHas::traceparent;
  if (info.generation != 0) has |= BodyHas::generation;
  if (info.task_class == TaskClass::urgent) has |= BodyHas::urgent;
  if (info.task_class == TaskClass::background) has |= BodyHas::background;
  return has;
}

void read_body(TaskRecord& record, std::string_view bytes, const NameTexts& texts) {
  TaskInfo& info = record.info;
  Unpacker in{bytes};
  const auto body = in.record<layout::Body>();
  info.created_at = body.created;
  info.next_at = body.next_at;
  info.name_space = texts(body.name_space);
  info.handler = texts(body.handler);
  const unsigned has = in.u8();
  if ((has & BodyHas::urgent) != 0) info.task_class = TaskClass::urgent;
  if ((has & BodyHas::background) != 0) info.task_class = TaskClass::background;
  info.key = key_from(in, info.handler, (has & BodyHas::derived_key) != 0);
  record.payload_version = static_cast<int>(static_cast<std::uint32_t>(in.varint()));
  record.rules = rules_from(in, texts);
  if ((has & BodyHas::business) != 0) {
    info.business_type = in.text();
    info.business_id = in.text();
  }
  if ((has & BodyHas::tags) != 0) info.tags = parse_tags(in.text());
  if ((has & BodyHas::traceparent) != 0) info.traceparent = in.text();
  if ((has & BodyHas::generation) != 0) info.generation = static_cast<int>(in.varint());
  record.payload = in.rest();
}

void read_meta(TaskRecord& record, std::string_view bytes, const NameTexts& texts) {
  TaskInfo& info = record.info;
  Unpacker in{bytes};
  const auto meta = in.record<layout::Meta>();
  info.version = to_millis(meta.version);
  info.state = meta.state == layout::State::running ? TaskState::running : TaskState::pending;
  info.next_at = meta.next_at;
  record.lease_until = meta.lease;
  info.first_failed_at = time_if_any(meta.first_failed);
  info.last_failed_at = time_if_any(meta.last_failed);
  const unsigned stage = meta.stage;
  info.stage = stage <= static_cast<unsigned>(Stage::on_final_failure) ? static_cast<Stage>(stage) : Stage::run;
  info.outcome = outcome_of(meta.outcome);
  info.attempts = meta.attempts;
  info.crashes = meta.crashes;
  info.deliveries = meta.deliveries;
  record.callback_attempts = meta.callbacks;
  record.locked_by = in.bytes(meta.owner_size);
  if (record.locked_by.ends_with(kWaiting)) record.locked_by.pop_back();
  info.last_error = in.bytes(meta.error_size);
  info.progress = in.bytes(meta.progress_size);
  record.result = in.bytes(meta.result_size);
  if (meta.rules_size > 0) {
    Unpacker changed{in.bytes(meta.rules_size)};
    record.rules = rules_from(changed, texts);
  }
  info.last_attempts = task::parse_attempts(in.rest());
}

}  // namespace

static_assert(static_cast<unsigned>(Outcome::succeeded) + 1 == layout::OutcomeNumber::succeeded);
static_assert(static_cast<unsigned>(Outcome::quarantined) + 1 == layout::OutcomeNumber::quarantined);
static_assert(static_cast<unsigned>(Outcome::parked) + 1 == layout::OutcomeNumber::parked);
static_assert(static_cast<unsigned>(Outcome::cancelled) + 1 == layout::OutcomeNumber::cancelled);
static_assert(layout::AttemptLog::most_attempts == task::kLastAttempts);
// A first claim copies these bytes from the body into the meta.
static_assert(offsetof(layout::Meta, lease) - offsetof(layout::Meta, next_at) ==
              sizeof(layout::Body) - offsetof(layout::Body, next_at));

unsigned number_of(std::optional<Outcome> outcome) {
  return outcome ? static_cast<unsigned>(*outcome) + 1 : 0;
}

std::optional<Outcome> outcome_of(unsigned number) {
  if (number == 0 || number > number_of(Outcome::cancelled)) return std::nullopt;
  return static_cast<Outcome>(number - 1);
}

std::string body_of(const TaskRecord& record, const NameNumbers& names, const task::KeyDigest& digest) {
  const TaskInfo& info = record.info;
  const std::string_view digits = digits_of(record);
  const unsigned has = has_of(record, digits);
  Packer out;
  out.record(layout::Body{.name_space = names.name_space, .handler = names.handler, .digest = digest}).u8(has);
  put_key(out, record, digits);
  out.varint(static_cast<std::uint32_t>(record.payload_version));
  put_rules(out, record.rules, names.backoff);
  if ((has & BodyHas::business) != 0) out.text(info.business_type).text(info.business_id);
  if ((has & BodyHas::tags) != 0) out.text(tags_text(info.tags));
  if ((has & BodyHas::traceparent) != 0) out.text(info.traceparent);
  if ((has & BodyHas::generation) != 0) out.varint(static_cast<std::uint64_t>(info.generation));
  return out.bytes(record.payload).take();
}

std::string meta_of(const TaskRecord& record, const NameNumbers& names, const task::KeyDigest& digest,
                    bool with_rules) {
  const TaskInfo& info = record.info;
  Packer packed_rules;
  if (with_rules) put_rules(packed_rules, record.rules, names.backoff);
  const std::string rules = packed_rules.take();
  const std::string_view owner = std::string_view{record.locked_by}.substr(0, 0xffff);
  const layout::Meta meta{
      .version = info.version,
      .state = info.state == TaskState::running ? layout::State::running : layout::State::pending,
      .next_at = info.next_at,
      .name_space = names.name_space,
      .handler = names.handler,
      .digest = digest,
      .lease = record.lease_until,
      .first_failed = info.first_failed_at.value_or(kNever),
      .last_failed = info.last_failed_at.value_or(kNever),
      .stage = static_cast<unsigned>(info.stage),
      .outcome = number_of(info.outcome),
      .attempts = info.attempts,
      .crashes = info.crashes,
      .deliveries = info.deliveries,
      .callbacks = record.callback_attempts,
      .owner_size = owner.size(),
      .error_size = info.last_error.size(),
      .progress_size = info.progress.size(),
      .result_size = record.result.size(),
      .rules_size = rules.size(),
  };
  Packer out;
  out.record(meta).bytes(owner).bytes(info.last_error).bytes(info.progress).bytes(record.result).bytes(rules);
  return out.take();
}

std::string rules_bytes(const RetryRules& rules) {
  Packer out;
  put_rules(out, rules, 0);
  return out.take();
}

void set_times(std::string& body, TimePoint created, TimePoint next_at) {
  auto head = Unpacker{body}.record<layout::Body>();
  head.created = created;
  head.next_at = next_at;
  body.replace(0, sizeof head, bytes_of(head));
}

void set_next_at(std::string& meta, TimePoint next_at) {
  const types::time time{next_at};
  meta.replace(offsetof(layout::Meta, next_at), sizeof time, bytes_of(time));
}

TaskRecord live_record(TaskId id, std::string_view body, std::string_view meta, const NameTexts& texts) {
  TaskRecord record;
  record.info.id = id;
  record.info.version = 1;
  read_body(record, body, texts);
  if (!meta.empty()) read_meta(record, meta, texts);
  return record;
}

TaskRecord ended_record(TaskId id, std::string_view done, const NameTexts& texts) {
  Unpacker in{done};
  const auto end = in.record<layout::Done>();
  const std::string_view error = in.bytes(end.error_size);
  const std::string_view meta = in.bytes(end.meta_size);
  TaskRecord record = live_record(id, in.rest(), meta, texts);
  const Outcome outcome = outcome_of(end.outcome).value_or(Outcome::parked);
  if (end.by_user == 1) {
    const task::Ending ending{.id = id, .outcome = outcome, .error = std::string{error}};
    task::apply_end(record, task::Event::end, ending, end.finished);
    return record;
  }
  record.info.state = TaskState::running;  // only a running task can be finished
  task::Settlement settlement;
  settlement.outcome = outcome;
  settlement.error = error;
  task::apply_settlement(record, settlement, end.finished);
  return record;
}

}  // namespace easyretry::storage::redis
