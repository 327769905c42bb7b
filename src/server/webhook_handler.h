#pragma once
// A handler behind a URL: each attempt is a signed call. At most `concurrency` of them run at a time.

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include <easyretry/detail/erased_handler.h>

#include "alert/mask.h"
#include "engine/core.h"
#include "engine/workers.h"
#include "webhook/call.h"
#include "webhook/caller.h"
#include "webhook/destination.h"
#include "webhook/secrets_file.h"

namespace easyretry::server {

// Turns the response of a webhook into an outcome: 2xx is judged by success_when; 410 ends the task; anything else is
// retried, after Retry-After if the response has one. Pure.
detail::Reply judged_by_status(const webhook::Answer& answer);

// The same without a response. An address that may not be called ends the task: another attempt would not be allowed
// either. Pure.
engine::Called unanswered(const Error& error);

class WebhookHandler final : public engine::RemoteExecutor, public std::enable_shared_from_this<WebhookHandler> {
 public:
  // `core` and `caller` outlive every call. Throws std::invalid_argument for an invalid URL or secrets file.
  WebhookHandler(engine::Core& core, webhook::Caller& caller, std::string url, const std::string& secrets_file);

  std::size_t room(std::size_t coming) override;
  void take(std::vector<engine::RunPtr> runs) override;
  std::string calls() const override { return webhook::parse_destination(url_).server(); }

 private:
  void call(const engine::RunPtr& run);
  void heard(const engine::RunPtr& run, const std::string& arguments, webhook::CallResult heard);
  void mask_url(webhook::Answer& answer) const;
  void ended(const engine::RunPtr& run, task::Settlement settlement);
  webhook::Call call_for(const engine::Run& run, const std::string& arguments);

  engine::Core& core_;
  webhook::Caller& caller_;
  const std::string url_;
  const alert::Mask mask_;
  webhook::SecretsFile secrets_;
  std::atomic<std::size_t> most_;  // the handler's concurrency when a task was last taken
  std::atomic<std::size_t> in_flight_{0};
};

}  // namespace easyretry::server
