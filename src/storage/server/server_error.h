#pragma once
// Failures of a server, and what they mean for the transaction or the request.

#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <easyretry/error.h>

namespace easyretry::storage::server {

enum class Trouble {
  again,       // a deadlock or a lost race: the same transaction may succeed at once
  locked,      // another transaction holds a row and did not release it in time
  gone,        // the connection failed: nothing was done, unless it failed during the commit
  silent,      // like gone, but noticed by a timeout: another attempt would take as long
  overloaded,  // the server refuses for now: too many connections, out of space, a timeout, read-only
  refused,     // the server will never do this: no rights, no such database
  bad_data,    // the server cannot store these values
  no_table,    // a table is missing; it can be created
};

class ServerError : public std::runtime_error {
 public:
  ServerError(Trouble trouble, const std::string& what) : std::runtime_error(what), trouble_(trouble) {}
  Trouble trouble() const { return trouble_; }

 private:
  Trouble trouble_;
};

// The server works, but the request must not be carried out. Rolls back the transaction it is thrown from.
struct Refusal : std::exception {
  explicit Refusal(Error why) : error(std::move(why)) {}
  const char* what() const noexcept override { return error.detail.c_str(); }
  Error error;
};

enum class Point { before_commit, commit };

inline Error to_error(const ServerError& error, std::string_view where, Point point) {
  Errc code = Errc::unavailable;
  if (error.trouble() == Trouble::bad_data) code = Errc::invalid_argument;
  const bool lost = error.trouble() == Trouble::gone || error.trouble() == Trouble::silent;
  if (lost && point == Point::commit) code = Errc::in_doubt;
  return {code, std::string{where}, error.what()};
}

}  // namespace easyretry::storage::server
