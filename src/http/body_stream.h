#pragma once
// A body that is written as it comes into being, for as long as somebody reads it: Response::stream. What the reader
// has not taken yet is kept, up to a bound; whoever reads too slowly for that is cut off. Safe to use from any thread.

#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace easyretry::http {

struct StreamOptions {
  std::size_t most_unsent = 1'048'576;  // bytes
  // Written when nothing else was for a while, so that both sides notice when the other one is gone.
  std::string filler{};
  std::chrono::milliseconds filler_every{15'000};
  // Then it ends, and whoever wants more asks again, and is asked who he is.
  std::chrono::milliseconds longest{3'600'000};
};

class BodyStream {
 public:
  explicit BodyStream(StreamOptions options = {}) : options_(std::move(options)) {}

  // False: nobody reads it any more, and nobody will.
  bool write(std::string_view text);
  // After what was written.
  void end();
  bool ended() const;

  // For the server that sends it.
  const StreamOptions& options() const { return options_; }
  // `news` is called, from any thread, when there is something to take, or the end.
  void open(std::function<void()> news);
  // All that was written since; `last` with the end.
  std::string take(bool& last);
  // Nobody reads any more.
  void close();

 private:
  void tell(std::unique_lock<std::mutex> lock);

  const StreamOptions options_;
  mutable std::mutex mutex_;
  // Guarded by mutex_
  std::function<void()> news_;
  std::string unsent_;
  bool ended_ = false;
};

}  // namespace easyretry::http
