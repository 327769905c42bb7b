#include "server/audit.h"

#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <easyretry/json.h>

#include "base/time_text.h"
#include "base/utf8.h"
#include "server/writable.h"

namespace easyretry::server {
namespace {

constexpr std::size_t kMostSaid = 2000;  // bytes

std::string why() {
  return std::generic_category().message(errno);
}

// What operators say has neither arguments nor secrets in it.
std::string said(const http::Request& request) {
  return base::storable_utf8(base::cut_utf8(request.body, kMostSaid));
}

[[noreturn]] void refuse(const std::filesystem::path& file, int error) {
  throw std::runtime_error("server.audit: " + file.string() + " cannot be written: " +
                           std::generic_category().message(error) + "; name a file in a folder that is writable");
}

}  // namespace

void Audit::require_writable(const std::filesystem::path& file) {
  if (file.empty()) return;
  if (const int error = trouble_writing(file)) refuse(file, error);
}

Audit::Audit(const std::filesystem::path& file, LogSink log) : log_(std::move(log)) {
  if (file.empty()) return;
  file_ = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file_ < 0) refuse(file, errno);
}

Audit::~Audit() {
  if (file_ >= 0) ::close(file_);
}

// One write a line: what several processes append does not mix.
void Audit::note(const Call& call, int status) const {
  if (file_ < 0) return;
  const std::map<std::string, std::string> entry{
      {"at", base::to_text(system_clock().now())},
      {"by", call.by.name},
      {"from", call.request.peer},
      {"namespace", call.space->name()},
      {"request", std::string{to_string(call.request.method)} + " " + call.request.target.path},
      {"request_id", call.request.id},
      {"said", said(call.request)},
      {"status", std::to_string(status)}};
  const std::string line = to_json(entry) + "\n";
  if (::write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size()) && log_) {
    log_(LogLevel::error, "a change could not be written to the audit log: " + why() + ": " + line);
  }
}

}  // namespace easyretry::server
