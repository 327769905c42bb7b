#include "fault/lossy_disk.h"

#include <fstream>

namespace easyretry::fault {
namespace {

namespace fs = std::filesystem;

}  // namespace

LossyDisk::LossyDisk() {
  fs::create_directory(folder_.path() / "files");
  fs::create_directory(folder_.path() / "image");
}

Variables LossyDisk::variables() const {
  return {{"LD_PRELOAD", LOSSY_DISK_PRELOAD},
          {"LOSSY_DISK", folder_.path().string()},
          {"ASAN_OPTIONS", "verify_asan_link_order=0"}};
}

// Moved into place: a process that looks meanwhile sees all words or none.
void LossyDisk::fail(const std::string& words) {
  std::ofstream{folder_.path() / "fail.new"} << words;
  fs::rename(folder_.path() / "fail.new", folder_.path() / "fail");
}

void LossyDisk::work() {
  fs::remove(folder_.path() / "fail");
}

std::size_t LossyDisk::failures() const {
  std::error_code none_yet;
  const auto size = fs::file_size(folder_.path() / "failures", none_yet);
  return none_yet ? 0 : static_cast<std::size_t>(size);
}

std::string LossyDisk::remount() {
  const fs::path mounted = folder_.path() / ("mount-" + std::to_string(mounts_++));
  fs::create_directory(mounted);
  for (const auto& entry : fs::directory_iterator{folder_.path() / "image"}) {
    if (entry.path().extension() != ".name") continue;
    std::string inode;
    std::ifstream{entry.path()} >> inode;
    const fs::path file = mounted / entry.path().stem();
    const fs::path bytes = folder_.path() / "image" / inode;
    if (fs::exists(bytes)) {
      fs::copy_file(bytes, file);
    } else {
      std::ofstream{file};
    }
  }
  fs::remove(mounted / "retry.db-shm");
  return "sqlite:" + (mounted / "retry.db").string();
}

}  // namespace easyretry::fault
