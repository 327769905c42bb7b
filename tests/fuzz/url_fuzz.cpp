// URLs of stores and webhooks, networks and times as people write them: each is a value or std::invalid_argument.

#include <stdexcept>

#include "base/duration_text.h"
#include "base/time_text.h"
#include "base/url.h"
#include "config/masked_url.h"
#include "fuzz/pace.h"
#include "webhook/destination.h"

using namespace easyretry;

namespace {

const std::string kCanary = "c4n4ry";

template <class Read>
void read_or_refuse(Read read) {
  try {
    read();
  } catch (const std::invalid_argument&) {
  }
}

void read_all(std::string_view text) {
  read_or_refuse([&] { base::split_url(text); });
  read_or_refuse([&] { base::percent_decoded(text); });
  read_or_refuse([&] { webhook::parse_destination(text); });
  read_or_refuse([&] { webhook::to_string(webhook::parse_network(text)); });
  read_or_refuse([&] {
    fuzz::must(base::parse_time(base::to_text(base::parse_time(text))) == base::parse_time(text),
               "a time is read back");
  });
  read_or_refuse([&] {
    fuzz::must(base::parse_duration(base::to_text(base::parse_duration(text))) == base::parse_duration(text),
               "a duration is read back");
  });
  if (text.find(kCanary) != std::string_view::npos) return;
  for (const std::string& url : {"postgres://app:" + kCanary + "@" + std::string{text},
                                 "postgres://app:" + kCanary + std::string{text} + "@db/retry"}) {
    fuzz::must(base::without_password(url).find(kCanary) == std::string::npos, "a url is shown without its password");
    fuzz::must(config::masked_url(url).find(kCanary) == std::string::npos, "a url is printed without its password");
  }
}

std::string plain(std::size_t size) {
  return fuzz::repeated("https://example.com", "/p%20#", "", size);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::run_at_pace(fuzz::text_of(data, size), read_all, plain);
  return 0;
}
