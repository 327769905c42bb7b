#include "webhook/flight.h"

#include <stdexcept>

namespace easyretry::webhook {
namespace {

Error wrong(const std::string& detail) {
  return {Errc::invalid_argument, "webhook.call", detail};
}

}  // namespace

std::optional<Error> objection(Flight& flight) {
  try {
    flight.destination = parse_destination(flight.call.url);
  } catch (const std::invalid_argument& error) {
    return wrong(error.what());
  }
  const std::string& shown = flight.destination.shown;
  for (const Header& header : flight.call.headers) {
    if (const auto why = objection(header)) return wrong(shown + ": " + *why);
  }
  if (flight.call.timeout <= Millis{0} || flight.call.timeout > kLongestTimeout) {
    return wrong(shown + ": a timeout must be more than 0 and at most 24 hours");
  }
  return std::nullopt;
}

Error ended_early(const Flight& flight, const std::string& why, const Places& places) {
  const Destination& to = flight.destination;
  if (flight.stage == Flight::Stage::transferring) return cut_off(why, to, flight.transfer->progress());
  const std::string still = flight.stage == Flight::Stage::looking_up
                                ? "the name " + to.host + " was still being looked up"
                                : "it was queued behind " + std::to_string(places.begun(to.server())) + " calls to " +
                                      to.server() + " and " + std::to_string(places.begun()) +
                                      " in total (most_per_server, most_calls)";
  return {Errc::unavailable, "webhook.call", to.shown + ": " + why + "; " + still};
}

}  // namespace easyretry::webhook
