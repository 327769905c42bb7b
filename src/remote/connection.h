#pragma once
// The address of a daemon, and one connection to it, which stays open between requests. One thread at a time.
//
// Redirects are not followed: the token is for this server. Without TLS no proxy is used, so none sees the token.

#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include <easyretry/time.h>

#include "http/client.h"

namespace easyretry::remote {

struct DaemonAddress {
  std::string url;         // "http://127.0.0.1:7077"
  std::string token;       // empty: none
  std::string name_space;  // empty: the namespace of the token, or the daemon's default
  std::string ca_file;     // PEM: authorities for the daemon's certificate; empty: the system's
};

// Removes trailing slashes. Throws std::invalid_argument for an invalid address, for one that would send the token
// unencrypted to another machine, and if the token or the namespace contains a line break.
DaemonAddress checked(DaemonAddress address);

// Throws std::invalid_argument that names the file if it is empty or cannot be read. An empty name is fine.
void require_ca_file(const std::string& file);

// The first word of the file. Throws std::invalid_argument that names the file.
std::string read_token(const std::filesystem::path& file);

// The longest request body that a daemon accepts for tasks and results: server::kLongBody.
inline constexpr std::size_t kMostBodyBytes = 8'388'608;

struct HttpRequest {
  enum class Method { get, post, patch };
  Method method = Method::get;
  std::string target{};                // "/v1/tasks?limit=10", percent-encoded
  std::string body{};                  // JSON
  Millis within{60'000};               // for the whole response
  std::stop_token stop{};              // ends the request a moment later, so that a response on its way still arrives
  std::vector<std::string> headers{};  // "Last-Event-ID: 17"
  // If set, the body of a 200 response is passed to it as it arrives, for as long as it arrives, and not stored in
  // HttpReply::body. `within` does not apply; the response is lost after a minute of silence.
  std::function<void(std::string_view bytes)> stream{};

  bool changes() const { return method != Method::get; }
};

struct HttpReply {
  int status = 0;
  std::string body{};
  std::optional<TimePoint> time{};    // the store's time of the response
  std::optional<Millis> remembers{};  // how far back the daemon remembers each Idempotency-Key
};

using http::NoAnswer;

class Connection {
 public:
  explicit Connection(const DaemonAddress& address) : address_(address) {}

  tl::expected<HttpReply, NoAnswer> ask(const HttpRequest& request);

 private:
  const DaemonAddress& address_;
  http::Client client_;
};

}  // namespace easyretry::remote
