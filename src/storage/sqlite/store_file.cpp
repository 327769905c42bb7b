#include "storage/sqlite/store_file.h"

#include <array>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include <sys/vfs.h>

#include <easyretry/error.h>

#include "storage/sqlite/network_filesystem.h"

namespace easyretry::storage::sqlite {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& why) {
  throw StoreError{{Errc::invalid_argument, "sqlite.open", why}};
}

void check_folder(const fs::path& folder) {
  std::error_code error;
  const auto status = fs::status(folder, error);
  if (!fs::exists(status))
    refuse("the folder " + folder.string() + " does not exist. Create it, or choose another one");
  if (!fs::is_directory(status)) refuse(folder.string() + " is not a folder. Give the path of a file in a folder");
  struct statfs info {};
  if (::statfs(folder.c_str(), &info) != 0) return;  // opening the lock file will say why
  const auto network = network_filesystem(static_cast<std::uint32_t>(info.f_type));
  if (!network.empty()) {
    refuse(folder.string() + " is on a network file system (" + std::string{network} +
           "), where SQLite can lose or corrupt data. Choose a local disk, or use a database server");
  }
}

// What the first page of a database says about itself; https://www.sqlite.org/fileformat.html
struct Header {
  static constexpr std::size_t kSize = 108;
  static constexpr std::string_view kMagic{"SQLite format 3\0", 16};
  std::array<unsigned char, kSize> bytes{};

  bool is_sqlite() const {
    return std::string_view{reinterpret_cast<const char*>(bytes.data()), kMagic.size()} == kMagic;
  }
  int application_id() const { return bytes[68] << 24 | bytes[69] << 16 | bytes[70] << 8 | bytes[71]; }
  // No table yet: the schema is one leaf page without cells. So looks a database whose creation was cut short.
  bool is_blank() const { return bytes[100] == 0x0D && bytes[103] == 0 && bytes[104] == 0; }
};

}  // namespace

fs::path checked_place(const fs::path& path) {
  std::error_code error;
  // Absolute first: a name alone would stay one, without a folder, where the file is still to be made.
  fs::path place = fs::absolute(path, error);
  if (!error) place = fs::weakly_canonical(place, error);
  if (error) refuse("cannot look up " + path.string() + ": " + error.message());
  if (fs::is_directory(place, error)) {
    refuse(place.string() + " is a folder. Give the path of a file in it, such as " + (place / "retry.db").string());
  }
  check_folder(place.parent_path());
  if (const auto there = fs::status(place, error); fs::exists(there) && !fs::is_regular_file(there)) {
    refuse(place.string() + " is a device, a pipe or a socket. Give the path of a file, or of a new one");
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
  std::ifstream file{path, std::ios::binary};
  Header header;
  file.read(reinterpret_cast<char*>(header.bytes.data()), Header::kSize);
  const auto size = static_cast<std::size_t>(file.gcount());
  if (size == 0) return;  // new or empty: ours to create
  if (size < Header::kSize || !header.is_sqlite()) {
    refuse(path.string() +
           " is not a SQLite database, or its first page is damaged; it is left as it is. Choose another path, or "
           "restore the file from a backup");
  }
  const bool ours = header.application_id() == kApplicationId;
  const bool nobodys = header.application_id() == 0 && header.is_blank();
  if (!ours && !nobodys && !shared) refuse(not_ours(path.string()));
}

}  // namespace easyretry::storage::sqlite
