#pragma once

#include <functional>
#include <utility>

namespace easyretry::nacos {

// Ends with the object: its listener is not called any more, and not running, afterwards; but a listener that ends
// its own subscription goes on to its end. Must not outlive the client.
class [[nodiscard]] Subscription {
 public:
  Subscription() = default;
  explicit Subscription(std::function<void()> end) : end_(std::move(end)) {}
  ~Subscription() { end(); }
  Subscription(Subscription&& other) noexcept : end_(std::exchange(other.end_, nullptr)) {}
  Subscription& operator=(Subscription&& other) noexcept {
    if (this != &other) {
      end();
      end_ = std::exchange(other.end_, nullptr);
    }
    return *this;
  }

  void end() {
    if (const auto end = std::exchange(end_, nullptr)) end();
  }

 private:
  std::function<void()> end_;
};

}  // namespace easyretry::nacos
