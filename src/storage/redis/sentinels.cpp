#include "storage/redis/sentinels.h"

#include <charconv>

namespace easyretry::storage::redis {
namespace {

using server::ServerError;
using server::Trouble;

Address without_password(Address address) {
  address.user.clear();
  address.password.clear();
  address.database = 0;
  return address;
}

Endpoint primary_by(Connection& sentinel, const Endpoint& asked, const std::string& service) {
  const Reply reply = sentinel.run(Command::of("SENTINEL", "get-master-addr-by-name", std::string_view{service}));
  Endpoint primary{std::string{reply.text(0)}, 0};
  const std::string_view port = reply.text(1);
  std::from_chars(port.data(), port.data() + port.size(), primary.port);
  if (primary.port == 0) {
    throw ServerError{Trouble::refused, "the sentinel at " + to_string(asked) + " knows no service \"" + service +
                                            "\"; write redis+sentinel://host:26379/service"};
  }
  return primary;
}

}  // namespace

Sentinels::Sentinels(std::vector<Endpoint> sentinels, std::string service, const Address& like)
    : sentinels_(std::move(sentinels)), service_(std::move(service)), sources_(without_password(like)) {}

Endpoint Sentinels::of(Slot) {
  for (const bool asked : {false, true}) {
    {
      const std::lock_guard lock{mutex_};
      if (primary_.port != 0) return primary_;
    }
    if (!asked) refresh();
  }
  throw ServerError{Trouble::gone, "no sentinel has answered recently"};
}

// Where nobody answers, what is known stays, and whoever needs it finds out.
void Sentinels::look_again(const Endpoint&) {
  try {
    refresh();
  } catch (const ServerError&) {
    return;
  }
}

void Sentinels::refresh() {
  sources_.ask(sentinels_, {}, [this](Connection& sentinel, const Endpoint& asked) {
    const Endpoint primary = primary_by(sentinel, asked, service_);
    const std::lock_guard lock{mutex_};
    primary_ = primary;
  });
}

}  // namespace easyretry::storage::redis
