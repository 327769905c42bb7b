#pragma once

#include <condition_variable>
#include <mutex>

#include "config/source.h"
#include "nacos/config_client.h"
#include "nacos/options.h"

namespace easyretry::config {

// A text of Nacos's configuration, as it was last heard of. While Nacos is away it is what it was.
class NacosSource final : public Source {
 public:
  NacosSource(const nacos::ConfigUrl& url, LogSink log);

  std::string name() const override { return key_.data_id; }
  std::optional<std::string> read() override;
  std::string why_not() const override;
  bool reached() const override;

 private:
  void hear(const std::optional<std::string>& text);

  // Fixed after construction
  const nacos::ConfigKey key_;
  const LogSink log_;

  mutable std::mutex mutex_;
  std::condition_variable heard_;
  // Guarded by mutex_
  bool reached_ = false;
  std::optional<std::string> text_;

  // Last: its listener uses the others
  nacos::ConfigClient client_;
  nacos::Subscription listening_;
};

}  // namespace easyretry::config
