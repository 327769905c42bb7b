#pragma once
// A message as e-mail: headers and body (RFC 5322, 2045, 2047). Pure.

#include <string>
#include <string_view>

#include <easyretry/config.h>
#include <easyretry/time.h>

#include "alert/message.h"

namespace easyretry::alert {

// `id` makes the Message-ID unique. Lines end with CRLF; libcurl escapes leading dots.
std::string mail_text(const Message& message, const AlertChannel& channel, TimePoint now, std::string_view id);

// Any text as the value of a header: folded, as encoded words if it is not plain ASCII, and without line ends of its
// own, which would begin another header.
std::string encoded_words(std::string_view text);

}  // namespace easyretry::alert
