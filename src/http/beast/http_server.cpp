#include "http/http_server.h"

#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <unordered_map>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/steady_timer.hpp>
#include <pthread.h>

#include "http/beast/connection.h"

namespace easyretry::http {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

// After accept() failed for lack of file descriptors or memory, until a connection is closed.
constexpr std::chrono::milliseconds kAcceptPause{50};

// For TLS 1.2; all suites of TLS 1.3 are like these: forward secrecy and authenticated encryption.
constexpr const char* kSuites = "ECDHE+AESGCM:ECDHE+CHACHA20";

tcp::endpoint endpoint_of(const ServerOptions& options) {
  boost::system::error_code code;
  const auto address = asio::ip::make_address(options.address, code);
  if (code)
    throw std::runtime_error("\"" + options.address +
                             "\" is not an address to listen on; use 127.0.0.1, 0.0.0.0 or ::1");
  return {address, options.port};
}

std::string remedy_for(const boost::system::error_code& code) {
  if (code == asio::error::address_in_use) return "is another daemon running? Choose another address or port";
  if (code == boost::system::errc::address_not_available) {
    return "no network interface of this machine has this address; choose one that has, or 0.0.0.0 for all of them";
  }
  return "choose another address or port";
}

// The key is compared with the certificate when it is read.
asio::ssl::context tls_of(const ServerOptions& options) {
  asio::ssl::context tls{asio::ssl::context::tls_server};
  tls.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_compression |
                  SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_min_proto_version(tls.native_handle(), TLS1_2_VERSION);
  SSL_CTX_set_cipher_list(tls.native_handle(), kSuites);
  boost::system::error_code code;
  if (tls.use_certificate_chain_file(options.certificate, code)) {
    throw std::runtime_error("the certificate " + options.certificate + " cannot be used: " + code.message());
  }
  if (tls.use_private_key_file(options.private_key, asio::ssl::context::pem, code)) {
    throw std::runtime_error("the private key " + options.private_key + " cannot be used: " + code.message());
  }
  return tls;
}

}  // namespace

void validate(const ServerOptions& options) {
  endpoint_of(options);
  if (!options.certificate.empty()) tls_of(options);
}

