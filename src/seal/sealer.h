#pragma once
// Encrypts and decrypts ("seals" and "opens") the arguments and results of tasks with the keys of an Encryption.
//
// Every payload gets a random 96-bit nonce, so a key should not seal more than 2^32 payloads (NIST SP 800-38D): four
// years at 34 a second, 50 days at 1,000 a second.

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <easyretry/encryption.h>

#include "base/result.h"
#include "seal/sealed_text.h"

namespace easyretry::seal {

class AesGcm;
class Hmac;

// Fills `out`; returns false if it cannot.
using RandomSource = bool (*)(std::span<unsigned char> out);
// OpenSSL's generator, seeded by the operating system.
bool random_bytes(std::span<unsigned char> out);

// Thread-safe.
class Sealer {
 public:
  // Throws std::invalid_argument if validate(Encryption) does, or if there are no keys.
  explicit Sealer(const Encryption& encryption, RandomSource random = &random_bytes);
  ~Sealer();

  // Errc::unavailable: the system had no random numbers; weaker ones are never used. Errc::invalid_argument: more than
  // 256 MiB.
  Result<std::string> seal(std::string_view plain, const Binding& binding) const;

  // Returns the plain payload. A payload that was stored plain is returned as it is, unless Encryption::require is set.
  // Every error is Errc::invalid_argument: a retry would not help, so the task should be parked with the error text.
  Result<std::string> open(std::string_view stored, const Binding& binding) const;

  // 32 hex characters, the same for the same text whichever key is current. Task keys use it instead of MD5, with which
  // anyone who reads the table could confirm a guess of the arguments.
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
