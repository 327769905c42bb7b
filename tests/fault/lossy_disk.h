#pragma once
// A disk whose syncs can be made to fail, for processes of a test; lossy_disk_preload.cpp says what it does.

#include <filesystem>
#include <string>

#include "fault/crew.h"
#include "support/temp_folder.h"

namespace easyretry::fault {

class LossyDisk {
 public:
  LossyDisk();

  std::string url() const { return "sqlite:" + (folder_.path() / "files" / "retry.db").string(); }
  // For a process that is to see this disk.
  Variables variables() const;

  // The syncs that fail from now on: `wal`, `db`, `folder`; and `evict`.
  void fail(const std::string& words);
  void work();
  std::size_t failures() const;  // syncs that failed so far

  // Copies the contents of the disk, as a mount after a crash would show them, into a new folder. Returns the store's
  // url.
  std::string remount();

 private:
  const test::TempFolder folder_;
  int mounts_ = 0;
};

}  // namespace easyretry::fault
