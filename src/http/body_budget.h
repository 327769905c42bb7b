#pragma once
// Bounds the memory for the bodies of all requests together, from their first byte until they are answered, however
// many clients send at once. One client may use a quarter of it. Thread-safe.

#include <cstddef>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

namespace easyretry::http {

class BodyBudget {
 public:
  explicit BodyBudget(std::size_t bytes) : bytes_(bytes) {}
  BodyBudget(const BodyBudget&) = delete;
  BodyBudget& operator=(const BodyBudget&) = delete;

  // The share of one body, given back by the destructor.
  class Share {
   public:
    Share() = default;
    Share(BodyBudget& budget, std::string client) : budget_(&budget), client_(std::move(client)) {}
    ~Share() { give_back(); }
    Share(Share&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)),
          client_(std::move(other.client_)),
          bytes_(std::exchange(other.bytes_, 0)) {}
    Share& operator=(Share&& other) noexcept {
      if (this == &other) return *this;
      give_back();
      budget_ = std::exchange(other.budget_, nullptr);
      client_ = std::move(other.client_);
      bytes_ = std::exchange(other.bytes_, 0);
      return *this;
    }

    // False: the budget does not allow it, and the share stays as it is. A share never shrinks.
    bool grow_to(std::size_t bytes) {
      if (bytes <= bytes_) return true;
      if (!budget_->take(client_, bytes - bytes_)) return false;
      bytes_ = bytes;
      return true;
    }

   private:
    void give_back() {
      if (bytes_ > 0) budget_->give_back(client_, bytes_);
    }

    BodyBudget* budget_ = nullptr;
    std::string client_;
    std::size_t bytes_ = 0;
  };

  std::size_t taken() const {
    const std::lock_guard lock{mutex_};
    return taken_;
  }

 private:
  static constexpr std::size_t kShares = 4;

  bool take(const std::string& client, std::size_t more) {
    const std::lock_guard lock{mutex_};
    const auto found = by_client_.find(client);
    const std::size_t has = found == by_client_.end() ? 0 : found->second;
    const bool too_much = !client.empty() && more > bytes_ / kShares - has;
    if (more > bytes_ - taken_ || too_much) return false;
    taken_ += more;
    by_client_[client] = has + more;
    return true;
  }
  void give_back(const std::string& client, std::size_t bytes) {
    const std::lock_guard lock{mutex_};
    taken_ -= bytes;
    const auto found = by_client_.find(client);
    found->second -= bytes;
    if (found->second == 0) by_client_.erase(found);
  }

  const std::size_t bytes_;
  mutable std::mutex mutex_;
  // Guarded by mutex_
  std::size_t taken_ = 0;
  std::unordered_map<std::string, std::size_t> by_client_;
};

}  // namespace easyretry::http
