#pragma once
// One connection, from its first byte to its last. Runs on the server's thread.

#include <memory>
#include <optional>

#include <boost/asio/post.hpp>
#include <boost/beast/http.hpp>

#include "http/beast/body_reader.h"
#include "http/beast/host.h"
#include "http/beast/request_head.h"
#include "http/beast/streamed_answer.h"

namespace easyretry::http {

class OpenConnection {
 public:
  virtual ~OpenConnection() = default;
  virtual void begin() = 0;
  // Closes at once if no request is in flight, otherwise after its answer; a stream is ended.
  virtual void end_when_idle() = 0;
  virtual void cut() = 0;
};

template <class Stream>
class Connection final : public OpenConnection, public std::enable_shared_from_this<Connection<Stream>> {
 public:
  template <class... StreamArguments>
  Connection(std::shared_ptr<Host> host, std::uint64_t number, StreamArguments&&... arguments)
      : host_(std::move(host)), number_(number), stream_(std::forward<StreamArguments>(arguments)...) {}

  void begin() override;
  void end_when_idle() override;
  void cut() override;

 private:
  using Code = boost::beast::error_code;
  using Message = boost::beast::http::response<boost::beast::http::string_body>;

  auto socket() -> boost::beast::tcp_stream& { return boost::beast::get_lowest_layer(stream_); }
  // A member as a completion handler that keeps this alive.
  template <class... Rest>
  auto then(void (Connection::*member)(Code, Rest...)) {
    return [self = this->shared_from_this(), member](Code code, auto&&... rest) {
      (self.get()->*member)(code, static_cast<Rest>(rest)...);
    };
  }

  void handshake_done(Code code);
  void refuse_plain_http();
  void plain_http_refused(Code code, std::size_t);
  void wait_for_request();
  auto fresh_buffer() const -> boost::beast::flat_buffer;
  void first_bytes(Code code, std::size_t count);
  void read_head();
  void have_head(Code code, std::size_t);
  void judge(Request request);
  void mark_authenticated();
  void turn_away(const Problem& problem);
  void have_body(const typename BodyReader<Stream>::End& end);
  void serve();
  void watch(std::uint64_t served, std::function<void()> gone);
  void read_ahead();
  void have_read_ahead(Code code, std::size_t count);
  void refuse(const Problem& problem);
  void note_answer(const Response& response) const;
  void write(Response response, bool keep_alive);
  void write_now(Response response);
  void written(Code code, std::size_t);
  void stream(Response response);
  // Lets the answer reach a client that is still sending, then closes.
  void linger();
  void drained(Code code, std::size_t count);

  // An admitted request whose body has not arrived yet.
  struct Pending {
    Request request;
    Serve serve;
  };

  const std::shared_ptr<Host> host_;
  const std::uint64_t number_;
  Stream stream_;
  boost::beast::flat_buffer buffer_;
  std::optional<RequestParser> parser_;
  std::unique_ptr<Pending> pending_;
  BodyBudget::Share share_;  // until the answer: the body is in use for so long
  std::optional<Message> message_;
  std::shared_ptr<StreamedAnswer<Stream>> streamed_;  // instead of message_
  std::function<void()> gone_;                        // to be called if the client leaves before its answer
  std::function<void(bool)> sent_;                    // of the answer that is being written
  std::optional<Response> answer_;                    // to be written when reading ahead has ended
  std::string request_id_;
  std::string request_;  // for the log: "GET /v1/tasks"
  std::string peer_;
  std::size_t ignored_ = 0;
  std::uint64_t served_ = 0;      // requests
  std::uint64_t unanswered_ = 0;  // the number of the one that waits for its answer
  unsigned version_ = 11;
  bool head_ = false;
  bool busy_ = false;
  bool keep_alive_ = false;
  bool reads_ahead_ = false;
  bool known_ = false;  // authenticated, or need not be
};

}  // namespace easyretry::http
