#pragma once
// What commands talk to: a daemon far away, or a store right here. Both speak as the API does (docs/api.md), so that
// what is asked, printed and refused is the same.

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace easyretry::app {

enum class Method { get, post, patch };

struct Ask {
  Method method = Method::get;
  std::vector<std::string> path{};             // {"tasks", "17", "cancel"}, under /v1
  std::map<std::string, std::string> query{};  // {"limit", "10"}
  std::string body{};                          // JSON

  bool changes() const { return method != Method::get; }
};

// "/v1/tasks/17/cancel", everything encoded.
std::string target_of(const Ask& ask);

// An answer that says no. `what()` is for people: the message, and what to do about it in terms of this program.
class Refused : public std::runtime_error {
 public:
  // `body` is {"error":{"code","message","hint"}}.
  Refused(int status, const nlohmann::json& body);
  int status() const { return status_; }

 private:
  const int status_;
};

class Service {
 public:
  virtual ~Service() = default;
  // Throws Refused, or std::runtime_error where there is no answer.
  virtual nlohmann::json ask(const Ask& ask) = 0;
};

}  // namespace easyretry::app
