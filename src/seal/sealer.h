#pragma once
// Seals the arguments and results of tasks, and opens them again, with the keys of an Encryption.
//
// Every payload gets a random nonce of 96 bits, so a key should not seal more than 2^32 of them (NIST SP 800-38D): four
// years at 34 a second, 50 days at 1,000.

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <easyretry/encryption.h>
#include <easyretry/error.h>

#include "seal/binding.h"
#include "seal/random_source.h"

namespace easyretry::seal {

class AesGcm;
class Hmac;

// Thread-safe.
class Sealer {
 public:
  // Throws std::invalid_argument for what validate(Encryption) refuses, and where there are no keys.
  explicit Sealer(const Encryption& encryption, RandomSource random = &random_bytes);
  ~Sealer();

  // Errc::unavailable: there were no random numbers, and nothing is sealed with weaker ones.
  // Errc::invalid_argument: more than 256 MiB.
  Result<std::string> seal(std::string_view plain, const Binding& binding) const;

  // The plain payload, also of one that was stored plain unless Encryption::require is set. Every error is
  // Errc::invalid_argument: trying again changes nothing, so the task is to be parked with the text of the error.
  Result<std::string> open(std::string_view stored, const Binding& binding) const;

  // 32 hex characters, the same for the same text whatever key is current: stands for MD5 in the keys of tasks, which
  // would tell whoever reads the table and can guess the arguments that the guess is right.
  std::string identity(std::string_view canonical_arguments) const;

 private:
  using Ciphers = std::map<std::string, std::unique_ptr<AesGcm>, std::less<>>;

  Result<std::string> open_sealed(std::string_view stored, const Binding& binding) const;

  const RandomSource random_;
  const bool require_;
  const std::string current_;
  const Ciphers ciphers_;  // by key id
  const std::unique_ptr<Hmac> identity_;
};

}  // namespace easyretry::seal
