#pragma once
// Maps methods and paths to endpoints. Filled before the server starts, then only read.

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "http/message.h"

namespace easyretry::http {

template <class Endpoint>
class Router {
 public:
  // `pattern`: "/v1/tasks/{id}"; a part in braces matches any single segment that is not empty.
  void add(Method method, std::string_view pattern, Endpoint endpoint) {
    routes_.push_back({method, std::string{pattern}, parse_target(pattern)->segments, std::move(endpoint)});
  }

  // "GET /v1/tasks/{id}", in the order of add().
  std::vector<std::string> all() const {
    std::vector<std::string> all;
    for (const Route& route : routes_) all.push_back(std::string{to_string(route.method)} + " " + route.pattern);
    return all;
  }

  struct Nothing {};  // 404
  struct OtherMethods {
    std::string allowed;
  };  // 405, "GET, POST"
  using Found = std::variant<Nothing, OtherMethods, const Endpoint*>;

  // Fills request.parameters. HEAD is served by the endpoint for GET.
  Found find(Request& request) const {
    const Method asked = request.method == Method::head ? Method::get : request.method;
    std::string allowed;
    for (const Route& route : routes_) {
      if (!matches(route.segments, request.target.segments)) continue;
      if (route.method != asked) {
        allowed.append(allowed.empty() ? "" : ", ").append(to_string(route.method));
        continue;
      }
      take_parameters(route.segments, request);
      return &route.endpoint;
    }
    if (allowed.empty()) return Nothing{};
    return OtherMethods{std::move(allowed)};
  }

 private:
  struct Route {
    Method method;
    std::string pattern;
    std::vector<std::string> segments;
    Endpoint endpoint;
  };

  static bool is_parameter(std::string_view segment) { return segment.starts_with('{'); }
  static bool matches(const std::vector<std::string>& pattern, const std::vector<std::string>& path) {
    if (pattern.size() != path.size()) return false;
    for (std::size_t i = 0; i < path.size(); ++i) {
      if (is_parameter(pattern[i]) ? path[i].empty() : pattern[i] != path[i]) return false;
    }
    return true;
  }
  static void take_parameters(const std::vector<std::string>& pattern, Request& request) {
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      if (!is_parameter(pattern[i])) continue;
      request.parameters[pattern[i].substr(1, pattern[i].size() - 2)] = request.target.segments[i];
    }
  }

  std::vector<Route> routes_;
};

}  // namespace easyretry::http
