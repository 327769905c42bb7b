#include "webhook/options.h"

#include <memory>
#include <stdexcept>

#include <openssl/x509_vfy.h>

namespace easyretry::webhook {
namespace {

constexpr std::size_t kMostCalls = 1'000'000;
constexpr Millis kLongest = std::chrono::hours{24};

void check(bool good, const std::string& problem) {
  if (!good) throw std::invalid_argument("webhooks: " + problem);
}

bool has_certificates(const std::string& file) {
  const std::unique_ptr<X509_STORE, decltype(&X509_STORE_free)> store{X509_STORE_new(), X509_STORE_free};
  return X509_STORE_load_file(store.get(), file.c_str()) == 1;
}

}  // namespace

void validate(const CallerOptions& options) {
  check(options.most_calls > 0 && options.most_calls <= kMostCalls, "most_calls must be from 1 to 1,000,000");
  check(options.most_per_server > 0, "most_per_server must be at least 1");
  check(options.connect_within > Millis{0} && options.connect_within <= kLongest,
        "connect_within must be more than 0 and at most 24 hours");
  check(options.keep_idle >= Millis{0} && options.keep_idle <= kLongest, "keep_idle must be at most 24 hours");
  check(options.look_up != nullptr, "look_up is empty");
  check(options.ca_file.empty() || has_certificates(options.ca_file),
        "ca_file " + options.ca_file + " has no readable PEM certificates");
}

}  // namespace easyretry::webhook
