#pragma once
// Whether the rows of a large batch are taken for new, as they nearly always are. ON CONFLICT costs a fifth of an
// insert: it looks into every unique index first, and writes every row twice over, as a promise and as a row. Without
// it a row that is there already fails the transaction, which is done again with ON CONFLICT; and so are the next
// batches of all connections, so that where keys do come twice it happens to one batch in a thousand.

#include <atomic>
#include <cstddef>

#include "storage/server/server_error.h"

namespace easyretry::storage::postgres {

enum class Duplicates { fail, are_left_out };

// Shared by the connections of a store. Safe to use from any thread.
class NewKeys {
 public:
  // insert(duplicates) -> answer. Throws what it throws; a duplicate is Trouble::again.
  template <class Insert>
  auto expect(std::size_t rows, Insert insert) {
    if (rows < kLarge || doubted()) return insert(Duplicates::are_left_out);
    try {
      return insert(Duplicates::fail);
    } catch (const server::ServerError& error) {
      if (error.trouble() == server::Trouble::again) doubts_ = kDoubted;
      throw;
    }
  }

 private:
  static constexpr std::size_t kLarge = 200;  // with fewer, the commit is most of the time
  static constexpr int kDoubted = 1000;

  bool doubted() {
    if (doubts_ <= 0) return false;
    --doubts_;
    return true;
  }

  std::atomic<int> doubts_ = 0;
};

}  // namespace easyretry::storage::postgres
