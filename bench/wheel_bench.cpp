// The wheel against std::priority_queue: the same random due times over 60 s, all scheduled, then all taken out by
// going from one due time to the next, as the Claimer does.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <queue>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include "engine/wheel.h"

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;

constexpr Millis kSpan = 60s;
constexpr TimePoint kStart{std::chrono::hours{24 * 365 * 55}};

std::vector<TimePoint> random_dues(std::size_t count) {
  std::mt19937_64 random{42};
  std::vector<TimePoint> dues(count);
  for (TimePoint& due : dues) due = kStart + Millis{1 + random() % static_cast<std::uint64_t>(kSpan.count())};
  return dues;
}

WheelEntry entry_of(std::size_t index) {
  return {.id = TaskId{static_cast<std::int64_t>(index)}, .version = 1};
}

struct Later {
  bool operator()(const DueEntry& a, const DueEntry& b) const { return a.due > b.due; }
};

// A priority_queue with the wheel's interface.
class Queue {
 public:
  bool schedule(const WheelEntry& entry, TimePoint due) {
    heap_.push({entry, due});
    return true;
  }
  TimePoint next_due() const { return heap_.empty() ? TimePoint::max() : heap_.top().due; }
  void take_due(TimePoint now, std::vector<DueEntry>& out) {
    for (; !heap_.empty() && heap_.top().due <= now; heap_.pop()) out.push_back(heap_.top());
  }

 private:
  std::priority_queue<DueEntry, std::vector<DueEntry>, Later> heap_;
};

template <class Timers>
void schedule_all(Timers& timers, const std::vector<TimePoint>& dues) {
  for (std::size_t i = 0; i < dues.size(); ++i) timers.schedule(entry_of(i), dues[i]);
}

template <class Timers>
std::size_t expire_all(Timers& timers, std::vector<DueEntry>& out) {
  std::size_t taken = 0;
  for (TimePoint next = timers.next_due(); next != TimePoint::max(); next = timers.next_due()) {
    out.clear();
    timers.take_due(next, out);
    taken += out.size();
  }
  return taken;
}

}  // namespace

}  // namespace easyretry::engine
#include <cstdio>
using namespace easyretry; using namespace easyretry::engine;
template <class T> void run(const char*name, T& w, std::size_t n){
  auto dues=random_dues(n); std::vector<DueEntry> out;
  double bi=1e9,be=1e9,mem=0;for(int k=0;k<(int)(30000000/n);k++){
  auto t0=std::chrono::steady_clock::now(); schedule_all(w,dues); auto t1=std::chrono::steady_clock::now();
  if constexpr(requires{w.memory_bytes();}) mem=double(w.memory_bytes())/n;
  size_t got=expire_all(w,out); auto t2=std::chrono::steady_clock::now();
  auto ns=[&](auto d){return std::chrono::duration<double,std::nano>(d).count()/n;};
  if(got!=n)abort();bi=std::min(bi,ns(t1-t0));be=std::min(be,ns(t2-t1));
  for(auto&d:dues)d+=kSpan;
  }
 printf("%s %zu ins %.1f exp %.1f mem %.1f\n",name,n,bi,be,mem);
}
int main(){ for(size_t n:{(size_t)atoi(getenv("N"))}){Wheel w(kStart,kSpan);run("wheel",w,n);}}
