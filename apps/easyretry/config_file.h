#pragma once

#include <string>

#include <easyretry/config.h>

namespace easyretry::app {

// The configuration as every command finds it: the named file, or else easyretry.yaml if it is there; over it the
// environment, and over that `flags`, which are as if they were in the environment, so that the same things are wrong
// with them. Throws ConfigError.
Config find_config(const std::string& file, const Environment& flags);

}  // namespace easyretry::app
