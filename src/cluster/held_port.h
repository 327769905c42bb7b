#pragma once

namespace easyretry::cluster {

// A port of this machine that nobody else gets while the object lives, and at which nobody listens: it tells instances
// on one address apart, for registries that know them by address and port.
class HeldPort {
 public:
  HeldPort();
  ~HeldPort();
  HeldPort(const HeldPort&) = delete;
  HeldPort& operator=(const HeldPort&) = delete;

  int number() const { return number_; }  // 0: none could be had

 private:
  int socket_ = -1;
  int number_ = 0;
};

}  // namespace easyretry::cluster
