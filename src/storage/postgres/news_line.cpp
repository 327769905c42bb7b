#include "storage/postgres/news_line.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <pthread.h>

#include "storage/server/connection_pool.h"

namespace easyretry::storage::postgres {
namespace {

// The kernel notices a peer that is dead, but not one that is alive and silent: it is asked so often, and has so long
// to answer. What it did not say in that time is found by the ordinary scans.
constexpr std::chrono::seconds kQuiet{10};
constexpr std::chrono::seconds kPatience{5};
constexpr std::chrono::seconds kLastWords{3};

}  // namespace

// What is said on one connection, one statement at a time.
class NewsLine::Conversation {
 public:
  explicit Conversation(NewsLine& line) : line_(line), connection_(line.settings_) {}
  ~Conversation() { line_.words_were_lost(); }
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  // Until the connection is lost, or all is over. Whether it ever came to talking.
  bool lead() {
    while (true) {
      connection_.go_on();
      for (const std::string& space : connection_.take_news()) line_.tell(space);
      if (connection_.idle()) speak();
      const bool silent = !connection_.idle() && Steady::now() >= next_;
      if (connection_.lost() || silent || line_.over()) return talked_;
      line_.wait(connection_.socket(), connection_.events(), next_);
    }
  }

 private:
  void speak() {
    if (!std::exchange(greeted_, true)) return say("SET synchronous_commit = off");
    talked_ = true;
    answered();
    const auto now = Steady::now();
    if (!listens_ && line_.has_listeners()) {
      asked_to_listen_ = true;
      return say(std::string{"LISTEN "} + kNewsChannel);
    }
    if (listens_) line_.greet_newcomers();
    if (now >= next_word_) {
      const std::set<std::string> spaces = line_.take_words();
      if (!spaces.empty()) return notify(spaces, now);
    }
    if (listens_ && now - asked_ >= kQuiet) return say("SELECT 1");
    next_ = listens_ ? asked_ + kQuiet : Steady::time_point::max();
    if (line_.has_words()) next_ = std::min(next_, next_word_);
  }

  void notify(const std::set<std::string>& spaces, Steady::time_point now) {
    next_word_ = now + kBetweenWords;
    std::string words;
    for (const std::string& space : spaces) words += connection_.notification(space);
    say(words);
  }

  void say(const std::string& statement) {
    asked_ = Steady::now();
    next_ = asked_ + kPatience;
    connection_.send(statement);
  }

  void answered() {
    line_.words_arrived();
    if (!std::exchange(asked_to_listen_, false)) return;
    listens_ = true;
    line_.tell_all();
  }

  NewsLine& line_;
  NewsConnection connection_;
  bool greeted_ = false;
  bool talked_ = false;
  bool asked_to_listen_ = false;
  bool listens_ = false;
  Steady::time_point asked_{};
  Steady::time_point next_word_{};
  Steady::time_point next_ = Steady::now() + kPatience;  // when to look again; of what is under way, its end
};

// Where a listener stands until it goes.
class NewsLine::Place final : public Listening {
 public:
  Place(NewsLine& line, int number) : line_(line), number_(number) {}
  ~Place() override {
    const std::lock_guard lock{line_.mutex_};
    line_.listeners_.erase(number_);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

 private:
  NewsLine& line_;
  const int number_;
};

NewsLine::NewsLine(std::string settings) : settings_(std::move(settings)), random_(base::random_seed()) {}

NewsLine::~NewsLine() {
  {
    const std::lock_guard lock{mutex_};
    patience_ends_ = Steady::now() + kLastWords;
  }
  wake_up_.ring();
  if (thread_.joinable()) thread_.join();
}

void NewsLine::announce(const std::string& space) {
  {
    const std::lock_guard lock{mutex_};
    if (!to_say_.insert(space).second) return;
    start();
  }
  wake_up_.ring();
}

std::unique_ptr<Listening> NewsLine::listen(const std::string& space, std::function<void()> wake) {
  std::unique_ptr<Listening> place;
  {
    const std::lock_guard lock{mutex_};
    place = std::make_unique<Place>(*this, next_listener_);
    listeners_.emplace(next_listener_++, Listener{space, std::move(wake)});
    start();
  }
  wake_up_.ring();
  return place;
}

void NewsLine::start() {
  if (thread_.joinable()) return;
  thread_ = std::thread{[this] { run(); }};
  pthread_setname_np(thread_.native_handle(), "er-news");
}

// Whoever is being destroyed has one connection left: a server that does not take it has nobody who listens.
void NewsLine::run() {
  for (int failures = 0; !over();) {
    const bool last = being_destroyed();
    if (Conversation{*this}.lead()) failures = 0;
    if (last) return;
    pause(server::reconnect_pause(failures++, random_));
  }
}

bool NewsLine::being_destroyed() {
  const std::lock_guard lock{mutex_};
  return patience_ends_.has_value();
}

void NewsLine::pause(std::chrono::microseconds time) {
  for (const auto until = Steady::now() + time; Steady::now() < until && !being_destroyed();) wait(-1, 0, until);
}

bool NewsLine::over() {
  const std::lock_guard lock{mutex_};
  return patience_ends_ && ((to_say_.empty() && being_said_.empty()) || Steady::now() >= *patience_ends_);
}

void NewsLine::wait(int socket, short events, Steady::time_point until) {
  {
    const std::lock_guard lock{mutex_};
    if (patience_ends_) until = std::min(until, *patience_ends_);
  }
  wake_up_.wait(socket, events, until);
}

bool NewsLine::has_words() {
  const std::lock_guard lock{mutex_};
  return !to_say_.empty();
}

std::set<std::string> NewsLine::take_words() {
  const std::lock_guard lock{mutex_};
  being_said_ = std::exchange(to_say_, {});
  return being_said_;
}

void NewsLine::words_arrived() {
  const std::lock_guard lock{mutex_};
  being_said_.clear();
}

void NewsLine::words_were_lost() {
  const std::lock_guard lock{mutex_};
  to_say_.merge(std::exchange(being_said_, {}));
}

bool NewsLine::has_listeners() {
  const std::lock_guard lock{mutex_};
  return !listeners_.empty();
}

void NewsLine::tell_all() {
  {
    const std::lock_guard lock{mutex_};
    for (auto& [number, listener] : listeners_) listener.greeted = false;
  }
  greet_newcomers();
}

void NewsLine::greet_newcomers() {
  const std::lock_guard lock{mutex_};
  for (auto& [number, listener] : listeners_) {
    if (!std::exchange(listener.greeted, true)) listener.wake();
  }
}

void NewsLine::tell(const std::string& space) {
  const std::lock_guard lock{mutex_};
  for (const auto& [number, listener] : listeners_) {
    if (listener.space == space) listener.wake();
  }
}

}  // namespace easyretry::storage::postgres
