#include "remote/connection.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string_view>

#include <arpa/inet.h>
#include <curl/curl.h>

#include "base/time_text.h"

namespace easyretry::remote {
namespace {

constexpr long kConnectWithinMillis = 5000;
constexpr std::size_t kMostBytes = std::size_t{256} << 20U;  // of a response
// Tasks in a response that is not read wait until their lease expires, and count as a crash.
constexpr Millis kLastResponse{250};
constexpr int kLookEveryMillis = 10;  // during that time
constexpr int kSleepMillis = 1000;    // otherwise; a stop wakes it
constexpr long kSilentSeconds = 60;   // of a stream; a daemon sends something every 15 s
constexpr long kOk = 200;
constexpr std::string_view kTimeHeader = "easyretry-time:";
constexpr std::string_view kReachHeader = "easyretry-remembers-ms:";

using Parsed = std::unique_ptr<CURLU, decltype(&curl_url_cleanup)>;

std::string part_of(const Parsed& address, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(address.get(), part, &text, 0) != CURLUE_OK) return {};
  const std::unique_ptr<char, decltype(&curl_free)> owner{text, curl_free};
  return text;
}

// A host name that begins with "127." may belong to any machine.
bool is_loopback(const std::string& host) {
  constexpr std::uint32_t kNet = 127;
  in_addr v4{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24U == kNet;
  return host == "localhost" || host == "[::1]";
}

void check_url(const std::string& url) {
  const Parsed parsed{curl_url(), curl_url_cleanup};
  const bool is_url = curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) == CURLUE_OK;
  const std::string scheme = part_of(parsed, CURLUPART_SCHEME);
  if (!is_url || (scheme != "http" && scheme != "https") || part_of(parsed, CURLUPART_PATH) != "/" ||
      !part_of(parsed, CURLUPART_QUERY).empty() || !part_of(parsed, CURLUPART_USER).empty()) {
    throw std::invalid_argument("\"" + url +
                                "\" is not the address of a daemon; write it as http://127.0.0.1:7077 or "
                                "https://retry.example:7077");
  }
  if (scheme == "http" && !is_loopback(part_of(parsed, CURLUPART_HOST))) {
    throw std::invalid_argument("\"" + url +
                                "\" is on another machine, and the token must not be sent unencrypted; use "
                                "https://, or a tunnel to 127.0.0.1");
  }
}

using Headers = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

void add(Headers& headers, const std::string& line) {
  headers.reset(curl_slist_append(headers.release(), line.c_str()));
}

// A response that is being received.
struct Incoming {
  CURL* from;
  const HttpRequest& request;
  HttpReply reply{};
  bool has_head = false;  // the complete head has arrived

  long status() const {
    long status = 0;
    curl_easy_getinfo(from, CURLINFO_RESPONSE_CODE, &status);
    return status;
  }
};

std::size_t take_body(char* data, std::size_t /*one*/, std::size_t size, void* incoming) {
  auto& answer = *static_cast<Incoming*>(incoming);
  if (answer.request.stream && answer.status() == kOk) {
    answer.request.stream({data, size});
    return size;
  }
  std::string& body = answer.reply.body;
  if (body.size() + size > kMostBytes) return 0;  // ends the transfer
  body.append(data, size);
  return size;
}

// The value of the header, if this is its line.
std::optional<std::string_view> value_of(std::string_view name, std::string_view line) {
  const auto same = [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b - 'A' + 'a' : b); };
  if (line.size() <= name.size() || !std::equal(name.begin(), name.end(), line.begin(), same)) return std::nullopt;
  std::string_view value = line.substr(name.size());
  value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
  return value.substr(0, value.find_first_of("\r\n"));
}

// A header that cannot be parsed is ignored, as if it were missing.
std::size_t take_header(char* data, std::size_t /*one*/, std::size_t size, void* incoming) {
  const std::string_view line{data, size};
  auto& answer = *static_cast<Incoming*>(incoming);
  HttpReply& reply = answer.reply;
  if (line.starts_with("HTTP/")) answer.has_head = false;
  if (line == "\r\n") answer.has_head = true;
  if (const auto time = value_of(kTimeHeader, line)) {
    try {
      reply.time = base::parse_time(*time);
    } catch (const std::invalid_argument&) {
    }
  } else if (const auto reach = value_of(kReachHeader, line)) {
    std::int64_t millis = 0;
    if (std::from_chars(reach->begin(), reach->end(), millis).ec == std::errc{}) reply.remembers = Millis{millis};
  }
  return size;
}

bool untrusted(CURLcode code) {
  return code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE;
}

}  // namespace

DaemonAddress checked(DaemonAddress address) {
  check_url(address.url);
  while (address.url.ends_with('/')) address.url.pop_back();
  // Both are sent as headers.
  if ((address.token + address.space).find_first_of("\r\n") != std::string::npos) {
    throw std::invalid_argument("a token and a namespace must not contain line breaks");
  }
  return address;
}

