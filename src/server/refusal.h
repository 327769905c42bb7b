#pragma once
// An answer that says no, thrown by whatever finds out; api.cpp turns it into a response.

#include <stdexcept>
#include <string>

#include "http/problem.h"

namespace easyretry::server {

class Refusal : public std::runtime_error {
 public:
  explicit Refusal(http::Problem problem) : std::runtime_error(problem.message), problem_(std::move(problem)) {}
  const http::Problem& problem() const { return problem_; }

 private:
  http::Problem problem_;
};

// The exception that is being handled, as an answer. What is nobody's fault but ours says nothing of itself.
http::Problem problem_of_current_exception();

}  // namespace easyretry::server
