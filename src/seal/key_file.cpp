#include "seal/key_file.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <openssl/crypto.h>
#include <sys/stat.h>
#include <unistd.h>

namespace easyretry::seal {
namespace {

constexpr std::size_t kMaxFile = 1024;

class Descriptor {
 public:
  // Not blocking: the open of a named pipe would wait for a writer.
  explicit Descriptor(const std::filesystem::path& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (fd_ < 0) throw std::invalid_argument(std::strerror(errno));
  }
  ~Descriptor() { ::close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// Links are followed and a group may read: that is how containers are given their secrets.
void check_access(int file) {
  struct stat status {};
  if (::fstat(file, &status) != 0) throw std::invalid_argument(std::strerror(errno));
  if (!S_ISREG(status.st_mode)) throw std::invalid_argument("is not a file");
  if ((status.st_mode & (S_IRWXO | S_IWGRP)) != 0) {
    throw std::invalid_argument("is open to others; chmod 600 it, and make a new key if they may have read it");
  }
}

}  // namespace

KeyFile::KeyFile(const std::filesystem::path& path) {
  const Descriptor file{path};
  check_access(file.get());
  content_.resize(kMaxFile);
  const ssize_t size = ::read(file.get(), content_.data(), content_.size());
  if (size < 0) throw std::invalid_argument(std::strerror(errno));
  if (size == static_cast<ssize_t>(kMaxFile)) throw std::invalid_argument("is too long for a key");
  std::memset(content_.data() + size, ' ', content_.size() - static_cast<std::size_t>(size));
}

KeyFile::~KeyFile() {
  OPENSSL_cleanse(content_.data(), content_.size());
}

std::string_view KeyFile::text() const {
  constexpr const char* kSpace = " \t\r\n";
  const std::string_view all = content_;
  const std::size_t begin = all.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return all.substr(begin, all.find_last_not_of(kSpace) - begin + 1);
}

}  // namespace easyretry::seal
