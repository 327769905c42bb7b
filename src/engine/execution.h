#pragma once
// One run of user code inside the filters, and what its result means under the handler's policy.

#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <easyretry/filter.h>

#include "engine/handlers.h"

namespace easyretry::engine {

using FilterChain = std::vector<Filter>;

// Readers take the chain as it is and keep it for one execution. Thread-safe.
class Filters {
 public:
  void add(Filter filter);
  std::shared_ptr<const FilterChain> chain() const;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const FilterChain> chain_ = std::make_shared<FilterChain>();  // guarded by mutex_; never modified
};

// How a run of user code ended.
struct Called {
  enum class End { success, failed, rejected, undecodable };
  End end = End::success;
  std::string message{};          // of a failure, never empty
  std::optional<Millis> delay{};  // instead of the backoff; 0 to ten years
  std::string result{};
  std::exception_ptr thrown{};  // what left the outermost filter
};

struct Execution {
  const KnownHandler& handler;
  const FilterChain& filters;
  int number;            // 1 for the first attempt
  const TaskInfo* task;  // null: there is no stored task
  std::function<detail::Reply(bool want_result)> body;
  std::function<std::string()> arguments;  // JSON, for an expression that reads them

  // Never throws.
  Called run() const;

 private:
  detail::Reply run_filtered() const;
};

// Judges what user code returned. `arguments` as in Execution.
Called judge(const KnownHandler& handler, detail::Reply reply, const std::function<std::string()>& arguments);

// Judges what user code threw; `what` as in DirectCall.
Called judge_thrown(const Policy& policy, const std::exception_ptr& thrown, const char* what = nullptr);

// The message of an exception, followed by those nested in it; never empty.
std::string message_of(const std::exception_ptr& thrown);

// An error text in the form that is stored: UTF-8 without NUL bytes, at most 4 KiB. A longer text keeps its start and
// its end, with a mark between them.
std::string kept_error(const std::string& text);

}  // namespace easyretry::engine
