#pragma once
// Arguments and results between their plain form and the one in the store. Without keys the two are the same.

#include <memory>
#include <string>
#include <string_view>

#include "seal/sealer.h"
#include "task/record.h"

namespace easyretry::engine {

class Payloads {
 public:
  // Throws std::invalid_argument for keys that cannot work.
  explicit Payloads(const Encryption& encryption);

  // What a task without a key of its own is known by.
  std::string derive_key(std::string_view handler, std::string_view plain_arguments) const;

  // `task` holds plain arguments and everything else that will be stored.
  Result<std::string> seal_arguments(const task::NewTask& task) const;
  Result<std::string> open_arguments(const task::TaskRecord& record) const;
  Result<std::string> seal_result(const task::TaskRecord& record, std::string result) const;
  Result<std::string> open_result(const task::TaskRecord& record) const;

 private:
  std::shared_ptr<const seal::Sealer> sealer_;  // null: nothing is encrypted
};

}  // namespace easyretry::engine
