#pragma once

#include <span>
#include <vector>

#include "storage/sqlite/connection.h"
#include "storage/store.h"

namespace easyretry::storage::sqlite {

// The write side of `claim` and `renew`.
class Claims {
 public:
  explicit Claims(Connection& db);
  struct Won {
    TimePoint now{};
    std::vector<Ticket> tickets;  // with the versions that the claim gave
  };
  Won claim(const ClaimRequest& request, TimePoint now);
  Applied renew(std::span<const Renewal> renewals, TimePoint now);

 private:
  bool claim_one(const Ticket& ticket, const ClaimRequest& request, TimePoint now);

  Statement claim_;
  Statement renew_;
};

}  // namespace easyretry::storage::sqlite
