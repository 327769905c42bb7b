#pragma once
// How a member's own words and its handlers travel together in one text: what it says for people is the first line,
// and the handlers are the second. Releases that know nothing of handlers write the first line only, and show both.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/cluster.h>

namespace easyretry::storage {

// The column of MariaDB and MySQL takes no more.
inline constexpr std::size_t kMostMemberText = 4096;

// Without the handlers where they do not fit: then the member is taken to run all.
std::string member_text(std::string_view says, const std::optional<std::vector<std::string>>& handlers,
                        std::size_t most = kMostMemberText);
bool handlers_fit(std::string_view says, const std::optional<std::vector<std::string>>& handlers,
                  std::size_t most = kMostMemberText);

// Fills `says` and `handlers`. A second line that is not ours is left in `says`.
void read_member_text(std::string_view text, Member& member);

// ["mail.send","order.pay"], as the second line has them, and back: nothing for what is no such list.
std::string handlers_text(const std::vector<std::string>& handlers);
std::optional<std::vector<std::string>> read_handlers_text(std::string_view text);

}  // namespace easyretry::storage
