#include "server/namespace.h"

#include "call/threaded_engine.h"
#include "engine/attempt.h"
#include "server/refusal.h"
#include "server/webhook_handler.h"

namespace easyretry::server {
namespace {

constexpr std::size_t kMostTasksWaiting = 20'000;
constexpr std::size_t kMostLeases = 100'000;  // about 150 bytes each
// Each handler costs memory, and every submitter can invent names.
constexpr std::size_t kMostKnownHandlers = 1000;

bool sweeps_all(const Config& config) {
  return config.defaults.keep || config.defaults.keep_args;
}

}  // namespace

std::optional<Webhook> webhook_of(const Config& config, const std::string& handler) {
  const auto own = config.handlers.find(handler);
  const HandlerConfig& defaults = config.defaults;
  const HandlerConfig& said = own == config.handlers.end() ? defaults : own->second;
  const auto& url = said.url ? said.url : defaults.url;
  const auto& secrets = said.secrets_file ? said.secrets_file : defaults.secrets_file;
  if (!url) return std::nullopt;
  if (!secrets) {
    throw std::invalid_argument("handler \"" + handler + "\" has a url but no secrets_file to sign calls with");
  }
  return Webhook{*url, *secrets};
}

detail::Handler remote_handler(const std::string& name) {
  detail::Handler handler;
  handler.name = name;
  handler.returns_value = true;
  return handler;
}

void require_room_for(const std::string& handler, std::size_t known) {
  if (known < kMostKnownHandlers) return;
  throw Refusal{{422, "too_many_handlers",
                 "\"" + handler + "\" would be handler number " + std::to_string(kMostKnownHandlers + 1),
                 "use fewer names, and put the differences into the arguments"}};
}

Namespace::Namespace(std::shared_ptr<storage::Store> store, const Config& config)
    : config_(config),
      name_(config.engine.name_space),
      engine_(call::threaded_engine(std::move(store), config, {})),
      caller_(
          std::make_unique<webhook::Caller>(webhook::CallerOptions{.guard = webhook::Guard{config.server.may_call}})),
      lease_queue_(std::make_shared<LeaseQueue>(
          system_clock(), core().claiming(), [this](const auto& runs) { hand_back(runs); },
          [this] { core().executors_changed(); })),
      remembered_(system_clock(), {}),
      submissions_(core(), kMostTasksWaiting),
      leases_(kMostLeases),
      bulk_(system_clock(), [this](const TaskQuery& query) { return ids_of(query); }, {}),
      feed_(std::make_shared<EventFeed>(system_clock(), EventFeed::Limits{})),
      sweeps_all_(sweeps_all(config)),
      recorder_(core(), [this](const Counts& counts) { know_stored_handlers(counts); }) {
  for (const auto& [handler_name, declared] : config.handlers) handler(handler_name);
}

Namespace::~Namespace() {
  stop();
}

void Namespace::start() {
  queue_loop_ = std::make_unique<engine::RunLoop>("er-pull", core(), lease_queue_->wakeup,
                                                  [this] { return lease_queue_->step(); });
  series_loop_ =
      std::make_unique<engine::RunLoop>("er-series", core(), recorder_.wakeup, [this] { return recorder_.step(); });
  engine_->start();
}

std::vector<ConfigChange> Namespace::reload(const Config& wanted) {
  auto changes = engine_->reload(wanted);
  sweeps_all_ = sweeps_all(wanted);
  return changes;
}

void Namespace::close() {
  lease_queue_->close();
  core().waits().close();
  feed_->close();
  bulk_.close();
}

void Namespace::stop() {
  close();
  queue_loop_.reset();
  if (series_loop_) {
    series_loop_.reset();
    recorder_.save();
  }
  engine_->stop();
}

std::shared_ptr<http::BodyStream> Namespace::events(EventFeed::Filter filter, std::string_view last) {
  std::call_once(listening_, [this] {
    core().events().add([feed = feed_](const Event& event) { feed->tell(event); }, Delivery::direct);
  });
  return feed_->watch(std::move(filter), last);
}

std::shared_ptr<const engine::KnownHandler> Namespace::handler(const std::string& name) {
  const auto known = [&] { return core().handlers().snapshot()->find(name); };
  if (auto found = known()) return found;
  const std::lock_guard lock{registering_};
  if (auto found = known()) return found;
  require_room_for(name, core().handlers().snapshot()->by_number.size());
  detail::Handler handler = remote_handler(name);
  handler.remote = executor_of(name);
  engine_->add(std::move(handler));
  return known();
}

// A job that has to stop does not wait for a longer search.
Result<Bulk::Page> Namespace::ids_of(const TaskQuery& query) {
  constexpr Millis kLongestSearch{500};
  return core().page(query, kLongestSearch).map([](const storage::ListPage& found) {
    Bulk::Page page{.next = found.next};
    page.ids.reserve(found.records.size());
    for (const task::TaskRecord& record : found.records) page.ids.push_back(record.info.id);
    return page;
  });
}

// After a restart, only the store may know a handler, and the engine sweeps the history of those that it knows.
void Namespace::know_stored_handlers(const Counts& counts) {
  if (!sweeps_all_) return;
  for (const auto& [name, tally] : counts) {
    const auto table = core().handlers().snapshot();
    if (table->by_number.size() >= kMostKnownHandlers) return;
    if (table->find(name) || refused_.contains(name)) continue;
    try {
      handler(name);
    } catch (const std::exception& e) {
      refused_.insert(name);
      core().log(LogLevel::warning,
                 "the ended tasks of \"" + name + "\" are kept like those of the store: " + e.what());
    }
  }
}

void Namespace::leave_final_failures_to_workers(const std::string& name) {
  if (handler(name)->handler.on_final_failure) return;
  detail::Handler changes;
  changes.on_final_failure = [](const Failure&, const TaskInfo&) {};  // for workers that do not call it themselves
  core().handlers().change(name, std::move(changes));
}

std::shared_ptr<engine::RemoteExecutor> Namespace::executor_of(const std::string& handler) {
  const auto webhook = webhook_of(config_, handler);
  if (!webhook) return lease_queue_->of(handler);
  return std::make_shared<WebhookHandler>(core(), *caller_, webhook->url, webhook->secrets_file);
}

void Namespace::hand_back(const std::vector<engine::RunPtr>& runs) {
  for (const engine::RunPtr& run : runs) core().settle_later(run, engine::handed_back(*run));
}

}  // namespace easyretry::server
