#include "http/body_room.h"

namespace easyretry::http {

bool BodyRoom::take(std::size_t more) {
  std::size_t taken = taken_;
  do {
    if (more > bytes_ - taken) return false;
  } while (!taken_.compare_exchange_weak(taken, taken + more));
  return true;
}

BodyRoom::Share& BodyRoom::Share::operator=(Share&& other) noexcept {
  if (this == &other) return *this;
  give_back();
  room_ = std::exchange(other.room_, nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

bool BodyRoom::Share::grow_to(std::size_t bytes) {
  if (bytes <= bytes_) return true;
  if (!room_->take(bytes - bytes_)) return false;
  bytes_ = bytes;
  return true;
}

void BodyRoom::Share::give_back() {
  if (room_ != nullptr) room_->taken_ -= bytes_;
}

}  // namespace easyretry::http
