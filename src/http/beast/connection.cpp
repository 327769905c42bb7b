#include "http/beast/connection.h"

#include <algorithm>
#include <atomic>
#include <type_traits>
#include <utility>

#include <boost/asio/ssl.hpp>

namespace easyretry::http {

namespace asio = boost::asio;
namespace beast = boost::beast;

namespace {

constexpr int kNotModified = 304;  // its Content-Length would be that of a body which is not sent
constexpr std::size_t kFirstRead = 1024;
constexpr std::size_t kMostIgnored = 262'144;
constexpr std::chrono::seconds kLinger{2};

// OpenSSL recognizes the beginning of an HTTP request where it expects a handshake.
bool is_plain_http(const beast::error_code& code) {
  return code.category() == asio::error::get_ssl_category() && ERR_GET_REASON(code.value()) == SSL_R_HTTP_REQUEST;
}

// The way back of one request, from any thread. Without an answer, its destructor sends 500. It releases the connection
// with the answer, however long it is kept.
class Answer {
 public:
  using Send = std::function<void(Response)>;
  Answer(std::string request_id, Send send) : request_id_(std::move(request_id)), send_(std::move(send)) {}
  ~Answer() { send(to_response({.cause = "the request was dropped without an answer"}, request_id_)); }
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;

  void send(Response response) {
    if (!sent_.exchange(true)) std::exchange(send_, nullptr)(std::move(response));
  }

 private:
  const std::string request_id_;
  Send send_;  // until sent_
  std::atomic<bool> sent_{false};
};

template <class Message>
void set_fields(Message& message, const Response& response, const std::string& request_id) {
  message.set(beast::http::field::content_type, response.content_type);
  message.set(beast::http::field::cache_control, "no-store");
  message.set("X-Content-Type-Options", "nosniff");
  message.set("X-Request-Id", request_id);
  for (const auto& [name, value] : response.headers) message.set(name, value);
}

}  // namespace

template <class Stream>
void Connection<Stream>::begin() {
  Code unknown;
  const auto peer = socket().socket().remote_endpoint(unknown);
  if (!unknown) peer_ = peer.address().to_string();
  if constexpr (std::is_same_v<Stream, TlsStream>) {
    socket().expires_after(host_->options().header_within);
    stream_.async_handshake(asio::ssl::stream_base::server, then(&Connection::handshake_done));
  } else {
    wait_for_request();
  }
}

template <class Stream>
void Connection<Stream>::end_when_idle() {
  if (!busy_) return cut();
  if (streamed_) streamed_->end();
}

template <class Stream>
void Connection<Stream>::cut() {
  socket().close();
  if (const auto streamed = std::exchange(streamed_, nullptr)) streamed->give_up();
}

template <class Stream>
void Connection<Stream>::handshake_done(Code code) {
  if (!code) return wait_for_request();
  if (is_plain_http(code)) refuse_plain_http();
}

// Unencrypted, as the request was: otherwise the client only sees a connection that ends.
template <class Stream>
void Connection<Stream>::refuse_plain_http() {
  busy_ = true;
  request_id_ = new_request_id();
  Response response =
      to_response({400, "https_needed", "this port speaks TLS", "use https:// instead of http://"}, request_id_);
  note_answer(response);
  message_.emplace(beast::http::status::bad_request, version_);
  set_fields(*message_, response, request_id_);
  message_->keep_alive(false);
  message_->body() = std::move(response.body);
  message_->prepare_payload();
  socket().expires_after(host_->options().write_within);
  beast::http::async_write(socket(), *message_, then(&Connection::plain_http_refused));
}

template <class Stream>
void Connection<Stream>::plain_http_refused(Code code, std::size_t) {
  code ? cut() : linger();
}

template <class Stream>
void Connection<Stream>::wait_for_request() {
  busy_ = false;
  request_.clear();
  if (host_->stopping()) return cut();
  if (!known_) host_->unauthenticated().touch(number_);
  if (buffer_.size() > 0) return read_head();
  buffer_ = fresh_buffer();  // an idle connection holds next to nothing
  socket().expires_after(host_->options().idle);
  stream_.async_read_some(buffer_.prepare(kFirstRead), then(&Connection::first_bytes));
}

// Bounds what is held of pipelined requests: the rest waits in the network.
template <class Stream>
auto Connection<Stream>::fresh_buffer() const -> boost::beast::flat_buffer {
  return boost::beast::flat_buffer{host_->options().most_header_bytes + kFirstRead};
}

template <class Stream>
void Connection<Stream>::first_bytes(Code code, std::size_t count) {
  if (code) return cut();
  buffer_.commit(count);
  read_head();
}

template <class Stream>
void Connection<Stream>::read_head() {
  busy_ = true;
  request_id_ = new_request_id();
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(host_->options().most_header_bytes));
  parser_->body_limit(boost::none);  // set when the request is admitted
  socket().expires_after(host_->options().header_within);
  beast::http::async_read_header(stream_, buffer_, *parser_, then(&Connection::have_head));
}

