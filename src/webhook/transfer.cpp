#include "webhook/transfer.h"

#include <array>
#include <cerrno>
#include <new>
#include <system_error>

#include <curl/curl.h>
#include <sys/socket.h>

#include "base/duration_text.h"
#include "base/one_time_body.h"
#include "webhook/address.h"
#include "webhook/caller.h"

namespace easyretry::webhook {
namespace {

Error error(Errc code, const Destination& destination, const std::string& what) {
  return {code, "webhook.call", destination.shown + ": " + what};
}

// Once something was sent, its effect is unknown.
Errc by_progress(const Progress& progress) {
  return progress.sent ? Errc::in_doubt : Errc::unavailable;
}

std::string message_of(int code, const Progress& progress) {
  return progress.detail.empty() ? curl_easy_strerror(static_cast<CURLcode>(code)) : progress.detail;
}

Error not_connected(int code, const Destination& destination, const Progress& progress) {
  if (!progress.refused.empty()) return error(Errc::invalid_argument, destination, progress.refused);
  const std::string why =
      progress.system_error == 0 ? message_of(code, progress) : std::generic_category().message(progress.system_error);
  return error(Errc::unavailable, destination, "could not connect to " + destination.server() + ": " + why);
}

Error not_trusted(int code, const Destination& destination, const Progress& progress) {
  return error(Errc::unavailable, destination,
               "no TLS with " + destination.server() + ": " + message_of(code, progress) +
                   ". Put your own certificate authority into ca_file; verification cannot be turned off");
}

Error too_long(const Destination& destination, const CallerOptions& options) {
  return error(Errc::in_doubt, destination,
               "the answer is longer than " + std::to_string(options.most_answer_bytes) +
                   " bytes, or its headers are longer than 64 KiB; it was not read completely");
}

Error broken_off(int code, const Destination& destination, const Progress& progress) {
  return error(by_progress(progress), destination,
               "the connection to " + destination.server() + " ended before the answer was complete (" +
                   std::to_string(progress.received) + " bytes of it arrived): " + message_of(code, progress));
}

using Easy = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
using Lines = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

constexpr std::size_t kMostHeaderBytes = std::size_t{64} * 1024;
// For each transfer in flight. Answers are short, and libcurl's default of 16 KiB would be most of the memory of a
// waiting call.
constexpr long kReadBytes = 4096;
// A connection in constant use would otherwise never notice that its name resolves to another machine by now.
constexpr long kOldestConnectionSeconds = 300;

void append(Lines& lines, const std::string& line) {
  curl_slist* longer = curl_slist_append(lines.get(), line.c_str());
  if (longer == nullptr) throw std::bad_alloc{};
  static_cast<void>(lines.release());
  lines.reset(longer);
}

// libcurl would leave out a header given as "name:".
std::string line_of(const Header& header) {
  return header.value.empty() ? header.name + ";" : header.name + ": " + header.value;
}

Lines header_lines(const std::vector<Header>& headers) {
  Lines lines{nullptr, curl_slist_free_all};
  append(lines, "Expect:");  // otherwise libcurl waits up to a second before it sends a long body
  for (const Header& header : headers) append(lines, line_of(header));
  return lines;
}

// The format is host:port:address,address; + makes libcurl's entry expire after a minute.
Lines resolve_lines(const Destination& destination, std::span<const IpAddress> addresses) {
  Lines lines{nullptr, curl_slist_free_all};
  if (addresses.empty()) return lines;
  std::string line = "+" + destination.server() + ":";
  for (const IpAddress& address : addresses) {
    line.append(line.ends_with(':') ? "" : ",")
        .append(address.is_v4() ? to_string(address) : "[" + to_string(address) + "]");
  }
  append(lines, line);
  return lines;
}

}  // namespace

Error failure(int code, const Destination& destination, const Progress& progress, const CallerOptions& options) {
  switch (static_cast<CURLcode>(code)) {
    case CURLE_COULDNT_CONNECT: return not_connected(code, destination, progress);
    case CURLE_OPERATION_TIMEDOUT:
      return error(Errc::unavailable, destination,
                   "no connection to " + destination.server() + " within " + base::to_text(options.connect_within));
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR: return not_trusted(code, destination, progress);
    case CURLE_WRITE_ERROR:
      if (progress.too_long) return too_long(destination, options);
      break;
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR: return broken_off(code, destination, progress);
    case CURLE_SEND_FAIL_REWIND:  // OneTimeBody
      return error(Errc::in_doubt, destination,
                   "the connection to " + destination.server() +
                       ", kept from an earlier call, was closed without an answer; the call may have arrived");
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
      return error(Errc::in_doubt, destination, "the answer is not HTTP/1.1: " + message_of(code, progress));
    default: break;
  }
  return error(by_progress(progress), destination, message_of(code, progress));
}

Error cut_off(const std::string& why, const Destination& destination, const Progress& progress) {
  const std::string how_far =
      !progress.sent ? "there was no connection to " + destination.server() + " yet"
                     : "the request was sent, and " +
                           (progress.received == 0 ? std::string{"no answer"}
                                                   : std::to_string(progress.received) + " bytes of an answer") +
                           " had arrived";
  return error(by_progress(progress), destination, why + "; " + how_far);
}

struct Transfer::State {
  State(CallId number, const Call& what, const Destination& where, std::span<const IpAddress> addresses,
        const CallerOptions& limits)
      : id(number),
        destination(where),
        options(limits),
        body(what.body),
        headers(header_lines(what.headers)),
        resolve(resolve_lines(where, addresses)) {
    if (!easy) throw std::bad_alloc{};
    set_request(what);
    set_connection();
    set_callbacks();
  }

