#include "storage/sqlite/store_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <easyretry/error.h>

namespace easyretry::storage::sqlite {
namespace {

namespace fs = std::filesystem;

struct NetworkFilesystem {
  std::uint32_t magic;
  std::string_view name;
};

// From linux/magic.h if it has the number, otherwise from the sources of the file system.
constexpr std::array kNetworkFilesystems{
    NetworkFilesystem{0x00006969, "NFS"},    NetworkFilesystem{0x0000517B, "SMB"},
    NetworkFilesystem{0xFF534D42, "CIFS"},   NetworkFilesystem{0xFE534D42, "SMB"},
    NetworkFilesystem{0x01021997, "9P"},     NetworkFilesystem{0x65735546, "FUSE"},
    NetworkFilesystem{0x00C36400, "Ceph"},   NetworkFilesystem{0x5346414F, "AFS"},
    NetworkFilesystem{0x6B414653, "AFS"},    NetworkFilesystem{0x0BD00BD0, "Lustre"},
    NetworkFilesystem{0x73757245, "Coda"},   NetworkFilesystem{0x0000564C, "NCP"},
    NetworkFilesystem{0x01161970, "GFS2"},   NetworkFilesystem{0x7461636F, "OCFS2"},
    NetworkFilesystem{0x47504653, "GPFS"},   NetworkFilesystem{0x20030528, "OrangeFS"},
    NetworkFilesystem{0x19830326, "BeeGFS"}, NetworkFilesystem{0x786F4256, "vboxsf"},
    NetworkFilesystem{0xBACBACBC, "vmhgfs"},
};

[[noreturn]] void refuse_file(const std::string& why) {
  throw StoreError{{Errc::invalid_argument, "sqlite.open", why}};
}

void check_folder(const fs::path& folder) {
  std::error_code error;
  const auto status = fs::status(folder, error);
  if (!fs::exists(status))
    refuse_file("the folder " + folder.string() + " does not exist. Create it, or choose another one");
  if (!fs::is_directory(status)) refuse_file(folder.string() + " is not a folder. Give the path of a file in a folder");
  struct statfs info {};
  if (::statfs(folder.c_str(), &info) != 0) return;  // opening the lock file will say why
  const auto network = network_filesystem(static_cast<std::uint32_t>(info.f_type));
  if (!network.empty()) {
    refuse_file(folder.string() + " is on a network file system (" + std::string{network} +
                "), where SQLite can lose or corrupt data. Choose a local disk, or use a database server");
  }
}

// The first page of a database; https://www.sqlite.org/fileformat.html
struct Header {
  static constexpr std::size_t kSize = 108;
  static constexpr std::string_view kMagic{"SQLite format 3\0", 16};
  std::array<unsigned char, kSize> bytes{};

  bool is_sqlite() const {
    return std::string_view{reinterpret_cast<const char*>(bytes.data()), kMagic.size()} == kMagic;
  }
  int application_id() const { return bytes[68] << 24 | bytes[69] << 16 | bytes[70] << 8 | bytes[71]; }
  // No table yet: the schema is one leaf page without cells. A database whose creation was interrupted looks like this.
  bool is_blank() const { return bytes[100] == 0x0D && bytes[103] == 0 && bytes[104] == 0; }
};

std::string lock_holder(int file) {
  std::array<char, 32> text{};
  const ssize_t size = ::pread(file, text.data(), text.size() - 1, 0);
  const std::string pid = size > 0 ? std::string{text.data(), std::strcspn(text.data(), "\n")} : std::string{};
  if (pid.empty()) return "another process";
  return pid == std::to_string(::getpid()) ? "this process (pid " + pid + ")" : "process " + pid;
}

[[noreturn]] void refuse_second(const fs::path& database, const std::string& who) {
  throw StoreError{{Errc::unavailable, "sqlite.open",
                    database.string() + " is in use by " + who +
                        ". One engine owns a SQLite file: share that engine, stop it first, or give this one a file of "
                        "its own (several processes: use a database server)"}};
}

// Closing a range without descriptors has only the second effect, a separate table: some containers allow this call and
// not unshare.
bool take_own_table() {
  constexpr unsigned kBeyondAll = ~0U;
  return ::unshare(CLONE_FILES) == 0 || ::syscall(SYS_close_range, kBeyondAll, kBeyondAll, CLOSE_RANGE_UNSHARE) == 0;
}

// A thread is joined before the kernel has closed its table. Until then the copies in the table keep the locks of files
// that this process has closed: a store could not be opened again at once.
void close_own_table() {
  if (::syscall(SYS_close_range, 0U, ~0U, 0U) == 0) return;
  for (long descriptor = 0; descriptor < ::sysconf(_SC_OPEN_MAX); ++descriptor) ::close(static_cast<int>(descriptor));
}

bool send_descriptor(int socket, int descriptor) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof descriptor)> control{};
  char byte = 0;
  iovec data{&byte, 1};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  return ::sendmsg(socket, &message, MSG_NOSIGNAL) == 1;
}

}  // namespace

