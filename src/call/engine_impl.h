#pragma once
// What Engine hides.

#include <memory>
#include <mutex>

#include <easyretry/engine.h>

#include "engine/core.h"
#include "engine/threads.h"

namespace easyretry::detail {

class EngineImpl : public HandlerHost {
 public:
  EngineImpl(std::shared_ptr<storage::Store> store, const Clock& clock, EngineOptions options,
             const engine::MakeWorkers& workers);

  std::vector<TaskId> submit(const std::string& handler, std::vector<Submission> submissions) override;
  void set_on_success(const std::string& handler, decltype(Handler::on_success) callback) override;
  void set_on_final_failure(const std::string& handler, decltype(Handler::on_final_failure) callback) override;

  virtual void start() = 0;
  virtual void stop() = 0;

  engine::Core& core() { return core_; }

 protected:
  engine::Core core_;

 private:
  task::NewTask new_task(const engine::KnownHandler& handler, Submission submission);
};

// What the result holds, or its error thrown.
template <class T>
T value_or_throw(Result<T> result) {
  if (!result) throw StoreError(std::move(result.error()));
  return std::move(*result);
}

}  // namespace easyretry::detail
