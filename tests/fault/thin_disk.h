#pragma once
// Real disks that run out of space. They need root; whatever is mounted is seen by this test's processes only, and is
// gone with them.

#include <filesystem>
#include <string>

#include "support/temp_folder.h"

namespace easyretry::fault {

// Writes to it fail when it is full.
class SmallDisk {
 public:
  explicit SmallDisk(int megabytes);
  ~SmallDisk();
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  std::filesystem::path path() const { return folder_.path() / "disk"; }
  void fill();
  void free();

 private:
  const test::TempFolder folder_;
};

// Runs full behind the file system's back, as thin volumes do: ext4 on a loop device whose file is on a small disk.
// Writes to it are accepted, and cannot be brought to it.
class ThinDisk {
 public:
  // Of the file system; one with a journal may stop permanently when it cannot write it.
  enum class Journal { yes, no };
  explicit ThinDisk(Journal journal);
  ~ThinDisk();
  ThinDisk(const ThinDisk&) = delete;
  ThinDisk& operator=(const ThinDisk&) = delete;

  std::string url() const { return "sqlite:" + (mounted() / "retry.db").string(); }

  void fill() { below_.fill(); }
  void free() { below_.free(); }
  void remount();  // forgets the page cache; no process may have a file open there

 private:
  std::filesystem::path mounted() const { return folder_.path() / "mounted"; }
  void mount();

  const test::TempFolder folder_;
  SmallDisk below_{48};
  std::string device_;
};

}  // namespace easyretry::fault
