#pragma once
// Makes text from outside (keys, errors, names) safe for logs and terminals: it cannot forge a log line or move the
// cursor.

#include <string>
#include <string_view>

namespace easyretry::base {

// Valid UTF-8 on one line. Control characters (C0, C1 and DEL), line and paragraph separators, and marks that change
// the direction of writing become spaces. A byte that is not UTF-8 becomes U+FFFD.
std::string one_line(std::string_view text);

// The same for text of several lines: \n stays.
std::string several_lines(std::string_view text);

// Escapes (\u001b) the characters that one_line() would replace, so that different texts stay different. JSON keeps its
// meaning if there are no line ends between its values.
std::string with_escapes(std::string_view text);

}  // namespace easyretry::base
