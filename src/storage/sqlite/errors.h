#pragma once
// What a SQLite failure means to the caller of a verb.

#include <exception>
#include <string_view>
#include <utility>

#include <easyretry/error.h>

#include "storage/sqlite/connection.h"

namespace easyretry::storage::sqlite {

enum class During {
  work,    // the transaction can be rolled back: nothing was done
  commit,  // an I/O error leaves open whether the last frame reached the disk
};

Error to_error(const SqliteError& error, std::string_view where, During during = During::work);

// Nothing is wrong with the database: what was asked for must not be done. Undoes the write it is thrown from.
struct Refusal : std::exception {
  explicit Refusal(Error why) : error(std::move(why)) {}
  const char* what() const noexcept override { return error.detail.c_str(); }
  Error error;
};

// After such an error the connection's view of the file is not to be trusted; it is opened anew.
bool breaks_connection(const SqliteError& error);

// Runs a verb's body; what it throws becomes the Result.
template <class Body>
auto guarded(std::string_view where, Body body) -> Result<decltype(body())> {
  try {
    return body();
  } catch (const SqliteError& error) {
    return tl::make_unexpected(to_error(error, where));
  } catch (const Refusal& refusal) {
    return tl::make_unexpected(refusal.error);
  } catch (const std::exception& error) {
    return fail(Errc::unavailable, where, error.what());
  }
}

}  // namespace easyretry::storage::sqlite
