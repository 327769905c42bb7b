#pragma once
// The registry of handlers: names from storage are looked up here and nowhere else. Thread-safe.
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
inline constexpr std::uint32_t kNoHandler = 0xFFFF'FFFF;  // a DueTask's, where the handler is not registered here

// A handler, with values that are computed once.
struct KnownHandler {
  detail::Handler handler;
  std::string backoff_text;
  // Duration of its attempts; shared with later versions of these settings.
  std::shared_ptr<Histogram> run_time = std::make_shared<Histogram>(bounds::kRunTime);
};

// The part of a handler that a configuration may change.
struct HandlerSettings {
  Policy policy;
  HandlerOptions options;
};

struct HandlerTable {
  std::vector<std::shared_ptr<const KnownHandler>> by_number;
  std::unordered_map<std::string, HandlerNo> by_name;

  std::shared_ptr<const KnownHandler> find(const std::string& name) const;
  // For DueTask::handler; kNoHandler: there is none of this name.
  std::uint32_t number_of(const std::string& name) const;
  std::vector<std::string> names() const;
  // Names of the handlers that can run here: a remote one only while it is attended. Ascending.
  std::vector<std::string> run_here() const;
  // How many executions of handler `no` may run at a time on a pool of this many workers.
  std::size_t concurrency(HandlerNo no, std::size_t workers) const;
};

class Handlers {
 public:
  Handlers();

  // Throws std::invalid_argument if the name is taken or invalid, or the policy is.
  void add(detail::Handler handler);
  // Replaces the handler's callbacks by those that are set in `changes`.
  void change(const std::string& name, detail::Handler changes);
  // Changes all of them, or none: throws std::invalid_argument if one is invalid.
  void reconfigure(const std::map<std::string, HandlerSettings>& settings);
  // From now on no direct call may bypass the engine.
  void close_gates();

  std::shared_ptr<const HandlerTable> snapshot() const;
  // `added` is called after each add(), on the thread that adds.
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
