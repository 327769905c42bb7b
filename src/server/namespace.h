#pragma once
// One namespace that the daemon serves: its engine, submissions, leases, events and bulk jobs.

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include <easyretry/config.h>
#include <easyretry/detail/erased_handler.h>

#include "call/engine_impl.h"
#include "engine/threads.h"
#include "server/bulk.h"
#include "server/event_feed.h"
#include "server/lease_queue.h"
#include "server/remembered_answers.h"
#include "server/series_recorder.h"
#include "server/submissions.h"
#include "webhook/caller.h"

namespace easyretry::server {

struct Webhook {
  std::string url;
  std::string secrets_file;
};

// Nullopt: workers lease its tasks. Throws std::invalid_argument for a URL without a secrets_file.
std::optional<Webhook> webhook_of(const Config& config, const std::string& handler);

// A handler that no code has registered: workers lease its tasks, or they are sent to a URL.
detail::Handler remote_handler(const std::string& name);

// Throws Refusal if there are too many handlers.
void require_room_for(const std::string& handler, std::size_t known);

class Namespace {
 public:
  // The namespace is `config.engine.name_space`.
  Namespace(std::shared_ptr<storage::Store> store, const Config& config);
  ~Namespace();  // stop()
  Namespace(const Namespace&) = delete;
  Namespace& operator=(const Namespace&) = delete;

  void start();
  // close(), then stops the engine as Engine::stop does.
  void stop();

  // Like Engine::reload.
  std::vector<ConfigChange> reload(const Config& wanted);

  const std::string& name() const { return name_; }
  engine::Core& core() { return engine_->core(); }
  LeaseQueue& lease_queue() { return *lease_queue_; }
  Submissions& submissions() { return submissions_; }
  RememberedAnswers& remembered() { return remembered_; }
  Leases& leases() { return leases_; }
  Bulk& bulk() { return bulk_; }
  const Series& series() const { return recorder_.series(); }

  // Same as EventFeed::watch. Does not listen to the engine's events before the first call.
  std::shared_ptr<http::BodyStream> events(EventFeed::Filter filter, std::string_view last);
  // Answers requests that wait for leases or tasks, ends event streams, interrupts bulk jobs, and refuses new ones.
  void close();

  // A new name is registered as a handler whose tasks workers lease, with the configured defaults. Throws Refusal if
  // there are too many handlers, std::invalid_argument for an invalid name.
  std::shared_ptr<const engine::KnownHandler> handler(const std::string& name);
  // From now on a worker runs on_final_failure for these tasks, for example after a cancellation.
  void leave_final_failures_to_workers(const std::string& handler);

 private:
  std::shared_ptr<engine::RemoteExecutor> executor_of(const std::string& handler);
  Result<Bulk::Page> ids_of(const TaskQuery& query);
  void hand_back(const std::vector<engine::RunPtr>& runs);
  void know_stored_handlers(const Counts& counts);

  const Config config_;
  const std::string name_;
  const std::shared_ptr<detail::EngineImpl> engine_;
  const std::unique_ptr<webhook::Caller> caller_;  // after the engine, which is told when this ends its calls
  const std::shared_ptr<LeaseQueue> lease_queue_;
  RememberedAnswers remembered_;  // before the submissions, which use it until they are answered
  Submissions submissions_;
  Leases leases_;
  Bulk bulk_;
  const std::shared_ptr<EventFeed> feed_;
  std::once_flag listening_;
  std::mutex registering_;
  std::atomic<bool> sweeps_all_;   // the defaults say how long ended tasks are kept
  std::set<std::string> refused_;  // names in the store that are no handlers; used by the recorder's thread
  SeriesRecorder recorder_;
  std::unique_ptr<engine::RunLoop> queue_loop_;
  std::unique_ptr<engine::RunLoop> series_loop_;
};

}  // namespace easyretry::server
