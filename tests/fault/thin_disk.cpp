#include "fault/thin_disk.h"

#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

namespace easyretry::fault {
namespace {

void run(const std::string& command) {
  const std::string all = "PATH=$PATH:/usr/sbin:/sbin; { " + command + "; } > /dev/null 2>&1";
  if (std::system(all.c_str()) != 0) throw std::runtime_error("failed: " + command);
}

void mount_for_us_alone() {
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    throw std::runtime_error("no mounts of our own");
  }
}

}  // namespace

SmallDisk::SmallDisk(int megabytes) {
  mount_for_us_alone();
  std::filesystem::create_directory(path());
  run("mount -t tmpfs -o size=" + std::to_string(megabytes) + "m tmpfs " + path().string());
}

SmallDisk::~SmallDisk() {
  ::umount2(path().c_str(), MNT_DETACH);
}

void SmallDisk::fill() {
  run("dd if=/dev/zero bs=4k >> " + (path() / "ballast").string() + "; true");
}

void SmallDisk::free() {
  std::filesystem::remove(path() / "ballast");
}

// The file system's own blocks, its journal among them, are at its beginning and have their space from the start: if
// they could not be written, ext4 would stop for good, and no file could be written after that.
ThinDisk::ThinDisk(Journal journal) {
  const std::string disk = (below_.path() / "disk").string();
  std::filesystem::create_directory(mounted());
  run("truncate -s 256M " + disk);
  run("mkfs.ext4 -q -F -b 4096 -N 64 " + std::string{journal == Journal::no ? "-O ^has_journal " : "-J size=4 "} +
      "-E packed_meta_blocks=1,lazy_itable_init=0,nodiscard " + disk);
  run("dd conv=notrunc bs=1M count=6 if=" + disk + " of=" + disk);
  mount();
}

ThinDisk::~ThinDisk() {
  ::umount2(mounted().c_str(), 0);
  std::system(("/usr/sbin/losetup -d " + device_).c_str());
}

// A page at a time: of a larger write, a loop device takes the part for which there is space, and says that it has
// taken all.
void ThinDisk::mount() {
  const std::string name = (folder_.path() / "device").string();
  run("losetup --find --show " + (below_.path() / "disk").string() + " 2>&1 1> " + name);
  std::ifstream{name} >> device_;
  run("echo 4 > /sys/block/" + std::filesystem::path{device_}.filename().string() + "/queue/max_sectors_kb");
  run("mount -o nodiscard " + device_ + " " + mounted().string());
}

void ThinDisk::remount() {
  run("umount " + mounted().string());
  run("losetup -d " + device_);
  mount();
}

}  // namespace easyretry::fault
