#include "alert/email_channel.h"

#include <array>
#include <cstring>
#include <new>

#include <curl/curl.h>

#include "alert/mail.h"
#include "alert/mask.h"
#include "alert/secret_line.h"
#include "alert/words.h"

namespace easyretry::alert {
namespace {

constexpr long kTimeoutMillis = 30'000;
constexpr long kConnectMillis = 10'000;
constexpr long kPermanent = 500;  // SMTP: 5xx is for ever, 4xx for now
constexpr std::string_view kPlain = "smtp+plain://";

// One conversation with a server.
class Conversation {
 public:
  Conversation(const AlertChannel& channel, const std::string& password, std::string text, const std::stop_token& stop)
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

  Told hold() {
    const CURLcode code = curl_easy_perform(easy_.get());
    if (code == CURLE_OK) return {.arrived = true};
    long said = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &said);
    std::string why = detail_.front() == '\0' ? curl_easy_strerror(code) : detail_.data();
    if (said != 0) why += " (the server said " + std::to_string(said) + ")";
    return {.worth_retrying = said < kPermanent && code != CURLE_LOGIN_DENIED, .why = one_line(why, kLongestError)};
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
    // Of what is set here only memory can fail.
    if (curl_easy_setopt(easy_.get(), option, value) != CURLE_OK) throw std::bad_alloc{};
  }

  static std::size_t on_read(char* to, std::size_t size, std::size_t count, void* self) {
    std::string_view& rest = static_cast<Conversation*>(self)->rest_;
    const std::string_view part = rest.substr(0, size * count);
    std::memcpy(to, part.data(), part.size());
    rest.remove_prefix(part.size());
    return part.size();
  }

  // libcurl asks about once a second.
  static int on_progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    return static_cast<Conversation*>(self)->stop_.stop_requested() ? 1 : 0;
  }

  const std::string text_;
  std::string_view rest_;  // of it, that is to be sent
  const std::stop_token stop_;
  std::array<char, CURL_ERROR_SIZE> detail_{};
  // The handle goes before what it points to.
  std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> to_{nullptr, curl_slist_free_all};
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> easy_{curl_easy_init(), curl_easy_cleanup};
};

std::string password_of(const AlertChannel& channel) {
  return channel.password_file.empty() ? "" : secret_line(channel.password_file);
}

}  // namespace

EmailChannel::EmailChannel(AlertChannel config) : config_(std::move(config)) {
  password_of(config_);
}

Told EmailChannel::send(const Message& message, const std::string& id, const std::stop_token& stop) {
  try {
    const std::string password = password_of(config_);
    Mask mask{config_.url};
    mask.also_hide(password);
    Told told = Conversation{config_, password, mail_text(message, config_, system_clock().now(), id), stop}.hold();
    told.why = mask.apply(told.why);
    return told;
  } catch (const std::invalid_argument& e) {  // a password that is none any more
    return {.why = e.what()};
  }
}

}  // namespace easyretry::alert
