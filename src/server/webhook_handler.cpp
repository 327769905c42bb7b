#include "server/webhook_handler.h"

#include <algorithm>

#include <easyretry/detail/json_text.h>

#include "base/json_copy.h"
#include "base/utf8.h"
#include "engine/attempt.h"
#include "webhook/delivery.h"
#include "webhook/destination.h"

namespace easyretry::server {
namespace {

using engine::RunPtr;

constexpr std::size_t kUsualConcurrency = 1000;
constexpr Millis kUsualTimeout{30'000};
constexpr std::size_t kLongestQuoted = 8192;  // more than a URL and the quoted part of a response
constexpr std::size_t kQuoted = 200;          // bytes of a failed response
constexpr int kGone = 410;
constexpr int kTooMany = 429;
constexpr int kUnavailable = 503;

std::size_t concurrency_of(const engine::Run& run) {
  const int wanted = run.handler->handler.options.concurrency;
  return wanted > 0 ? static_cast<std::size_t>(wanted) : kUsualConcurrency;
}

// A single argument is sent without its array.
std::string body_of(const std::string& arguments) {
  const JsonDocument document = JsonDocument::parse(arguments);
  return document.root().size() == 1 ? base::canonical_json(document.root().at(0)) : arguments;
}

// The receiver says when to come back because it is overloaded, or down for a while.
bool asks_for_rest(const webhook::Answer& answer) {
  return answer.retry_after && (answer.status == kTooMany || answer.status == kUnavailable);
}

std::string quoted(const webhook::Answer& answer) {
  std::string text = "HTTP " + std::to_string(answer.status);
  if (answer.body.empty()) return text;
  if (base::invalid_utf8(answer.body) != std::string::npos) return text + ": (not UTF-8)";
  return text + ": " + std::string{base::cut_utf8(answer.body, kQuoted)};
}

// The value for success_when.
detail::Reply reply_of(const webhook::Answer& answer) {
  if (answer.body.empty()) return {.result = "null"};
  try {
    static_cast<void>(JsonDocument::parse(answer.body));
    return {.result = answer.body};
  } catch (const JsonError& e) {
    return {.unwritable = std::string{"the response is "} + e.what()};
  }
}

}  // namespace

detail::Reply judged_by_status(const webhook::Answer& answer) {
  if (answer.succeeded()) return reply_of(answer);
  if (answer.status == kGone) return {.answer = give_up(quoted(answer))};
  if (answer.retry_after) return {.answer = retry_after(*answer.retry_after, quoted(answer))};
  return {.answer = retry_later(quoted(answer))};
}

engine::Called unanswered(const Error& error) {
  using End = engine::Called::End;
  return {error.code == Errc::invalid_argument ? End::rejected : End::failed, error.detail};
}

WebhookHandler::WebhookHandler(engine::Core& core, webhook::Caller& caller, std::string url,
                               const std::string& secrets_file)
    : core_(core),
      caller_(caller),
      url_(std::move(url)),
      mask_(url_),
      secrets_(secrets_file),
      most_(kUsualConcurrency) {
  webhook::parse_destination(url_);
}

std::size_t WebhookHandler::room(std::size_t coming) {
  const std::size_t most = most_;
  return most - std::min(most, in_flight_ + coming);
}

void WebhookHandler::take(std::vector<RunPtr> runs) {
  in_flight_ += runs.size();
  for (const RunPtr& run : runs) {
    most_ = concurrency_of(*run);
    call(run);
  }
}

void WebhookHandler::call(const RunPtr& run) {
  engine::AttemptStart start = core_.begin_attempt(*run);
  if (start.instead) return ended(run, *std::move(start.instead));
  core_.mark_started(*run);
  try {
    webhook::Call call = call_for(*run, start.arguments);
    caller_.start(std::move(call), [self = shared_from_this(), run, arguments = std::move(start.arguments)](
                                       webhook::CallResult heard) { self->heard(run, arguments, std::move(heard)); });
  } catch (const std::exception& e) {  // the secrets file has become invalid
    ended(run, core_.end_attempt(*run, engine::Called{engine::Called::End::failed, e.what()}));
  }
}

webhook::Call WebhookHandler::call_for(const engine::Run& run, const std::string& arguments) {
  const TaskInfo& info = run.record.info;
  const Millis timeout = run.handler->handler.options.timeout;
  return webhook::to_call({.task_id = to_string(info.id),
                           .task_key = info.key,
                           .handler = info.handler,
                           .attempt = info.attempts,
                           .version = static_cast<std::uint64_t>(info.version),
                           .traceparent = core_.traceparent_of_webhook(info),
                           .body = body_of(arguments)},
                          {url_, secrets_.current(), timeout > Millis{0} ? timeout : kUsualTimeout},
                          core_.clock().now(), run.stop.get_token());
}

void WebhookHandler::heard(const RunPtr& run, const std::string& arguments, webhook::CallResult heard) {
  if (core_.spans().heard()) {
    const auto status = heard ? std::optional{heard->status} : std::nullopt;
    core_.tell_webhook(*run, {calls(), status});
  }
  if (!heard) return ended(run, core_.end_attempt(*run, unanswered(heard.error())));
  mask_url(*heard);
  if (asks_for_rest(*heard) && run->handler->circuit) {
    run->handler->circuit->rest(core_.clock().steady(), *heard->retry_after);
  }
  ended(run, core_.end_attempt(*run, judged_by_status(*heard), arguments));
}

// Failed responses are shown to people, and a receiver may quote its URL in one.
void WebhookHandler::mask_url(webhook::Answer& answer) const {
  if (!answer.succeeded()) answer.body = mask_.apply(base::cut_utf8(answer.body, kLongestQuoted));
}

void WebhookHandler::ended(const RunPtr& run, task::Settlement settlement) {
  core_.settle_later(run, std::move(settlement));
  --in_flight_;
  core_.claiming().notify();
}

}  // namespace easyretry::server
