#pragma once
// A synchronous HTTP client on libcurl, for the servers that EasyRetry itself talks to: Nacos and a daemon.
//
// Redirects are not followed: a token in the headers is for one server only. Webhooks have their own client
// (webhook/caller.h), which runs thousands of calls on one thread and checks every address before it connects.

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include <easyretry/time.h>

namespace easyretry::http {

// PEM files; an empty one is not used.
struct ClientTls {
  std::string ca_file{};           // authorities to trust, instead of this machine's
  std::string certificate_file{};  // with key_file, for mutual TLS
  std::string key_file{};
};

struct ClientRequest {
  std::string method = "GET";
  std::string url{};                       // percent-encoded
  std::optional<std::string_view> body{};  // nullopt: none. Its default type is that of a form
  std::vector<std::string> headers{};      // "Last-Event-ID: 17"
  ClientTls tls{};
  bool use_proxy = false;  // the one that the environment names
  Millis connect_within{5'000};
  Millis within{60'000};  // for the whole answer
  std::size_t most_bytes = std::size_t{10} * 1024 * 1024;
  std::stop_token stop{};
  Millis after_stop{0};  // how long an answer may still arrive after a stop

  std::function<void(std::string_view line)> on_header{};  // called for each line of the header, with its line end
  // If set, the body of an answer with status 200 is passed to it as it arrives, and ClientReply::body stays empty.
  // Then `within` and `most_bytes` do not apply: the answer is lost after a minute of silence.
  std::function<void(std::string_view bytes)> stream{};
};

struct ClientReply {
  int status = 0;
  std::string body{};
};

struct NoAnswer {
  enum class Kind {
    not_reached,  // nothing was sent
    not_trusted,  // nothing was sent: the certificate is not trusted
    no_tls,       // nothing was sent: the other side does not speak TLS
    lost,         // the request may have been processed
    stopped,
  };
  Kind kind = Kind::not_reached;
  std::string why{};      // the message of libcurl
  std::string brief{};    // the same without details such as elapsed times: equal for equal failures
  bool not_http = false;  // the other side answered, but not with a valid status line
};

// Keeps its connection open between requests. For one thread at a time.
class Client {
 public:
  Client();  // throws std::runtime_error if libcurl cannot be started
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  tl::expected<ClientReply, NoAnswer> ask(const ClientRequest& request);

 private:
  struct Handles;
  const std::unique_ptr<Handles> handles_;
};

// name=value&name=value, percent-encoded: the body of a form, or the query of a URL.
std::string form_encoded(const std::vector<std::pair<std::string, std::string>>& fields);

}  // namespace easyretry::http
