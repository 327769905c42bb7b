#pragma once
// One namespace of the store, as it is served: its engine, and those who bring and fetch tasks from outside.

#include <memory>
#include <mutex>
#include <string>

#include <easyretry/config.h>

#include "call/engine_impl.h"
#include "engine/threads.h"
#include "server/bulk.h"
#include "server/event_feed.h"
#include "server/lent_out.h"
#include "server/pull_desk.h"
#include "server/remembered_answers.h"
#include "server/submissions.h"
#include "webhook/caller.h"

namespace easyretry::server {

class Space {
 public:
  // `config` with the namespace in its engine's options.
  Space(std::shared_ptr<storage::Store> store, const Config& config);
  ~Space();  // stop()
  Space(const Space&) = delete;
  Space& operator=(const Space&) = delete;

  void start();
  // Lets workers that wait and those who watch go, then stops the engine as Engine::stop does.
  void stop();

  // As Engine::reload.
  std::vector<ConfigChange> reload(const Config& wanted) { return engine_->reload(wanted); }

  const std::string& name() const { return name_; }
  engine::Core& core() { return engine_->core(); }
  PullDesk& desk() { return *desk_; }
  Submissions& submissions() { return submissions_; }
  RememberedAnswers& remembered() { return remembered_; }
  LentOut& lent_out() { return lent_out_; }
  Bulk& bulk() { return bulk_; }

  // EventFeed::watch. Nothing is listened to before somebody does.
  std::shared_ptr<http::BodyStream> events(EventFeed::Filter filter, std::string_view last);
  // Whoever waits for tasks or watches events is let go, bulk jobs are broken off, and nobody else comes.
  void let_go();

  // A name that nobody has declared is one for workers that fetch its tasks, by the configuration's defaults. Throws
  // Refusal when there are too many of them, std::invalid_argument for what cannot be a name.
  std::shared_ptr<const engine::KnownHandler> handler(const std::string& name);
  // From now on a final failure of these tasks, a cancellation for one, is a stage that a worker has to run.
  void leave_final_failures_to_workers(const std::string& handler);

 private:
  std::shared_ptr<engine::RemoteExecutor> executor_of(const std::string& handler);
  Result<std::vector<TaskId>> ids_of(const TaskQuery& query);
  void hand_back(const std::vector<engine::RunPtr>& runs);

  const Config config_;
  const std::string name_;
  const std::shared_ptr<detail::EngineImpl> engine_;
  const std::unique_ptr<webhook::Caller> caller_;  // after the engine: its end ends calls, of which the engine is told
  const std::shared_ptr<PullDesk> desk_;
  RememberedAnswers remembered_;  // before the submissions, which are answered to their end
  Submissions submissions_;
  LentOut lent_out_;
  Bulk bulk_;
  const std::shared_ptr<EventFeed> feed_;
  std::once_flag listening_;
  std::mutex registering_;
  std::unique_ptr<engine::RunLoop> minding_the_desk_;
};

}  // namespace easyretry::server
