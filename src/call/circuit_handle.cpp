#include <stdexcept>

#include <easyretry/engine.h>

#include "base/nearest.h"
#include "call/engine_impl.h"
#include "call/errors.h"

namespace easyretry {
namespace {

std::shared_ptr<detail::EngineImpl> engine_of_circuit(const std::weak_ptr<detail::EngineImpl>& impl,
                                                      const std::string& name) {
  auto engine = impl.lock();
  if (!engine) throw std::logic_error("easyretry: the engine of circuit \"" + name + "\" no longer exists");
  return engine;
}

std::invalid_argument no_circuit(std::string_view name, const std::vector<CircuitInfo>& circuits) {
  std::vector<std::string_view> names;
  for (const CircuitInfo& one : circuits) names.push_back(one.name);
  std::string text = "no handler that is registered here has a circuit \"" + std::string{name} + "\"";
  if (const auto meant = base::nearest(name, names)) text += "; did you mean \"" + std::string{*meant} + "\"?";
  return std::invalid_argument(text);
}

}  // namespace

CircuitHandle Engine::circuit(std::string_view name) const {
  if (!impl_->core().circuit(std::string{name})) throw no_circuit(name, circuits());
  return {impl_, std::string{name}};
}

CircuitInfo CircuitHandle::info() const {
  auto circuits = engine_of_circuit(impl_, name_)->core().circuits();
  for (CircuitInfo& one : circuits) {
    if (one.name == name_) return std::move(one);
  }
  throw no_circuit(name_, circuits);  // the configuration has changed
}

bool CircuitHandle::open() const {
  const auto engine = engine_of_circuit(impl_, name_);
  engine::Core& core = engine->core();
  const auto circuit = core.circuit(name_);
  if (!circuit) return false;
  core.keep_known(*circuit);
  return circuit->view(core.clock().steady()).state == CircuitState::open;
}

void CircuitHandle::record(bool answered) {
  const auto engine = engine_of_circuit(impl_, name_);
  engine::Core& core = engine->core();
  const auto circuit = core.circuit(name_);
  if (!circuit) return;
  circuit->record(core.clock().steady(), answered);
  circuit->retries().earn(core.clock().steady());
}

void CircuitHandle::force_open(std::string_view why, std::optional<Millis> time) {
  call::value_or_throw(engine_of_circuit(impl_, name_)->core().order_circuit(name_, CircuitState::open, time, why));
}

void CircuitHandle::ignore(Millis time, std::string_view why) {
  call::value_or_throw(engine_of_circuit(impl_, name_)->core().order_circuit(name_, CircuitState::closed, time, why));
}

bool CircuitHandle::reset() {
  return call::value_or_throw(engine_of_circuit(impl_, name_)->core().reset_circuit(name_));
}

}  // namespace easyretry
