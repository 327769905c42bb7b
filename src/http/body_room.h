#pragma once
// How many bytes the bodies of all requests may have together, from their first byte until they are answered: memory is
// bounded, however many clients send at once. One client may take a quarter of it. Thread-safe.

#include <cstddef>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

namespace easyretry::http {

class BodyRoom {
 public:
  explicit BodyRoom(std::size_t bytes) : bytes_(bytes) {}
  BodyRoom(const BodyRoom&) = delete;
  BodyRoom& operator=(const BodyRoom&) = delete;

  // One body's part of it, given back when this is destroyed.
  class Share {
   public:
    Share() = default;
    Share(BodyRoom& room, std::string client) : room_(&room), client_(std::move(client)) {}
    ~Share() { give_back(); }
    Share(Share&& other) noexcept
        : room_(std::exchange(other.room_, nullptr)),
          client_(std::move(other.client_)),
          bytes_(std::exchange(other.bytes_, 0)) {}
    Share& operator=(Share&& other) noexcept;

    // False: there is no room for that many bytes, and the share stays as it is. A share never shrinks.
    bool grow_to(std::size_t bytes);

   private:
    void give_back();

    BodyRoom* room_ = nullptr;
    std::string client_;
    std::size_t bytes_ = 0;
  };

  std::size_t taken() const;

 private:
  static constexpr std::size_t kShares = 4;

  bool take(const std::string& client, std::size_t more);
  void give_back(const std::string& client, std::size_t bytes);

  const std::size_t bytes_;
  mutable std::mutex mutex_;  // guards what follows
  std::size_t taken_ = 0;
  std::unordered_map<std::string, std::size_t> by_client_;
};

}  // namespace easyretry::http
