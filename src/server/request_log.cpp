#include "server/request_log.h"

#include <utility>

#include "base/log_line.h"
#include "base/utf8.h"

namespace easyretry::server {
namespace {

constexpr int kFirstRefusal = 400;
constexpr int kFirstError = 500;
constexpr std::size_t kMostLoggedBytes = 500;  // of a path or a problem; both may quote text from the client

// "GET /v1/tasks/17 from 127.0.0.1: 404 not_found: there is no task 17"
std::string text_of(const http::Answered& request) {
  std::string text{request.request.empty() ? "a request" : base::cut_utf8(request.request, kMostLoggedBytes)};
  text.append(" from ").append(request.peer).append(": ").append(std::to_string(request.status));
  if (!request.problem.empty()) text.append(" ").append(base::cut_utf8(request.problem, kMostLoggedBytes));
  return text;
}

}  // namespace

RequestLog::RequestLog(LogSink log, bool every_request, const Clock& clock)
    : log_(std::move(log)), every_request_(every_request), clock_(clock) {}

void RequestLog::note(const http::Answered& request) {
  if (!log_) return;  // EngineOptions::log may be empty
  const base::LoggedRequest logged{std::string{request.request_id}};
  if (request.status >= kFirstError) return note_problem(LogLevel::error, errors_, request);
  if (request.status >= kFirstRefusal) return note_problem(LogLevel::info, refusals_, request);
  if (every_request_) log_(LogLevel::debug, text_of(request));
}

void RequestLog::note_problem(LogLevel level, Allowance& allowance, const http::Answered& request) {
  const auto second = std::chrono::floor<std::chrono::seconds>(clock_.steady().time_since_epoch()).count();
  if (second != allowance.second) allowance = {second, 0, allowance.left_out};
  if (++allowance.lines > kMostASecond) {
    ++allowance.left_out;
    return;
  }
  const int left_out = std::exchange(allowance.left_out, 0);
  if (left_out > 0) log_(level, std::to_string(left_out) + " similar requests before this one have no line here");
  log_(level, text_of(request));
}

}  // namespace easyretry::server
