#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace easyretry::base {

// The position of the first byte that is not valid UTF-8 (RFC 3629: no overlong forms, no surrogates, nothing above
// U+10FFFF); npos if all of it is valid.
std::size_t invalid_utf8(std::string_view text);

// The longest prefix of whole characters that has at most `most` bytes.
std::string_view cut_utf8(std::string_view text, std::size_t most);

// The longest suffix of whole characters that has at most `most` bytes.
std::string_view last_utf8(std::string_view text, std::size_t most);

// The text as a database can store it: each byte that is not UTF-8, and each NUL, becomes U+FFFD.
std::string storable_utf8(std::string_view text);

}  // namespace easyretry::base
