#include "config/alert_checks.h"

#include "config/values.h"

namespace easyretry::config {
namespace {

struct Field {
  std::string_view name;
  bool given;
};

bool takes_a_secret(ChannelType type) {
  return type == ChannelType::webhook || type == ChannelType::dingtalk || type == ChannelType::feishu;
}

void refuse_foreign(std::vector<std::string>& found, ChannelType type, std::initializer_list<Field> fields) {
  for (const auto& [name, given] : fields) {
    if (given)
      found.push_back(std::string{name} + " is not for type " + std::string{channel_type_text(type)} + "; delete it");
  }
}

void require(std::vector<std::string>& found, bool given, const std::string& field, const std::string& example) {
  if (!given) found.push_back(field + " is missing; write " + field + ": " + example);
}

std::string example_url(ChannelType type) {
  switch (type) {
    case ChannelType::webhook: return "https://oncall.example/hooks/retry";
    case ChannelType::slack: return "https://hooks.slack.com/services/…";
    case ChannelType::dingtalk: return "https://oapi.dingtalk.com/robot/send?access_token=…";
    case ChannelType::feishu: return "https://open.feishu.cn/open-apis/bot/v2/hook/…";
    case ChannelType::wecom: return "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=…";
    case ChannelType::email: return "smtps://smtp.example:465";
  }
  return "";
}

void check_http(std::vector<std::string>& found, const AlertChannel& channel) {
  if (!channel.url.empty() && !channel.url.starts_with("https://") && !channel.url.starts_with("http://")) {
    found.push_back("url begins with neither https:// nor http://; write " + example_url(channel.type));
  }
  refuse_foreign(found, channel.type,
                 {{"user", !channel.user.empty()},
                  {"password_file", !channel.password_file.empty()},
                  {"from", !channel.from.empty()},
                  {"to", !channel.to.empty()},
                  {"ca_file", !channel.ca_file.empty()}});
}

void check_email(std::vector<std::string>& found, const AlertChannel& channel) {
  const std::string& url = channel.url;
  const bool plain = url.starts_with("smtp+plain://");
  if (!url.empty() && !plain && !url.starts_with("smtps://") && !url.starts_with("smtp://")) {
    found.emplace_back(
        "url begins with none of smtps:// (TLS), smtp:// (STARTTLS) and smtp+plain:// (neither); write "
        "smtps://smtp.example:465");
  }
  if (const auto slashes = url.find("://"); slashes != url.npos && url.find_first_of("/?#", slashes + 3) != url.npos) {
    found.emplace_back("url has text after the server's name and port; write smtps://smtp.example:465");
  }
  require(found, !channel.from.empty(), "from", "retry@example.com");
  require(found, !channel.to.empty(), "to", "[oncall@example.com]");
  if (channel.user.empty() != channel.password_file.empty()) {
    found.emplace_back("user and password_file go together; write both or neither");
  }
  if (plain && !channel.password_file.empty()) {
    found.emplace_back("a password must not be sent unencrypted; write smtps:// or smtp:// instead of smtp+plain://");
  }
}

}  // namespace

std::vector<std::string> objections(const AlertChannel& channel) {
  std::vector<std::string> found;
  require(found, !channel.url.empty(), "url", example_url(channel.type));
  channel.type == ChannelType::email ? check_email(found, channel) : check_http(found, channel);
  if (!takes_a_secret(channel.type)) {
    refuse_foreign(found, channel.type, {{"secret_file", !channel.secret_file.empty()}});
  }
  if (channel.type == ChannelType::webhook) {
    require(found, !channel.secret_file.empty(), "secret_file", "/etc/easyretry/alerts.secrets");
  }
  return found;
}

std::vector<std::string> objections(const AlertRule& rule) {
  std::vector<std::string> found;
  require(found, !rule.channels.empty(), "channels", "[ops], with names from alerts.channels");
  const bool says_something =
      rule.final_failures > 0 || rule.quarantines > 0 || rule.backlog_age > Millis{0} || rule.failure_rate > 0;
  if (!says_something) {
    found.emplace_back(
        "it has no threshold; write one or more of final_failures: 1, quarantines: 1, backlog_age: 10m, "
        "failure_rate: 50%");
  }
  return found;
}

}  // namespace easyretry::config
