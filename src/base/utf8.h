#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace easyretry::base {

// Where the text stops being UTF-8 (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF);
// npos where all of it is.
std::size_t invalid_utf8(std::string_view text);

// The longest start of `text` that has at most `most` bytes and does not cut a character.
std::string_view cut_utf8(std::string_view text, std::size_t most);

// The same for the end of `text`.
std::string_view last_utf8(std::string_view text, std::size_t most);

// The text as a database can store it: each byte that is not UTF-8, and each NUL, becomes U+FFFD.
std::string storable_utf8(std::string_view text);

}  // namespace easyretry::base
