#pragma once

#include <string_view>

#include <easyretry/config.h>

#include "config/problems.h"

namespace easyretry::config {

// Both change `config` as far as what they read is right, and say in `problems` what is not.
void read_text(Config& config, std::string_view yaml, std::string_view source, Problems& problems);
void read_environment(Config& config, const Environment& environment, Problems& problems);

// Shards both in the url and beside it: none of the two can be right about the other.
bool shards_twice(const Config& config);
inline constexpr std::string_view kShardsTwice = "shards is given here and in the url of store; keep one of them";

}  // namespace easyretry::config
