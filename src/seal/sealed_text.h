#pragma once
// How a sealed payload is stored, and what it is bound to. It is JSON, so it can be stored wherever a plain payload
// can.
//
//   {"$sealed":1,"key":"2026-11","data":"…"}     data: base64 of nonce (12 bytes) | ciphertext | tag (16 bytes)
//
// n bytes become 32 + the length of the key id + 4 * ceil((n + 28) / 3): 343 for 200 bytes with "2026-11". It is
// written and read in exactly this form, because a store returns the bytes it was given.

#include <cstdint>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace easyretry::seal {

enum class Content : std::uint8_t { arguments = 1, result = 2 };

// The place that a sealed payload belongs to. It opens only there: moved to another row, column or namespace, it is
// rejected.
struct Binding {
  std::string_view name_space;
  std::string_view handler;
  std::string_view key;  // the task's key: its id is not known when the arguments are sealed, and changes on requeue
  Content content = Content::arguments;
  int payload_version = 1;
};

std::string_view to_string(Content content);

// Numbers are 8 bytes, little-endian. A text is preceded by its length, so no two bindings have the same encoding:
//
//   "easyretry.sealed.1" | content | payload_version | namespace | handler | key
std::string encode(const Binding& binding);

inline constexpr std::size_t kMaxKeyId = 64;

// 1 to 64 of A-Z a-z 0-9 . _ - so that it needs no escaping in JSON, file names and messages.
bool is_key_id(std::string_view id);

// For messages: quoted, with ? for invalid characters, and cut to the length of a valid id.
std::string quoted_key_id(std::string_view id);

// Far above any payload limit; the size of its base64 still fits in an int.
inline constexpr std::size_t kMaxPlain = std::size_t{256} << 20;

enum class Form { plain, sealed, damaged };

// Plain arguments are a JSON array and a sealed payload is an object, so they cannot be confused. A plain result may be
// any JSON: a result stored before encryption was turned on, which is an object starting with "$sealed", would be read
// as a sealed one and rejected.
Form form_of(std::string_view stored, Content content);

struct SealedText {
  std::string_view key_id;  // points into the stored text
  std::string data;         // nonce, ciphertext and tag: at least 28 bytes
};

std::string write_sealed(std::string_view key_id, std::string_view data);

// For a text whose form is `sealed`. The error says whether it was cut off, damaged, or written by a newer version.
tl::expected<SealedText, std::string_view> read_sealed(std::string_view stored);

}  // namespace easyretry::seal
