#include "http/beast/body_reader.h"

#include <algorithm>

#include "http/beast/request_head.h"

namespace easyretry::http {

namespace beast = boost::beast;

namespace {

constexpr std::size_t kAtOnce = 16'384;

Problem too_long(std::size_t most) {
  return {413, "body_too_large", "this path accepts bodies of up to " + std::to_string(most) + " bytes",
          most == 0 ? "send no body" : "send several smaller requests"};
}

Problem over_budget() {
  return {503, "busy", "the memory for request bodies is in use", "try again a little later", {{"Retry-After", "1"}}};
}

}  // namespace

template <class Stream>
BodyReader<Stream>::BodyReader(const ServerOptions& limits, Place place, Done done)
    : limits_(limits), place_(place), done_(std::move(done)) {
  place_.parser.eager(false);  // report bytes as they arrive
}

// The announced length is reserved at once, so that an admitted request can finish however many others come.
template <class Stream>
std::optional<Problem> BodyReader<Stream>::objection(std::size_t most) {
  place_.parser.body_limit(most);
  const auto length = place_.parser.content_length();
  if (!length) return std::nullopt;
  if (*length > most) return too_long(most);
  if (!place_.share.grow_to(*length)) return over_budget();
  return std::nullopt;
}

template <class Stream>
void BodyReader<Stream>::go_on() {
  place_.buffer.reserve(std::min(kAtOnce, place_.buffer.max_size()));
  beast::get_lowest_layer(place_.wire).expires_at(next_bytes_by());
  beast::http::async_read_some(
      place_.wire, place_.buffer, place_.parser,
      [self = this->shared_from_this()](Code code, std::size_t count) { self->have_some(code, count); });
}

template <class Stream>
std::chrono::steady_clock::time_point BodyReader<Stream>::next_bytes_by() const {
  const std::chrono::milliseconds earned{1000 * received_ / limits_.least_bytes_per_second};
  return begun_ + std::min(limits_.body_within, limits_.slow_start + earned);
}

template <class Stream>
void BodyReader<Stream>::have_some(Code code, std::size_t count) {
  received_ += count;
  if (code) return done_({.problem = problem_of(code)});
  // The length of a chunked body shows only as it grows.
  const bool fits = !place_.parser.chunked() || place_.share.grow_to(place_.parser.get().body().capacity());
  if (!fits) return done_({.problem = over_budget()});
  place_.parser.is_done() ? done_({.complete = true}) : go_on();
}

template class BodyReader<PlainStream>;
template class BodyReader<TlsStream>;

}  // namespace easyretry::http
