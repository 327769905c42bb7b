// Loaded into a process (LD_PRELOAD), gives it a disk whose syncs can fail, and that loses what the kernel loses then.
//
//   LOSSY_DISK=folder     files/      where the process writes; what it reads there is what the page cache would show
//                         image/      what is on the disk: <inode>, its bytes, and <name>.name, which inode that is
//                         fail        words: the syncs of `wal`, `db` or `folder` fail while it is there; with `evict`
//                                     the page cache forgets what could not be written, and shows the disk again
//                         failures    one byte for each sync that failed
//
// A page that was written is dirty. A sync that works brings the dirty pages of its file to the disk. One that fails
// leaves them clean all the same, as Linux does, and what is more, their place on the disk is taken for written: as on
// ext4 they are lost even when they are written again, unless the kernel has forgotten them before (posix_fadvise).
// Data that a killed process had not synced is lost in the same way. There is no way past the page cache (O_DIRECT). A
// folder keeps the names that a failed sync did not write: a file system with a journal does, or stops permanently.

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;

constexpr off_t kPage = 4096;
constexpr off_t kEnd = std::numeric_limits<off_t>::max();

std::mutex mutex;                        // guards what follows, and all work on the image
std::map<ino_t, std::set<off_t>> dirty;  // pages by inode
std::map<ino_t, std::set<off_t>> lost;   // the same; found in the page cache only

const fs::path& disk() {
  static const fs::path folder = [] {
    const char* const said = std::getenv("LOSSY_DISK");
    return fs::path{said == nullptr ? "" : said};
  }();
  return folder;
}

// Empty for a file that is not on this disk, or that need not survive a crash.
std::string name_on_disk(int file) {
  if (disk().empty()) return {};
  std::array<char, 4096> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  if (::readlink(link.c_str(), path.data(), path.size() - 1) <= 0) return {};
  const fs::path place{path.data()};
  if (place == disk() / "files") return "folder";
  if (place.parent_path() != disk() / "files") return {};
  std::string name = place.filename();
  return name.ends_with("-shm") || name.ends_with(".lock") ? std::string{} : name;
}

std::string kind_of(const std::string& name) {
  if (name == "folder") return name;
  return name.ends_with("-wal") ? "wal" : "db";
}

std::set<std::string> failing() {
  std::ifstream file{disk() / "fail"};
  std::set<std::string> words;
  for (std::string word; file >> word;) words.insert(word);
  return words;
}

ssize_t raw_pwrite(int file, const void* bytes, size_t count, off_t at) {
  return ::syscall(SYS_pwrite64, file, bytes, count, at);
}

class Raw {
 public:
  explicit Raw(const fs::path& path)
      : file(static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path.c_str(), O_RDWR | O_CREAT, 0644))) {}
  ~Raw() { ::close(file); }
  Raw(const Raw&) = delete;
  Raw& operator=(const Raw&) = delete;
  const int file;
};

struct stat stat_of(int file) {
  struct stat info {};
  ::fstat(file, &info);
  return info;
}

fs::path image_of(ino_t inode) {
  return disk() / "image" / std::to_string(inode);
}

// Reads the state that another process has left.
void meet(int file) {
  const struct stat info = stat_of(file);
  if (lost.contains(info.st_ino)) return;
  auto& pages = lost[info.st_ino];
  const Raw image{image_of(info.st_ino)};
  for (off_t page = 0; page * kPage < info.st_size; ++page) {
    std::array<char, kPage> shown{};
    std::array<char, kPage> stored{};
    if (::pread(file, shown.data(), shown.size(), page * kPage) < 0) std::abort();
    if (::pread(image.file, stored.data(), stored.size(), page * kPage) < 0) std::abort();
    if (shown != stored) pages.insert(page);
  }
}

void soil(int file, off_t from, off_t to) {
  auto& pages = dirty[stat_of(file).st_ino];
  for (off_t page = from / kPage; page * kPage < to; ++page) pages.insert(page);
}

void copy_pages(int from, int to, const std::set<off_t>& pages, off_t size) {
  for (const off_t page : pages) {
    std::array<char, kPage> bytes{};  // beyond its end a file is zeros
    if (::pread(from, bytes.data(), bytes.size(), page * kPage) < 0) std::abort();
    const off_t most = std::min<off_t>(kPage, size - page * kPage);
    if (most > 0 && raw_pwrite(to, bytes.data(), static_cast<size_t>(most), page * kPage) != most) std::abort();
  }
}

void bring_names() {
  std::set<std::string> there;
  for (const auto& entry : fs::directory_iterator{disk() / "files"}) {
    struct stat info {};
    if (::stat(entry.path().c_str(), &info) != 0) continue;
    const std::string name = entry.path().filename().string() + ".name";
    there.insert(name);
    std::ofstream{disk() / "image" / name} << info.st_ino;
  }
  for (const auto& entry : fs::directory_iterator{disk() / "image"}) {
    const std::string name = entry.path().filename();
    if (name.ends_with(".name") && !there.contains(name)) fs::remove(entry.path());
  }
}

