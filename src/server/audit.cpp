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
#include "server/answer_values.h"
#include "server/endpoints.h"
#include "server/refusal.h"
#include "server/request_fields.h"
#include "server/tokens.h"

namespace easyretry::server {
namespace {

constexpr std::size_t kMostBodyBytes = 2000;  // bytes
// Space for the lines of all changes that can be in flight at the same time. A path can be as long as the head of a
// request, and escapes make it up to six times longer.
constexpr off_t kReserved = 8 * 64 * 1024;

std::string message_of(int error) {
  return std::generic_category().message(error);
}

bool is_beyond_limit(off_t end) {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
         static_cast<rlim_t>(end) > limit.rlim_cur;
}

// Reserves space after the end of the file. Returns 0 on success, or if the file system cannot reserve space.
int trouble_reserving(int file) {
  struct stat now {};
  if (::fstat(file, &now) != 0) return errno;
  if (!S_ISREG(now.st_mode)) return 0;
  if (is_beyond_limit(now.st_size + kReserved)) return EFBIG;
  if (::fallocate(file, FALLOC_FL_KEEP_SIZE, now.st_size, kReserved) == 0) return 0;
  return errno == EOPNOTSUPP || errno == ENOSYS ? 0 : errno;
}

// The bodies of these requests contain no arguments and no secrets, except for the result of a completed task and the
// arguments of a requeued one.
std::string body_of(const http::Request& request) {
  if (request.target.path.ends_with("/complete")) return "(a result is not written here)";
  const bool may_have_arguments = request.target.path.ends_with("/requeue") && request.body.size() > 2;  // not "{}"
  if (may_have_arguments) return "(arguments are not written here)";
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

void Audit::require_namespace() const {
  if (file_ < 0) return;
  if (const int error = trouble_reserving(file_)) {
    throw Refusal{{503,
                   "audit_unavailable",
                   "the change cannot be written to the audit log: " + message_of(error),
                   "nothing was changed; free some disk space for " + path_.filename().string() + " and try again",
                   {{"Retry-After", "5"}}}};
  }
}

void Audit::note(const Call& call, int status) {
  AuditEntry entry{{"at", base::to_text(system_clock().now())},
                   {"by", call.by.name},
                   {"from", call.request.peer},
                   {"namespace", call.name_space->name()},
                   {"request", std::string{to_string(call.request.method)} + " " + call.request.target.path},
                   {"request_id", call.request.id},
                   {"said", body_of(call.request)},
                   {"status", std::to_string(status)}};
  if (file_ >= 0) write(entry);
  keep(std::move(entry));
}

void Audit::keep(AuditEntry entry) {
  std::string& request = entry["request"];  // may be as long as the head of a request
  request.resize(base::cut_utf8(request, kMostBodyBytes).size());
  const std::lock_guard lock{mutex_};
  latest_.push_front(std::move(entry));
  if (latest_.size() > kMostKept) latest_.pop_back();
}

std::vector<AuditEntry> Audit::latest() const {
  const std::lock_guard lock{mutex_};
  return {latest_.begin(), latest_.end()};
}

// One write() per line, so that lines of several processes do not mix.
void Audit::write(const AuditEntry& entry) {
  const std::string line = base::with_escapes(to_json(entry)) + "\n";
  const std::string written = torn_.exchange(false) ? "\n" + line : line;
  const ssize_t size = ::write(file_, written.data(), written.size());
  if (size == static_cast<ssize_t>(written.size())) return;
  const std::string why = size < 0 ? message_of(errno) : "only a part of it was written";
  if (size > 0) torn_ = true;
  if (log_) log_(LogLevel::error, "a change could not be written to the audit log: " + why + ": " + line);
}

// /v1/audit
namespace {

struct AuditAnswer {
  ShownTime since;
  bool file = false;
  std::vector<AuditEntry> entries{};
};
EASYRETRY_JSON(AuditAnswer, since, file, entries)

http::Response show_audit(const Call& call, const Audit& log) {
  require_known(call.request, {});
  AuditAnswer answer{.since = log.since(), .file = log.has_file()};
  for (AuditEntry& entry : log.latest()) {
    if (call.by.may_in(entry.at("namespace"))) answer.entries.push_back(std::move(entry));
  }
  return {.body = to_json(answer)};
}

}  // namespace

void add_audit_endpoint(Api& api) {
  api.add(http::Method::get, "/v1/audit", Right::administer,
          PlainEndpoint{[&api](const Call& call) { return show_audit(call, api.audit()); }});
}

}  // namespace easyretry::server
