#pragma once
// The write-ahead log: how far it goes, and whether it is on the disk. DiskSync waits until commits are on the disk,
// and Trust knows whether a sync failed.
//
// Its format is documented (https://www.sqlite.org/walformat.html): a header, then frames, each with a checksum over
// itself and all frames before it. If the checksums match, every byte before is as it was written.
//
// To make sure that what a connection sees is on the disk, the log is written again, byte for byte, synced, and
// read back from the disk. After a failed sync, pages that were not written look like any other. The checksums tell
// whether each byte is still as SQLite wrote it: a page that the kernel has dropped meanwhile breaks them. The database
// itself is not written again: pages that a failed sync kept from it are in the log until a checkpoint has copied them
// again.

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>

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

// How far the log goes for a connection that has read something. nullopt if this cannot be determined.
std::optional<LogEnd> log_end(Connection& db);

// Holds the write lock meanwhile. False: `seen`, which was in the log before, is no longer in it. Throws SqliteError,
// also if the log does not match its index; that stays so until all connections have been closed.
bool rewrite_log(Connection& db, const std::optional<LogEnd>& seen);

// Call it before the file is opened: the kernel's cached pages of the database may differ from what a failed sync has
// left on the disk. Does nothing without a log: then there was no such sync.
void forget_unsynced(const std::filesystem::path& database);

// The names of the files must survive a power cut, too. SQLite syncs the folder, but does not check whether that
// worked. Throws SqliteError.
void sync_folder(const Connection& db);

// Waits for the disk apart from the writing: while one thread waits, the next transaction is already being written, and
// one wait serves every commit that was made before it began. Safe to use from any thread.
class DiskSync {
 public:
  using Sync = std::function<int()>;  // brings the log to the disk; 0, or a SQLite code

  // After each commit, one thread at a time. Returns its number: 1, 2, 3…
  std::uint64_t committed();

  std::uint64_t last_commit();

  // Returns when commit `number` is on the disk, or when that has failed: 0, or the code of the failure.
  int wait_for(std::uint64_t number, const Sync& sync);

 private:
  std::mutex mutex_;  // guards everything below
  std::condition_variable changed_;
  std::uint64_t committed_ = 0;
  std::uint64_t tried_ = 0;  // commits up to this one have a known result
  std::uint64_t failed_from_ = 0;
  std::uint64_t failed_to_ = 0;
  int failure_ = 0;
  bool syncing_ = false;
};

// Whether the contents of the file, as they are read, are known to be on the disk.
//
// When a sync fails, the kernel reports it once and then treats the pages it could not write as clean: they can still
// be read, the next sync succeeds, and they are not on the disk. So after a failed sync nothing in the file is trusted
// until all of it has been written again and a sync of that has worked. Safe to use from any thread.
class Trust {
 public:
  explicit Trust(std::filesystem::path file) : file_(std::move(file)) {}

  bool broken() const { return epoch() % 2 == 1; }
  // Changes when trust is lost, and again when it is restored.
  std::uint64_t epoch() const { return epoch_.load(); }
  // True: trust was not lost since then.
  bool holds(std::uint64_t since) const { return epoch() == since; }

  // The thread that notices a failure calls this before any caller gets an answer.
  void lose(const std::string& cause);
  void restore();

  void check() const;       // throws SqliteError while trust is broken
  std::string why() const;  // why trust was lost the last time, for display

 private:
  const std::filesystem::path file_;
  std::atomic<std::uint64_t> epoch_{0};  // odd: broken
  mutable std::mutex mutex_;             // guards why_, and changes of the epoch
  std::string why_;
};

}  // namespace easyretry::storage::sqlite
