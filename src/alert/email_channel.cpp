// E-mail by SMTP: smtps:// is TLS from the start, smtp:// requires STARTTLS, smtp+plain:// is unencrypted. Certificates
// are always verified.

#include <array>
#include <cstring>
#include <new>

#include <curl/curl.h>

#include "alert/channel.h"
#include "alert/mail.h"
#include "alert/mask.h"

namespace easyretry::alert {
namespace {

constexpr long kTimeoutMillis = 30'000;
constexpr long kConnectMillis = 10'000;
constexpr long kPermanent = 500;  // SMTP: 5xx is permanent, 4xx temporary
constexpr std::string_view kPlain = "smtp+plain://";

// Sends one mail.
class SmtpSession {
 public:
  SmtpSession(const AlertChannel& channel, const std::string& password, std::string text, const std::stop_token& stop)
      : text_(std::move(text)), rest_(text_), stop_(stop) {
    if (!easy_) throw std::bad_alloc{};
    address(channel);
    secure(channel, password);
    set(CURLOPT_UPLOAD, 1L);
    set(CURLOPT_READFUNCTION, on_read);
    set(CURLOPT_READDATA, this);
    set(CURLOPT_NOPROGRESS, 0L);
    set(CURLOPT_XFERINFOFUNCTION, on_progress);
    set(CURLOPT_XFERINFODATA, this);
    set(CURLOPT_ERRORBUFFER, detail_.data());
  }

  SendResult send() {
    const CURLcode code = curl_easy_perform(easy_.get());
    if (code == CURLE_OK) return {.arrived = true};
    long status = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    std::string why = detail_.front() == '\0' ? curl_easy_strerror(code) : detail_.data();
    if (status != 0) why += " (the server said " + std::to_string(status) + ")";
    return {.worth_retrying = status < kPermanent && code != CURLE_LOGIN_DENIED, .why = one_line(why, kLongestError)};
  }

 private:
  void address(const AlertChannel& channel) {
    const bool plain = channel.url.starts_with(kPlain);
    const std::string url = plain ? "smtp://" + channel.url.substr(kPlain.size()) : channel.url;
    set(CURLOPT_URL, url.c_str());
    set(CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    set(CURLOPT_PROXY, "");
    set(CURLOPT_USE_SSL, static_cast<long>(plain ? CURLUSESSL_NONE : CURLUSESSL_ALL));
    set(CURLOPT_TIMEOUT_MS, kTimeoutMillis);
    set(CURLOPT_CONNECTTIMEOUT_MS, kConnectMillis);
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_MAIL_FROM, channel.from.c_str());
    for (const std::string& to : channel.to) {
      curl_slist* longer = curl_slist_append(to_.get(), to.c_str());
      if (longer == nullptr) throw std::bad_alloc{};
      static_cast<void>(to_.release());
      to_.reset(longer);
    }
    set(CURLOPT_MAIL_RCPT, to_.get());
  }

  void secure(const AlertChannel& channel, const std::string& password) {
    set(CURLOPT_SSL_VERIFYPEER, 1L);
    set(CURLOPT_SSL_VERIFYHOST, 2L);
    set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    if (!channel.ca_file.empty()) {
      set(CURLOPT_CAINFO, channel.ca_file.c_str());
      set(CURLOPT_CAPATH, static_cast<const char*>(nullptr));
    }
    if (channel.user.empty()) return;
    set(CURLOPT_USERNAME, channel.user.c_str());
    set(CURLOPT_PASSWORD, password.c_str());
  }

  template <class Value>
  void set(CURLoption option, Value value) {
    // These options can only fail if memory runs out.
    if (curl_easy_setopt(easy_.get(), option, value) != CURLE_OK) throw std::bad_alloc{};
  }

  static std::size_t on_read(char* to, std::size_t size, std::size_t count, void* self) {
    std::string_view& rest = static_cast<SmtpSession*>(self)->rest_;
    const std::string_view part = rest.substr(0, size * count);
    std::memcpy(to, part.data(), part.size());
    rest.remove_prefix(part.size());
    return part.size();
  }

  // libcurl calls this about once a second.
  static int on_progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    return static_cast<SmtpSession*>(self)->stop_.stop_requested() ? 1 : 0;
  }

  const std::string text_;
  std::string_view rest_;  // of text_, still to be sent
  const std::stop_token stop_;
  std::array<char, CURL_ERROR_SIZE> detail_{};
  // The handle is destroyed before the list that it points to.
  std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> to_{nullptr, curl_slist_free_all};
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> easy_{curl_easy_init(), curl_easy_cleanup};
};

std::string password_of(const AlertChannel& channel) {
  return channel.password_file.empty() ? "" : secret_line(channel.password_file);
}

class EmailChannel final : public Channel {
 public:
  explicit EmailChannel(AlertChannel config);

  SendResult send(const Message& message, const std::string& id, const std::stop_token& stop) override;

 private:
  const AlertChannel config_;
};

EmailChannel::EmailChannel(AlertChannel config) : config_(std::move(config)) {
  password_of(config_);  // throws if it cannot be read
}

SendResult EmailChannel::send(const Message& message, const std::string& id, const std::stop_token& stop) {
  try {
    const std::string password = password_of(config_);
    Mask mask{config_.url};
    mask.also_hide(password);
    SendResult result =
        SmtpSession{config_, password, mail_text(message, config_, system_clock().now(), id), stop}.send();
    result.why = mask.apply(result.why);
    return result;
  } catch (const std::invalid_argument& e) {  // the password can no longer be read
    return {.why = e.what()};
  }
}

}  // namespace

std::unique_ptr<Channel> open_email_channel(const AlertChannel& config) {
  return std::make_unique<EmailChannel>(config);
}

}  // namespace easyretry::alert
