#include "storage/url.h"

#include <charconv>
#include <limits>
#include <stdexcept>
#include <string>

#include "task/task_id.h"

namespace easyretry::storage {
namespace {

[[noreturn]] void refuse(std::string_view url, std::string_view why) {
  throw std::invalid_argument("store url \"" + without_password(url) + "\": " + std::string{why});
}

}  // namespace

StoreUrl parse_store_url(std::string_view url) {
  if (url.find(':') == std::string_view::npos || url.starts_with(':')) {
    refuse(url, "no scheme; write sqlite:retry.db, postgres://user:password@host/database, mysql://… or memory:");
  }
  try {
    return base::split_url(url);
  } catch (const std::invalid_argument& why) {
    refuse(url, why.what());
  }
}

int UrlOption::number(int least, int most) const {
  int parsed = 0;
  const char* end = value.data() + value.size();
  const auto [stopped, error] = std::from_chars(value.data(), end, parsed);
  if (error == std::errc{} && stopped == end && parsed >= least && parsed <= most) return parsed;
  std::string wanted = "a whole number from " + std::to_string(least);
  if (most < std::numeric_limits<int>::max()) wanted += " to " + std::to_string(most);
  throw std::invalid_argument("option " + std::string{name} + " in " + without_password(url) + " must be " + wanted +
                              ", not \"" + std::string{value} + "\"");
}

bool UrlOption::yes() const {
  if (value == "yes") return true;
  if (value == "no") return false;
  refuse_word("value of " + std::string{name}, value, url, {"yes", "no"});
}

History UrlOption::history() const {
  if (const auto known = parse_history(value)) return *known;
  refuse_word("value of history", value, url, {"none", "failures", "all"});
}

int UrlOption::shards() const {
  return number(1, task::kMaxShards);
}

}  // namespace easyretry::storage
