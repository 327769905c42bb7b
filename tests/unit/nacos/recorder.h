#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "nacos/instance.h"

namespace easyretry::test {

// Records the values that a listener got.
template <class T>
class Recorder {
 public:
  auto listener() {
    return [this](const T& value) {
      const std::lock_guard lock{mutex_};
      values_.push_back(value);
    };
  }
  std::vector<T> all() const {
    const std::lock_guard lock{mutex_};
    return values_;
  }
  std::size_t count() const { return all().size(); }
  std::optional<T> last() const {
    const std::lock_guard lock{mutex_};
    return values_.empty() ? std::nullopt : std::optional<T>{values_.back()};
  }

 private:
  mutable std::mutex mutex_;
  std::vector<T> values_;
};

// "10.0.0.1:7070 10.0.0.2:7070" of the last view; "nothing" before the first.
inline std::string addresses(const Recorder<nacos::ServiceView>& told) {
  const auto view = told.last();
  if (!view) return "nothing";
  std::string text;
  for (const auto& instance : view->instances) {
    text += (text.empty() ? "" : " ") + instance.ip + ":" + std::to_string(instance.port);
  }
  return text;
}

}  // namespace easyretry::test
