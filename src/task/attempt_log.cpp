#include "task/attempt_log.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/utf8.h"

namespace easyretry::task {
namespace {

constexpr std::size_t kErrorKept = 300;
constexpr std::size_t kNameKept = 128;
constexpr std::string_view kCut = "…";
// A line break of an error text, inside a line: the record separator of ASCII.
constexpr char kLineBreak = '\x1e';

std::string ms_text(TimePoint time) {
  return std::to_string(time.time_since_epoch().count());
}

std::string short_text(std::string_view text, std::size_t most) {
  std::string kept = base::storable_utf8(base::cut_utf8(text, most));
  if (text.size() <= most && kept.size() <= most) return kept;
  kept = base::cut_utf8(kept, most - kCut.size());
  return kept.append(kCut);
}

// Takes the text before the first `mark` off; all of it if there is none.
std::string_view take_until(std::string_view& text, char mark) {
  const std::size_t end = std::min(text.find(mark), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<TimePoint> time_in(std::string_view text) {
  const auto ms = number_in<std::int64_t>(text);
  return ms ? std::optional{TimePoint{Millis{*ms}}} : std::nullopt;
}

std::optional<PastAttempt> parse_line(std::string_view line) {
  const auto number = number_in<int>(take_until(line, '\t'));
  const auto began = time_in(take_until(line, '\t'));
  const auto ended = time_in(take_until(line, '\t'));
  const auto end = attempt_end_named(take_until(line, '\t'));
  if (!number || !ended || !end) return std::nullopt;
  PastAttempt attempt{.number = *number, .began_at = began, .ended_at = *ended, .end = *end};
  attempt.by = base::storable_utf8(take_until(line, '\t'));
  attempt.error = base::storable_utf8(line);
  std::ranges::replace(attempt.error, kLineBreak, '\n');
  return attempt;
}

}  // namespace

std::string attempt_line(const PastAttempt& attempt) {
  std::string by = short_text(attempt.by, kNameKept);
  std::ranges::replace_if(
      by, [](char c) { return c == '\t' || c == '\n'; }, ' ');
  std::string error = short_text(attempt.error, kErrorKept);
  std::ranges::replace(error, '\n', kLineBreak);
  std::string line = std::to_string(attempt.number);
  line.append("\t").append(attempt.began_at ? ms_text(*attempt.began_at) : "");
  line.append("\t").append(ms_text(attempt.ended_at)).append("\t").append(to_string(attempt.end));
  return line.append("\t").append(by).append("\t").append(error);
}

std::string with_attempt(std::string_view log, std::string_view line) {
  std::string all{line};
  if (!line.empty() && !log.empty()) all.push_back('\n');
  all.append(log);
  std::size_t end = 0;
  for (std::size_t lines = 0; lines < kLastAttempts; ++lines) {
    end = all.find('\n', lines == 0 ? 0 : end + 1);
    if (end == std::string::npos) return all;
  }
  all.resize(end);
  return all;
}

std::vector<PastAttempt> parse_attempts(std::string_view log) {
  std::vector<PastAttempt> attempts;
  while (!log.empty() && attempts.size() < kLastAttempts) {
    if (auto attempt = parse_line(take_until(log, '\n'))) attempts.push_back(*std::move(attempt));
  }
  return attempts;
}

std::string attempts_text(const std::vector<PastAttempt>& attempts) {
  std::string log;
  for (const PastAttempt& attempt : attempts) log.append(log.empty() ? "" : "\n").append(attempt_line(attempt));
  return log;
}

PastAttempt lost_attempt(const TaskRecord& record) {
  return {.number = record.info.attempts,
          .began_at = std::nullopt,
          .ended_at = record.lease_until,
          .end = record.began ? AttemptEnd::crashed : AttemptEnd::lost,
          .by = record.locked_by,
          .error = {}};
}

}  // namespace easyretry::task
