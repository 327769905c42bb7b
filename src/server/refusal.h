#pragma once
// An exception that becomes an error response: see api.cpp.

#include <stdexcept>
#include <string>

#include "http/message.h"

namespace easyretry::server {

class Refusal : public std::runtime_error {
 public:
  explicit Refusal(http::Problem problem) : std::runtime_error(problem.message), problem_(std::move(problem)) {}
  const http::Problem& problem() const { return problem_; }

 private:
  http::Problem problem_;
};

// Too many requests wait for a thread.
http::Problem busy();

http::Problem no_such_task(const std::string& id);

// The response to the exception that is being handled. Internal errors reveal nothing.
http::Problem problem_of_current_exception();

}  // namespace easyretry::server
