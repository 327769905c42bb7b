#include "webhook/multi.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <system_error>

#include <curl/curl.h>
#include <sys/epoll.h>
#include <unistd.h>

namespace easyretry::webhook {
namespace {

constexpr std::size_t kEventsAtOnce = 256;

int new_epoll() {
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0) throw std::system_error(errno, std::generic_category(), "epoll_create1");
  return epoll;
}

void watch_for(int epoll, int socket, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.fd = socket;
  if (::epoll_ctl(epoll, EPOLL_CTL_MOD, socket, &event) == 0 || errno != ENOENT) return;
  ::epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event);
}

// Rounded up: to wake up early would be to go round and round until it is time.
int millis_until(Instant time) {
  constexpr Millis kLongest{60'000};
  const auto left = std::chrono::ceil<Millis>(time - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp(left, Millis{0}, kLongest).count());
}

int what_happened(std::uint32_t events) {
  int happened = 0;
  if ((events & EPOLLIN) != 0) happened |= CURL_CSELECT_IN;
  if ((events & EPOLLOUT) != 0) happened |= CURL_CSELECT_OUT;
  if ((events & (EPOLLERR | EPOLLHUP)) != 0) happened |= CURL_CSELECT_ERR;
  return happened;
}

}  // namespace

struct Multi::Callbacks {
  static int on_socket(CURL*, curl_socket_t socket, int what, void* self, void*) {
    static_cast<Multi*>(self)->watch(socket, what);
    return 0;
  }
  static int on_timer(CURLM*, long millis, void* self) {
    auto& timer = static_cast<Multi*>(self)->timer_;
    if (millis < 0) {
      timer.reset();
    } else {
      timer = std::chrono::steady_clock::now() + Millis{millis};
    }
    return 0;
  }
};

void Multi::Cleanup::operator()(void* multi) const {
  curl_multi_cleanup(multi);
}

Multi::Multi(int bell, std::size_t most_connections)
    : epoll_(new_epoll()), bell_(bell), most_connections_(most_connections), multi_(new_multi()) {
  watch_for(epoll_, bell_, EPOLLIN);
}

std::unique_ptr<void, Multi::Cleanup> Multi::new_multi() {
  std::unique_ptr<void, Cleanup> multi{curl_multi_init()};
  if (!multi) throw std::bad_alloc{};
  curl_multi_setopt(multi.get(), CURLMOPT_SOCKETFUNCTION, &Callbacks::on_socket);
  curl_multi_setopt(multi.get(), CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi.get(), CURLMOPT_TIMERFUNCTION, &Callbacks::on_timer);
  curl_multi_setopt(multi.get(), CURLMOPT_TIMERDATA, this);
  curl_multi_setopt(multi.get(), CURLMOPT_MAXCONNECTS, static_cast<long>(most_connections_));
  return multi;
}

Multi::~Multi() {
  multi_.reset();  // tells which sockets it closes
  ::close(epoll_);
}

void Multi::add(Transfer& transfer) {
  if (curl_multi_add_handle(multi_.get(), transfer.handle()) != CURLM_OK) throw std::bad_alloc{};
}

void Multi::remove(Transfer& transfer) {
  curl_multi_remove_handle(multi_.get(), transfer.handle());
}

void Multi::close_connections() {
  multi_ = new_multi();
  timer_.reset();
}

void Multi::watch(int socket, int what) {
  if (what == CURL_POLL_REMOVE) {
    ::epoll_ctl(epoll_, EPOLL_CTL_DEL, socket, nullptr);
    return;
  }
  watch_for(epoll_, socket, (what & CURL_POLL_IN ? EPOLLIN : 0U) | (what & CURL_POLL_OUT ? EPOLLOUT : 0U));
}

std::vector<Multi::Ended> Multi::run(Instant until) {
  wait(timer_ ? std::min(until, *timer_) : until);
  int running = 0;
  if (timer_ && *timer_ <= std::chrono::steady_clock::now()) {
    timer_.reset();  // first: it may be set again by what is called
    curl_multi_socket_action(multi_.get(), CURL_SOCKET_TIMEOUT, 0, &running);
  }
  return take_ended();
}

void Multi::wait(Instant until) {
  std::array<epoll_event, kEventsAtOnce> events;
  const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), millis_until(until));
  int running = 0;
  for (int i = 0; i < count; ++i) {
    const auto& [what, data] = events[static_cast<std::size_t>(i)];
    if (data.fd != bell_) curl_multi_socket_action(multi_.get(), data.fd, what_happened(what), &running);
  }
}

std::vector<Multi::Ended> Multi::take_ended() {
  std::vector<Ended> ended;
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
    const CallId* call = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &call);
    ended.push_back({*call, message->data.result});
  }
  return ended;
}

}  // namespace easyretry::webhook
