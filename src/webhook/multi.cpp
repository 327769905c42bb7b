#include "webhook/multi.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
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

constexpr std::uint32_t kNoLane = ~std::uint32_t{0};
// Per server and lane: libcurl walks these connections to find one for a call.
constexpr std::size_t kSlotsPerLane = 64;

// The data of an epoll event: the socket and its lane.
std::uint64_t packed(std::uint32_t lane, int socket) {
  return std::uint64_t{lane} << 32U | static_cast<std::uint32_t>(socket);
}

void watch_for(int epoll, int socket, std::uint32_t events, std::uint32_t lane) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = packed(lane, socket);
  if (::epoll_ctl(epoll, EPOLL_CTL_MOD, socket, &event) == 0 || errno != ENOENT) return;
  ::epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event);
}

// Rounded up: waking up early would make it spin until the time has come.
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
    const Lane& lane = *static_cast<Lane*>(self);
    if (what == CURL_POLL_REMOVE) {
      ::epoll_ctl(lane.epoll, EPOLL_CTL_DEL, socket, nullptr);
    } else {
      const auto in = (what & CURL_POLL_IN) != 0 ? EPOLLIN : 0U;
      const auto out = (what & CURL_POLL_OUT) != 0 ? EPOLLOUT : 0U;
      watch_for(lane.epoll, socket, in | out, lane.number);
    }
    return 0;
  }
  static int on_timer(CURLM*, long millis, void* self) {
    auto& timer = static_cast<Lane*>(self)->timer;
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

Multi::Multi(int wakeup, std::size_t most_connections)
    : epoll_(new_epoll()), wakeup_(wakeup), most_connections_(most_connections) {
  for (std::uint32_t number = 0; Lane & lane : lanes_) {
    lane.epoll = epoll_;
    lane.number = number++;
  }
  watch_for(epoll_, wakeup_, EPOLLIN, kNoLane);
}

// Lanes fill unevenly, so each may keep twice its share.
std::unique_ptr<void, Multi::Cleanup> Multi::new_multi(Lane& lane) const {
  std::unique_ptr<void, Cleanup> multi{curl_multi_init()};
  if (!multi) throw std::bad_alloc{};
  curl_multi_setopt(multi.get(), CURLMOPT_SOCKETFUNCTION, &Callbacks::on_socket);
  curl_multi_setopt(multi.get(), CURLMOPT_SOCKETDATA, &lane);
  curl_multi_setopt(multi.get(), CURLMOPT_TIMERFUNCTION, &Callbacks::on_timer);
  curl_multi_setopt(multi.get(), CURLMOPT_TIMERDATA, &lane);
  curl_multi_setopt(multi.get(), CURLMOPT_MAXCONNECTS, static_cast<long>(2 * most_connections_ / kLanes + 1));
  return multi;
}

Multi::~Multi() {
  close_connections();  // libcurl reports the sockets that it closes to epoll
  ::close(epoll_);
}

// The same slot always gives the same lane, where an earlier call may have left a connection.
Multi::Lane& Multi::lane_of(const std::string& server, std::size_t slot) {
  Lane& lane = lanes_[(std::hash<std::string>{}(server) + slot / kSlotsPerLane) % kLanes];
  if (!lane.multi) lane.multi = new_multi(lane);
  return lane;
}

void Multi::add(Transfer& transfer, const std::string& server) {
  const std::size_t slot = slots_.take(server);
  Lane& lane = lane_of(server, slot);
  entries_.emplace(&transfer, Entry{server, slot, &lane});
  if (curl_multi_add_handle(lane.multi.get(), transfer.handle()) != CURLM_OK) throw std::bad_alloc{};
}

void Multi::remove(Transfer& transfer) {
  const Entry entry = std::move(entries_.extract(&transfer).mapped());
  curl_multi_remove_handle(entry.lane->multi.get(), transfer.handle());
  slots_.give_back(entry.server, entry.slot);
}

void Multi::close_connections() {
  for (Lane& lane : lanes_) {
    lane.multi.reset();
    lane.timer.reset();
  }
}

std::vector<Multi::Ended> Multi::run(Instant until) {
  for (const Lane& lane : lanes_) until = std::min(until, lane.timer.value_or(until));
  wait(until);
  run_timers();
  return take_ended();
}

void Multi::run_timers() {
  const Instant now = std::chrono::steady_clock::now();
  for (Lane& lane : lanes_) {
    if (!lane.timer || *lane.timer > now) continue;
    lane.timer.reset();  // first: the call below may set it again
    int running = 0;
    curl_multi_socket_action(lane.multi.get(), CURL_SOCKET_TIMEOUT, 0, &running);
  }
}

void Multi::wait(Instant until) {
  std::array<epoll_event, kEventsAtOnce> events;
  const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), millis_until(until));
  for (int i = 0; i < count; ++i) {
    const auto& [what, data] = events[static_cast<std::size_t>(i)];
    const auto number = static_cast<std::uint32_t>(data.u64 >> 32U);
    if (number == kNoLane) continue;
    int running = 0;
    const auto socket = static_cast<int>(static_cast<std::uint32_t>(data.u64));
    curl_multi_socket_action(lanes_[number].multi.get(), socket, what_happened(what), &running);
  }
}

std::vector<Multi::Ended> Multi::take_ended() {
  std::vector<Ended> ended;
  for (const Lane& lane : lanes_) {
    if (!lane.multi) continue;
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(lane.multi.get(), &left)) {
      const CallId* call = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &call);
      ended.push_back({*call, message->data.result});
    }
  }
  return ended;
}

std::size_t ConnectionSlots::take(const std::string& server) {
  auto& [slots, free] = servers_[server];
  if (free.empty()) return slots++;
  return free.extract(free.begin()).value();
}

void ConnectionSlots::give_back(const std::string& server, std::size_t slot) {
  const auto found = servers_.find(server);
  auto& [slots, free] = found->second;
  free.insert(slot);
  if (free.size() == slots) servers_.erase(found);
}

}  // namespace easyretry::webhook
