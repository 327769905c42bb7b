#include "printing/json_text.h"

#include <nlohmann/json.hpp>

#include "base/harmless.h"

namespace easyretry::app {

std::string json_text(const nlohmann::json& value) {
  constexpr auto kReplace = nlohmann::json::error_handler_t::replace;  // bytes that are not UTF-8
  return base::with_escapes(value.dump(-1, ' ', false, kReplace));
}

}  // namespace easyretry::app
