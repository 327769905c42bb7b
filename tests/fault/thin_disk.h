#pragma once
// A real disk that runs out of space behind the file system's back, as thin volumes do: ext4 on a loop device whose
// file is in a tmpfs that is filled up. Writes to it are accepted, and cannot be brought to it. Needs root; whatever is
// mounted is seen by this test's processes only, and is gone with them.

#include <filesystem>
#include <string>

#include "support/temp_folder.h"

namespace easyretry::fault {

class ThinDisk {
 public:
  enum class Journal { yes, no };  // of the file system; one that has one stops for good when it cannot write it
  explicit ThinDisk(Journal journal);
  ~ThinDisk();
  ThinDisk(const ThinDisk&) = delete;
  ThinDisk& operator=(const ThinDisk&) = delete;

  std::string url() const { return "sqlite:" + (mounted() / "retry.db").string(); }

  void fill();     // there is no more space behind it
  void free();     // there is again
  void remount();  // what the page cache has is forgotten; nobody may have a file open there

 private:
  std::filesystem::path below() const { return folder_.path() / "below"; }
  std::filesystem::path mounted() const { return folder_.path() / "mounted"; }
  void mount();

  const test::TempFolder folder_;
};

}  // namespace easyretry::fault
