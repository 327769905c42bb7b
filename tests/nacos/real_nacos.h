#pragma once
// A real Nacos: the shared one, or a test's own server that it may kill. And an independent view of it over HTTP.

#include <atomic>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "nacos/options.h"
#include "support/servers_tool.h"

namespace easyretry::test {

// Runs tests with each kind of Nacos in servers.py. The name before the slash tells ctest which server to start.
class OnEachNacos : public testing::TestWithParam<std::string> {
 protected:
  bool is_3() const { return GetParam() == "nacos3"; }
};
#define ON_EACH_NACOS(suite)                                                                               \
  INSTANTIATE_TEST_SUITE_P(Nacos2, suite, testing::Values("nacos"), [](const auto&) { return "v2_3_2"; }); \
  INSTANTIATE_TEST_SUITE_P(Nacos3, suite, testing::Values("nacos3"), [](const auto&) { return "v3_1_0"; })

class OwnNacos {
 public:
  explicit OwnNacos(std::string kind) : kind_(std::move(kind)) { start(); }
  ~OwnNacos() {
    try {
      order_server("remove", folder_);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s\n", e.what());  // its watcher will try to remove it, too
    }
  }
  OwnNacos(const OwnNacos&) = delete;
  OwnNacos& operator=(const OwnNacos&) = delete;

  void kill() { order_server("kill", folder_); }
  void start() { port_ = start_server(kind_, folder_); }
  int port() const { return port_; }

 private:
  const std::string kind_;
  const std::filesystem::path folder_ = new_server_folder();
  int port_ = 0;
};

inline nacos::ClientOptions options_for(int port) {
  return {.servers = {{.host = "127.0.0.1", .port = port}},
          .credentials = nacos::Credentials{"nacos", "nacos"},
          .log = [](LogLevel, std::string_view) {}};
}

// A different name for each test, so that no two tests see each other's data.
inline std::string unique_name() {
  static std::atomic<int> count = 0;
  return "claim-" + std::to_string(getpid()) + "-" + std::to_string(++count);
}

// The body of the answer from http://127.0.0.1:port/nacos`path`. Python sends the request.
inline std::string ask_by_http(const std::string& method, int port, const std::string& path) {
  const std::string url =
      "http://127.0.0.1:" + std::to_string(port) + "/nacos" + path + "&username=nacos&password=nacos";
  const std::string command =
      "python3 -c \"import urllib.request as r; "
      "print(r.build_opener(r.ProxyHandler({})).open(r.Request('" +
      url + "', method='" + method + "'), timeout=30).read().decode(), end='')\" 2>&1";
  std::FILE* output = popen(command.c_str(), "r");
  if (output == nullptr) throw std::runtime_error("cannot run " + command);
  std::string text;
  for (int c = 0; (c = std::fgetc(output)) != EOF;) text += static_cast<char>(c);
  pclose(output);
  return text;
}

inline std::string http_get(int port, const std::string& path) {
  return ask_by_http("GET", port, path);
}

}  // namespace easyretry::test
