#include "task/task_key.h"

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <stdexcept>

#include <openssl/evp.h>
#include <xxhash.h>

namespace easyretry::task {
namespace {

// False: OpenSSL has no such algorithm, or no memory.
template <std::size_t Size>
bool hash(const EVP_MD* algorithm, std::initializer_list<std::string_view> texts,
          std::array<unsigned char, Size>& digest) {
  thread_local const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context{EVP_MD_CTX_new(),
                                                                                     &EVP_MD_CTX_free};
  if (algorithm == nullptr || !context || EVP_DigestInit_ex2(context.get(), algorithm, nullptr) != 1) return false;
  for (const std::string_view text : texts) {
    if (EVP_DigestUpdate(context.get(), text.data(), text.size()) != 1) return false;
  }
  return EVP_DigestFinal_ex(context.get(), digest.data(), nullptr) == 1;
}

// Fetching an algorithm costs more than hashing a short text, so both algorithms are kept.
std::array<unsigned char, 16> md5(std::string_view text) {
  static EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "MD5", nullptr);
  std::array<unsigned char, 16> digest{};
  if (!hash(algorithm, {text}, digest)) {
    throw std::runtime_error("MD5 is not available from OpenSSL (FIPS mode?); give tasks an explicit key");
  }
  return digest;
}

}  // namespace

std::string derive_key(std::string_view handler, std::string_view canonical_arguments) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string key;
  key.reserve(handler.size() + 33);
  key.append(handler).push_back(':');
  for (const unsigned char byte : md5(canonical_arguments)) {
    key.push_back(kHex[byte >> 4]);
    key.push_back(kHex[byte & 15]);
  }
  return key;
}

KeyDigest key_digest(std::string_view name_space, std::string_view key) {
  using namespace std::string_view_literals;
  static EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  std::array<unsigned char, 32> whole{};
  if (!hash(algorithm, {name_space, "\0"sv, key}, whole)) throw std::runtime_error("OpenSSL has no SHA-256");
  KeyDigest digest{};
  std::copy_n(whole.begin(), digest.size(), digest.begin());
  return digest;
}

std::uint64_t stable_hash(std::string_view text) {
  return XXH64(text.data(), text.size(), 0);
}

ShardId shard_for(std::string_view business_id, std::string_view key, int total_shards) {
  const std::string_view by = business_id.empty() ? key : business_id;
  return ShardId{static_cast<std::uint16_t>(stable_hash(by) % static_cast<unsigned>(total_shards))};
}

}  // namespace easyretry::task
