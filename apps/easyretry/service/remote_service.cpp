#include "service/remote_service.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace easyretry::app {
namespace {

constexpr long kConnectWithinMillis = 5000;
constexpr long kAnswerWithinMillis = 60'000;

using Easy = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
using Headers = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;
using Address = std::unique_ptr<CURLU, decltype(&curl_url_cleanup)>;

std::size_t append(const char* data, std::size_t /*one*/, std::size_t size, void* body) {
  static_cast<std::string*>(body)->append(data, size);
  return size;
}

void add(Headers& headers, const std::string& line) {
  headers.reset(curl_slist_append(headers.release(), line.c_str()));
}

std::string part_of(CURLU* address, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(address, part, &text, 0) != CURLUE_OK) return {};
  const std::unique_ptr<char, decltype(&curl_free)> owner{text, curl_free};
  return text;
}

// A name that begins with 127. may be anybody's.
bool is_loopback(const std::string& host) {
  constexpr std::uint32_t kNet = 127;
  in_addr v4{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == kNet;
  return host == "localhost" || host == "[::1]";
}

void check_address(const std::string& server) {
  const Address address{curl_url(), curl_url_cleanup};
  const bool url = curl_url_set(address.get(), CURLUPART_URL, server.c_str(), 0) == CURLUE_OK;
  const std::string scheme = part_of(address.get(), CURLUPART_SCHEME);
  if (!url || (scheme != "http" && scheme != "https") || part_of(address.get(), CURLUPART_PATH) != "/" ||
      !part_of(address.get(), CURLUPART_QUERY).empty() || !part_of(address.get(), CURLUPART_USER).empty()) {
    throw std::invalid_argument("--server \"" + server +
                                "\" is no address of a daemon; write it as http://127.0.0.1:7077 or "
                                "https://retry.example:7077");
  }
  if (scheme == "http" && !is_loopback(part_of(address.get(), CURLUPART_HOST))) {
    throw std::invalid_argument(
        "--server " + server +
        " is on another machine, and the token must not be sent in the open; use https://, or a "
        "tunnel to 127.0.0.1");
  }
}

class RemoteService final : public Service {
 public:
  explicit RemoteService(RemoteOptions options)
      : options_(std::move(options)), easy_(curl_easy_init(), curl_easy_cleanup) {
    check_address(options_.server);
    while (options_.server.ends_with('/')) options_.server.pop_back();
    // A header ends with its line.
    if ((options_.token + options_.space).find_first_of("\r\n") != std::string::npos) {
      throw std::invalid_argument("a token and a namespace are one line each");
    }
  }

  nlohmann::json ask(const Ask& ask) override {
    std::string body;
    send(ask, body);
    long status = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    return judged(static_cast<int>(status), body);
  }

 private:
  void send(const Ask& ask, std::string& body) {
    CURL* easy = easy_.get();
    curl_easy_reset(easy);  // keeps the connection
    const std::string url = options_.server + target_of(ask);
    const Headers headers = headers_of(ask);
    curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    if (url.starts_with("http:")) curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");  // it would see the token
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, kConnectWithinMillis);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, kAnswerWithinMillis);
    if (!options_.ca_file.empty()) curl_easy_setopt(easy, CURLOPT_CAINFO, options_.ca_file.c_str());
    if (ask.changes()) {
      curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, static_cast<long>(ask.body.size()));
      curl_easy_setopt(easy, CURLOPT_POSTFIELDS, ask.body.c_str());
    }
    if (ask.method == Method::patch) curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, "PATCH");
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, append);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &body);
    const CURLcode result = curl_easy_perform(easy);
    if (result != CURLE_OK) throw std::runtime_error(no_answer(result, ask));
  }

  Headers headers_of(const Ask& ask) const {
    Headers headers{nullptr, curl_slist_free_all};
    if (ask.changes()) add(headers, "Content-Type: application/json");
    if (!options_.token.empty()) add(headers, "Authorization: Bearer " + options_.token);
    if (!options_.space.empty()) add(headers, "easyretry-namespace: " + options_.space);
    return headers;
  }

  std::string no_answer(CURLcode result, const Ask& ask) const {
    const std::string& server = options_.server;
    switch (result) {
      case CURLE_COULDNT_CONNECT:
      case CURLE_COULDNT_RESOLVE_HOST:
        return fmt::format(
            "nobody answers at {} ({}); start the daemon with `easyretry serve`, say where it is with "
            "--server, or open its store with --store",
            server, curl_easy_strerror(result));
      case CURLE_PEER_FAILED_VERIFICATION:
        return fmt::format("the certificate of {} is not trusted ({}); name the one that vouches for it with --ca-file",
                           server, curl_easy_strerror(result));
      default:
        return fmt::format("no answer from {}: {}{}", server, curl_easy_strerror(result),
                           ask.changes() ? "; whether it was done is not known: look before trying again" : "");
    }
  }

  // Redirects are not followed: the token is for this server.
  nlohmann::json judged(int status, const std::string& body) const {
    auto answer = nlohmann::json::parse(body, nullptr, /*allow_exceptions=*/false);
    const bool good = status >= 200 && status < 300;
    if (!answer.is_object() || (!good && !answer.contains("error"))) {
      throw std::runtime_error(
          fmt::format("what answers at {} is not EasyRetry (HTTP {}); check --server", options_.server, status));
    }
    if (!good) throw Refused{status, answer};
    return answer;
  }

  RemoteOptions options_;
  const Easy easy_;
};

}  // namespace

std::unique_ptr<Service> open_remote_service(RemoteOptions options) {
  return std::make_unique<RemoteService>(std::move(options));
}

}  // namespace easyretry::app
