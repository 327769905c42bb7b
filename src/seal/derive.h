#pragma once

#include <span>
#include <string_view>

#include "seal/secret.h"

namespace easyretry::seal {

// HKDF-SHA256 (RFC 5869) without salt: one secret gives independent keys for different labels, so that no key is used
// for two purposes. Throws std::runtime_error where OpenSSL has no HKDF.
void derive(std::span<const unsigned char, 32> secret, std::string_view label, Secret<32>& out);

}  // namespace easyretry::seal
