#pragma once
// A handler behind a URL: its attempts are calls there, signed, as many at a time as its concurrency says.

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "alert/mask.h"
#include "engine/core.h"
#include "webhook/caller.h"
#include "webhook/secrets_file.h"

namespace easyretry::server {

class WebhookHandler final : public engine::RemoteExecutor, public std::enable_shared_from_this<WebhookHandler> {
 public:
  // Both outlive every call. Throws std::invalid_argument for a URL that cannot be called, or secrets that are none.
  WebhookHandler(engine::Core& core, webhook::Caller& caller, std::string url, const std::string& secrets_file);

  std::size_t room(std::size_t coming) override;
  void take(std::vector<engine::RunPtr> runs) override;

 private:
  void call(const engine::RunPtr& run);
  void heard(const engine::RunPtr& run, const std::string& arguments, webhook::CallResult heard);
  void hide_place(webhook::Answer& answer) const;
  void ended(const engine::RunPtr& run, task::Settlement settlement);
  webhook::Call call_for(const engine::Run& run, const std::string& arguments);

  engine::Core& core_;
  webhook::Caller& caller_;
  const std::string url_;
  const alert::Mask mask_;
  webhook::SecretsFile secrets_;
  std::atomic<std::size_t> most_;  // as the handler's concurrency said when one was last taken
  std::atomic<std::size_t> under_way_{0};
};

}  // namespace easyretry::server
