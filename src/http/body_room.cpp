#include "http/body_room.h"

namespace easyretry::http {

bool BodyRoom::take(const std::string& client, std::size_t more) {
  const std::lock_guard lock{mutex_};
  const auto found = by_client_.find(client);
  const std::size_t has = found == by_client_.end() ? 0 : found->second;
  const bool too_much = !client.empty() && more > bytes_ / kShares - has;
  if (more > bytes_ - taken_ || too_much) return false;
  taken_ += more;
  by_client_[client] = has + more;
  return true;
}

void BodyRoom::give_back(const std::string& client, std::size_t bytes) {
  const std::lock_guard lock{mutex_};
  taken_ -= bytes;
  const auto found = by_client_.find(client);
  found->second -= bytes;
  if (found->second == 0) by_client_.erase(found);
}

std::size_t BodyRoom::taken() const {
  const std::lock_guard lock{mutex_};
  return taken_;
}

BodyRoom::Share& BodyRoom::Share::operator=(Share&& other) noexcept {
  if (this == &other) return *this;
  give_back();
  room_ = std::exchange(other.room_, nullptr);
  client_ = std::move(other.client_);
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

bool BodyRoom::Share::grow_to(std::size_t bytes) {
  if (bytes <= bytes_) return true;
  if (!room_->take(client_, bytes - bytes_)) return false;
  bytes_ = bytes;
  return true;
}

void BodyRoom::Share::give_back() {
  if (bytes_ > 0) room_->give_back(client_, bytes_);
}

}  // namespace easyretry::http
