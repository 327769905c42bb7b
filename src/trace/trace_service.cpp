#include "trace/trace_service.h"

#include <algorithm>
#include <charconv>

#include <errno.h>
#include <pthread.h>

#include "base/url.h"
#include "trace/otlp.h"

namespace easyretry::trace {
namespace {

constexpr Millis kFirstPause{1'000};
constexpr Millis kLongestPause{30'000};
constexpr Millis kLongestRetryAfter{300'000};
constexpr int kTries = 5;  // of one batch: about 15 seconds, unless the collector asks for longer pauses
constexpr Millis kLastSpans{3'000};
constexpr std::size_t kMostResponseBytes = 65'536;

bool is_worth_another_try(int status) {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

std::string_view trimmed_value(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  const auto end = text.find_last_not_of(" \t\r\n");
  return begin == std::string_view::npos ? std::string_view{} : text.substr(begin, end + 1 - begin);
}

// Seconds; a date is not read.
std::optional<Millis> seconds_in(std::string_view text) {
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc{} || end != text.data() + text.size() || seconds < 0) return std::nullopt;
  return std::chrono::seconds{std::min<std::int64_t>(seconds, kLongestRetryAfter / std::chrono::seconds{1})};
}

// The value, if the line is this header.
std::optional<std::string> value_of(std::string_view line, std::string_view name) {
  const bool is_it = line.size() > name.size() && line[name.size()] == ':' &&
                     std::equal(name.begin(), name.end(), line.begin(),
                                [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b - 'A' + 'a' : b); });
  if (!is_it) return std::nullopt;
  return std::string{trimmed_value(line.substr(name.size() + 1))};
}

}  // namespace

Verdict verdict_of(const tl::expected<http::ClientReply, http::NoAnswer>& answer, std::string_view retry_after) {
  if (!answer) return {.again = true, .why = answer.error().brief};
  if (answer->status >= 200 && answer->status < 300) return {.taken = true};
  Verdict verdict{.again = is_worth_another_try(answer->status), .why = "HTTP " + std::to_string(answer->status)};
  if (verdict.again) verdict.retry_after = seconds_in(retry_after);
  return verdict;
}

Millis pause_after(int tries, const std::optional<Millis>& retry_after, double random) {
  if (retry_after) return *retry_after;
  const Millis whole = std::min(kLongestPause, kFirstPause * (1 << std::min(tries - 1, 10)));
  return Millis{static_cast<std::int64_t>(static_cast<double>(whole.count()) * (1 - random / 4))};
}

TraceService::TraceService(Settings settings, LogSink log)
    : settings_(std::move(settings)),
      log_(std::move(log)),
      queue_(std::make_shared<SpanQueue>(settings_.most_waiting, settings_.batch, settings_.delay)),
      thread_([this] { work(); }) {}

TraceService::~TraceService() {
  stop();
}

void TraceService::listen(engine::Core& engine) {
  engine.spans().sample(settings_.sampling);
  engine.spans().add([queue = queue_](const Span& span) { queue->put(span); });
}

void TraceService::stop() {
  if (!thread_.joinable()) return;
  end_ = system_clock().steady() + kLastSpans;
  stopping_.request_stop();
  queue_->close();
  thread_.join();
}

void TraceService::work() {
  pthread_setname_np(pthread_self(), "er-trace");
  while (true) {
    const std::vector<Span> batch = queue_->take();
    if (batch.empty()) return;
    if (!deliver(batch) && stopping_.stop_requested()) return queue_->drop_rest();
  }
}

bool TraceService::deliver(const std::vector<Span>& batch) {
  const std::string body = export_request(settings_.resource, batch);
  for (int tries = 1;; ++tries) {
    const Verdict verdict = post(body);
    note(verdict);
    if (verdict.taken) {
      const std::size_t rejected = std::min<std::size_t>(verdict.rejected, batch.size());
      queue_->count_sent(batch.size() - rejected);
      queue_->count_dropped(rejected);
      return true;
    }
    const bool ends = !verdict.again || tries == kTries;
    if (ends || !queue_->pause(pause_after(tries, verdict.retry_after, random_.unit()))) {
      queue_->count_dropped(batch.size());
      return false;
    }
  }
}

Verdict TraceService::post(const std::string& body) {
  std::string retry_after;
  http::ClientRequest request{.method = "POST", .url = settings_.url, .body = body, .headers = settings_.headers};
  request.headers.emplace_back("Content-Type: application/x-protobuf");
  request.tls = settings_.tls;
  request.within = settings_.timeout;
  request.most_bytes = kMostResponseBytes;
  request.on_header = [&](std::string_view line) {
    if (auto value = value_of(line, "retry-after")) retry_after = *std::move(value);
  };
  if (stopping_.stop_requested()) {
    const auto left = std::chrono::floor<Millis>(end_.load() - system_clock().steady());
    if (left <= Millis{0}) return {.why = "stopped"};
    request.within = std::min(request.within, left);
  } else {
    request.stop = stopping_.get_token();
    request.after_stop = kLastSpans;
  }
  request.connect_within = std::min(request.connect_within, request.within);
  const auto answer = client_.ask(request);
  Verdict verdict = verdict_of(answer, retry_after);
  if (verdict.taken) verdict.rejected = rejected_spans(answer->body);
  return verdict;
}

// Once when it goes away, and once when it is back.
void TraceService::note(const Verdict& verdict) {
  if (away_ == !verdict.taken) return;
  away_ = !verdict.taken;
  if (!log_) return;
  const std::string collector = "tracing: " + base::without_password(settings_.url);
  if (verdict.taken) {
    return log_(LogLevel::info, collector + " takes spans again; " + std::to_string(counts().dropped) +
                                    " were dropped since the start");
  }
  log_(LogLevel::warning, collector + " does not take spans: " + verdict.why + "; " +
                              std::to_string(settings_.most_waiting) + " wait at most, further ones are dropped");
}

std::unique_ptr<TraceService> open_tracing(const std::string& service, const LogSink& log) {
  auto settings = read_settings(otel_environment(), service);
  if (!settings) return nullptr;
  if (log) log(LogLevel::info, "tracing: spans are sent to " + base::without_password(settings->url));
  return std::make_unique<TraceService>(*std::move(settings), log);
}

}  // namespace easyretry::trace

namespace easyretry::call {
namespace {

std::string name_of_service() {
  return std::string{"unknown_service:"} + program_invocation_short_name;
}

std::unique_ptr<TraceSender> open_sender(const Config& config, engine::Core& engine) {
  auto service = trace::open_tracing(name_of_service(), config.engine.log);
  if (service) service->listen(engine);
  return service;
}

}  // namespace

const TracingPart* easyretry_tracing() {
  static constexpr TracingPart kPart{
      [] { return trace::read_settings(trace::otel_environment(), name_of_service()).has_value(); }, open_sender};
  return &kPart;
}

}  // namespace easyretry::call
