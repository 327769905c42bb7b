#pragma once
// The text in which a member is stored: its own description is the first line, its handlers are the second.
// Releases that do not know about handlers write the first line only, and display both.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/cluster.h>

namespace easyretry::storage {

// The length of the column in MariaDB and MySQL, in bytes.
inline constexpr std::size_t kMostMemberText = 4096;

// Leaves out the handlers if they do not fit: then other instances assume that the member runs all handlers.
std::string member_text(std::string_view says, const std::optional<std::vector<std::string>>& handlers,
                        std::size_t most = kMostMemberText);
bool handlers_fit(std::string_view says, const std::optional<std::vector<std::string>>& handlers,
                  std::size_t most = kMostMemberText);

// Sets `says` and `handlers`. A second line in another format stays in `says`.
void read_member_text(std::string_view text, Member& member);

// ["mail.send","order.pay"], as in the second line, and back; nullopt if the text is not such a list.
std::string handlers_text(const std::vector<std::string>& handlers);
std::optional<std::vector<std::string>> read_handlers_text(std::string_view text);

}  // namespace easyretry::storage
