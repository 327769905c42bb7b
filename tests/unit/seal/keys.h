#pragma once
// Keys for tests.

#include <string>

#include <easyretry/encryption.h>

namespace easyretry::test {

inline const std::string kHexA = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
inline const std::string kHexB = "f0e0d0c0b0a090807060504030201000f1e1d1c1b1a191817161514131211101";
inline const std::string kBase64A = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

inline EncryptionKey key_a(const std::string& id = "2026-10") {
  return EncryptionKey::from_hex(id, kHexA);
}
inline EncryptionKey key_b(const std::string& id = "2026-11") {
  return EncryptionKey::from_hex(id, kHexB);
}

}  // namespace easyretry::test
