#include "remote/line.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <stdexcept>
#include <string_view>

#include <curl/curl.h>

#include "base/time_text.h"

namespace easyretry::remote {
namespace {

constexpr long kConnectWithinMillis = 5000;
constexpr std::size_t kMostBytes = std::size_t{256} << 20U;  // a lease of 200 tasks with the largest arguments
// Tasks in an answer that nobody reads wait for the end of their lease, and look like a crash.
constexpr Millis kLastAnswer{250};
constexpr int kLookEveryMillis = 10;  // while that time runs
constexpr int kSleepMillis = 1000;    // otherwise: it is woken
constexpr long kSilentSeconds = 60;   // of a stream; a daemon says something every 15
constexpr long kGood = 200;
constexpr std::string_view kTimeHeader = "easyretry-time:";
constexpr std::string_view kReachHeader = "easyretry-remembers-ms:";

using Headers = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

void add(Headers& headers, const std::string& line) {
  headers.reset(curl_slist_append(headers.release(), line.c_str()));
}

// An answer, as it comes.
struct Coming {
  CURL* from;
  const HttpRequest& request;
  HttpReply reply{};
  bool has_head = false;  // all of it

  long status() const {
    long status = 0;
    curl_easy_getinfo(from, CURLINFO_RESPONSE_CODE, &status);
    return status;
  }
};

std::size_t take_body(char* data, std::size_t /*one*/, std::size_t size, void* coming) {
  auto& answer = *static_cast<Coming*>(coming);
  if (answer.request.stream && answer.status() == kGood) {
    answer.request.stream({data, size});
    return size;
  }
  std::string& body = answer.reply.body;
  if (body.size() + size > kMostBytes) return 0;  // ends the transfer
  body.append(data, size);
  return size;
}

// What a line of a head says of this name, if it does.
std::optional<std::string_view> value_of(std::string_view name, std::string_view line) {
  const auto same = [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b - 'A' + 'a' : b); };
  if (line.size() <= name.size() || !std::equal(name.begin(), name.end(), line.begin(), same)) return std::nullopt;
  std::string_view value = line.substr(name.size());
  value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
  return value.substr(0, value.find_first_of("\r\n"));
}

// What cannot be read is as if it were not there: whoever needs it says so.
std::size_t take_header(char* data, std::size_t /*one*/, std::size_t size, void* coming) {
  const std::string_view line{data, size};
  auto& answer = *static_cast<Coming*>(coming);
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

// Both handles are void* to the compiler.
struct Line::Handles {
  std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> easy{curl_easy_init(), curl_easy_cleanup};
  std::unique_ptr<CURLM, decltype(&curl_multi_cleanup)> multi{curl_multi_init(), curl_multi_cleanup};

  std::array<char, CURL_ERROR_SIZE> trouble{};  // of the last request, in more words than its code has

  void prepare(const DaemonAddress& address, const HttpRequest& request, const Headers& headers, Coming& coming) {
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
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &coming);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, &coming);
  }

  // Nullopt: stopped.
  std::optional<CURLcode> perform(const std::stop_token& stop) {
    const std::stop_callback wake{stop, [this] { curl_multi_wakeup(multi.get()); }};
    curl_multi_add_handle(multi.get(), easy.get());
    auto end = std::chrono::steady_clock::time_point::max();
    for (int running = 1; running != 0 && std::chrono::steady_clock::now() < end;) {
      curl_multi_perform(multi.get(), &running);
      if (running == 0) break;
      const bool ending = stop.stop_requested();
      if (ending) end = std::min(end, std::chrono::steady_clock::now() + kLastAnswer);
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

Line::Line(const DaemonAddress& address) : address_(address), handles_(std::make_unique<Handles>()) {
  if (!handles_->easy || !handles_->multi) throw std::runtime_error("libcurl could not be started");
}

Line::~Line() = default;

tl::expected<HttpReply, NoAnswer> Line::ask(const HttpRequest& request) {
  Headers headers{nullptr, curl_slist_free_all};
  if (request.changes()) {
    add(headers, "Content-Type: application/json");
    add(headers, "Expect:");  // or a larger body waits for a word that does not come
  }
  if (!address_.token.empty()) add(headers, "Authorization: Bearer " + address_.token);
  if (!address_.space.empty()) add(headers, "easyretry-namespace: " + address_.space);
  for (const std::string& header : request.headers) add(headers, header);
  Coming coming{handles_->easy.get(), request};
  handles_->prepare(address_, request, headers, coming);
  const auto code = handles_->perform(request.stop);
  if (!code) return tl::make_unexpected(NoAnswer{NoAnswer::Kind::stopped, "stopped"});
  if (*code != CURLE_OK) return tl::make_unexpected(handles_->why_not(*code));
  // To libcurl, a head that breaks off is one whose body ends with the connection.
  if (!coming.has_head) return tl::make_unexpected(NoAnswer{NoAnswer::Kind::lost, "the answer broke off"});
  coming.reply.status = static_cast<int>(coming.status());
  return std::move(coming.reply);
}

}  // namespace easyretry::remote
