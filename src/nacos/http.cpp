#include "nacos/http.h"

#include <memory>

#include <curl/curl.h>

namespace easyretry::nacos {
namespace {

constexpr std::size_t kMostBytes = std::size_t{10} * 1024 * 1024;  // as for a message of gRPC
constexpr int kStopEveryMillis = 50;                               // how soon a stop is noticed

// Both handles are void* to the compiler.
using Easy = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
using Multi = std::unique_ptr<CURLM, decltype(&curl_multi_cleanup)>;

std::size_t append(char* data, std::size_t, std::size_t size, void* body) {
  auto& text = *static_cast<std::string*>(body);
  if (text.size() + size > kMostBytes) return 0;  // ends the transfer
  text.append(data, size);
  return size;
}

std::string escaped(CURL* easy, const std::string& text) {
  const std::unique_ptr<char, decltype(&curl_free)> result{
      curl_easy_escape(easy, text.c_str(), static_cast<int>(text.size())), curl_free};
  return result.get();
}

std::string encoded(CURL* easy, const FormFields& fields) {
  std::string form;
  for (const auto& [name, value] : fields) form += (form.empty() ? "" : "&") + name + "=" + escaped(easy, value);
  return form;
}

using Headers = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

Headers authorization(const std::string& token) {
  if (token.empty()) return {nullptr, curl_slist_free_all};
  return {curl_slist_append(nullptr, ("Authorization: Bearer " + token).c_str()), curl_slist_free_all};
}

void use_tls(CURL* easy, const TlsOptions& tls) {
  const auto set = [easy](CURLoption option, const std::string& file) {
    if (!file.empty()) curl_easy_setopt(easy, option, file.c_str());
  };
  set(CURLOPT_CAINFO, tls.ca_file);
  set(CURLOPT_SSLCERT, tls.certificate_file);
  set(CURLOPT_SSLKEY, tls.key_file);
}

// nullopt: stopped.
std::optional<CURLcode> perform(CURL* easy, const std::stop_token& stop) {
  const Multi multi{curl_multi_init(), curl_multi_cleanup};
  curl_multi_add_handle(multi.get(), easy);
  std::optional<CURLcode> result;
  for (int running = 1; running != 0 && !stop.stop_requested();) {
    curl_multi_perform(multi.get(), &running);
    if (running != 0) curl_multi_poll(multi.get(), nullptr, 0, kStopEveryMillis, nullptr);
  }
  int left = 0;
  if (const CURLMsg* message = curl_multi_info_read(multi.get(), &left)) result = message->data.result;
  curl_multi_remove_handle(multi.get(), easy);
  return result;
}

}  // namespace

Result<HttpReply> ask_by_http(const HttpRequest& request, const std::optional<TlsOptions>& tls,
                              const HttpLimits& limits) {
  const Easy owner{curl_easy_init(), curl_easy_cleanup};
  CURL* easy = owner.get();
  const std::string form = encoded(easy, request.fields);
  const bool posts = request.method == "POST";
  const std::string url = posts || form.empty() ? request.url : request.url + "?" + form;
  const Headers headers = authorization(request.token);
  HttpReply reply{};
  curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);  // signals would hit other threads
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(limits.connect.count()));
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(limits.answer.count()));
  if (posts) {
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, static_cast<long>(form.size()));
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, form.c_str());
  }
  curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, append);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &reply.body);
  if (tls) use_tls(easy, *tls);
  const auto result = perform(easy, limits.stop);
  if (!result) return fail(Errc::unavailable, "nacos.http", "stopped");
  // Some servers answer a wrong password with a status that HTTP does not have, which libcurl reports like this.
  if (*result == CURLE_UNSUPPORTED_PROTOCOL) return reply;
  if (*result != CURLE_OK)
    return fail(Errc::unavailable, "nacos.http", request.url + ": " + curl_easy_strerror(*result));
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &reply.status);
  return reply;
}

}  // namespace easyretry::nacos
