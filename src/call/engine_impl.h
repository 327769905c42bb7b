#pragma once
// The implementation of Engine.

#include <memory>
#include <mutex>

#include <easyretry/engine.h>

#include "call/config_follower.h"
#include "call/configuration.h"
#include "call/direct/direct_calls.h"
#include "engine/core.h"

namespace easyretry::detail {

class EngineImpl : public HandlerHost {
 public:
  EngineImpl(std::shared_ptr<storage::Store> store, const Clock& clock, Config config, ExceptionNames names,
             const engine::MakeWorkers& workers);

  std::vector<TaskId> submit(const std::string& handler, std::vector<Submission> submissions) override;
  std::vector<TaskId> submit(const Transaction& within, const std::string& handler,
                             std::vector<Submission> submissions) override;
  DirectResult call(const std::string& handler, DirectCall& call, const SubmitOptions& options) override;
  DirectResult call_failed(const std::string& handler, DirectCall& call, const SubmitOptions& options) override;
  TaskId store(const std::string& handler, Submission failed) override;
  std::string key_of(const std::string& handler, const std::string& payload) override;
  void change(const std::string& handler, Handler changes) override;

  void add(Handler handler);
  void add_filter(Filter filter);
  std::vector<ConfigChange> reload(const Config& wanted);
  void follow(const std::string& config_file);

  virtual Waited wait_for_end(TaskId id, Millis timeout);
  virtual void start() = 0;
  virtual void stop() = 0;

  engine::Core& core() { return core_; }

 protected:
  // With the result, opened.
  Waited waited(engine::Waits::Answer answer) const;
  // Where tasks are stored, and what an acknowledged one survives.
  void log_store();
  void warn_of_unknown_handlers();
  void stop_following();
  // Sleeps on the caller's thread; false once the engine stops.
  virtual bool wait(Millis delay) = 0;
  // From now on the leases of direct calls are renewed, also before the engine starts and after it stops.
  virtual void keep_leases() = 0;

  engine::Core core_;

 private:
  std::shared_ptr<const engine::KnownHandler> known(const std::string& handler);
  std::vector<task::NewTask> rows(const std::string& handler, std::vector<Submission> submissions);

  call::Configuration configuration_;
  call::DirectCalls direct_calls_;
  std::mutex settings_mutex_;  // one reload or registration at a time, so that each sees all of the other
  std::mutex following_mutex_;
  std::unique_ptr<call::ConfigFollower> following_;  // guarded by following_mutex_
};

}  // namespace easyretry::detail