class HttpServer::Impl {
 public:
  Impl(const ServerOptions& options, Admit admit) : shared_(std::make_shared<Shared>(options, std::move(admit))) {
    if (!options.certificate.empty()) tls_.emplace(tls_of(options));
    listen();
    thread_ = std::thread{[this] {
      pthread_setname_np(pthread_self(), "er-http");
      shared_->io.run();
    }};
  }
  ~Impl() { stop(std::chrono::milliseconds{0}); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  std::uint16_t port() const { return port_; }
  std::size_t connections() const { return shared_->open_count; }

  bool responds(std::chrono::milliseconds within) const {
    const auto answer = std::make_shared<std::promise<void>>();
    const auto answered = answer->get_future();
    asio::post(shared_->io, [answer] { answer->set_value(); });
    return answered.wait_for(within) == std::future_status::ready;
  }

  void stop(std::chrono::milliseconds drain) {
    if (!thread_.joinable()) return;
    asio::post(shared_->io, [this] { begin_to_stop(); });
    {
      std::unique_lock lock{shared_->mutex};
      shared_->changed.wait_for(lock, drain, [this] { return shared_->stopped && shared_->open_count == 0; });
    }
    asio::post(shared_->io, [this] {
      for_each_open([](OpenConnection& connection) { connection.cut(); });
      work_.reset();
    });
    thread_.join();
    shared_->gone = true;
    shared_->open.clear();  // a weak pointer keeps the deleter, which keeps shared_
  }

 private:
  // Used by connections, which share its ownership: one whose answer is pending may outlive the server.
  struct Shared final : Host {
    Shared(const ServerOptions& given, Admit admits) : settings(given), admitting(std::move(admits)) {}
    const ServerOptions& options() const override { return settings; }
    bool stopping() const override { return stopped; }
    bool closed() const override { return gone; }
    Admission admit(Request& head) override { return admitting(head); }
    BodyBudget& bodies() override { return budget; }
    UnauthenticatedConnections& unauthenticated() override { return unknown; }

    // From any thread.
    void forget(std::uint64_t number) {
      if (gone) return;
      asio::post(io, [this, number] {
        open.erase(number);
        unknown.forget(number);
        count();
      });
    }
    void count() {
      {
        const std::lock_guard lock{mutex};
        open_count = open.size();
      }
      changed.notify_all();
    }

    const ServerOptions settings;
    const Admit admitting;
    BodyBudget budget{settings.most_bytes_of_bodies};
    UnauthenticatedConnections unknown;
    asio::io_context io{1};
    std::atomic<bool> stopped{false};
    std::atomic<bool> gone{false};
    std::unordered_map<std::uint64_t, std::weak_ptr<OpenConnection>> open;  // on the server's thread only
    std::atomic<std::size_t> open_count{0};
    std::mutex mutex;
    std::condition_variable changed;  // open_count, or stopped
  };

  void listen() {
    const tcp::endpoint endpoint = endpoint_of(shared_->settings);
    try {
      if (shared_->settings.listening >= 0) {
        acceptor_.assign(endpoint.protocol(), shared_->settings.listening);
      } else {
        acceptor_.open(endpoint.protocol());
        acceptor_.set_option(tcp::acceptor::reuse_address{true});
        acceptor_.bind(endpoint);
        acceptor_.listen();
      }
    } catch (const boost::system::system_error& error) {
      throw std::runtime_error("cannot listen on " + endpoint.address().to_string() + " port " +
                               std::to_string(endpoint.port()) + ": " + error.code().message() + "; " +
                               remedy_for(error.code()));
    }
    port_ = acceptor_.local_endpoint().port();
    accept();
  }

  void accept() {
    acceptor_.async_accept([this](boost::system::error_code code, tcp::socket socket) {
      if (code == asio::error::operation_aborted) return;
      if (code) return accept_later();
      if (make_room()) take(std::move(socket));
      accept();
    });
  }

  // Cuts off an old unauthenticated connection rather than the new one, which may be about to show a token.
  bool make_room() {
    const bool crowded = shared_->open.size() >= shared_->settings.most_connections ||
                         shared_->unknown.count() >= shared_->settings.most_unauthenticated;
    if (!crowded) return true;
    const auto longest = shared_->unknown.take_longest_silent();
    if (!longest) return false;
    const auto found = shared_->open.find(*longest);
    if (const auto connection = found == shared_->open.end() ? nullptr : found->second.lock()) connection->cut();
    return true;
  }

  void accept_later() {
    pause_.expires_after(kAcceptPause);
    pause_.async_wait([this](boost::system::error_code code) {
      if (!code && acceptor_.is_open()) accept();
    });
  }

  void take(tcp::socket socket) {
    boost::system::error_code ignored;
    socket.set_option(tcp::no_delay{true}, ignored);
    if (tls_) {
      keep<Connection<TlsStream>>(PlainStream{std::move(socket)}, *tls_);
    } else {
      keep<Connection<PlainStream>>(std::move(socket));
    }
  }

  template <class Kind, class... Arguments>
  void keep(Arguments&&... arguments) {
    const std::uint64_t number = ++last_;
    std::shared_ptr<Kind> connection{new Kind{shared_, number, std::forward<Arguments>(arguments)...},
                                     [shared = shared_, number](Kind* gone) {
                                       delete gone;
                                       shared->forget(number);
                                     }};
    shared_->open.emplace(number, connection);
    shared_->unknown.touch(number);
    shared_->count();
    connection->begin();
  }

  template <class F>
  void for_each_open(F f) {
    for (const auto& [number, weak] : shared_->open) {
      if (const auto connection = weak.lock()) f(*connection);
    }
  }

  void begin_to_stop() {
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    pause_.cancel();
    shared_->stopped = true;
    for_each_open([](OpenConnection& connection) { connection.end_when_idle(); });
    shared_->count();
  }

  const std::shared_ptr<Shared> shared_;
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work_{asio::make_work_guard(shared_->io)};
  std::optional<asio::ssl::context> tls_;
  tcp::acceptor acceptor_{shared_->io};
  asio::steady_timer pause_{shared_->io};
  std::uint16_t port_ = 0;

  std::uint64_t last_ = 0;  // on the server's thread only
  std::thread thread_;
};

HttpServer::HttpServer(const ServerOptions& options, Admit admit)
    : impl_(std::make_unique<Impl>(options, std::move(admit))) {}
HttpServer::HttpServer(const ServerOptions& options, const Serve& serve)
    : HttpServer(options, Admit{[serve](Request&) { return Admitted{.serve = serve}; }}) {}
HttpServer::~HttpServer() = default;

std::uint16_t HttpServer::port() const {
  return impl_->port();
}
std::size_t HttpServer::connections() const {
  return impl_->connections();
}
bool HttpServer::responds(std::chrono::milliseconds within) const {
  return impl_->responds(within);
}
void HttpServer::stop(std::chrono::milliseconds drain) {
  impl_->stop(drain);
}

}  // namespace easyretry::http
