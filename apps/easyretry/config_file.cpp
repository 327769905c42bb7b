#include "config_file.h"

#include <filesystem>

namespace easyretry::app {
namespace {

constexpr const char* kUsualConfig = "easyretry.yaml";

}  // namespace

Config find_config(const std::string& file, const Environment& flags) {
  Config config;
  if (!file.empty() || std::filesystem::exists(kUsualConfig)) {
    config = load_config(file.empty() ? kUsualConfig : file);
  } else {
    apply_environment(config, easyretry_environment());
  }
  apply_environment(config, flags);
  return config;
}

}  // namespace easyretry::app
