#pragma once
// Who `easyretry serve` tells of trouble, and of which: docs/alerts.md. An engine in an application does not look at
// it.

#include <map>
#include <string>
#include <vector>

#include <easyretry/time.h>

namespace easyretry {

enum class ChannelType { webhook, slack, dingtalk, feishu, wecom, email };

// Where messages go. Fields that a type does not know are empty.
struct AlertChannel {
  ChannelType type = ChannelType::webhook;
  std::string url{};          // of an e-mail's server: smtps://, smtp:// (STARTTLS), smtp+plain://; all else: https://
  std::string secret_file{};  // webhook: one "whsec_…" a line; dingtalk, feishu: the robot's secret
  int per_minute = 10;        // messages; what comes faster is counted and told together

  // E-mail
  std::string user{};
  std::string password_file{};
  std::string from{};
  std::vector<std::string> to{};
  std::string ca_file{};  // PEM: the authorities that vouch for the server, instead of this machine's
  friend bool operator==(const AlertChannel&, const AlertChannel&) = default;
};

// Of what is told, and whom. Nothing is told of what is 0.
struct AlertRule {
  std::vector<std::string> handlers{"*"};  // names; * stands for any characters
  std::vector<std::string> spaces{"*"};
  std::vector<std::string> channels{};
  int final_failures = 0;  // tasks of a handler that were given up or parked, so many within `window`
  int quarantines = 0;     // tasks that killed their workers
  Millis backlog_age{0};   // a task that nobody runs has been due for so long
  int failure_rate = 0;    // percent of the attempts within `window`
  int min_attempts = 20;   // fewer say nothing about the rate
  Millis wait{10'000};     // from the first to the message, so that a burst is one
  Millis window{300'000};  // one message for each handler and kind in this time
  int samples = 3;         // tasks that a message names
  friend bool operator==(const AlertRule&, const AlertRule&) = default;
};

struct AlertsConfig {
  std::map<std::string, AlertChannel> channels{};
  std::map<std::string, AlertRule> rules{};
  friend bool operator==(const AlertsConfig&, const AlertsConfig&) = default;
};

}  // namespace easyretry
