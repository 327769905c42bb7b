#include "alert/mail.h"

#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "seal/base64.h"
#include "unit/alert/support.h"

namespace easyretry::alert {
namespace {

using testing::HasSubstr;
using testing::Not;

AlertChannel channel() {
  AlertChannel made;
  made.type = ChannelType::email;
  made.from = "retry@example.com";
  made.to = {"ann@example.com", "bob@example.com"};
  return made;
}

std::string headers_of(const std::string& mail) {
  return mail.substr(0, mail.find("\r\n\r\n") + 2);
}

// Decodes the encoded words of a header.
std::string decoded(const std::string& header) {
  static const std::regex kWord{R"(=\?UTF-8\?B\?([^?]*)\?=)"};
  std::string text;
  for (std::sregex_iterator i{header.begin(), header.end(), kWord}, end; i != end; ++i) {
    text += seal::base64_decode((*i)[1].str()).value_or("(no base64)");
  }
  return text;
}

TEST(Mail, HasTheHeadersThatMailServersWant) {
  EXPECT_EQ(headers_of(mail_text(failures(), channel(), TimePoint{1'772'366'400s}, "msg_1")),
            "Date: Sun, 01 Mar 2026 12:00:00 +0000\r\n"
            "From: retry@example.com\r\n"
            "To: ann@example.com,\r\n bob@example.com\r\n"
            "Subject: [EasyRetry] pay: 3 final failures within 2m\r\n"
            "Message-ID: <msg_1@example.com>\r\n"
            "MIME-Version: 1.0\r\n"
            "Content-Type: text/plain; charset=utf-8\r\n"
            "Content-Transfer-Encoding: base64\r\n"
            "Auto-Submitted: auto-generated\r\n");
}

TEST(Mail, HasTheTextInLinesOfBase64) {
  Message message = failures();
  message.samples.assign(10, {"1", "kéy", std::string(150, 'e')});
  const std::string mail = mail_text(message, channel(), {}, "msg_1");
  std::string body = mail.substr(mail.find("\r\n\r\n") + 4);
  std::istringstream lines{body};
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 77U);
  std::erase_if(body, [](char c) { return c == '\r' || c == '\n'; });
  const auto text = seal::base64_decode(body);
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, testing::StartsWith("[EasyRetry] pay: 3 final failures within 2m\r\nnamespace shop"));
  EXPECT_THAT(*text, HasSubstr("(key kéy)"));
}

TEST(Mail, ALineEndInANameBeginsNoHeader) {
  Message message = failures();
  message.handler = "pay\r\nBcc: everybody@example.com\r\n\r\n<html>";
  const std::string headers = headers_of(mail_text(message, channel(), {}, "msg_1"));
  EXPECT_THAT(headers, Not(HasSubstr("\r\nBcc")));
  EXPECT_THAT(headers, HasSubstr("Auto-Submitted"));
}

TEST(EncodedWords, LetNoLineEndThrough) {
  for (const std::string text : {"a\r\nBcc: b", "a\nb", "a\rb", "ä\r\nBcc: b"}) {
    const std::string value = encoded_words(text);
    EXPECT_EQ(value.find_first_of("\r\n"), std::string::npos) << value;
    EXPECT_THAT(decoded(value) + value, Not(HasSubstr("\n")));
  }
}

TEST(EncodedWords, CarryAnyTextInPiecesThatAreWholeCharacters) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "日本";
  const std::string value = encoded_words(text.substr(0, 300));
  EXPECT_EQ(decoded(value), text.substr(0, 300));
  std::istringstream lines{value};
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 77U);
}

TEST(EncodedWords, LeaveShortAsciiAsItIsUnlessItLooksEncoded) {
  EXPECT_EQ(encoded_words("all is well"), "all is well");
  EXPECT_EQ(decoded(encoded_words("=?UTF-8?B?eA==?=")), "=?UTF-8?B?eA==?=");
}

}  // namespace
}  // namespace easyretry::alert
