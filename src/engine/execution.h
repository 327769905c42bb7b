#pragma once
// One run of user code inside the filters, and what its end means by the handler's policy.

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

// Readers take the chain as it is and keep it for one execution.
class Filters {
 public:
  void add(Filter filter);
  std::shared_ptr<const FilterChain> chain() const;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const FilterChain> chain_ = std::make_shared<FilterChain>();  // guarded by mutex_; never changed
};

struct Called {
  enum class End { success, failed, rejected, undecodable };
  End end = End::success;
  std::string message{};          // of a failure, never empty
  std::optional<Millis> delay{};  // instead of what the backoff says; 0 to ten years
  std::string result{};
  std::exception_ptr thrown{};  // what the outermost filter let through
};

struct Execution {
  const KnownHandler& handler;
  const FilterChain& filters;
  int number;            // 1 for the first attempt
  const TaskInfo* task;  // null: nothing is stored
  std::function<detail::Reply(bool want_result)> body;
  std::function<std::string()> arguments;  // JSON, for an expression that looks at them

  // Never throws.
  Called run() const;

 private:
  detail::Reply run_filtered() const;
};

// What it means, by the policy, that user code returned. `arguments` as in Execution.
Called judge(const KnownHandler& handler, detail::Reply reply, const std::function<std::string()>& arguments);

// What it means, by the policy, that user code threw; `what` as in DirectCall.
Called judge_thrown(const Policy& policy, const std::exception_ptr& thrown, const char* what = nullptr);

// What an exception says for itself, and then what is nested in it; never empty.
std::string message_of(const std::exception_ptr& thrown);

// What is stored of an error's text: UTF-8 without NUL bytes, at most 4 KiB. Of a longer one the start and the end are
// kept, and a mark between them.
std::string kept_error(const std::string& text);

}  // namespace easyretry::engine