std::string_view network_filesystem(std::uint32_t magic) {
  const auto* found = std::ranges::find(kNetworkFilesystems, magic, &NetworkFilesystem::magic);
  return found == kNetworkFilesystems.end() ? std::string_view{} : found->name;
}

fs::path checked_place(const fs::path& path) {
  std::error_code error;
  // Absolute first: otherwise a bare name whose file does not exist yet would stay without a folder.
  fs::path place = fs::absolute(path, error);
  if (!error) place = fs::weakly_canonical(place, error);
  if (error) refuse_file("cannot look up " + path.string() + ": " + error.message());
  if (fs::is_directory(place, error)) {
    refuse_file(place.string() + " is a folder. Give the path of a file in it, such as " +
                (place / "retry.db").string());
  }
  check_folder(place.parent_path());
  if (const auto there = fs::status(place, error); fs::exists(there) && !fs::is_regular_file(there)) {
    refuse_file(place.string() + " is a device, a pipe or a socket. Give the path of a file, or of a new one");
  }
  return place;
}

std::string not_ours(const std::string& path) {
  return path +
         " is a SQLite database of another application; it is left as it is. Choose another path, or, to keep tasks "
         "next to that application's tables, add shared=yes: sqlite:" +
         path + "?shared=yes";
}

void check_ownership(const fs::path& path, bool shared) {
  Header header;
  std::size_t size = 0;
  const auto read = [&] {
    std::ifstream file{path, std::ios::binary};
    file.read(reinterpret_cast<char*>(header.bytes.data()), Header::kSize);
    size = static_cast<std::size_t>(file.gcount());
  };
  if (!with_own_descriptors(read)) read();
  if (size == 0) return;  // new or empty: ours to create
  if (size < Header::kSize || !header.is_sqlite()) {
    refuse_file(path.string() +
                " is not a SQLite database, or its first page is damaged; it is left as it is. Choose another path, or "
                "restore the file from a backup");
  }
  const bool ours = header.application_id() == kApplicationId;
  const bool unclaimed = header.application_id() == 0 && header.is_blank();
  if (!ours && !unclaimed && !shared) refuse_file(not_ours(path.string()));
}

bool with_own_descriptors(const std::function<void()>& body) {
  bool possible = false;
  try {
    std::thread{[&] {
      possible = take_own_table();
      if (!possible) return;
      body();
      close_own_table();
    }}.join();
  } catch (const std::system_error&) {  // no thread
  }
  return possible;
}

StoreLock::StoreLock(const fs::path& database) {
  const std::string path = database.string() + ".lock";
  lock_file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock_file_ < 0) {
    const int error = errno;
    refuse_file("cannot write to the folder of " + database.string() + ": " + path + ": " + std::strerror(error) +
                ". Give the user that runs this process write access to the folder, or choose another one");
  }
  if (::flock(lock_file_, LOCK_EX | LOCK_NB) != 0) {
    const std::string who = lock_holder(lock_file_);
    release();
    refuse_second(database, who);
  }
  if (lock_database(database) == Taken::in_use) {
    release();
    refuse_second(database, "an engine that opened it by another name, or whose lock file was deleted (fuser " +
                                database.string() + " shows its process)");
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  // Only for the message to a second engine. The lock works without it, for example on a full disk.
  if (::ftruncate(lock_file_, 0) == 0) static_cast<void>(!::pwrite(lock_file_, pid.data(), pid.size(), 0));
}

StoreLock::~StoreLock() {
  release();
}

// The thread opens and locks the database, sends the descriptor into the socket pair, and ends; so this process never
// has a descriptor to close. The lock belongs to the open file, which the message keeps open. If the file cannot
// be opened, SQLite says why; if the thread cannot have its own table, the lock file has to be enough.
StoreLock::Taken StoreLock::lock_database(const fs::path& database) {
  if (::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, holder_.data()) != 0) return Taken::not_possible;
  Taken taken = Taken::not_possible;
  with_own_descriptors([&] {
    const int file = ::open(database.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0) return;
    if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
      taken = errno == EWOULDBLOCK ? Taken::in_use : Taken::not_possible;
    } else if (send_descriptor(holder_[0], file)) {
      taken = Taken::yes;
    }
    ::close(file);
  });
  return taken;
}

void StoreLock::release() {
  for (const int descriptor : {lock_file_, holder_[0], holder_[1]}) {
    if (descriptor >= 0) ::close(descriptor);
  }
}

}  // namespace easyretry::storage::sqlite