void require_ca_file(const std::string& file) {
  if (file.empty() || std::ifstream{file}.peek() != std::ifstream::traits_type::eof()) return;
  throw std::invalid_argument("ca_file " + file +
                              " cannot be read; it must contain, in PEM, the authority that signed the daemon's "
                              "certificate");
}

std::string read_token(const std::filesystem::path& file) {
  std::ifstream in{file};
  std::string token;
  if (in >> token) return token;
  throw std::invalid_argument("there is no token in " + file.string() +
                              "; it must be a readable file that begins with the token, \"er_…\"");
}

// CURL and CURLM are both void: mixing them up compiles.
struct Connection::Handles {
  std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> easy{curl_easy_init(), curl_easy_cleanup};
  std::unique_ptr<CURLM, decltype(&curl_multi_cleanup)> multi{curl_multi_init(), curl_multi_cleanup};

  std::array<char, CURL_ERROR_SIZE> trouble{};  // of the last request: more detailed than its code

  void prepare(const DaemonAddress& address, const HttpRequest& request, const Headers& headers, Incoming& incoming) {
    CURL* const curl = easy.get();
    curl_easy_reset(curl);
    trouble.front() = '\0';
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, trouble.data());
    curl_easy_setopt(curl, CURLOPT_URL, (address.url + request.target).c_str());
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    if (address.url.starts_with("http:")) curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);  // signals would hit other threads
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, kConnectWithinMillis);
    if (request.stream) {
      curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);  // bytes a second, over
      curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, kSilentSeconds);
    } else {
      curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(request.within.count()));
    }
    if (!address.ca_file.empty()) curl_easy_setopt(curl, CURLOPT_CAINFO, address.ca_file.c_str());
    if (request.changes()) {
      curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
      curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request.body.c_str());
    }
    if (request.method == HttpRequest::Method::patch) curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, "PATCH");
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &incoming);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, &incoming);
  }

  // Nullopt if stopped.
  std::optional<CURLcode> perform(const std::stop_token& stop) {
    const std::stop_callback wake{stop, [this] { curl_multi_wakeup(multi.get()); }};
    curl_multi_add_handle(multi.get(), easy.get());
    auto end = std::chrono::steady_clock::time_point::max();
    for (int running = 1; running != 0 && std::chrono::steady_clock::now() < end;) {
      curl_multi_perform(multi.get(), &running);
      if (running == 0) break;
      const bool ending = stop.stop_requested();
      if (ending) end = std::min(end, std::chrono::steady_clock::now() + kLastResponse);
      curl_multi_poll(multi.get(), nullptr, 0, ending ? kLookEveryMillis : kSleepMillis, nullptr);
    }
    std::optional<CURLcode> result;
    int left = 0;
    if (const CURLMsg* message = curl_multi_info_read(multi.get(), &left)) result = message->data.result;
    curl_multi_remove_handle(multi.get(), easy.get());
    return result;
  }

  NoAnswer why_not(CURLcode code) const {
    const auto kind = untrusted(code)                   ? NoAnswer::Kind::not_trusted
                      : code == CURLE_SSL_CONNECT_ERROR ? NoAnswer::Kind::no_tls
                      : something_was_sent()            ? NoAnswer::Kind::lost
                                                        : NoAnswer::Kind::not_reached;
    return {kind, trouble.front() == '\0' ? curl_easy_strerror(code) : trouble.data()};
  }

  bool something_was_sent() const {
    long bytes = 0;
    curl_easy_getinfo(easy.get(), CURLINFO_REQUEST_SIZE, &bytes);
    return bytes > 0;
  }
};

Connection::Connection(const DaemonAddress& address) : address_(address), handles_(std::make_unique<Handles>()) {
  if (!handles_->easy || !handles_->multi) throw std::runtime_error("cannot initialize libcurl");
}

Connection::~Connection() = default;

tl::expected<HttpReply, NoAnswer> Connection::ask(const HttpRequest& request) {
  Headers headers{nullptr, curl_slist_free_all};
  if (request.changes()) {
    add(headers, "Content-Type: application/json");
    add(headers, "Expect:");  // otherwise libcurl holds a large body back for up to a second
  }
  if (!address_.token.empty()) add(headers, "Authorization: Bearer " + address_.token);
  if (!address_.space.empty()) add(headers, "easyretry-namespace: " + address_.space);
  for (const std::string& header : request.headers) add(headers, header);
  Incoming incoming{handles_->easy.get(), request};
  handles_->prepare(address_, request, headers, incoming);
  const auto code = handles_->perform(request.stop);
  if (!code) return tl::make_unexpected(NoAnswer{NoAnswer::Kind::stopped, "stopped"});
  if (*code != CURLE_OK) return tl::make_unexpected(handles_->why_not(*code));
  // For libcurl, a truncated head is a response whose body ends with the connection.
  if (!incoming.has_head) return tl::make_unexpected(NoAnswer{NoAnswer::Kind::lost, "the response was cut off"});
  incoming.reply.status = static_cast<int>(incoming.status());
  return std::move(incoming.reply);
}

}  // namespace easyretry::remote
