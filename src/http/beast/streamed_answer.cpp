#include "http/beast/streamed_answer.h"

#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <sys/socket.h>

namespace easyretry::http {

namespace asio = boost::asio;
namespace beast = boost::beast;

template <class Stream>
StreamedAnswer<Stream>::StreamedAnswer(std::shared_ptr<Host> host, Stream& wire, std::shared_ptr<BodyStream> body,
                                       Head head, Done done)
    : host_(std::move(host)),
      wire_(wire),
      body_(std::move(body)),
      head_(std::move(head)),
      done_(std::move(done)),
      filler_(wire.get_executor()),
      longest_(wire.get_executor()) {}

template <class Stream>
void StreamedAnswer<Stream>::begin() {
  if (chunked()) head_.chunked(true);
  head_.keep_alive(false);
  socket().expires_after(host_->options().write_within);
  beast::http::async_write_header(
      wire_, serializer_, [self = this->shared_from_this()](Code code, std::size_t) { self->head_written(code); });
}

template <class Stream>
void StreamedAnswer<Stream>::head_written(Code code) {
  if (code) return finish(false);
  watch_for_close();
  longest_.expires_after(body_->options().longest);
  longest_.async_wait([weak = this->weak_from_this()](Code cancelled) {
    const auto self = weak.lock();
    if (self && !cancelled) self->end();
  });
  busy_ = false;
  body_->open([weak = this->weak_from_this(), host = host_, executor = wire_.get_executor()] {
    if (host->closed()) return;
    asio::post(executor, [weak] {
      if (const auto self = weak.lock()) self->go_on();
    });
  });
}

template <class Stream>
void StreamedAnswer<Stream>::go_on() {
  if (busy_ || !done_) return;
  bool last = false;
  std::string text = body_->take(last);
  if (!text.empty()) return send(std::move(text));
  last ? send_last() : wait_for_news();
}

template <class Stream>
void StreamedAnswer<Stream>::send(std::string text) {
  busy_ = true;
  sending_ = std::move(text);
  socket().expires_after(host_->options().write_within);
  const auto then = [self = this->shared_from_this()](Code code, std::size_t) { self->sent(code); };
  if (chunked()) {
    asio::async_write(wire_, beast::http::make_chunk(asio::buffer(sending_)), then);
  } else {
    asio::async_write(wire_, asio::buffer(sending_), then);
  }
}

template <class Stream>
void StreamedAnswer<Stream>::sent(Code code) {
  busy_ = false;
  if (code) return finish(false);
  go_on();
}

template <class Stream>
void StreamedAnswer<Stream>::send_last() {
  if (!chunked()) return finish(true);
  busy_ = true;
  socket().expires_after(host_->options().write_within);
  asio::async_write(wire_, beast::http::make_chunk_last(),
                    [self = this->shared_from_this()](Code code, std::size_t) { self->finish(!code); });
}

template <class Stream>
void StreamedAnswer<Stream>::wait_for_news() {
  socket().expires_never();
  if (body_->options().filler.empty()) return;
  filler_.expires_after(body_->options().filler_every);
  filler_.async_wait([weak = this->weak_from_this()](Code cancelled) {
    const auto self = weak.lock();
    if (self && !cancelled && !self->busy_ && self->done_) self->send(self->body_->options().filler);
  });
}

// The bytes of another request are not read: it will not be answered.
template <class Stream>
void StreamedAnswer<Stream>::watch_for_close() {
  socket().socket().async_wait(asio::socket_base::wait_read, [weak = this->weak_from_this()](Code code) {
    const auto self = weak.lock();
    if (!self || code || !self->done_) return;
    char byte = 0;
    const auto count = ::recv(self->socket().socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (count == 0 || (count < 0 && errno != EAGAIN)) self->finish(false);
  });
}

template <class Stream>
void StreamedAnswer<Stream>::finish(bool all) {
  if (!done_) return;
  body_->close();
  filler_.cancel();
  longest_.cancel();
  std::exchange(done_, nullptr)(all);
}

template class StreamedAnswer<PlainStream>;
template class StreamedAnswer<TlsStream>;

}  // namespace easyretry::http
