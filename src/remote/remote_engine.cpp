#include <easyretry/remote_engine.h>

#include "call/threaded_engine.h"
#include "remote/leaser.h"

namespace easyretry {
namespace {

class RemoteImpl final : public call::ThreadedEngine {
 public:
  RemoteImpl(const std::shared_ptr<remote::RemoteStore>& store, const Config& config)
      : ThreadedEngine(store, config, {}), leaser_(core_, *store) {
    core_.stop_claiming();  // the daemon knows what is due
  }

  ~RemoteImpl() override { stop(); }

 private:
  std::unique_ptr<engine::Threads> begin() override {
    auto threads = std::make_unique<engine::Threads>(core_, engine::Tasks::are_brought);
    leasing_ =
        std::make_unique<engine::RunLoop>("er-lease", core_, core_.claiming(), [this] { return leaser_.step(); });
    return threads;
  }

  void end(engine::Threads& threads) override {
    leaser_.stop();
    leasing_.reset();
    ThreadedEngine::end(threads);
  }

  remote::Leaser leaser_;
  std::unique_ptr<engine::RunLoop> leasing_;
};

std::string token_of(const RemoteOptions& options) {
  if (options.token_file.empty()) return options.token;
  if (!options.token.empty()) throw std::invalid_argument("give token or token_file, not both");
  return remote::read_token(options.token_file);
}

std::shared_ptr<detail::EngineImpl> remote_engine(std::string_view daemon, const RemoteOptions& options) {
  validate(options.engine);
  remote::require_ca_file(options.ca_file);
  Config config{.store = std::string{daemon}, .engine = options.engine};
  config.engine.membership = "alone";  // the daemon says who gets what
  auto store = std::make_shared<remote::RemoteStore>(
      remote::DaemonAddress{config.store, token_of(options), config.engine.space, options.ca_file},
      config.engine.encryption.enabled());
  return std::make_shared<RemoteImpl>(store, config);
}

}  // namespace

RemoteEngine::RemoteEngine(std::string_view daemon, const RemoteOptions& options)
    : Engine(remote_engine(daemon, options)) {}

}  // namespace easyretry
