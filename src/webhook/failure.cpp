#include "webhook/failure.h"

#include <system_error>

#include <curl/curl.h>

#include "base/duration_text.h"

namespace easyretry::webhook {
namespace {

Error error(Errc code, const Destination& destination, const std::string& what) {
  return {code, "webhook.call", destination.shown + ": " + what};
}

// Once something was sent, nobody here knows what became of it.
Errc by_progress(const Progress& progress) {
  return progress.sent ? Errc::in_doubt : Errc::unavailable;
}

std::string words(int code, const Progress& progress) {
  return progress.detail.empty() ? curl_easy_strerror(static_cast<CURLcode>(code)) : progress.detail;
}

Error not_connected(int code, const Destination& destination, const Progress& progress) {
  if (!progress.refused.empty()) return error(Errc::invalid_argument, destination, progress.refused);
  const std::string why =
      progress.system_error == 0 ? words(code, progress) : std::generic_category().message(progress.system_error);
  return error(Errc::unavailable, destination, "could not connect to " + destination.server() + ": " + why);
}

Error not_trusted(int code, const Destination& destination, const Progress& progress) {
  return error(Errc::unavailable, destination,
               "no TLS with " + destination.server() + ": " + words(code, progress) +
                   ". Put your own certificate authority into ca_file; verification cannot be turned off");
}

Error too_long(const Destination& destination, const CallerOptions& options) {
  return error(Errc::in_doubt, destination,
               "the answer is longer than " + std::to_string(options.most_answer_bytes) +
                   " bytes, or its headers are longer than 64 KiB; it was not read completely");
}

Error broken_off(int code, const Destination& destination, const Progress& progress) {
  return error(by_progress(progress), destination,
               "the connection to " + destination.server() + " ended before the answer was complete (" +
                   std::to_string(progress.received) + " bytes of it arrived): " + words(code, progress));
}

}  // namespace

Error failure(int code, const Destination& destination, const Progress& progress, const CallerOptions& options) {
  switch (static_cast<CURLcode>(code)) {
    case CURLE_COULDNT_CONNECT: return not_connected(code, destination, progress);
    case CURLE_OPERATION_TIMEDOUT:
      return error(Errc::unavailable, destination,
                   "no connection to " + destination.server() + " within " + base::to_text(options.connect_within));
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR: return not_trusted(code, destination, progress);
    case CURLE_WRITE_ERROR:
      if (progress.too_long) return too_long(destination, options);
      break;
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR: return broken_off(code, destination, progress);
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
      return error(Errc::in_doubt, destination, "the answer is not HTTP/1.1: " + words(code, progress));
    default: break;
  }
  return error(by_progress(progress), destination, words(code, progress));
}

Error cut_off(const std::string& why, const Destination& destination, const Progress& progress) {
  const std::string how_far =
      !progress.sent ? "there was no connection to " + destination.server() + " yet"
                     : "the request was sent, and " +
                           (progress.received == 0 ? std::string{"no answer"}
                                                   : std::to_string(progress.received) + " bytes of an answer") +
                           " had arrived";
  return error(by_progress(progress), destination, why + "; " + how_far);
}

}  // namespace easyretry::webhook
