#pragma once
// Encrypts and decrypts arguments and results on their way to and from the store. Without encryption keys both forms
// are the same. Thread-safe.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "seal/sealer.h"
#include "task/record.h"

namespace easyretry::engine {

// A result that is too long to be kept leaves this instead, so that a reader learns why it is missing.
std::string left_out_result(std::size_t bytes);
// The length of such a result; nullopt: this is an ordinary result.
std::optional<std::size_t> bytes_left_out(std::string_view result);

class Payloads {
 public:
  // Throws std::invalid_argument for invalid keys.
  explicit Payloads(const Encryption& encryption);

  // The key of a task that was submitted without one.
  std::string derive_key(std::string_view handler, std::string_view plain_arguments) const;

  // `task` has plain arguments, and everything else as it will be stored.
  Result<std::string> seal_arguments(const task::NewTask& task) const;
  // Other arguments for a stored task.
  Result<std::string> seal_arguments(const task::TaskRecord& record, std::string arguments) const;
  Result<std::string> open_arguments(const task::TaskRecord& record) const;
  Result<std::string> seal_result(const task::TaskRecord& record, std::string result) const;
  Result<std::string> open_result(const task::TaskRecord& record) const;

 private:
  std::shared_ptr<const seal::Sealer> sealer_;  // null: nothing is encrypted
};

}  // namespace easyretry::engine
