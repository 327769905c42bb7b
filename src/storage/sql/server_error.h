#pragma once
// What a database server's failure means for the transaction it happened in.

#include <stdexcept>
#include <string>

namespace easyretry::storage::sql {

enum class Trouble {
  again,       // a deadlock, a lost race: the same transaction may work at once
  locked,      // another transaction holds a row, and was waited for as long as LockWait says
  gone,        // no connection, or none any more: nothing was done, unless it happened during the commit
  silent,      // as gone, and only waiting told: asking again would take as long
  overloaded,  // the server refuses for now: too many connections, out of space, a timeout, read-only
  refused,     // it will never do this: no rights, no such database
  bad_data,    // it cannot store these values
  no_table,    // a table is missing, which may be made
};

class ServerError : public std::runtime_error {
 public:
  ServerError(Trouble trouble, const std::string& what) : std::runtime_error(what), trouble_(trouble) {}
  Trouble trouble() const { return trouble_; }

 private:
  Trouble trouble_;
};

}  // namespace easyretry::storage::sql
