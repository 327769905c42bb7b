#pragma once

#include <string_view>

namespace easyretry::server {

extern const std::string_view kOpenApi;  // openapi/openapi.yaml

}  // namespace easyretry::server
