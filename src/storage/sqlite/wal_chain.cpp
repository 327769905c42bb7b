#include "storage/sqlite/wal_chain.h"

#include <bit>
#include <cstring>

namespace easyretry::storage::sqlite {
namespace {

constexpr std::uint32_t kMagic = 0x377f0682;  // the last bit: checksums are of big-endian words

std::uint32_t big_endian(std::span<const std::byte> bytes, std::size_t at) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < 4; ++i) word = word << 8 | std::to_integer<std::uint32_t>(bytes[at + i]);
  return word;
}

std::uint32_t as_stored(std::span<const std::byte> bytes, std::size_t at) {
  std::uint32_t word = 0;
  std::memcpy(&word, &bytes[at], sizeof word);
  return word;
}

}  // namespace

std::optional<WalChain> WalChain::begin(std::span<const std::byte> header) {
  if (header.size() < kHeader || (big_endian(header, 0) & ~1U) != kMagic) return std::nullopt;
  WalChain chain;
  chain.big_endian_ = (big_endian(header, 0) & 1U) != 0;
  chain.page_ = big_endian(header, 8);
  chain.salt_ = {as_stored(header, 16), as_stored(header, 20)};
  chain.sum(header.first(24));
  const bool whole = chain.checksum_ == WalPair{big_endian(header, 24), big_endian(header, 28)};
  return whole && chain.page_ >= 512 && chain.page_ <= 65536 ? std::optional{chain} : std::nullopt;
}

bool WalChain::add(std::span<const std::byte> frame) {
  if (frame.size() != frame_size() || WalPair{as_stored(frame, 8), as_stored(frame, 12)} != salt_) return false;
  const WalPair before = checksum_;
  sum(frame.first(8));
  sum(frame.subspan(kFrameHeader));
  if (checksum_ != WalPair{big_endian(frame, 16), big_endian(frame, 20)}) {
    checksum_ = before;
    return false;
  }
  ++frames_;
  return true;
}

void WalChain::sum(std::span<const std::byte> bytes) {
  const bool swap = big_endian_ != (std::endian::native == std::endian::big);
  auto [first, second] = checksum_;
  const std::byte* const end = bytes.data() + bytes.size() / 8 * 8;
  for (const std::byte* at = bytes.data(); at != end; at += 8) {
    std::uint32_t words[2];
    __builtin_memcpy(words, at, sizeof words);
    first += (swap ? __builtin_bswap32(words[0]) : words[0]) + second;
    second += (swap ? __builtin_bswap32(words[1]) : words[1]) + first;
  }
  checksum_ = {first, second};
}

// Two copies of 48 bytes: whoever writes the one has not yet written the other.
std::optional<LogEnd> published_end(std::span<const std::byte> index) {
  constexpr std::size_t kCopy = kIndexHeaders / 2;
  if (index.size() < kIndexHeaders) return std::nullopt;
  std::array<std::byte, kIndexHeaders> copies{};
  std::memcpy(copies.data(), index.data(), copies.size());
  if (std::memcmp(copies.data(), copies.data() + kCopy, kCopy) != 0) return std::nullopt;
  return LogEnd{.frames = as_stored(copies, 16),
                .salt = {as_stored(copies, 32), as_stored(copies, 36)},
                .checksum = {as_stored(copies, 24), as_stored(copies, 28)}};
}

}  // namespace easyretry::storage::sqlite
