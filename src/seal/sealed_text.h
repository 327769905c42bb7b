#pragma once
// How a sealed payload is stored: JSON, so that it can stand where plain payloads stand.
//
//   {"$sealed":1,"key":"2026-11","data":"…"}     data: base64 of nonce (12 bytes) | ciphertext | tag (16 bytes)
//
// n bytes become 32 + the length of the key id + 4 * ceil((n + 28) / 3): 343 for 200 bytes under "2026-11". Written and
// read in exactly this form: a store gives back the bytes it was given.

#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "seal/binding.h"

namespace easyretry::seal {

// Far above any payload limit, and base64 of it still counts in an int.
inline constexpr std::size_t kMaxPlain = std::size_t{256} << 20;

enum class Form { plain, sealed, damaged };

// Plain arguments are a JSON array and a sealed payload is an object, so neither is taken for the other. A plain result
// may be anything; one of before encryption that is an object starting with "$sealed" would be taken for a sealed one,
// and refused.
Form form_of(std::string_view stored, Content content);

struct SealedText {
  std::string_view key_id;  // into the stored text
  std::string data;         // nonce, ciphertext and tag: at least 28 bytes
};

std::string write_sealed(std::string_view key_id, std::string_view data);

// Of a text whose form is `sealed`. The error says whether it was cut off, damaged, or made by a newer
// version.
tl::expected<SealedText, std::string_view> read_sealed(std::string_view stored);

}  // namespace easyretry::seal
