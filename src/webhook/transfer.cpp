#include "webhook/transfer.h"

#include <array>
#include <cerrno>
#include <new>

#include <curl/curl.h>
#include <sys/socket.h>

#include "webhook/host_name.h"
#include "webhook/retry_after.h"

namespace easyretry::webhook {
namespace {

using Easy = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
using Lines = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

constexpr std::size_t kMostHeaderBytes = std::size_t{64} * 1024;
// Of each transfer under way, and answers are short: libcurl's own 16 KiB would be most of what a waiting call takes.
constexpr long kReadBytes = 4096;
// A connection that is always in use would never notice that its name has come to mean another machine.
constexpr long kOldestConnectionSeconds = 300;

void append(Lines& lines, const std::string& line) {
  curl_slist* longer = curl_slist_append(lines.get(), line.c_str());
  if (longer == nullptr) throw std::bad_alloc{};
  static_cast<void>(lines.release());
  lines.reset(longer);
}

// "name:" would mean: not this header.
std::string line_of(const Header& header) {
  return header.value.empty() ? header.name + ";" : header.name + ": " + header.value;
}

Lines header_lines(const std::vector<Header>& headers) {
  Lines lines{nullptr, curl_slist_free_all};
  append(lines, "Expect:");  // otherwise a long body waits a second for leave to be sent
  for (const Header& header : headers) append(lines, line_of(header));
  return lines;
}

// host:port:address,address; + lets libcurl forget it after a minute.
Lines meaning_of(const Destination& destination, std::span<const IpAddress> addresses) {
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

struct Transfer::State {
  State(CallId number, const Call& what, const Destination& where, std::span<const IpAddress> addresses,
        const CallerOptions& limits)
      : id(number),
        destination(where),
        options(limits),
        headers(header_lines(what.headers)),
        meaning(meaning_of(where, addresses)) {
    if (!easy) throw std::bad_alloc{};
    say_what(what);
    say_how();
    hear();
  }

  void say_what(const Call& call) {
    set(CURLOPT_URL, call.url.c_str());
    set(CURLOPT_POST, 1L);
    set(CURLOPT_POSTFIELDS, call.body.data());
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call.body.size()));
    set(CURLOPT_HTTPHEADER, headers.get());
    set(CURLOPT_USERAGENT, "easyretry");
  }

  void say_how() {
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    set(CURLOPT_FOLLOWLOCATION, 0L);
    // Not even one that the environment names: it would connect where the guard does not see it.
    set(CURLOPT_PROXY, "");
    set(CURLOPT_RESOLVE, meaning.get());
    set(CURLOPT_OPENSOCKETFUNCTION, on_open);
    set(CURLOPT_OPENSOCKETDATA, this);
    set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options.connect_within.count()));
    set(CURLOPT_MAXLIFETIME_CONN, kOldestConnectionSeconds);
    set(CURLOPT_TCP_KEEPALIVE, 1L);
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_SSL_VERIFYPEER, 1L);
    set(CURLOPT_SSL_VERIFYHOST, 2L);
    set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    // With authorities from one file alone libcurl reads them once, not for every connection.
    set(CURLOPT_CAPATH, static_cast<const char*>(nullptr));
    if (!options.ca_file.empty()) set(CURLOPT_CAINFO, options.ca_file.c_str());
  }

  void hear() {
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
    // Of what is set here only memory can fail.
    if (curl_easy_setopt(easy.get(), option, value) != CURLE_OK) throw std::bad_alloc{};
  }

  static curl_socket_t on_open(void* self, curlsocktype, curl_sockaddr* to) {
    return static_cast<State*>(self)->open(*to);
  }
  // Called with the very address that will be connected to.
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
    if (line.starts_with("HTTP/")) answer.retry_after.reset();  // what came before was only "100 Continue"
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

  Answer answer{};
  std::size_t header_bytes = 0;
  Progress progress{};
  std::array<char, CURL_ERROR_SIZE> detail{};

  // The handle goes before what it points to.
  const Lines headers;
  const Lines meaning;
  const Easy easy{curl_easy_init(), curl_easy_cleanup};
};

Transfer::Transfer(CallId id, const Call& call, const Destination& destination, std::span<const IpAddress> addresses,
                   const CallerOptions& options)
    : state_(std::make_unique<State>(id, call, destination, addresses, options)) {}

Transfer::~Transfer() = default;

void* Transfer::handle() const {
  return state_->easy.get();
}

Heard Transfer::heard(int code) {
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
