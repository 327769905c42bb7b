#pragma once
// A server on loopback, and clients that send exactly the bytes of the test.

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/http_server.h"
#include "support/eventually.h"
#include "unit/http/raw_client.h"

namespace easyretry::http {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// "GET /path HTTP/1.1", with a Host; `headers` end with \r\n each.
inline std::string get(std::string_view path = "/", std::string_view headers = {}) {
  return "GET " + std::string{path} + " HTTP/1.1\r\nHost: h\r\n" + std::string{headers} + "\r\n";
}
// The head of a POST with a body of this size.
inline std::string post(std::size_t size, std::string_view path = "/", std::string_view headers = {}) {
  return "POST " + std::string{path} + " HTTP/1.1\r\nHost: h\r\n" + std::string{headers} +
         "Content-Length: " + std::to_string(size) + "\r\n\r\n";
}
inline std::string post_chunked(std::string_view headers = {}) {
  return "POST / HTTP/1.1\r\nHost: h\r\n" + std::string{headers} + "Transfer-Encoding: chunked\r\n\r\n";
}

struct ServerTest : ::testing::Test {
  RawClient client() const { return RawClient{server->port()}; }
  static std::string ask(RawClient& client, std::string_view request) {
    client.send(request);
    return client.answer();
  }
  // On a new connection.
  std::string ask(std::string_view request) const {
    RawClient one = client();
    return ask(one, request);
  }
  // Everything that comes back for these bytes, followed by another request and the end.
  std::string all_answers(std::string_view bytes) const {
    RawClient one = client();
    one.send(bytes);
    one.send(get("/smuggled"));
    one.no_more();
    return one.rest();
  }
  bool holds(std::size_t connections) const {
    return test::eventually([&] { return server->connections() == connections; });
  }

  // Requests that are answered when the test says so.
  void answer_later(Respond respond) {
    const std::lock_guard lock{mutex};
    later.push_back(std::move(respond));
  }
  void wait_until_one_is_waiting() {
    ASSERT_TRUE(test::eventually([&] {
      const std::lock_guard lock{mutex};
      return !later.empty();
    }));
  }

  std::mutex mutex;
  std::vector<Respond> later;  // guarded by mutex
  std::optional<HttpServer> server;
};

}  // namespace easyretry::http
