#include "alert/mail.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

#include "base/utf8.h"
#include "seal/base64.h"

namespace easyretry::alert {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::size_t kLongestSubject = 300;
constexpr std::size_t kLongestPlain = 60;  // with "Subject: " still within 78 characters
constexpr std::size_t kBytesPerWord = 42;  // 56 in base64, plus 12 around it: an encoded word has at most 75
constexpr std::size_t kBase64Line = 76;

// Not strftime: the names of days and months are English in every locale.
std::string date_text(TimePoint now) {
  static constexpr std::array kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::array kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::time_t seconds = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  std::tm tm{};
  gmtime_r(&seconds, &tm);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%s, %02d %s %d %02d:%02d:%02d +0000",
                kDays[static_cast<std::size_t>(tm.tm_wday)], tm.tm_mday, kMonths[static_cast<std::size_t>(tm.tm_mon)],
                tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
  return text.data();
}

std::string joined(const std::vector<std::string>& addresses) {
  std::string text;
  for (const std::string& address : addresses) text.append(text.empty() ? "" : ",\r\n ").append(address);
  return text;
}

std::string in_lines(const std::string& base64) {
  std::string lines;
  for (std::size_t at = 0; at < base64.size(); at += kBase64Line) {
    lines.append(base64, at, kBase64Line).append(kLineEnd);
  }
  return lines;
}

std::string crlf(std::string_view text) {
  std::string lines;
  for (const char c : text) c == '\n' ? lines += kLineEnd : lines += c;
  return lines + std::string{kLineEnd};
}

}  // namespace

std::string encoded_words(std::string_view text) {
  std::string line = one_line(text, kLongestSubject);
  const auto plain = [](unsigned char c) { return c >= 0x20 && c < 0x7f; };
  if (line.size() <= kLongestPlain && std::ranges::all_of(line, plain) && line.find("=?") == std::string::npos) {
    return line;
  }
  std::string words;
  for (std::string_view rest = line; !rest.empty();) {
    const std::string_view part = base::cut_utf8(rest, kBytesPerWord);  // never cuts a character
    words.append(words.empty() ? "" : "\r\n ").append("=?UTF-8?B?").append(seal::base64_encode(part)).append("?=");
    rest.remove_prefix(part.size());
  }
  return words;
}

std::string mail_text(const Message& message, const AlertChannel& channel, TimePoint now, std::string_view id) {
  const std::string domain = channel.from.substr(channel.from.find('@') + 1);
  std::string text;
  const auto header = [&](std::string_view name, std::string_view value) {
    text.append(name).append(": ").append(value).append(kLineEnd);
  };
  header("Date", date_text(now));
  header("From", channel.from);
  header("To", joined(channel.to));
  header("Subject", encoded_words(headline(message)));
  header("Message-ID", "<" + std::string{id} + "@" + domain + ">");
  header("MIME-Version", "1.0");
  header("Content-Type", "text/plain; charset=utf-8");
  header("Content-Transfer-Encoding", "base64");
  header("Auto-Submitted", "auto-generated");  // no automatic replies (RFC 3834)
  return text.append(kLineEnd).append(in_lines(seal::base64_encode(crlf(full_text(message)))));
}

}  // namespace easyretry::alert
