#pragma once
// The write-ahead log: how far it goes, and how to make sure that it is on the disk.
//
// Its format is documented (https://www.sqlite.org/walformat.html): a header, then frames, each with a checksum over
// itself and all frames before it. If the checksums match, every byte before is as it was written.
//
// To make sure that what a connection sees is on the disk, the log is written once more, byte for byte, synced, and
// read back from the disk. After a failed sync, pages that were not written look like any other. The checksums tell
// whether each byte is still as SQLite wrote it: a page that the kernel has dropped meanwhile breaks them. The database
// itself is not written again: pages that a failed sync kept from it are in the log until a checkpoint has copied them
// once more.

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

#include "storage/sqlite/connection.h"

namespace easyretry::storage::sqlite {

using WalPair = std::array<std::uint32_t, 2>;

// How far a log goes.
struct LogEnd {
  std::uint32_t frames = 0;
  WalPair salt{};      // differs in every log that begins anew
  WalPair checksum{};  // of the last frame
  bool operator==(const LogEnd&) const = default;
};

class WalChain {
 public:
  static constexpr std::size_t kHeader = 32;

  // nullopt: this is not the header of a log.
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

// How far the log goes for a reader that starts now, from the first bytes of the log's index. nullopt while they are
// being written.
std::optional<LogEnd> published_end(std::span<const std::byte> index);
inline constexpr std::size_t kIndexHeaders = 96;  // how many bytes of the index it reads

// How far the log goes for a connection that has read something. nullopt if it cannot be told.
std::optional<LogEnd> log_end(Connection& db);

// Holds the write lock meanwhile. False: `seen`, which was in the log before, is no longer in it. Throws SqliteError,
// also if the log does not match its index; that stays so until all connections have been closed.
bool rewrite_log(Connection& db, const std::optional<LogEnd>& seen);

// Call it before the file is opened: the kernel's cached pages of the database may differ from what a failed sync has
// left on the disk. Does nothing if there is no log, and so was no such sync.
void forget_unsynced(const std::filesystem::path& database);

// The names of the files must survive a power cut, too. SQLite syncs the folder, but does not check whether that
// worked. Throws SqliteError.
void sync_folder(const Connection& db);

}  // namespace easyretry::storage::sqlite
