#include "http/beast/body_reading.h"

#include <algorithm>

#include "http/beast/reading.h"

namespace easyretry::http {

namespace beast = boost::beast;

namespace {

constexpr std::size_t kAtOnce = 16'384;

Problem too_long(std::size_t most) {
  return {413, "body_too_large", "this takes bodies of up to " + std::to_string(most) + " bytes",
          most == 0 ? "leave it out" : "send several smaller requests"};
}

Problem no_room() {
  return {503,
          "busy",
          "the bodies of all requests that are being read take up the memory there is for them",
          "try again a little later",
          {{"Retry-After", "1"}}};
}

}  // namespace

template <class Stream>
BodyReading<Stream>::BodyReading(const ServerOptions& limits, Place place, Done done)
    : limits_(limits), place_(place), done_(std::move(done)) {
  place_.parser.eager(false);  // or what came so far would show only when what comes next has begun
}

// What is announced is given room at once: whoever was let in can finish, however many come meanwhile.
template <class Stream>
std::optional<Problem> BodyReading<Stream>::objection(std::size_t most) {
  place_.parser.body_limit(most);
  const auto length = place_.parser.content_length();
  if (!length) return std::nullopt;
  if (*length > most) return too_long(most);
  if (!place_.share.grow_to(*length)) return no_room();
  return std::nullopt;
}

template <class Stream>
void BodyReading<Stream>::go_on() {
  place_.buffer.reserve(std::min(kAtOnce, place_.buffer.max_size()));
  beast::get_lowest_layer(place_.wire).expires_at(next_bytes_by());
  beast::http::async_read_some(
      place_.wire, place_.buffer, place_.parser,
      [self = this->shared_from_this()](Code code, std::size_t count) { self->have_some(code, count); });
}

template <class Stream>
std::chrono::steady_clock::time_point BodyReading<Stream>::next_bytes_by() const {
  const std::chrono::milliseconds earned{1000 * received_ / limits_.least_bytes_per_second};
  return begun_ + std::min(limits_.body_within, limits_.slow_start + earned);
}

template <class Stream>
void BodyReading<Stream>::have_some(Code code, std::size_t count) {
  received_ += count;
  if (code) return done_({.problem = problem_of(code)});
  // Of one that comes in chunks this is how its length shows.
  const bool fits = !place_.parser.chunked() || place_.share.grow_to(place_.parser.get().body().capacity());
  if (!fits) return done_({.problem = no_room()});
  place_.parser.is_done() ? done_({.whole = true}) : go_on();
}

template class BodyReading<PlainStream>;
template class BodyReading<TlsStream>;

}  // namespace easyretry::http
