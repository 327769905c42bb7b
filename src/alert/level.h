#pragma once
// Something that is too high, or fine again: each is told once. It is fine again only well below the limit (half of
// it), so that what swings around the limit does not ring all the time; and it is too high again, for those who are
// told, at most once in a window. One thread.

#include <optional>

#include <easyretry/time.h>

namespace easyretry::alert {

class Level {
 public:
  explicit Level(Millis window) : window_(window) {}

  // Between the two it stays what it was. True: it has changed.
  bool is(bool too_high, bool fine, Instant now);

  std::optional<Instant> due() const;
  bool too_high() const { return too_high_; }
  // It has been told.
  void take(Instant now);
  bool over(Instant now) const { return !too_high_ && !told_ && now >= quiet_until_; }

 private:
  const Millis window_;
  bool too_high_ = false;
  bool told_ = false;  // those who are told believe that it is too high
  Instant since_{};
  Instant quiet_until_ = Instant::min();
};

}  // namespace easyretry::alert
