#pragma once
// One request's way back, from whatever thread.

#include <atomic>
#include <functional>
#include <string>
#include <utility>

#include "http/problem.h"

namespace easyretry::http {

// If nobody says anything, the last copy to go says so. Lets go of the connection with the answer, whoever keeps it.
class Answer {
 public:
  using Send = std::function<void(Response)>;
  Answer(std::string request_id, Send send) : request_id_(std::move(request_id)), send_(std::move(send)) {}
  ~Answer() { say(to_response({}, request_id_)); }
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;

  void say(Response response) {
    if (!said_.exchange(true)) std::exchange(send_, nullptr)(std::move(response));
  }

 private:
  const std::string request_id_;
  Send send_;  // until said_
  std::atomic<bool> said_{false};
};

}  // namespace easyretry::http
