#pragma once
// What is wrong with a configuration, collected so that one look at the messages is enough to correct all of it.

#include <string>
#include <string_view>
#include <vector>

#include "config/node.h"

namespace easyretry::config {

class Problems {
 public:
  void add(const Place& place, std::string_view what);
  bool none() const { return count_ == 0; }
  std::size_t count() const { return count_; }
  void throw_if_any() const;  // ConfigError

 private:
  // More than this and the file is something else altogether; a megabyte of wrong keys must not make a larger message.
  static constexpr std::size_t kMost = 20;

  std::vector<std::string> lines_;
  std::size_t count_ = 0;
};

// In quotes, escaped and cut to a length that fits in a message.
std::string in_quotes(std::string_view text);

// A path of keys, with a further one: "handlers" and "payment.pay" make handlers.payment.pay.
std::string path_of(const std::string& path, std::string_view key);

}  // namespace easyretry::config
