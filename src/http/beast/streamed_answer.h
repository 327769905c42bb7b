#pragma once
// Sends a response of unknown length, in chunks as it is written. Runs on the server's thread.

#include <memory>

#include <boost/asio/steady_timer.hpp>
#include <boost/beast/http.hpp>

#include "http/beast/host.h"
#include "http/body_stream.h"

namespace easyretry::http {

template <class Stream>
class StreamedAnswer final : public std::enable_shared_from_this<StreamedAnswer<Stream>> {
 public:
  using Head = boost::beast::http::response<boost::beast::http::empty_body>;
  // Called once: true if all of it was handed to the network.
  using Done = std::function<void(bool all)>;

  // `done` keeps the connection, and with it `wire`, alive.
  StreamedAnswer(std::shared_ptr<Host> host, Stream& wire, std::shared_ptr<BodyStream> body, Head head, Done done);

  void begin();
  // Ends it after what was written.
  void end() { body_->end(); }
  // The connection is lost.
  void give_up() { finish(false); }

 private:
  using Code = boost::beast::error_code;

  auto socket() -> boost::beast::tcp_stream& { return boost::beast::get_lowest_layer(wire_); }
  bool chunked() const { return head_.version() == 11; }
  void head_written(Code code);
  void go_on();
  void send(std::string text);
  void sent(Code code);
  void send_last();
  void wait_for_news();
  void watch_for_close();
  void finish(bool all);

  const std::shared_ptr<Host> host_;
  Stream& wire_;
  const std::shared_ptr<BodyStream> body_;
  Head head_;
  boost::beast::http::response_serializer<boost::beast::http::empty_body> serializer_{head_};
  Done done_;
  boost::asio::steady_timer filler_;
  boost::asio::steady_timer longest_;
  std::string sending_;
  bool busy_ = true;  // something is being written
};

}  // namespace easyretry::http
