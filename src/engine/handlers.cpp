#include "engine/handlers.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "base/utf8.h"
#include "engine/workers.h"
#include "policy/decide.h"

namespace easyretry::engine {
namespace {

constexpr std::size_t kMaxName = 200;

void validate(const detail::Handler& handler) {
  const auto wrong = [&](const std::string& what) {
    throw std::invalid_argument("handler \"" + handler.name + "\": " + what);
  };
  if (handler.name.empty() || handler.name.size() > kMaxName) {
    wrong("a name has 1 to " + std::to_string(kMaxName) + " characters, such as \"payment.pay\"");
  }
  if (base::invalid_utf8(handler.name) != std::string::npos || handler.name.find('\0') != std::string::npos) {
    wrong("a name is UTF-8 text without NUL, because it is stored with each task");
  }
  if (handler.options.concurrency < 0) {
    wrong("concurrency is " + std::to_string(handler.options.concurrency) + "; use 1 or more, or 0 for the default");
  }
  if (handler.options.timeout < Millis{0}) wrong("timeout is negative; use 0 for no limit");
  if (handler.options.payload_version < 1) wrong("payload_version must be 1 or more");
  if (handler.policy.success_when.expression() != nullptr && !handler.no_expression_because.empty()) {
    wrong("success_when = \"" + handler.policy.success_when.text() +
          "\" cannot be evaluated: " + std::string{handler.no_expression_because});
  }
  try {
    easyretry::validate(handler.policy);
  } catch (const std::invalid_argument& e) {
    wrong(e.what());
  }
}

// Whether a successful direct call needs nothing of the engine: nothing is stored before it, nothing reads its result,
// and there is no callback.
bool may_bypass(const detail::Handler& handler) {
  const Persist persist = handler.options.persist.value_or(Persist::retry_only);
  return persist != Persist::always && persist != Persist::manual && !handler.returns_answer &&
         !handler.judges_result && handler.policy.success_when.empty() && !handler.on_success;
}

}  // namespace

std::shared_ptr<const KnownHandler> HandlerTable::find(const std::string& name) const {
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : by_number[found->second];
}

std::uint32_t HandlerTable::number_of(const std::string& name) const {
  const auto found = by_name.find(name);
  return found == by_name.end() ? kNoHandler : found->second;
}

std::vector<std::string> HandlerTable::names() const {
  std::vector<std::string> names;
  for (const auto& [name, number] : by_name) names.push_back(name);
  return names;
}

std::vector<std::string> HandlerTable::run_here() const {
  std::vector<std::string> names;
  for (const auto& known : by_number) {
    const auto& remote = known->handler.remote;
    if (remote == nullptr || remote->attended()) names.push_back(known->handler.name);
  }
  std::ranges::sort(names);
  return names;
}

std::size_t HandlerTable::concurrency(HandlerNo no, std::size_t workers) const {
  const int wanted = by_number[no]->handler.options.concurrency;
  if (wanted > 0) return std::min(static_cast<std::size_t>(wanted), workers);
  if (by_number.size() == 1) return workers;
  return std::max<std::size_t>(1, workers * 3 / 4);
}

Handlers::Handlers() : table_(std::make_shared<HandlerTable>()) {}

void Handlers::add(detail::Handler handler) {
  validate(handler);
  auto known = std::make_shared<KnownHandler>();
  known->backoff_text = policy::to_text(handler.policy.backoff);
  known->handler = std::move(handler);

  std::unique_lock lock{mutex_};
  const std::string& name = known->handler.name;
  if (table_->by_name.contains(name)) {
    throw std::invalid_argument("handler \"" + name + "\" is registered twice; each name stands for one function");
  }
  if (table_->by_number.size() > std::numeric_limits<HandlerNo>::max()) {
    throw std::invalid_argument("too many handlers: at most 65,536");
  }
  auto next = std::make_shared<HandlerTable>(*table_);
  next->by_name.emplace(name, static_cast<HandlerNo>(next->by_number.size()));
  next->by_number.push_back(std::move(known));
  take(std::move(next));
  const std::function<void()> added = added_;
  lock.unlock();
  if (added) added();
}

void Handlers::on_add(std::function<void()> added) {
  const std::lock_guard lock{mutex_};
  added_ = std::move(added);
}

std::shared_ptr<const HandlerTable> Handlers::snapshot() const {
  const std::lock_guard lock{mutex_};
  return table_;
}

void Handlers::change(const std::string& name, detail::Handler changes) {
  const std::lock_guard lock{mutex_};
  auto next = std::make_shared<HandlerTable>(*table_);
  replace(*next, name, [&](KnownHandler& known) {
    detail::Handler& handler = known.handler;
    if (changes.on_success) handler.on_success = std::move(changes.on_success);
    if (changes.on_final_failure) handler.on_final_failure = std::move(changes.on_final_failure);
    if (changes.on_retry_scheduled) handler.on_retry_scheduled = std::move(changes.on_retry_scheduled);
  });
  take(std::move(next));
}

void Handlers::reconfigure(const std::map<std::string, HandlerSettings>& settings) {
  const std::lock_guard lock{mutex_};
  auto next = std::make_shared<HandlerTable>(*table_);
  for (const auto& [name, wanted] : settings) {
    replace(*next, name, [&settings = wanted](KnownHandler& known) {
      known.handler.policy = settings.policy;
      known.handler.options = settings.options;
      known.backoff_text = policy::to_text(settings.policy.backoff);
      validate(known.handler);
    });
  }
  take(std::move(next));
}

void Handlers::replace(HandlerTable& table, const std::string& name, const std::function<void(KnownHandler&)>& edit) {
  auto& handler = table.by_number[table.by_name.at(name)];
  auto edited = std::make_shared<KnownHandler>(*handler);
  edit(*edited);
  handler = std::move(edited);
}

void Handlers::take(std::shared_ptr<const HandlerTable> table) {
  table_ = std::move(table);
  for (const auto& known : table_->by_number) {
    known->handler.gate->open = !gates_closed_ && may_bypass(known->handler);
  }
}

void Handlers::close_gates() {
  const std::lock_guard lock{mutex_};
  gates_closed_ = true;
  take(table_);
}

}  // namespace easyretry::engine
