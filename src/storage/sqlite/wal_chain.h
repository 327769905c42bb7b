#pragma once
// The write-ahead log as SQLite's documentation of its format has it (https://www.sqlite.org/walformat.html): a header,
// then frames, each with a checksum over itself and all before it. Whoever follows the checksums knows that not a byte
// before is another than was written.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace easyretry::storage::sqlite {

using WalPair = std::array<std::uint32_t, 2>;

// How far a log goes.
struct LogEnd {
  std::uint32_t frames = 0;
  WalPair salt{};      // other with every log that begins anew
  WalPair checksum{};  // of the last frame
  bool operator==(const LogEnd&) const = default;
};

class WalChain {
 public:
  static constexpr std::size_t kHeader = 32;

  // Nothing where this is not the header of a log.
  static std::optional<WalChain> begin(std::span<const std::byte> header);

  std::size_t frame_size() const { return kFrameHeader + page_; }
  // False: this is not the next frame, and the chain ends before it.
  bool add(std::span<const std::byte> frame);
  LogEnd end() const { return {frames_, salt_, checksum_}; }

 private:
  static constexpr std::size_t kFrameHeader = 24;

  WalChain() = default;
  void sum(std::span<const std::byte> bytes);

  bool big_endian_ = false;
  std::size_t page_ = 0;
  std::uint32_t frames_ = 0;
  WalPair salt_{};
  WalPair checksum_{};
};

// How far it goes for whoever reads the database now, by the first bytes of the log's index. Nothing while somebody
// writes them.
std::optional<LogEnd> published_end(std::span<const std::byte> index);
inline constexpr std::size_t kIndexHeaders = 96;  // as many bytes are looked at

}  // namespace easyretry::storage::sqlite
