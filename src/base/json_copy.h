#pragma once

#include <string>
#include <string_view>

#include <easyretry/detail/json_text.h>

namespace easyretry::base {

void copy_json(JsonView from, JsonWriter& to);

// The value in its canonical form.
std::string canonical_json(JsonView value);

}  // namespace easyretry::base
