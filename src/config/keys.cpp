#include "config/keys.h"

#include "config/key_builders.h"
#include "config/values.h"

namespace easyretry::config {
namespace {

using namespace std::chrono_literals;
using enum TakesEffect;
using build::at, build::key, build::duration_in, build::list, build::number_in, build::written;

// Policies and timeouts have no upper limit, but more than ten years is a mistake.
constexpr DurationRange kUpToTenYears{0s, 240h * 365};

}  // namespace

// The ranges are the same as in validate(EngineOptions); a test compares them.
const std::vector<Key<Config>>& engine_keys() {
  using E = EngineOptions;
  constexpr auto kEngine = &Config::engine;
  static const std::vector<Key<Config>> keys{
      // Connections and loaded tasks belong to one store, one number of shards and one namespace.
      key<Config>("store", after_restart, at(&Config::store), read_store),
      key<Config>("shards", after_restart, at(&Config::shards), number_in<int>({1, 4096})),
      key<Config>("namespace", after_restart, at(kEngine, &E::name_space), read_namespace),
      // Threads are created once.
      key<Config>("workers", after_restart, at(kEngine, &E::workers), number_in<int>({1, 4096})),
      // The length of the wheel is the window, and window, poll and grace determine when the loader scans.
      key<Config>("window", at_once, at(kEngine, &E::window), duration_in({10ms, 10min})),
      key<Config>("poll", at_once, at(kEngine, &E::poll), duration_in({10ms, 10min})),
      key<Config>("grace", at_once, at(kEngine, &E::grace), duration_in({1ms, 24h})),
      // An instance is the same member from its start to its stop.
      key<Config>("membership", after_restart, at(kEngine, &E::membership), read_membership),
      key<Config>("assignment", after_restart, at(kEngine, &E::assignment), read_assignment),
      key<Config>("at_start", after_restart, at(kEngine, &E::at_start), read_at_start),
      // Current leases were taken for the old time, and the renewer's interval depends on it.
      key<Config>("lease", after_restart, at(kEngine, &E::lease), duration_in({100ms, 24h})),
      // Buffers are allocated with this size.
      key<Config>("batch", at_once, at(kEngine, &E::batch), number_in<std::size_t>({1, 10'000})),
      key<Config>("read_ahead", after_restart, at(kEngine, &E::read_ahead),
                  number_in<std::size_t>({1'024, 100'000'000})),
      // These are read when they are needed: after a crash, on submit, on stop.
      key<Config>("max_crashes", at_once, at(kEngine, &E::max_crashes), number_in<int>({1, 1000})),
      key<Config>("max_payload", at_once, at(kEngine, &E::max_payload), number_in<std::size_t>({2, 67'108'864})),
      key<Config>("drain", at_once, at(kEngine, &E::drain), duration_in({0s, 24h})),
  };
  return keys;
}

// These are read for each call, task or execution. A stored task keeps the stop rules and the backoff that it was
// stored with.
const std::vector<Key<HandlerConfig>>& handler_keys() {
  using H = HandlerConfig;
  using P = PolicyPatch;
  static const std::vector<Key<H>> keys{
      key<H>("persist", at_once, at(&H::persist), read_persist),
      key<H>("backoff", at_once, at(&H::policy, &P::backoff), read_backoff),
      key<H>("max_attempts", at_once, at(&H::policy, &P::max_attempts), number_in<int>({0, 1'000'000})),
      key<H>("max_duration", at_once, at(&H::policy, &P::max_duration), duration_in(kUpToTenYears)),
      key<H>("deadline", at_once, at(&H::policy, &P::deadline), read_time),
      list(key<H>("retry_on", at_once, at(&H::policy, &P::retry_on), read_names)),
      list(key<H>("never_retry", at_once, at(&H::policy, &P::never_retry), read_names)),
      key<H>("success_when", at_once, at(&H::policy, &P::success_when), read_success_when),
      key<H>("concurrency", at_once, at(&H::concurrency), number_in<int>({0, 100'000})),
      key<H>("timeout", at_once, at(&H::timeout), duration_in(kUpToTenYears)),
      key<H>("class", at_once, at(&H::task_class), read_class),
      key<H>("circuit", at_once, at(&H::circuit), read_circuit),
      key<H>("limit", at_once, at(&H::limit), read_limit),
      written(key<H>("keep", at_once, at(&H::keep), read_retention), at(&H::keep), retention_text),
      written(key<H>("keep_args", at_once, at(&H::keep_args), read_retention), at(&H::keep_args), retention_text),
      key<H>("keep_results", at_once, at(&H::keep_results), duration_in(kUpToTenYears)),
      // Whether its tasks are sent to a url or fetched by workers is decided at the start.
      key<H>("url", after_restart, at(&H::url), read_url),
      key<H>("secrets_file", after_restart, at(&H::secrets_file), read_path),
  };
  return keys;
}

// The keys are read at the start.
const std::vector<Key<KeyFolder>>& encryption_keys() {
  using F = KeyFolder;
  static const std::vector<Key<F>> keys{
      key<F>("folder", after_restart, at(&F::folder), read_path),
      key<F>("current", after_restart, at(&F::current), read_key_id),
      key<F>("identity_key", after_restart, at(&F::identity_key), read_key_id),
      key<F>("require", after_restart, at(&F::require), read_flag),
  };
  return keys;
}

// The log is opened once.
const std::vector<Key<LogConfig>>& log_keys() {
  using L = LogConfig;
  static const std::vector<Key<L>> keys{
      key<L>("level", after_restart, at(&L::level), read_log_level),
      key<L>("format", after_restart, at(&L::format), read_log_format),
  };
  return keys;
}

// The server is opened once.
const std::vector<Key<ServerConfig>>& server_keys() {
  using S = ServerConfig;
  static const std::vector<Key<S>> keys{
      key<S>("listen", after_restart, at(&S::listen), read_listen),
      key<S>("certificate", after_restart, at(&S::certificate), read_path),
      key<S>("private_key", after_restart, at(&S::private_key), read_path),
      key<S>("tokens", after_restart, at(&S::tokens), read_path),
      key<S>("audit", after_restart, at(&S::audit), read_path),
      key<S>("requests_per_second", after_restart, at(&S::requests_per_second), number_in<int>({0, 1'000'000})),
      list(key<S>("hosts", after_restart, at(&S::hosts), read_words)),
      list(key<S>("namespaces", after_restart, at(&S::namespaces), read_words)),
      list(key<S>("may_call", after_restart, at(&S::may_call), read_words)),
      key<S>("allow_plain_http", after_restart, at(&S::allow_plain_http), read_flag),
      key<S>("dashboard", after_restart, at(&S::dashboard), read_flag),
  };
  return keys;
}

std::string variable_of(std::string_view key_path) {
  std::string name = "EASYRETRY_";
  for (const char c : key_path) {
    if (c == '.') {
      name += '_';
    } else {
      name += (c >= 'a' && c <= 'z') ? static_cast<char>(c - 'a' + 'A') : c;
    }
  }
  return name;
}

}  // namespace easyretry::config