template <class Stream>
void Connection<Stream>::have_head(Code code, std::size_t) {
  version_ = parser_->get().version() == 10 ? 10 : 11;
  head_ = parser_->get().method() == beast::http::verb::head;
  if (code) {
    const auto problem = problem_of(code);
    return problem ? refuse(*problem) : cut();
  }
  if (const auto problem = objection(parser_->get())) return refuse(*problem);
  auto request = to_request(parser_->get());
  if (!request) return refuse({400, "bad_request", "the path or the query is not valid", "percent-encode it"});
  request_id_ = request->id;
  request_.append(to_string(request->method)).append(" ").append(request->target.path);
  request->peer = peer_;
  judge(*std::move(request));
}

template <class Stream>
void Connection<Stream>::judge(Request request) {
  Admission admission = host_->admit(request);
  if (const auto* problem = std::get_if<Problem>(&admission)) return turn_away(*problem);
  auto& admitted = std::get<Admitted>(admission);
  if (admitted.known) mark_authenticated();
  pending_ = std::make_unique<Pending>(Pending{std::move(request), std::move(admitted.serve)});
  if (parser_->is_done()) return serve();
  share_ = {host_->bodies(), admitted.client};
  const auto body = std::make_shared<BodyReader<Stream>>(
      host_->options(), typename BodyReader<Stream>::Place{stream_, buffer_, *parser_, share_},
      [self = this->shared_from_this()](const auto& end) { self->have_body(end); });
  const std::size_t most = std::min(admitted.most_body_bytes, host_->options().most_body_bytes);
  if (const auto problem = body->objection(most)) return turn_away(*problem);
  if (!beast::iequals(parser_->get()[beast::http::field::expect], "100-continue")) return body->go_on();
  message_.emplace(beast::http::status::continue_, version_);
  beast::http::async_write(stream_, *message_, [self = this->shared_from_this(), body](Code code, std::size_t) {
    self->message_.reset();
    code ? self->cut() : body->go_on();
  });
}

template <class Stream>
void Connection<Stream>::mark_authenticated() {
  known_ = true;
  host_->unauthenticated().forget(number_);
}

// An unread body cannot be told from the next request, so the connection ends. It also ends without a valid token.
template <class Stream>
void Connection<Stream>::turn_away(const Problem& problem) {
  constexpr int kUnauthorized = 401;
  if (problem.status == kUnauthorized) {
    known_ = false;
    host_->unauthenticated().touch(number_);
  }
  pending_.reset();
  write(to_response(problem, request_id_), known_ && parser_->is_done() && parser_->keep_alive());
}

template <class Stream>
void Connection<Stream>::have_body(const typename BodyReader<Stream>::End& end) {
  if (end.complete) return serve();
  pending_.reset();
  end.problem ? refuse(*end.problem) : cut();
}

template <class Stream>
void Connection<Stream>::serve() {
  socket().expires_never();
  keep_alive_ = parser_->keep_alive();
  const std::uint64_t served = unanswered_ = ++served_;
  const auto pending = std::exchange(pending_, nullptr);
  pending->request.body = std::move(parser_->get().body());
  parser_.reset();
  // The answer may come from any thread; the connection continues on its own.
  const auto answer = std::make_shared<Answer>(request_id_, [self = this->shared_from_this()](Response response) {
    if (self->host_->closed()) {
      if (response.stream) response.stream->close();
      return response.sent(false);
    }
    asio::post(self->stream_.get_executor(), [self, response = std::move(response)]() mutable {
      self->write(std::move(response), self->keep_alive_);
    });
  });
  pending->request.when_gone = [weak = this->weak_from_this(), served](std::function<void()> gone) {
    const auto self = weak.lock();
    if (!self || self->host_->closed()) return;
    asio::post(self->stream_.get_executor(),
               [self, served, gone = std::move(gone)]() mutable { self->watch(served, std::move(gone)); });
  };
  pending->serve(std::move(pending->request), [answer](Response response) { answer->send(std::move(response)); });
}

