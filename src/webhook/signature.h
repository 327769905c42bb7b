#pragma once
// Signatures as the Standard Webhooks specification has them (symmetric, v1): HMAC-SHA256 of "id.timestamp.body". Pure.

#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace easyretry::webhook {

// Never printed, and wiped when it goes; the text it was made from is the caller's to wipe.
class SigningSecret {
 public:
  static constexpr std::size_t kFewestBytes = 24;
  static constexpr std::size_t kMostBytes = 64;

  // "whsec_" and 24 to 64 bytes in base64. Throws std::invalid_argument, which says how to make one, never the secret.
  explicit SigningSecret(std::string_view text);
  SigningSecret(const SigningSecret&) = default;
  SigningSecret& operator=(const SigningSecret&) = default;
  ~SigningSecret();

  std::span<const unsigned char> bytes() const { return {bytes_.data(), size_}; }

 private:
  std::array<unsigned char, kMostBytes> bytes_{};
  std::size_t size_ = 0;
};

struct SignedMessage {
  std::string_view id;  // the same for every attempt, so that a receiver can tell a repetition
  std::chrono::sys_seconds sent;
  std::string_view body;
};

// The value of webhook-signature: "v1,<base64>" for each secret, separated by spaces. While a secret is being changed
// there are two, and a receiver that knows either is content. Throws std::invalid_argument where there is no secret, or
// where the id has other characters than letters, digits, - and _: a dot would let two messages have one signature.
std::string signature(const SignedMessage& message, std::span<const SigningSecret> secrets);

}  // namespace easyretry::webhook
