#pragma once
// Which server has which slot. Safe to use from any thread.

#include "storage/redis/address.h"
#include "storage/redis/slots.h"

namespace easyretry::storage::redis {

class Topology {
 public:
  virtual ~Topology() = default;

  // As far as is known. Throws ServerError where nobody can be asked.
  virtual Endpoint of(Slot slot) = 0;
  // This one was not there, or is not what it was taken for: asks the others where everything is, if that was not
  // done a moment ago. Afterwards of() may give another one.
  virtual void look_again(const Endpoint& suspect) = 0;
  // A server has said where a slot is. False: it is nobody's to say.
  virtual bool moved(Slot slot, const Endpoint& to) = 0;
};

// All slots on one server, for ever.
class OneServer final : public Topology {
 public:
  explicit OneServer(Endpoint endpoint) : endpoint_(std::move(endpoint)) {}
  Endpoint of(Slot) override { return endpoint_; }
  void look_again(const Endpoint&) override {}
  bool moved(Slot, const Endpoint&) override { return false; }

 private:
  const Endpoint endpoint_;
};

}  // namespace easyretry::storage::redis
