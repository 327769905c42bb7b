#include "seal/binding.h"

namespace easyretry::seal {
namespace {

constexpr std::string_view kLabel = "easyretry.sealed.1";
constexpr std::size_t kNumber = 8;
constexpr std::size_t kNumbers = 5 * kNumber;

void add(std::string& out, std::uint64_t number) {
  for (std::size_t i = 0; i < kNumber; ++i) out.push_back(static_cast<char>(number >> (8 * i) & 0xFF));
}

void add(std::string& out, std::string_view text) {
  add(out, text.size());
  out.append(text);
}

}  // namespace

std::string_view to_string(Content content) {
  return content == Content::arguments ? "arguments" : "result";
}

std::string encode(const Binding& binding) {
  std::string out;
  out.reserve(kLabel.size() + kNumbers + binding.space.size() + binding.handler.size() + binding.key.size());
  out.append(kLabel);
  add(out, static_cast<std::uint64_t>(binding.content));
  add(out, static_cast<std::uint64_t>(static_cast<std::int64_t>(binding.payload_version)));
  add(out, binding.space);
  add(out, binding.handler);
  add(out, binding.key);
  return out;
}

}  // namespace easyretry::seal
