#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "storage/inbox.h"

namespace easyretry::storage::mysql {

std::string create_inbox();
std::string inbox(const IntakeQuery& query);
std::string refuse_inbox(std::int64_t id, const std::string& why, TimePoint now);
std::string clear_inbox(std::span<const std::int64_t> ids);

}  // namespace easyretry::storage::mysql
