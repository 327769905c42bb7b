#pragma once
// A record as text, one field a line: two records are equal where their texts are, and a difference reads as a diff.

#include <string>

#include "task/record.h"

namespace easyretry::test {

std::string record_text(const task::TaskRecord& record);

}  // namespace easyretry::test
