#pragma once
// Kinds of errors: messages that differ only in ids, numbers, times, URLs and quoted texts are of one kind.

#include <cstddef>
#include <string>
#include <string_view>

namespace easyretry::task {

// `user 17: no route to "db-3"` becomes `user <number>: no route to <text>`. Linear in the length; only the first 500
// bytes count. A number that names a kind of error stays: `HTTP 503`, `code 1205`.
std::string kind_of(std::string_view error);

// The same for the same kind, in every version of this program: 16 hexadecimal digits.
inline constexpr std::size_t kFingerprintDigits = 16;
std::string fingerprint_of(std::string_view kind);
bool is_fingerprint(std::string_view text);

}  // namespace easyretry::task