template <class Stream>
void Connection<Stream>::watch(std::uint64_t served, std::function<void()> gone) {
  if (unanswered_ != served) return;  // the answer is already being sent
  gone_ = std::move(gone);
  read_ahead();
}

// Only reading tells that the client has closed: with TLS, its goodbye is a message like any other, behind which the
// end of the connection cannot be seen. What else arrives belongs to the next request.
template <class Stream>
void Connection<Stream>::read_ahead() {
  const std::size_t room = std::min(kFirstRead, buffer_.max_size() - buffer_.size());
  if (room == 0) return;
  reads_ahead_ = true;
  stream_.async_read_some(buffer_.prepare(room), then(&Connection::have_read_ahead));
}

template <class Stream>
void Connection<Stream>::have_read_ahead(Code code, std::size_t count) {
  reads_ahead_ = false;
  buffer_.commit(count);
  if (answer_) return write_now(*std::exchange(answer_, std::nullopt));
  if (!code) return read_ahead();
  if (gone_ && code != asio::error::operation_aborted) std::exchange(gone_, nullptr)();
}

template <class Stream>
void Connection<Stream>::refuse(const Problem& problem) {
  write(to_response(problem, request_id_), false);
}

template <class Stream>
void Connection<Stream>::note_answer(const Response& response) const {
  host_->options().answered({request_id_, request_, peer_, response.status, response.problem});
}

template <class Stream>
void Connection<Stream>::write(Response response, bool keep_alive) {
  note_answer(response);
  unanswered_ = 0;
  gone_ = nullptr;
  parser_.reset();  // together with a body that is refused
  share_ = {};
  keep_alive_ = keep_alive;
  if (!reads_ahead_) return write_now(std::move(response));
  answer_ = std::move(response);
  socket().cancel();  // a read that goes on would have no time limit, and take the next request
}

template <class Stream>
void Connection<Stream>::write_now(Response response) {
  if (response.stream && !head_) return stream(std::move(response));
  if (response.stream) response.stream->close();
  sent_ = std::move(response.sent);
  keep_alive_ = keep_alive_ && !host_->stopping();
  message_.emplace(static_cast<beast::http::status>(response.status), version_);
  set_fields(*message_, response, request_id_);
  message_->keep_alive(keep_alive_);
  if (response.status != kNotModified) message_->content_length(response.body.size());
  if (!head_) message_->body() = std::move(response.body);
  socket().expires_after(host_->options().write_within);
  beast::http::async_write(stream_, *message_, then(&Connection::written));
}

template <class Stream>
void Connection<Stream>::written(Code code, std::size_t) {
  message_.reset();
  std::exchange(sent_, nullptr)(!code);
  if (code) return cut();
  keep_alive_ ? wait_for_request() : linger();
}

template <class Stream>
void Connection<Stream>::stream(Response response) {
  typename StreamedAnswer<Stream>::Head head{static_cast<beast::http::status>(response.status), version_};
  set_fields(head, response, request_id_);
  streamed_ =
      std::make_shared<StreamedAnswer<Stream>>(host_, stream_, response.stream, std::move(head),
                                               [self = this->shared_from_this(), sent = response.sent](bool all) {
                                                 self->streamed_ = nullptr;
                                                 sent(all);
                                                 all ? self->linger() : self->cut();
                                               });
  streamed_->begin();
  if (host_->stopping()) streamed_->end();
}

template <class Stream>
void Connection<Stream>::linger() {
  Code ignored;
  socket().socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  socket().expires_after(kLinger);
  buffer_ = fresh_buffer();
  socket().async_read_some(buffer_.prepare(kFirstRead), then(&Connection::drained));
}

template <class Stream>
void Connection<Stream>::drained(Code code, std::size_t count) {
  ignored_ += count;
  if (code || ignored_ > kMostIgnored) return cut();
  socket().async_read_some(buffer_.prepare(kFirstRead), then(&Connection::drained));
}

template class Connection<PlainStream>;
template class Connection<TlsStream>;

}  // namespace easyretry::http
