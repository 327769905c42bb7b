#include "storage/redis/server_facts.h"

#include <algorithm>
#include <charconv>

namespace easyretry::storage::redis {
namespace {

using sql::ServerError;
using sql::Trouble;

constexpr int kOldestMajor = 7;

// Empty if the user may not ask.
std::string appendfsync(const Ask& ask) {
  try {
    return std::string{ask(Command::of("CONFIG", "GET", "appendfsync")).text(1)};
  } catch (const ServerError& error) {
    if (error.trouble() != Trouble::refused) throw;
    return {};
  }
}

// For a server with an append-only file.
std::string by_sync(const std::string& sync) {
  constexpr std::string_view kProcess = "a crash of the server process, except for its last moments; appendfsync=";
  if (sync == "always") return "a power cut on the server's machine";
  if (sync == "no") return std::string{kProcess} + "no, so a power cut may lose the last half minute";
  return std::string{kProcess} + (sync.empty() ? "unknown" : sync) + ", so a power cut may lose the last two seconds";
}

}  // namespace

ServerFacts::ServerFacts(const Ask& ask) {
  const Reply reply = ask(Command::of("INFO"));
  std::string_view text = reply.text();
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find("\r\n"));
    text.remove_prefix(std::min(line.size() + 2, text.size()));
    const auto colon = line.find(':');
    if (colon != std::string_view::npos) facts_.emplace(line.substr(0, colon), line.substr(colon + 1));
  }
}

std::string ServerFacts::of(std::string_view name) const {
  const auto found = facts_.find(name);
  return found == facts_.end() ? std::string{} : found->second;
}

void ServerFacts::refuse_unfit() const {
  const std::string version = of("redis_version");
  int major = 0;
  std::from_chars(version.data(), version.data() + version.size(), major);
  if (major < kOldestMajor) {
    throw ServerError{Trouble::refused, "the server is Redis " + version + "; EasyRetry needs 7.0 or newer"};
  }
  const std::string policy = of("maxmemory_policy");
  if (policy != "noeviction") {
    throw ServerError{Trouble::refused, "the server may evict stored tasks when its memory is full (maxmemory-policy " +
                                            policy + "); CONFIG SET maxmemory-policy noeviction"};
  }
}

Durability durability(const Ask& ask, const ServerFacts& facts, const Confirmation& confirmation) {
  Durability durability;
  if (facts.of("aof_enabled") == "1") {
    durability.words = by_sync(appendfsync(ask));
  } else {
    durability = {
        "nothing for sure; without appendonly=yes a restart of the server loses what came after its last "
        "snapshot",
        true};
  }
  if (confirmation.replicas > 0) {
    durability.words += "; " + std::to_string(confirmation.replicas) + " replica(s) have it in memory by then";
  } else if (facts.of("connected_slaves") != "0") {
    durability.words += "; a failover may lose what replicas do not have yet (wait=1 waits for one)";
  }
  return durability;
}

}  // namespace easyretry::storage::redis
