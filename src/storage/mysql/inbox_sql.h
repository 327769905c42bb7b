#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "storage/inbox.h"

namespace easyretry::storage::mysql {

std::string create_inbox();
std::string inbox(const IntakeQuery& query);
// As a value: 1 where there are any.
std::string waiting_calls(std::string_view space, std::span<const std::string> handlers);
std::string refuse_inbox(std::int64_t id, const std::string& why, TimePoint now);
std::string clear_inbox(std::span<const std::int64_t> ids);

}  // namespace easyretry::storage::mysql
