#pragma once

#include <optional>
#include <span>

#include "storage/sqlite/connection.h"
#include "storage/store.h"

namespace easyretry::storage::sqlite {

// The write side of `claim` and `renew`.
class Claims {
 public:
  explicit Claims(Connection& db);
  ClaimReply claim(const ClaimRequest& request, TimePoint now);
  Applied renew(std::span<const Renewal> renewals, TimePoint now);

 private:
  std::optional<TaskRecord> claim_one(const Ticket& ticket, const ClaimRequest& request, TimePoint now);

  Statement claim_;
  Statement record_;
  Statement renew_;
};

}  // namespace easyretry::storage::sqlite
