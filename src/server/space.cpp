#include "server/space.h"

#include "call/threaded_engine.h"
#include "engine/attempt.h"
#include "server/declared_handler.h"
#include "server/webhook_handler.h"

namespace easyretry::server {
namespace {

constexpr std::size_t kMostTasksWaiting = 20'000;
constexpr std::size_t kMostLentOut = 100'000;  // of some 80 bytes each

}  // namespace

Space::Space(std::shared_ptr<storage::Store> store, const Config& config)
    : config_(config),
      name_(config.engine.space),
      engine_(call::threaded_engine(std::move(store), config, {})),
      caller_(
          std::make_unique<webhook::Caller>(webhook::CallerOptions{.guard = webhook::Guard{config.server.may_call}})),
      desk_(std::make_shared<PullDesk>(
          system_clock(), core().claiming(), [this](const auto& runs) { hand_back(runs); },
          [this] { core().executors_changed(); })),
      remembered_(system_clock(), {}),
      submissions_(core(), kMostTasksWaiting),
      lent_out_(kMostLentOut),
      bulk_(system_clock(), [this](const TaskQuery& query) { return ids_of(query); }, {}),
      feed_(std::make_shared<EventFeed>(system_clock(), EventFeed::Limits{})) {
  for (const auto& [handler_name, declared] : config.handlers) handler(handler_name);
}

Space::~Space() {
  stop();
}

void Space::start() {
  minding_the_desk_ =
      std::make_unique<engine::RunLoop>("er-pull", core(), desk_->wakeup, [this] { return desk_->step(); });
  engine_->start();
}

void Space::let_go() {
  desk_->close();
  feed_->close();
  bulk_.close();
}

void Space::stop() {
  let_go();
  minding_the_desk_.reset();
  engine_->stop();
}

std::shared_ptr<http::BodyStream> Space::events(EventFeed::Filter filter, std::string_view last) {
  std::call_once(listening_, [this] {
    core().events().add([feed = feed_](const Event& event) { feed->tell(event); }, Delivery::direct);
  });
  return feed_->watch(std::move(filter), last);
}

std::shared_ptr<const engine::KnownHandler> Space::handler(const std::string& name) {
  const auto known = [&] { return core().handlers().snapshot()->find(name); };
  if (auto found = known()) return found;
  const std::lock_guard lock{registering_};
  if (auto found = known()) return found;
  require_room_for(name, core().handlers().snapshot()->by_number.size());
  detail::Handler handler = handler_elsewhere(name);
  handler.remote = executor_of(name);
  engine_->add(std::move(handler));
  return known();
}

Result<std::vector<TaskId>> Space::ids_of(const TaskQuery& query) {
  return core().list(query).map([](const std::vector<task::TaskRecord>& found) {
    std::vector<TaskId> ids;
    ids.reserve(found.size());
    for (const task::TaskRecord& record : found) ids.push_back(record.info.id);
    return ids;
  });
}

void Space::leave_final_failures_to_workers(const std::string& name) {
  if (handler(name)->handler.on_final_failure) return;
  detail::Handler changes;
  changes.on_final_failure = [](const Failure&, const TaskInfo&) {};  // for a worker that does not judge
  core().handlers().change(name, std::move(changes));
}

std::shared_ptr<engine::RemoteExecutor> Space::executor_of(const std::string& handler) {
  const auto webhook = webhook_of(config_, handler);
  if (!webhook) return desk_->of(handler);
  return std::make_shared<WebhookHandler>(core(), *caller_, webhook->url, webhook->secrets_file);
}

void Space::hand_back(const std::vector<engine::RunPtr>& runs) {
  for (const engine::RunPtr& run : runs) core().settle_later(run, engine::handed_back(*run));
}

}  // namespace easyretry::server
