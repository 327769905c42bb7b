#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "config/source.h"
#include "nacos/config_client.h"
#include "nacos/options.h"

namespace easyretry::config {
namespace {

// A configuration in Nacos, as it was last received. While Nacos is not reachable, it stays the same.
class NacosSource final : public Source {
 public:
  NacosSource(const nacos::ConfigUrl& url, LogSink log);

  std::string name() const override { return key_.data_id; }
  std::optional<std::string> read() override;
  std::string why_not() const override;
  bool reached() const override;
  bool remote() const override { return true; }

 private:
  void on_text(const std::optional<std::string>& text);

  // Fixed after construction
  const nacos::ConfigKey key_;
  const LogSink log_;

  mutable std::mutex mutex_;
  std::condition_variable received_;
  // Guarded by mutex_
  bool reached_ = false;
  std::optional<std::string> text_;

  // Last, because its listener uses the members above
  nacos::ConfigClient client_;
  nacos::Subscription subscription_;
};

nacos::ClientOptions with_log(nacos::ClientOptions options, const LogSink& log) {
  if (log) options.log = log;
  return options;
}

NacosSource::NacosSource(const nacos::ConfigUrl& url, LogSink log)
    : key_(url.key), log_(std::move(log)), client_(with_log(url.client, log_)) {
  subscription_ = client_.listen(key_, [this](const std::optional<std::string>& text) { on_text(text); });
  std::unique_lock lock{mutex_};
  received_.wait_for(lock, url.client.timings.request, [this] { return reached_; });
}

void NacosSource::on_text(const std::optional<std::string>& text) {
  {
    const std::lock_guard lock{mutex_};
    reached_ = true;
    text_ = text;
  }
  received_.notify_all();
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

}  // namespace

const NacosPart* easyretry_nacos_config() {
  static constexpr NacosPart kPart{[](const std::string& url, LogSink log) -> std::shared_ptr<Source> {
    return std::make_shared<NacosSource>(nacos::parse_config_url(url), std::move(log));
  }};
  return &kPart;
}

}  // namespace easyretry::config
