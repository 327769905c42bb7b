#include "config/nacos_source.h"

#include <utility>

namespace easyretry::config {
namespace {

nacos::ClientOptions with_log(nacos::ClientOptions options, const LogSink& log) {
  if (log) options.log = log;
  return options;
}

}  // namespace

NacosSource::NacosSource(const nacos::ConfigUrl& url, LogSink log)
    : key_(url.key), log_(std::move(log)), client_(with_log(url.client, log_)) {
  listening_ = client_.listen(key_, [this](const std::optional<std::string>& text) { hear(text); });
  std::unique_lock lock{mutex_};
  heard_.wait_for(lock, url.client.timings.request, [this] { return reached_; });
}

void NacosSource::hear(const std::optional<std::string>& text) {
  {
    const std::lock_guard lock{mutex_};
    reached_ = true;
    text_ = text;
  }
  heard_.notify_all();
  if (!text && log_) log_(LogLevel::warning, name() + ": " + why_not());
}

std::optional<std::string> NacosSource::read() {
  const std::lock_guard lock{mutex_};
  return text_;
}

bool NacosSource::reached() const {
  const std::lock_guard lock{mutex_};
  return reached_;
}

std::string NacosSource::why_not() const {
  if (reached()) return "is not in Nacos; publish it in the group " + key_.group + ", or correct the url";
  const auto trouble = client_.status().last_trouble;
  return "not received from Nacos yet" + (trouble ? ": " + to_string(*trouble) : std::string{}) +
         "; check address, user and password";
}

}  // namespace easyretry::config
