#include "storage/postgres/params.h"

#include <bit>
#include <cstring>
#include <limits>

namespace easyretry::storage::postgres {
namespace {

// PostgreSQL's numbers of its types, which never change.
constexpr Oid kBytes = 17;
constexpr Oid kInt8 = 20;
constexpr Oid kText = 25;
constexpr Oid kBytesArray = 1001;
constexpr Oid kTextArray = 1009;
constexpr Oid kInt8Array = 1016;

template <class Int>
void put(std::string& out, Int value) {
  if constexpr (std::endian::native == std::endian::little) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    out.append(std::rbegin(bytes), std::rend(bytes));
  } else {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
}

// One dimension: number of dimensions, has-null flag, element type, length, first index; then length and bytes of each.
std::string array_head(Oid element, std::size_t size, std::size_t bytes_each) {
  std::string array;
  array.reserve(20 + size * (4 + bytes_each));
  put(array, std::int32_t{1});
  put(array, std::int32_t{1});
  put(array, static_cast<std::int32_t>(element));
  put(array, static_cast<std::int32_t>(size));
  put(array, std::int32_t{1});
  return array;
}

void put_text(std::string& array, std::string_view text) {
  put(array, static_cast<std::int32_t>(text.size()));
  array.append(text);
}

}  // namespace

Params& Params::add(std::int64_t value) {
  put(*values_.emplace_back(std::in_place), value);
  types_.push_back(kInt8);
  return *this;
}

Params& Params::add(std::optional<std::int64_t> value) {
  if (value) return add(*value);
  values_.emplace_back();
  types_.push_back(kInt8);
  return *this;
}

Params& Params::add_nullable(std::string_view value, As as) {
  if (value.data() == nullptr) {
    values_.emplace_back();
  } else {
    values_.emplace_back(value);
  }
  types_.push_back(as == As::text ? kText : kBytes);
  return *this;
}

Params& Params::add(std::string_view text) {
  values_.emplace_back(text);
  types_.push_back(kText);
  return *this;
}

Params& Params::add(std::span<const std::int64_t> values) {
  std::string& array = *values_.emplace_back(array_head(kInt8, values.size(), 8));
  for (const std::int64_t value : values) {
    put(array, std::int32_t{8});
    put(array, value);
  }
  types_.push_back(kInt8Array);
  return *this;
}

Params& Params::add(std::span<const std::optional<std::int64_t>> values) {
  std::string& array = *values_.emplace_back(array_head(kInt8, values.size(), 8));
  for (const auto& value : values) {
    put(array, std::int32_t{value ? 8 : -1});
    if (value) put(array, *value);
  }
  types_.push_back(kInt8Array);
  return *this;
}

Params& Params::add(std::span<const std::string_view> values, As as) {
  std::string& array = *values_.emplace_back(array_head(as == As::text ? kText : kBytes, values.size(), 24));
  for (const std::string_view value : values) put_text(array, value);
  types_.push_back(as == As::text ? kTextArray : kBytesArray);
  return *this;
}

Params& Params::add_nullable(std::span<const std::string_view> values, As as) {
  std::string& array = *values_.emplace_back(array_head(as == As::text ? kText : kBytes, values.size(), 24));
  for (const std::string_view value : values) {
    value.data() == nullptr ? put(array, std::int32_t{-1}) : put_text(array, value);
  }
  types_.push_back(as == As::text ? kTextArray : kBytesArray);
  return *this;
}

std::int64_t limit(std::size_t rows) {
  return static_cast<std::int64_t>(std::min<std::size_t>(rows, std::numeric_limits<std::int64_t>::max()));
}

Params id_params(std::span<const TaskId> ids) {
  Params params;
  Batch<TaskId>{params, ids}.numbers([](TaskId id) { return number(id); });
  return params;
}

}  // namespace easyretry::storage::postgres
