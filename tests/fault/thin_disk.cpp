#include "fault/thin_disk.h"

#include <cstdlib>
#include <stdexcept>

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

namespace easyretry::fault {
namespace {

void run(const std::string& command) {
  const std::string all = "PATH=$PATH:/usr/sbin:/sbin; " + command + " > /dev/null 2>&1";
  if (std::system(all.c_str()) != 0) throw std::runtime_error("failed: " + command);
}

}  // namespace

ThinDisk::ThinDisk(Journal journal) {
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    throw std::runtime_error("no mounts of our own");
  }
  std::filesystem::create_directory(below());
  std::filesystem::create_directory(mounted());
  run("mount -t tmpfs -o size=48m tmpfs " + below().string());
  run("truncate -s 256M " + (below() / "disk").string());
  run("mkfs.ext4 -q -F " + std::string{journal == Journal::no ? "-O ^has_journal " : "-J size=4 "} +
      "-E lazy_itable_init=0,nodiscard " + (below() / "disk").string());
  mount();
}

ThinDisk::~ThinDisk() {
  ::umount2(mounted().c_str(), MNT_DETACH);
  ::umount2(below().c_str(), MNT_DETACH);
}

void ThinDisk::mount() {
  run("mount -o loop,nodiscard " + (below() / "disk").string() + " " + mounted().string());
}

void ThinDisk::fill() {
  const std::string ballast = (below() / "ballast").string();
  run("dd if=/dev/zero of=" + ballast + " bs=4k; true");
}

void ThinDisk::free() {
  std::filesystem::remove(below() / "ballast");
}

void ThinDisk::remount() {
  run("umount " + mounted().string());
  mount();
}

}  // namespace easyretry::fault
