#pragma once
// A record as text, one line per field: equal records have equal texts, and a difference reads like a diff.

#include <string>

#include "task/record.h"

namespace easyretry::test {

std::string record_text(const task::TaskRecord& record);

}  // namespace easyretry::test
