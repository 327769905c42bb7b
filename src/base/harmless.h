#pragma once
// Text that came from elsewhere, such as keys, errors and names, for logs and terminals: nobody writes a line of his
// own there, or moves the cursor.

#include <string>
#include <string_view>

namespace easyretry::base {

// UTF-8 in which a space stands for each control character (of C0 and C1, also DEL), for each other end of a line, and
// for each mark that turns the direction of writing around. A byte that is not UTF-8 becomes U+FFFD.
std::string one_line(std::string_view text);

// The same for what is meant to have several lines: \n stays.
std::string several_lines(std::string_view text);

// What one_line() would replace is escaped instead (\u001b), so that texts that differ stay so. JSON, if there are no
// line ends between its values, means the same as before.
std::string with_escapes(std::string_view text);

}  // namespace easyretry::base
