#include "storage/sql/pool.h"

#include "storage/sql/reconnect_pause.h"

namespace easyretry::storage::sql {
namespace {

// A caller that finds all sessions lent for so long is told that the server does not keep up.
constexpr std::chrono::seconds kPatience{10};

}  // namespace

Pool::Pool(Connect connect, std::size_t size)
    : connect_(std::move(connect)), to_lend_(size), random_(base::random_seed()) {}

Pool::Lease Pool::take() {
  std::unique_lock lock{mutex_};
  if (!returned_.wait_for(lock, kPatience, [this] { return to_lend_ > 0; })) {
    throw ServerError{Trouble::overloaded, "no connection became free within 10 seconds: the server does not keep up"};
  }
  --to_lend_;
  if (!idle_.empty()) {
    auto session = std::move(idle_.back());
    idle_.pop_back();
    return {*this, std::move(session)};
  }
  lock.unlock();
  return {*this, connect()};
}

std::unique_ptr<Session> Pool::connect() {
  try {
    check_pause();
    auto session = connect_();
    const std::lock_guard lock{mutex_};
    failures_ = 0;
    return session;
  } catch (const ServerError& error) {
    give_back(nullptr);
    const std::lock_guard lock{mutex_};
    if (Steady::now() < next_try_) throw;
    next_try_ = Steady::now() + reconnect_pause(failures_++, random_);
    last_failure_ = error.what();
    last_trouble_ = error.trouble();
    throw;
  } catch (...) {
    give_back(nullptr);
    throw;
  }
}

void Pool::check_pause() {
  const std::lock_guard lock{mutex_};
  if (failures_ > 0 && Steady::now() < next_try_) throw ServerError{last_trouble_, last_failure_};
}

void Pool::give_back(std::unique_ptr<Session> session) {
  {
    const std::lock_guard lock{mutex_};
    ++to_lend_;
    if (session && !session->broken()) idle_.push_back(std::move(session));
  }
  returned_.notify_one();
}

}  // namespace easyretry::storage::sql
