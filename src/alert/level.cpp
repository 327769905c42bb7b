#include "alert/level.h"

#include <algorithm>

namespace easyretry::alert {

bool Level::is(bool too_high, bool fine, Instant now) {
  const bool next = too_high_ ? !fine : too_high;
  if (next == too_high_) return false;
  since_ = now;
  too_high_ = next;
  return true;
}

std::optional<Instant> Level::due() const {
  if (too_high_ == told_) return std::nullopt;
  return too_high_ ? std::max(since_, quiet_until_) : since_;
}

void Level::take(Instant now) {
  told_ = too_high_;
  if (told_) quiet_until_ = now + window_;
}

}  // namespace easyretry::alert
