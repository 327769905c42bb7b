#include "server/webhook_handler.h"

#include <algorithm>

#include <easyretry/json_text.h>

#include "base/json_copy.h"
#include "base/utf8.h"
#include "engine/attempt.h"
#include "server/webhook_answer.h"
#include "webhook/delivery.h"
#include "webhook/destination.h"

namespace easyretry::server {
namespace {

using engine::RunPtr;

constexpr std::size_t kUsualConcurrency = 1000;
constexpr Millis kUsualTimeout{30'000};
constexpr std::size_t kLongestQuoted = 8192;  // more than a url and what is told of an answer

std::size_t concurrency_of(const engine::Run& run) {
  const int wanted = run.handler->handler.options.concurrency;
  return wanted > 0 ? static_cast<std::size_t>(wanted) : kUsualConcurrency;
}

// One argument stands for itself.
std::string body_of(const std::string& arguments) {
  const JsonDocument document = JsonDocument::parse(arguments);
  return document.root().size() == 1 ? base::canonical_json(document.root().at(0)) : arguments;
}

}  // namespace

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
  return most - std::min(most, under_way_ + coming);
}

void WebhookHandler::take(std::vector<RunPtr> runs) {
  under_way_ += runs.size();
  for (const RunPtr& run : runs) {
    most_ = concurrency_of(*run);
    call(run);
  }
}

void WebhookHandler::call(const RunPtr& run) {
  engine::Beginning beginning = core_.begin_attempt(*run);
  if (beginning.instead) return ended(run, *std::move(beginning.instead));
  core_.mark_started(*run);
  try {
    webhook::Call call = call_for(*run, beginning.arguments);
    caller_.start(std::move(call), [self = shared_from_this(), run, arguments = std::move(beginning.arguments)](
                                       webhook::CallResult heard) { self->heard(run, arguments, std::move(heard)); });
  } catch (const std::exception& e) {  // a secret that is none any more
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
                           .traceparent = info.traceparent,
                           .body = body_of(arguments)},
                          {url_, secrets_.current(), timeout > Millis{0} ? timeout : kUsualTimeout},
                          core_.clock().now(), run.stop.get_token());
}

void WebhookHandler::heard(const RunPtr& run, const std::string& arguments, webhook::CallResult heard) {
  if (!heard) {
    return ended(run, core_.end_attempt(*run, engine::Called{engine::Called::End::failed, heard.error().detail}));
  }
  hide_place(*heard);
  ended(run, core_.end_attempt(*run, judged_by_status(*heard), arguments));
}

// A receiver may repeat what it was called by, and what it says to a failure is shown.
void WebhookHandler::hide_place(webhook::Answer& answer) const {
  if (!answer.succeeded()) answer.body = mask_.apply(base::cut_utf8(answer.body, kLongestQuoted));
}

void WebhookHandler::ended(const RunPtr& run, task::Settlement settlement) {
  core_.settle_later(run, std::move(settlement));
  --under_way_;
  core_.claiming().notify();
}

}  // namespace easyretry::server
