#pragma once
// Signatures according to the Standard Webhooks specification (symmetric, v1): HMAC-SHA256 of "id.timestamp.body".
// Pure.

#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace easyretry::webhook {

// Never printed, and wiped on destruction. The caller must wipe the text it came from.
class SigningSecret {
 public:
  static constexpr std::size_t kFewestBytes = 24;
  static constexpr std::size_t kMostBytes = 64;

  // "whsec_" and 24 to 64 bytes in base64. Throws std::invalid_argument that says how to create one, never with the
  // secret.
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
  std::string_view id;  // the same for every attempt, so that a receiver recognises a repetition
  std::chrono::sys_seconds sent;
  std::string_view body;
};

// The value of webhook-signature: "v1,<base64>" for each secret, separated by spaces. During a rotation there are two
// secrets, and a receiver accepts the one it knows. Throws std::invalid_argument if there is no secret, or if the id
// has characters other than letters, digits, - and _: with a dot, two messages could have the same signature.
std::string signature(const SignedMessage& message, std::span<const SigningSecret> secrets);

}  // namespace easyretry::webhook
