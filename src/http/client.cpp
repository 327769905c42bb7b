#include "http/client.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <stdexcept>

#include <curl/curl.h>

#include "base/one_time_body.h"

namespace easyretry::http {
namespace {

constexpr int kPollMillis = 1000;          // a stop wakes it up earlier
constexpr int kPollAfterStopMillis = 10;   // until after_stop is over
constexpr long kSilentStreamSeconds = 60;  // a daemon sends something every 15 s
constexpr long kOk = 200;

using HeaderList = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

HeaderList header_list(const ClientRequest& request) {
  HeaderList list{nullptr, curl_slist_free_all};
  const auto add = [&](const char* line) { list.reset(curl_slist_append(list.release(), line)); };
  if (request.body) add("Expect:");  // otherwise libcurl waits up to a second before it sends a long body
  for (const std::string& line : request.headers) add(line.c_str());
  return list;
}

// An answer while it arrives.
struct Incoming {
  CURL* from;
  const ClientRequest& request;
  ClientReply reply{};
  bool has_head = false;  // the whole head has arrived

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
  if (body.size() + size > answer.request.most_bytes) return 0;  // ends the transfer
  body.append(data, size);
  return size;
}

std::size_t take_header(char* data, std::size_t /*one*/, std::size_t size, void* incoming) {
  const std::string_view line{data, size};
  auto& answer = *static_cast<Incoming*>(incoming);
  if (line.starts_with("HTTP/")) answer.has_head = false;  // the last head was "100 Continue"
  if (line == "\r\n") answer.has_head = true;
  if (answer.request.on_header) answer.request.on_header(line);
  return size;
}

bool is_untrusted(CURLcode code) {
  return code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE;
}

}  // namespace

struct Client::Handles {
  // Both handles are void* to the compiler.
  std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> easy{curl_easy_init(), curl_easy_cleanup};
  std::unique_ptr<CURLM, decltype(&curl_multi_cleanup)> multi{curl_multi_init(), curl_multi_cleanup};

  std::array<char, CURL_ERROR_SIZE> detail{};  // of the last request

  template <class Value>
  void set(CURLoption option, Value value) {
    curl_easy_setopt(easy.get(), option, value);
  }
  void set_file(CURLoption option, const std::string& file) {
    if (!file.empty()) set(option, file.c_str());
  }

  void prepare(const ClientRequest& request, const HeaderList& headers, base::OneTimeBody& outgoing,
               Incoming& incoming) {
    curl_easy_reset(easy.get());
    detail.front() = '\0';
    set(CURLOPT_ERRORBUFFER, detail.data());
    set(CURLOPT_URL, request.url.c_str());
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    if (!request.use_proxy) set(CURLOPT_NOPROXY, "*");
    set(CURLOPT_NOSIGNAL, 1L);  // signals would hit other threads
    set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.connect_within.count()));
    if (request.stream) {
      set(CURLOPT_LOW_SPEED_LIMIT, 1L);  // bytes per second, over
      set(CURLOPT_LOW_SPEED_TIME, kSilentStreamSeconds);
    } else {
      set(CURLOPT_TIMEOUT_MS, static_cast<long>(request.within.count()));
    }
    set_file(CURLOPT_CAINFO, request.tls.ca_file);
    set_file(CURLOPT_SSLCERT, request.tls.certificate_file);
    set_file(CURLOPT_SSLKEY, request.tls.key_file);
    if (request.body) {
      set(CURLOPT_POST, 1L);
      set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body->size()));
      set(CURLOPT_READFUNCTION, base::OneTimeBody::read);
      set(CURLOPT_READDATA, &outgoing);
    }
    set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
    set(CURLOPT_HTTPHEADER, headers.get());
    set(CURLOPT_WRITEFUNCTION, take_body);
    set(CURLOPT_WRITEDATA, &incoming);
    set(CURLOPT_HEADERFUNCTION, take_header);
    set(CURLOPT_HEADERDATA, &incoming);
  }

  // Nullopt: stopped.
  std::optional<CURLcode> perform(const ClientRequest& request) {
    const std::stop_callback wake{request.stop, [this] { curl_multi_wakeup(multi.get()); }};
    curl_multi_add_handle(multi.get(), easy.get());
    auto end = Instant::max();
    for (int running = 1; running != 0;) {
      const bool stopped = request.stop.stop_requested();
      const Instant now = std::chrono::steady_clock::now();
      if (stopped) end = std::min(end, now + request.after_stop);
      if (now >= end) break;
      curl_multi_perform(multi.get(), &running);
      if (running != 0) {
        curl_multi_poll(multi.get(), nullptr, 0, stopped ? kPollAfterStopMillis : kPollMillis, nullptr);
      }
    }
    std::optional<CURLcode> result;
    int left = 0;
    if (const CURLMsg* message = curl_multi_info_read(multi.get(), &left)) result = message->data.result;
    curl_multi_remove_handle(multi.get(), easy.get());
    return result;
  }

  NoAnswer why_not(CURLcode code) const {
    const auto kind = is_untrusted(code)                ? NoAnswer::Kind::not_trusted
                      : code == CURLE_SSL_CONNECT_ERROR ? NoAnswer::Kind::no_tls
                      : something_was_sent()            ? NoAnswer::Kind::lost
                                                        : NoAnswer::Kind::not_reached;
    const char* const brief = curl_easy_strerror(code);
    return {kind, detail.front() == '\0' ? brief : detail.data(), brief, code == CURLE_UNSUPPORTED_PROTOCOL};
  }

  bool something_was_sent() const {
    long bytes = 0;
    curl_easy_getinfo(easy.get(), CURLINFO_REQUEST_SIZE, &bytes);
    return bytes > 0;
  }
};

Client::Client() : handles_(std::make_unique<Handles>()) {
  if (!handles_->easy || !handles_->multi) throw std::runtime_error("libcurl could not be started");
}

Client::~Client() = default;

tl::expected<ClientReply, NoAnswer> Client::ask(const ClientRequest& request) {
  const HeaderList headers = header_list(request);
  base::OneTimeBody outgoing{request.body ? std::string_view{*request.body} : std::string_view{}};
  Incoming incoming{handles_->easy.get(), request};
  handles_->prepare(request, headers, outgoing, incoming);
  const auto code = handles_->perform(request);
  if (!code) return tl::make_unexpected(NoAnswer{NoAnswer::Kind::stopped, "stopped", "stopped"});
  if (*code != CURLE_OK) return tl::make_unexpected(handles_->why_not(*code));
  // libcurl takes a head that breaks off for one whose body ends with the connection.
  if (!incoming.has_head) {
    return tl::make_unexpected(NoAnswer{NoAnswer::Kind::lost, "the answer broke off", "the answer broke off"});
  }
  incoming.reply.status = static_cast<int>(incoming.status());
  return std::move(incoming.reply);
}

std::string form_encoded(const std::vector<std::pair<std::string, std::string>>& fields) {
  std::string form;
  for (const auto& [name, value] : fields) {
    const std::unique_ptr<char, decltype(&curl_free)> escaped{
        curl_easy_escape(nullptr, value.c_str(), static_cast<int>(value.size())), curl_free};
    form.append(form.empty() ? "" : "&").append(name).append("=").append(escaped.get());
  }
  return form;
}

}  // namespace easyretry::http
