#pragma once

#include <span>

namespace easyretry::seal {

// Fills the bytes, or says that it cannot.
using RandomSource = bool (*)(std::span<unsigned char> out);

// OpenSSL's, seeded by the operating system.
bool random_bytes(std::span<unsigned char> out);

}  // namespace easyretry::seal
