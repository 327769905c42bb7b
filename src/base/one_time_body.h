#pragma once
// The body of a request that libcurl must not send twice.

#include <cstddef>
#include <string_view>

namespace easyretry::base {

// libcurl sends a request again on its own if a kept connection closes without an answer, even a POST whose first copy
// may be at work. A body that it cannot rewind prevents that once some of it has been sent: the transfer then ends with
// CURLE_SEND_FAIL_REWIND. Must outlive the transfer, and the text must outlive both.
class OneTimeBody {
 public:
  explicit OneTimeBody(std::string_view text) : left_(text) {}

  // For CURLOPT_READFUNCTION, with the body as CURLOPT_READDATA.
  static std::size_t read(char* to, std::size_t /*one*/, std::size_t room, void* body) {
    std::string_view& left = static_cast<OneTimeBody*>(body)->left_;
    const std::size_t size = left.copy(to, room);
    left.remove_prefix(size);
    return size;
  }

 private:
  std::string_view left_;
};

}  // namespace easyretry::base