// Of what it has not to write any more.
void forget(int file, off_t from, off_t to) {
  const struct stat info = stat_of(file);
  const std::set<off_t>& all = lost[info.st_ino];
  std::set<off_t> pages{all.lower_bound((from + kPage - 1) / kPage), all.lower_bound(to / kPage)};
  for (const off_t page : dirty[info.st_ino]) pages.erase(page);
  copy_pages(Raw{image_of(info.st_ino)}.file, file, pages, info.st_size);
  for (const off_t page : pages) lost[info.st_ino].erase(page);
}

int fail_sync(int file, bool evict) {
  const struct stat info = stat_of(file);
  if (S_ISREG(info.st_mode)) {
    lost[info.st_ino].merge(dirty[info.st_ino]);
    dirty.erase(info.st_ino);
    if (evict) forget(file, 0, kEnd);
  }
  std::ofstream{disk() / "failures", std::ios::app} << 'x';
  errno = EIO;
  return -1;
}

int sync(int file) {
  const std::string name = name_on_disk(file);
  if (name.empty()) return 0;
  const std::lock_guard lock{mutex};
  if (name != "folder") meet(file);
  const auto words = failing();
  if (words.contains(kind_of(name))) return fail_sync(file, words.contains("evict"));
  if (name == "folder") {
    bring_names();
    return 0;
  }
  const struct stat info = stat_of(file);
  const Raw image{image_of(info.st_ino)};
  for (const off_t page : lost[info.st_ino]) dirty[info.st_ino].erase(page);
  copy_pages(file, image.file, dirty[info.st_ino], info.st_size);
  dirty.erase(info.st_ino);
  return static_cast<int>(::syscall(SYS_ftruncate, image.file, info.st_size));
}

ssize_t pwrite_on_disk(int file, const void* bytes, size_t count, off_t at) {
  if (name_on_disk(file).empty()) return raw_pwrite(file, bytes, count, at);
  const std::lock_guard lock{mutex};
  meet(file);
  const ssize_t written = raw_pwrite(file, bytes, count, at);
  if (written > 0) soil(file, at, at + written);
  return written;
}

int truncate_on_disk(int file, off_t size) {
  const std::lock_guard lock{mutex};
  if (!name_on_disk(file).empty()) {
    meet(file);
    soil(file, size, size + 1);
  }
  return static_cast<int>(::syscall(SYS_ftruncate, file, size));
}

}  // namespace

extern "C" {

ssize_t pwrite(int file, const void* bytes, size_t count, off_t at) {
  return pwrite_on_disk(file, bytes, count, at);
}

ssize_t write(int file, const void* bytes, size_t count) {
  const std::string name = name_on_disk(file);
  if (name.empty()) return ::syscall(SYS_write, file, bytes, count);
  const off_t at = ::lseek(file, 0, SEEK_CUR);
  const ssize_t written = pwrite_on_disk(file, bytes, count, at);
  if (written > 0) ::lseek(file, at + written, SEEK_SET);
  return written;
}

int ftruncate(int file, off_t size) noexcept {
  return truncate_on_disk(file, size);
}

// Where files are large by default, pwrite and ftruncate above are called pwrite64 and ftruncate64.
ssize_t small_pwrite(int file, const void* bytes, size_t count, off_t at) __asm__("pwrite");
ssize_t small_pwrite(int file, const void* bytes, size_t count, off_t at) {
  return pwrite_on_disk(file, bytes, count, at);
}

int small_ftruncate(int file, off_t size) __asm__("ftruncate");
int small_ftruncate(int file, off_t size) {
  return truncate_on_disk(file, size);
}

int fsync(int file) {
  return sync(file);
}

int fdatasync(int file) {
  return sync(file);
}

int posix_fadvise(int file, off_t from, off_t size, int advice) noexcept {
  if (advice == POSIX_FADV_DONTNEED && !name_on_disk(file).empty()) {
    const std::lock_guard lock{mutex};
    meet(file);
    forget(file, from, size == 0 ? kEnd : from + size);
    return 0;
  }
  return -static_cast<int>(::syscall(SYS_fadvise64, file, from, size, advice));
}

int open(const char* path, int flags, ...) {
  if ((flags & O_DIRECT) != 0 && fs::path{path}.parent_path() == disk() / "files") {
    errno = EINVAL;
    return -1;
  }
  va_list more;
  va_start(more, flags);
  const auto mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

int sync_file_range(int file, off64_t, off64_t, unsigned) {
  return sync(file);
}
}
