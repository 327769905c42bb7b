#include <nlohmann/json.hpp>

#include "doctor/checks.h"

namespace easyretry::app {
namespace {

Health health_of(const std::string& word) {
  return word == "ok" ? Health::ok : word == "warn" ? Health::warn : Health::fail;
}

// The service recommends commands for its own machine. Here they are changed to ask the same service.
std::string addressed(std::string todo, const std::string& where) {
  constexpr std::string_view kCommand = "`easyretry ";
  for (auto at = todo.find(kCommand); at != std::string::npos; at = todo.find(kCommand, at)) {
    at = todo.find('`', at + kCommand.size());
    if (at == std::string::npos) break;
    todo.insert(at, where);
    at += where.size() + 1;
  }
  return todo;
}

}  // namespace

Findings check_service(Service& service, Millis max_late, const std::string& where) {
  const nlohmann::json answer =
      service.ask({.path = {"doctor"}, .query = {{"max_late_ms", std::to_string(max_late.count())}}});
  Findings findings;
  for (const nlohmann::json& one : answer.at("checks")) {
    findings.push_back({health_of(one.value("result", "")), one.value("check", ""), one.value("what", ""),
                        addressed(one.value("todo", ""), where)});
  }
  return findings;
}

}  // namespace easyretry::app
