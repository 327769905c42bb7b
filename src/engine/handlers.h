#pragma once
// The closed registry of handlers: names from storage are looked up here and nowhere else.
//
// Readers take a snapshot, an immutable table, and keep it for a batch; registering makes a new one. Numbers stay
// valid for the life of the registry.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include <easyretry/handler.h>

#include "engine/measures.h"
#include "policy/success_expression.h"

namespace easyretry::engine {

using HandlerNo = std::uint16_t;

// A handler with what is worked out once.
struct KnownHandler {
  detail::Handler handler;
  std::string backoff_text;
  // Of its attempts; the same one after its settings have changed.
  std::shared_ptr<Histogram> run_time = std::make_shared<Histogram>(bounds::kRunTime);
};

// What a configuration may change of a handler.
struct HandlerSettings {
  Policy policy;
  HandlerOptions options;
};

struct HandlerTable {
  std::vector<std::shared_ptr<const KnownHandler>> by_number;
  std::unordered_map<std::string, HandlerNo> by_name;

  std::shared_ptr<const KnownHandler> find(const std::string& name) const;
  std::vector<std::string> names() const;
  // Of those that can be run here: a handler elsewhere only while it is attended. Ascending.
  std::vector<std::string> run_here() const;
  // Executions of handler `no` that may run at a time on a pool of this many workers.
  std::size_t concurrency(HandlerNo no, std::size_t workers) const;
};

class Handlers {
 public:
  Handlers();

  // Throws std::invalid_argument for a name that is taken or unusable, or a policy that cannot work.
  void add(detail::Handler handler);
  // The callbacks of `changes` that are set replace the handler's.
  void change(const std::string& name, detail::Handler changes);
  // All of them or, where one cannot work and std::invalid_argument is thrown, none.
  void reconfigure(const std::map<std::string, HandlerSettings>& settings);
  // From now on no direct call may pass the engine by.
  void close_gates();

  std::shared_ptr<const HandlerTable> snapshot() const;
  // Called after each add(), by the thread that adds.
  void on_add(std::function<void()> added);

 private:
  static void replace(HandlerTable& table, const std::string& name, const std::function<void(KnownHandler&)>& edit);
  void take(std::shared_ptr<const HandlerTable> table);  // under mutex_

  mutable std::mutex mutex_;
  std::shared_ptr<const HandlerTable> table_;  // guarded by mutex_; the table itself never changes
  bool gates_closed_ = false;                  // guarded by mutex_
  std::function<void()> added_;                // guarded by mutex_
};

}  // namespace easyretry::engine
