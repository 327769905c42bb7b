#include "engine/handlers.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

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
  if (handler.options.concurrency < 0) {
    wrong("concurrency is " + std::to_string(handler.options.concurrency) + "; use 1 or more, or 0 for the default");
  }
  if (handler.options.timeout < Millis{0}) wrong("timeout is negative; use 0 for no limit");
  if (!handler.policy.success_when.empty() && !handler.result_is_json) {
    wrong("success_when needs a result that has a JSON conversion; add EASYRETRY_JSON for the result type");
  }
  try {
    easyretry::validate(handler.policy);
  } catch (const std::invalid_argument& e) {
    wrong(e.what());
  }
}

}  // namespace

std::shared_ptr<const KnownHandler> HandlerTable::find(const std::string& name) const {
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : by_number[found->second];
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
  if (!handler.policy.success_when.empty()) {
    known->success_when = std::make_shared<policy::SuccessExpression>(handler.policy.success_when);
  }
  known->handler = std::move(handler);

  const std::lock_guard lock{mutex_};
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
  table_ = std::move(next);
}

void Handlers::set_on_success(const std::string& name, decltype(detail::Handler::on_success) callback) {
  change(name, [&](KnownHandler& known) { known.handler.on_success = std::move(callback); });
}

void Handlers::set_on_final_failure(const std::string& name, decltype(detail::Handler::on_final_failure) callback) {
  change(name, [&](KnownHandler& known) { known.handler.on_final_failure = std::move(callback); });
}

std::shared_ptr<const HandlerTable> Handlers::snapshot() const {
  const std::lock_guard lock{mutex_};
  return table_;
}

void Handlers::change(const std::string& name, const std::function<void(KnownHandler&)>& edit) {
  const std::lock_guard lock{mutex_};
  const HandlerNo no = table_->by_name.at(name);
  auto known = std::make_shared<KnownHandler>(*table_->by_number[no]);
  edit(*known);
  auto next = std::make_shared<HandlerTable>(*table_);
  next->by_number[no] = std::move(known);
  table_ = std::move(next);
}

}  // namespace easyretry::engine
