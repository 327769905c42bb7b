#include "mxrmq/queue_url.h"

#include <charconv>
#include <stdexcept>

#include "storage/server/server_address.h"
#include "storage/url.h"

namespace easyretry::mxrmq {
namespace {

void name_gen2(Keys& keys, const std::string& p) {
  keys.payloads = p + "payloads";
  keys.expires = p + "expires";
  keys.delays = p + "delays";
  keys.wake = p + "delay:wake";
  keys.dlq = p + "dlq";
  keys.dlq_data = p + "dlq:data";
  keys.errors = p + "errors";
  keys.errors_data = p + "errors:data";
}

void name_gen1(Keys& keys, const std::string& p) {
  keys.payloads = p + "payload:map";
  keys.expires = p + "expire:monitor";
  keys.delays = p + "delay:tasks";
  keys.wake = p + "delay:wakeup";
  keys.dlq = p + "dlq:queue";
  keys.dlq_data = p + "dlq:payload:map";
  keys.errors = p + "error:parse:queue";
  keys.errors_data = p + "error:parse:payload:map";
}

void name_gen_doc(Keys& keys, const std::string& p, const std::string& queue) {
  keys.payloads = p + queue + ":payload";
  keys.expires = p + "all_expire_monitor";
  keys.delays = p + queue + ":delay_tasks";
  keys.wake = p + queue + ":delay_wakeup";
  keys.dlq = p + "dlq";
  keys.dlq_data = p + "dlq_payload_map";
  keys.errors = p + "error:parse:queue";
  keys.errors_data = p + "error:parse:payload";
}

using storage::UrlOption;

[[noreturn]] void refuse_url(std::string_view url, const std::string& why) {
  throw std::invalid_argument("queue url \"" + base::without_password(url) + "\": " + why);
}

int database_of(const std::string& text, std::string_view url) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0) {
    refuse_url(url, "a Redis database is a number, not \"" + text + "\"; write mxrmq://host:6379/0");
  }
  return number;
}

storage::redis::Address address_of(storage::StoreUrl parsed, std::string_view url) {
  if (!parsed.path.starts_with("//")) refuse_url(url, "no host; write mxrmq://host:6379/0");
  if (parsed.path.find('/', 2) == std::string::npos) parsed.path += "/";
  if (parsed.path.back() == '/') parsed.path += "0";
  storage::server::ServerAddress server = storage::server::parse_server_address(parsed, url);
  storage::redis::Address address;
  address.host = std::move(server.host);
  if (server.port != 0) address.port = server.port;
  address.user = std::move(server.user);
  address.password = std::move(server.password);
  address.database = database_of(server.database, url);
  return address;
}

// The same rules as in mx-rmq.
std::string checked_prefix(const UrlOption& option) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  const std::string_view prefix = option.value;
  if (prefix.find_first_not_of(kAllowed) != std::string_view::npos || prefix.starts_with('-') ||
      prefix.ends_with('-')) {
    refuse_url(option.url, "prefix=" + std::string{prefix} +
                               ": letters, digits, _ and, inside, - are allowed; no colon at its end");
  }
  return std::string{prefix};
}

std::optional<Profile> profile_of(const UrlOption& option) {
  for (const Profile each : {Profile::gen2, Profile::gen1, Profile::gen_doc}) {
    if (option.value == to_string(each)) return each;
  }
  if (option.value == "auto") return std::nullopt;
  base::refuse_word("value of profile", option.value, option.url, {"auto", "gen2", "gen1", "gen-doc"});
}

InFlight in_flight_of(const UrlOption& option) {
  if (option.value == "lease") return InFlight::lease;
  if (option.value == "list") return InFlight::list;
  base::refuse_word("value of in_flight", option.value, option.url, {"lease", "list"});
}

std::vector<std::string> topics_of(std::string_view list) {
  std::vector<std::string> topics;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    if (end > at) topics.push_back(base::percent_decoded(list.substr(at, end - at)));
    at = end + 1;
  }
  return topics;
}

void set(QueueOptions& options, const UrlOption& option) {
  if (option.name == "prefix") {
    options.prefix = checked_prefix(option);
  } else if (option.name == "profile") {
    options.profile = profile_of(option);
  } else if (option.name == "queue") {
    options.queue = base::percent_decoded(option.value);
  } else if (option.name == "topic") {
    options.topics = topics_of(option.value);
  } else if (option.name == "in_flight") {
    options.in_flight = in_flight_of(option);
  } else if (option.name == "connections") {
    options.connections = static_cast<std::size_t>(option.number(1, 1000));
  } else {
    base::refuse_word("option", option.name, option.url,
                      {"prefix", "profile", "queue", "topic", "in_flight", "connections"});
  }
}

}  // namespace

std::string_view to_string(Profile profile) {
  switch (profile) {
    case Profile::gen2: return "gen2";
    case Profile::gen1: return "gen1";
    case Profile::gen_doc: return "gen-doc";
  }
  return "";
}

std::string Keys::topic_of(std::string_view full_topic) const {
  if (full_topic.starts_with(prefix)) full_topic.remove_prefix(prefix.size());
  return std::string{full_topic};
}

Keys make_keys(Profile profile, std::string_view prefix, std::string_view queue) {
  Keys keys;
  keys.profile = profile;
  keys.prefix = prefix.empty() ? "" : std::string{prefix} + ":";
  switch (profile) {
    case Profile::gen2: name_gen2(keys, keys.prefix); break;
    case Profile::gen1: name_gen1(keys, keys.prefix); break;
    case Profile::gen_doc: name_gen_doc(keys, keys.prefix, std::string{queue}); break;
  }
  return keys;
}

QueueOptions parse_queue_url(std::string_view url) {
  const storage::StoreUrl parsed = [&] {
    try {
      return base::split_url(url);
    } catch (const std::invalid_argument& why) {
      refuse_url(url, why.what());
    }
  }();
  if (parsed.scheme != "mxrmq") refuse_url(url, "write mxrmq://host:6379/0?prefix=…");
  QueueOptions options;
  options.address = address_of(parsed, url);
  for (const auto& [name, value] : parsed.options) set(options, {url, name, value});
  if (options.queue.empty() && !options.topics.empty()) options.queue = options.topics.front();
  return options;
}

}  // namespace easyretry::mxrmq
