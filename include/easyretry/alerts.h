#pragma once
// The alerts that `easyretry serve` sends, and where it sends them (docs/alerts.md). An engine inside an application
// ignores these settings.

#include <map>
#include <string>
#include <vector>

#include <easyretry/time.h>

namespace easyretry {

enum class ChannelType { webhook, slack, dingtalk, feishu, wecom, email };

// Where messages go. Fields that a channel type does not use stay empty.
struct AlertChannel {
  ChannelType type = ChannelType::webhook;
  std::string url{};          // email: smtps://, smtp:// (STARTTLS) or smtp+plain://; other types: https://
  std::string secret_file{};  // webhook: one "whsec_…" per line; dingtalk, feishu: the robot's secret
  int per_minute = 10;        // messages; further alerts are counted and sent together

  // E-mail
  std::string user{};
  std::string password_file{};
  std::string from{};
  std::vector<std::string> to{};
  std::string ca_file{};  // PEM: certificate authorities for the server, instead of the system's
  friend bool operator==(const AlertChannel&, const AlertChannel&) = default;
};

// What to alert on, and which channels to use. A threshold of 0 turns that kind of alert off.
struct AlertRule {
  std::vector<std::string> handlers{"*"};  // names; * matches any characters
  std::vector<std::string> spaces{"*"};    // namespaces, likewise
  std::vector<std::string> channels{};
  int final_failures = 0;  // this many tasks of one handler given up or parked within `window`
  int quarantines = 0;     // likewise for tasks quarantined because they killed their workers
  Millis backlog_age{0};   // a task has been due this long and is not running
  int failure_rate = 0;    // percent of the attempts within `window` that failed
  int min_attempts = 20;   // the failure rate is ignored below this many
  Millis wait{10'000};     // from the first failure to the message, so that a burst is one message
  Millis window{300'000};  // at most one message per handler and kind in this time
  int samples = 3;         // tasks listed in a message
  friend bool operator==(const AlertRule&, const AlertRule&) = default;
};

struct AlertsConfig {
  std::map<std::string, AlertChannel> channels{};
  std::map<std::string, AlertRule> rules{};
  friend bool operator==(const AlertsConfig&, const AlertsConfig&) = default;
};

}  // namespace easyretry
