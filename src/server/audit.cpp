#include "server/audit.h"

#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <easyretry/json.h>

#include "base/harmless.h"
#include "base/time_text.h"
#include "base/utf8.h"
#include "server/refusal.h"
#include "server/tokens.h"

namespace easyretry::server {
namespace {

constexpr std::size_t kMostBodyBytes = 2000;  // bytes
// For the lines of all changes that can be in flight at the same time. A path can be as long as the head of a request,
// and escapes make it up to six times longer.
constexpr off_t kReserved = 8 * 64 * 1024;

std::string message_of(int error) {
  return std::generic_category().message(error);
}

bool is_beyond_limit(off_t end) {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
         static_cast<rlim_t>(end) > limit.rlim_cur;
}

// Reserves space after the end of the file. 0 on success, or if the file system cannot do that.
int trouble_reserving(int file) {
  struct stat now {};
  if (::fstat(file, &now) != 0) return errno;
  if (!S_ISREG(now.st_mode)) return 0;
  if (is_beyond_limit(now.st_size + kReserved)) return EFBIG;
  if (::fallocate(file, FALLOC_FL_KEEP_SIZE, now.st_size, kReserved) == 0) return 0;
  return errno == EOPNOTSUPP || errno == ENOSYS ? 0 : errno;
}

// The bodies of these requests contain no arguments and no secrets.
std::string body_of(const http::Request& request) {
  return base::storable_utf8(base::cut_utf8(request.body, kMostBodyBytes));
}

[[noreturn]] void refuse(const std::filesystem::path& file, int error) {
  throw std::runtime_error("server.audit: " + file.string() + " cannot be written: " + message_of(error) +
                           "; use a file in a writable folder");
}

}  // namespace

void Audit::require_writable(const std::filesystem::path& file) {
  if (file.empty()) return;
  if (const int error = trouble_writing(file)) refuse(file, error);
}

Audit::Audit(const std::filesystem::path& file, LogSink log) : path_(file), log_(std::move(log)) {
  if (file.empty()) return;
  file_ = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file_ < 0) refuse(file, errno);
}

Audit::~Audit() {
  if (file_ >= 0) ::close(file_);
}

void Audit::require_space() const {
  if (file_ < 0) return;
  if (const int error = trouble_reserving(file_)) {
    throw Refusal{{503,
                   "audit_unavailable",
                   "the change cannot be written to the audit log: " + message_of(error),
                   "nothing was changed; free some disk space for " + path_.filename().string() + " and try again",
                   {{"Retry-After", "5"}}}};
  }
}

// One write() per line, so that lines of several processes do not mix.
void Audit::note(const Call& call, int status) {
  if (file_ < 0) return;
  const std::map<std::string, std::string> entry{
      {"at", base::to_text(system_clock().now())},
      {"by", call.by.name},
      {"from", call.request.peer},
      {"namespace", call.space->name()},
      {"request", std::string{to_string(call.request.method)} + " " + call.request.target.path},
      {"request_id", call.request.id},
      {"said", body_of(call.request)},
      {"status", std::to_string(status)}};
  const std::string line = base::with_escapes(to_json(entry)) + "\n";
  const std::string written = torn_.exchange(false) ? "\n" + line : line;
  const ssize_t size = ::write(file_, written.data(), written.size());
  if (size == static_cast<ssize_t>(written.size())) return;
  const std::string why = size < 0 ? message_of(errno) : "only a part of it was written";
  if (size > 0) torn_ = true;
  if (log_) log_(LogLevel::error, "a change could not be written to the audit log: " + why + ": " + line);
}

}  // namespace easyretry::server
