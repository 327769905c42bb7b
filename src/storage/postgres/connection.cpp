#include "storage/postgres/connection.h"

#include <bit>
#include <cstring>

#include "storage/postgres/errors.h"

namespace easyretry::storage::postgres {
namespace {

// PostgreSQL's own numbers for its types, which never change.
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

template <class Int>
std::int64_t take(const char* bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(Int); ++i) value = value << 8U | static_cast<unsigned char>(bytes[i]);
  return static_cast<Int>(value);
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

std::int64_t Rows::integer(int row, int column) const {
  const char* bytes = PQgetvalue(result_.get(), row, column);
  switch (PQgetlength(result_.get(), row, column)) {
    case 2: return take<std::int16_t>(bytes);
    case 4: return take<std::int32_t>(bytes);
    case 8: return take<std::int64_t>(bytes);
    default: return 0;
  }
}

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

Connection::Connection(const std::string& settings) : handle_(PQconnectdb(settings.c_str())) {
  if (broken()) throw connect_error(handle_.get());
}

Rows Connection::run(const std::string& sql) {
  return checked(PQexec(handle_.get(), sql.c_str()));
}

Rows Connection::run(const std::string& sql, const Params& params) {
  const auto count = static_cast<int>(params.size());
  std::vector<const char*> values;
  std::vector<int> lengths;
  const std::vector<int> binary(params.size(), 1);
  for (const auto& value : params.values_) {
    values.push_back(value ? value->data() : nullptr);
    lengths.push_back(value ? static_cast<int>(value->size()) : 0);
  }
  if (handle_.get_deleter().theirs) {
    return checked(PQexecParams(handle_.get(), sql.c_str(), count, params.types_.data(), values.data(), lengths.data(),
                                binary.data(), 1));
  }
  const std::string& name = prepared(sql, params);
  return checked(PQexecPrepared(handle_.get(), name.c_str(), count, values.data(), lengths.data(), binary.data(), 1));
}

const std::string& Connection::prepared(const std::string& sql, const Params& params) {
  const auto known = names_.find(sql);
  if (known != names_.end()) return known->second;
  const std::string name = "er" + std::to_string(names_.size());
  checked(PQprepare(handle_.get(), name.c_str(), sql.c_str(), static_cast<int>(params.types_.size()),
                    params.types_.data()));
  return names_.emplace(sql, name).first->second;
}

Rows Connection::checked(PGresult* result) {
  Rows rows{result};
  const ExecStatusType status = PQresultStatus(result);
  if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return rows;
  throw server_error(handle_.get(), result);
}

}  // namespace easyretry::storage::postgres