  void set_request(const Call& call) {
    set(CURLOPT_URL, call.url.c_str());
    set(CURLOPT_POST, 1L);
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call.body.size()));
    set(CURLOPT_READFUNCTION, base::OneTimeBody::read);
    set(CURLOPT_READDATA, &body);
    set(CURLOPT_HTTPHEADER, headers.get());
    set(CURLOPT_USERAGENT, "easyretry");
  }

  void set_connection() {
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    set(CURLOPT_FOLLOWLOCATION, 0L);
    // No proxy, not even from the environment: it would connect where the guard cannot check.
    set(CURLOPT_PROXY, "");
    set(CURLOPT_RESOLVE, resolve.get());
    set(CURLOPT_OPENSOCKETFUNCTION, on_open);
    set(CURLOPT_OPENSOCKETDATA, this);
    set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options.connect_within.count()));
    set(CURLOPT_MAXLIFETIME_CONN, kOldestConnectionSeconds);
    set(CURLOPT_TCP_KEEPALIVE, 1L);
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_SSL_VERIFYPEER, 1L);
    set(CURLOPT_SSL_VERIFYHOST, 2L);
    set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    // With a single file of authorities, libcurl reads them once instead of for every connection.
    set(CURLOPT_CAPATH, static_cast<const char*>(nullptr));
    if (!options.ca_file.empty()) set(CURLOPT_CAINFO, options.ca_file.c_str());
  }

  void set_callbacks() {
    set(CURLOPT_PRIVATE, &id);
    set(CURLOPT_BUFFERSIZE, kReadBytes);
    set(CURLOPT_ERRORBUFFER, detail.data());
    set(CURLOPT_HEADERFUNCTION, on_header);
    set(CURLOPT_HEADERDATA, this);
    set(CURLOPT_WRITEFUNCTION, on_body);
    set(CURLOPT_WRITEDATA, this);
  }

  template <class Value>
  void set(CURLoption option, Value value) {
    // None of these options can fail, except for lack of memory.
    if (curl_easy_setopt(easy.get(), option, value) != CURLE_OK) throw std::bad_alloc{};
  }

  static curl_socket_t on_open(void* self, curlsocktype, curl_sockaddr* to) {
    return static_cast<State*>(self)->open(*to);
  }
  // Called with the actual address that will be connected to.
  curl_socket_t open(const curl_sockaddr& to) {
    const auto address = address_of(to.addr);
    auto refused = address ? options.guard.objection(*address, destination.host, destination.port)
                           : std::optional<std::string>{"only IPv4 and IPv6 may be called"};
    if (refused) {
      progress.refused = *std::move(refused);
      return CURL_SOCKET_BAD;
    }
    const int opened = ::socket(to.family, to.socktype | SOCK_CLOEXEC, to.protocol);
    if (opened < 0) progress.system_error = errno;
    return opened;
  }

  static std::size_t on_header(char* data, std::size_t, std::size_t size, void* self) {
    return static_cast<State*>(self)->take_header({data, size}) ? size : 0;
  }
  bool take_header(std::string_view line) {
    header_bytes += line.size();
    progress.too_long = header_bytes > kMostHeaderBytes;
    const auto colon = line.find(':');
    if (line.starts_with("HTTP/")) answer.retry_after.reset();  // headers before this belonged to "100 Continue"
    if (colon != std::string_view::npos && lower_case(line.substr(0, colon)) == "retry-after") {
      answer.retry_after = parse_retry_after(line.substr(colon + 1), system_clock().now());
    }
    return !progress.too_long;
  }

  static std::size_t on_body(char* data, std::size_t, std::size_t size, void* self) {
    return static_cast<State*>(self)->take_body({data, size}) ? size : 0;
  }
  bool take_body(std::string_view part) {
    progress.received += part.size();
    progress.too_long = progress.received > options.most_answer_bytes;
    if (!progress.too_long) answer.body.append(part);
    return !progress.too_long;
  }

  long number(CURLINFO which) const {
    long value = 0;
    curl_easy_getinfo(easy.get(), which, &value);
    return value;
  }

  const CallId id;
  const Destination& destination;
  const CallerOptions& options;

  base::OneTimeBody body;
  Answer answer{};
  std::size_t header_bytes = 0;
  Progress progress{};
  std::array<char, CURL_ERROR_SIZE> detail{};

  // The handle is destroyed before the lists that it points to.
  const Lines headers;
  const Lines resolve;
  const Easy easy{curl_easy_init(), curl_easy_cleanup};
};

Transfer::Transfer(CallId id, const Call& call, const Destination& destination, std::span<const IpAddress> addresses,
                   const CallerOptions& options)
    : state_(std::make_unique<State>(id, call, destination, addresses, options)) {}

Transfer::~Transfer() = default;

void* Transfer::handle() const {
  return state_->easy.get();
}

CallResult Transfer::result(int code) {
  if (code != CURLE_OK) {
    return tl::make_unexpected(failure(code, state_->destination, progress(), state_->options));
  }
  state_->answer.status = static_cast<int>(state_->number(CURLINFO_RESPONSE_CODE));
  return std::move(state_->answer);
}

Progress Transfer::progress() const {
  Progress progress = state_->progress;
  progress.sent = state_->number(CURLINFO_REQUEST_SIZE) > 0;
  if (progress.system_error == 0) progress.system_error = static_cast<int>(state_->number(CURLINFO_OS_ERRNO));
  progress.detail = state_->detail.data();
  return progress;
}

}  // namespace easyretry::webhook
