#pragma once
// A response body that is sent while it is written, for as long as the client reads: Response::stream. Unsent text is
// kept up to a bound; a client that reads more slowly is cut off. Thread-safe.

#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace easyretry::http {

struct StreamOptions {
  std::size_t most_unsent = 1'048'576;  // bytes
  // Sent when nothing else was sent for a while, so that each side notices if the other one is gone.
  std::string filler{};
  std::chrono::milliseconds filler_every{15'000};
  // Then the stream ends. The client asks again, and its token is checked again.
  std::chrono::milliseconds longest{3'600'000};
};

class BodyStream {
 public:
  explicit BodyStream(StreamOptions options = {}) : options_(std::move(options)) {}

  // False: the stream has ended.
  bool write(std::string_view text);
  // Ends the stream after what was written.
  void end();
  bool ended() const;

  // For the server that sends it.
  const StreamOptions& options() const { return options_; }
  // `news` is called, from any thread, when there is text to take, and at the end.
  void open(std::function<void()> news);
  // Returns the text written since the last call; `last` is set at the end.
  std::string take(bool& last);
  // The client no longer reads.
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
