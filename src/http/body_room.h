#pragma once
// How many bytes the bodies of all requests may have together, from their first byte until they are answered: memory is
// bounded, however many send at once. Thread-safe.

#include <atomic>
#include <cstddef>
#include <utility>

namespace easyretry::http {

class BodyRoom {
 public:
  explicit BodyRoom(std::size_t bytes) : bytes_(bytes) {}
  BodyRoom(const BodyRoom&) = delete;
  BodyRoom& operator=(const BodyRoom&) = delete;

  // One body's part of it, given back by its end.
  class Share {
   public:
    Share() = default;
    explicit Share(BodyRoom& room) : room_(&room) {}
    ~Share() { give_back(); }
    Share(Share&& other) noexcept
        : room_(std::exchange(other.room_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    Share& operator=(Share&& other) noexcept;

    // False: there is no room for that much, and the share is what it was. A share does not become less.
    bool grow_to(std::size_t bytes);

   private:
    void give_back();

    BodyRoom* room_ = nullptr;
    std::size_t bytes_ = 0;
  };

  std::size_t taken() const { return taken_; }

 private:
  bool take(std::size_t more);

  const std::size_t bytes_;
  std::atomic<std::size_t> taken_{0};
};

}  // namespace easyretry::http
