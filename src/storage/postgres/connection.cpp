#include "storage/postgres/connection.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <poll.h>

#include "storage/postgres/errors.h"
#include "storage/server/server_error.h"

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
  PQsetnonblocking(handle_.get(), 1);
}

std::string Connection::encoding() const {
  const char* name = PQparameterStatus(handle_.get(), "server_encoding");
  return name == nullptr ? "" : name;
}

std::string Connection::literal(std::string_view text) {
  const std::unique_ptr<char, decltype(&PQfreemem)> escaped{PQescapeLiteral(handle_.get(), text.data(), text.size()),
                                                            PQfreemem};
  if (!escaped) throw server::ServerError{server::Trouble::bad_data, PQerrorMessage(handle_.get())};
  return escaped.get();
}

Rows Connection::run(const std::string& sql) {
  return answer(PQsendQuery(handle_.get(), sql.c_str()));
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
    return answer(PQsendQueryParams(handle_.get(), sql.c_str(), count, params.types_.data(), values.data(),
                                    lengths.data(), binary.data(), 1));
  }
  const std::string& name = prepared(sql, params);
  return answer(
      PQsendQueryPrepared(handle_.get(), name.c_str(), count, values.data(), lengths.data(), binary.data(), 1));
}

const std::string& Connection::prepared(const std::string& sql, const Params& params) {
  const auto known = names_.find(sql);
  if (known != names_.end()) return known->second;
  const std::string name = "er" + std::to_string(names_.size());
  answer(PQsendPrepare(handle_.get(), name.c_str(), sql.c_str(), static_cast<int>(params.types_.size()),
                       params.types_.data()));
  return names_.emplace(sql, name).first->second;
}

// The last result of several statements, or the first that failed. What libpq's blocking calls do, with an end to the
// waiting: the kernel notices a peer that is dead, but not one that is alive and silent.
Rows Connection::answer(int sent) {
  if (sent == 0) throw server_error(handle_.get(), nullptr);
  std::chrono::nanoseconds left = kPatience;
  flush(left);
  Rows last{nullptr};
  bool failed = false;
  while (true) {
    while (PQisBusy(handle_.get()) != 0) read(left);
    Rows next{PQgetResult(handle_.get())};
    if (next.get() == nullptr) break;
    if (failed) continue;
    const ExecStatusType status = PQresultStatus(next.get());
    failed = status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK;
    last = std::move(next);
  }
  if (failed || last.get() == nullptr) throw server_error(handle_.get(), last.get());
  return last;
}

// Reads meanwhile: a server that cannot get rid of its answers takes nothing more.
void Connection::flush(std::chrono::nanoseconds& patience) {
  for (int waiting = 0; (waiting = PQflush(handle_.get())) != 0;) {
    if (waiting < 0) throw server_error(handle_.get(), nullptr);
    wait_for(POLLIN | POLLOUT, patience);
    consume();
  }
}

// An encrypted record holds 16 KB, and each call reads at least 8 of what OpenSSL has taken from the socket already,
// where poll() does not see it any more.
void Connection::read(std::chrono::nanoseconds& patience) {
  wait_for(POLLIN, patience);
  const bool encrypted = PQsslInUse(handle_.get()) != 0 || PQgssEncInUse(handle_.get()) != 0;
  for (int calls = encrypted ? 3 : 1; calls > 0; --calls) consume();
}

void Connection::consume() {
  if (PQconsumeInput(handle_.get()) != 0) return;
  lost_ = true;
  throw server_error(handle_.get(), nullptr);
}

// However long a wait took, a slice of it counts as no more than a second: time in which this process was stopped, and
// with it perhaps the server, says nothing about the server.
void Connection::wait_for(short events, std::chrono::nanoseconds& patience) {
  constexpr std::chrono::nanoseconds kSlice = std::chrono::seconds{1};
  pollfd socket{PQsocket(handle_.get()), events, 0};
  while (true) {
    const auto began = std::chrono::steady_clock::now();
    if (poll(&socket, 1, 1000) > 0) return;
    patience -= std::min<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - began, kSlice);
    if (patience > std::chrono::nanoseconds{0}) continue;
    lost_ = true;
    throw server::ServerError{server::Trouble::silent, "PostgreSQL does not answer; the connection is closed"};
  }
}

}  // namespace easyretry::storage::postgres
