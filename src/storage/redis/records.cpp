#include "storage/redis/records.h"

#include "storage/record_columns.h"
#include "storage/redis/packing.h"
#include "task/transitions.h"

namespace easyretry::storage::redis {
namespace {

using task::RetryRules;
using task::TaskRecord;

constexpr double kNever = -0x1p63;

// What a body has of the things that most tasks do without.
enum Has : unsigned {
  kDerivedKey = 1,  // the handler, a colon and 32 hexadecimal digits, which are written as 16 bytes
  kBusiness = 2,
  kTags = 4,
  kTraceparent = 8,
  kGeneration = 16,
};

std::string_view bytes_of(const task::KeyDigest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

constexpr std::string_view kHex = "0123456789abcdef";
constexpr std::size_t kMd5Digits = 32;

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

double time_or_never(const std::optional<TimePoint>& time) {
  return time ? to_double(time->time_since_epoch().count()) : kNever;
}

std::optional<TimePoint> time_if_any(double ms) {
  return ms == kNever ? std::nullopt : std::optional{to_time(ms)};
}

unsigned has_of(const TaskRecord& record, std::string_view digits) {
  const TaskInfo& info = record.info;
  unsigned has = digits.empty() ? 0U : kDerivedKey;
  if (!info.business_type.empty() || !info.business_id.empty()) has |= kBusiness;
  if (!info.tags.empty()) has |= kTags;
  if (!info.traceparent.empty()) has |= kTraceparent;
  if (info.generation != 0) has |= kGeneration;
  return has;
}

void read_body(TaskRecord& record, std::string_view body, const NameTexts& texts) {
  TaskInfo& info = record.info;
  Unpacker in{body};
  info.created_at = in.time();
  info.next_at = in.time();
  info.space = texts(in.u16());
  info.handler = texts(in.u16());
  in.bytes(task::KeyDigest{}.size());
  const unsigned has = in.u8();
  info.key = key_from(in, info.handler, (has & kDerivedKey) != 0);
  record.payload_version = static_cast<int>(static_cast<std::uint32_t>(in.varint()));
  record.rules = rules_from(in, texts);
  if ((has & kBusiness) != 0) {
    info.business_type = in.text();
    info.business_id = in.text();
  }
  if ((has & kTags) != 0) info.tags = parse_tags(in.text());
  if ((has & kTraceparent) != 0) info.traceparent = in.text();
  if ((has & kGeneration) != 0) info.generation = static_cast<int>(in.varint());
  record.payload = in.rest();
}

void read_meta(TaskRecord& record, std::string_view meta, const NameTexts& texts) {
  TaskInfo& info = record.info;
  Unpacker in{meta};
  info.version = to_millis(in.f64());
  info.state = in.u8() == kRunning ? TaskState::running : TaskState::pending;
  info.next_at = in.time();
  in.bytes(2 + 2 + task::KeyDigest{}.size());
  record.lease_until = in.time();
  info.first_failed_at = time_if_any(in.f64());
  info.last_failed_at = time_if_any(in.f64());
  const unsigned stage = in.u8();
  info.stage = stage <= static_cast<unsigned>(Stage::on_final_failure) ? static_cast<Stage>(stage) : Stage::run;
  info.outcome = outcome_of(in.u8());
  info.attempts = in.i32();
  info.crashes = in.i32();
  info.deliveries = in.i32();
  record.callback_attempts = in.i32();
  const std::size_t owner = in.u16();
  const std::size_t error = in.u32();
  const std::size_t progress = in.u32();
  const std::size_t result = in.u32();
  const std::size_t rules = in.u32();
  record.locked_by = in.bytes(owner);
  // See WAITING in lua/common.lua.
  if (record.locked_by.ends_with('\0')) record.locked_by.pop_back();
  info.last_error = in.bytes(error);
  info.progress = in.bytes(progress);
  record.result = in.bytes(result);
  if (rules > 0) {
    Unpacker changed{in.bytes(rules)};
    record.rules = rules_from(changed, texts);
  }
}

}  // namespace

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
  out.f64(0).f64(0).u16(names.space).u16(names.handler).bytes(bytes_of(digest)).u8(has);
  put_key(out, record, digits);
  out.varint(static_cast<std::uint32_t>(record.payload_version));
  put_rules(out, record.rules, names.backoff);
  if ((has & kBusiness) != 0) out.text(info.business_type).text(info.business_id);
  if ((has & kTags) != 0) out.text(tags_text(info.tags));
  if ((has & kTraceparent) != 0) out.text(info.traceparent);
  if ((has & kGeneration) != 0) out.varint(static_cast<std::uint64_t>(info.generation));
  return out.bytes(record.payload).take();
}

std::string meta_of(const TaskRecord& record, const NameNumbers& names, const task::KeyDigest& digest,
                    bool with_rules) {
  const TaskInfo& info = record.info;
  Packer packed_rules;
  if (with_rules) put_rules(packed_rules, record.rules, names.backoff);
  const std::string rules = packed_rules.take();
  const std::string_view owner = std::string_view{record.locked_by}.substr(0, 0xffff);
  Packer out;
  out.f64(to_double(info.version)).u8(info.state == TaskState::running ? kRunning : kPending);
  out.time(info.next_at).u16(names.space).u16(names.handler).bytes(bytes_of(digest));
  out.time(record.lease_until);
  out.f64(time_or_never(info.first_failed_at)).f64(time_or_never(info.last_failed_at));
  out.u8(static_cast<unsigned>(info.stage)).u8(number_of(info.outcome));
  out.i32(info.attempts).i32(info.crashes).i32(info.deliveries).i32(record.callback_attempts);
  out.u16(static_cast<unsigned>(owner.size())).u32(info.last_error.size()).u32(info.progress.size());
  out.u32(record.result.size()).u32(rules.size());
  out.bytes(owner).bytes(info.last_error).bytes(info.progress).bytes(record.result).bytes(rules);
  return out.take();
}

std::string rules_bytes(const RetryRules& rules) {
  Packer out;
  put_rules(out, rules, 0);
  return out.take();
}

void set_times(std::string& body, TimePoint created, TimePoint next_at) {
  body.replace(0, 16, Packer{}.time(created).time(next_at).take());
}

void set_next_at(std::string& meta, TimePoint next_at) {
  meta.replace(9, 8, Packer{}.time(next_at).take());
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
  const TimePoint finished = in.time();
  const bool cancelled = in.u8() == 1;
  const Outcome outcome = outcome_of(in.u8()).value_or(Outcome::parked);
  const std::size_t error_size = in.u32();
  const std::size_t meta_size = in.u32();
  const std::string_view error = in.bytes(error_size);
  const std::string_view meta = in.bytes(meta_size);
  TaskRecord record = live_record(id, in.rest(), meta, texts);
  if (cancelled) {
    task::apply_cancel(record, task::Event::cancel, finished);
    return record;
  }
  record.info.state = TaskState::running;  // or it could not have been finished
  task::Settlement end;
  end.outcome = outcome;
  end.error = error;
  task::apply_settlement(record, end, finished);
  return record;
}

}  // namespace easyretry::storage::redis
