#pragma once
// Which of a cluster's 16,384 slots a key belongs to, and hash tags that are spread evenly over them.

#include <string>
#include <string_view>
#include <vector>

namespace easyretry::storage::redis {

using Slot = int;
inline constexpr Slot kSlots = 16'384;

// Of all keys with this tag, which is what they have between their first braces.
Slot slot_of(std::string_view tag);

// One in the middle of each of `count` equal ranges of slots, so that primaries that share the slots equally share the
// tags equally. What is stored depends on the result: it must stay as it is.
std::vector<std::string> spread_tags(std::string_view prefix, int count);

}  // namespace easyretry::storage::redis
