#include "storage/redis/pauses.h"

#include <algorithm>

#include "storage/redis/packing.h"

namespace easyretry::storage::redis {
namespace {

ScriptCall call_of(Part& part, const Script& script, std::string_view space) {
  ScriptCall call = part.script(script);
  call.keys.push_back(part.keys().paused(space));
  return call;
}

}  // namespace

Pausing pause(Part& part, std::string_view space, std::string_view handler, std::string_view why) {
  ScriptCall call = call_of(part, scripts::pause, space);
  call.arguments.emplace_back(handler);
  call.arguments.emplace_back(why);
  call.arguments.push_back(std::to_string(kMostPaused));
  const Reply reply = part.write_soon(call);
  if (reply.text(1) == "too many") return Pausing::too_many;
  return reply.text(1) == "paused" ? Pausing::done : Pausing::was_paused;
}

bool resume(Part& part, std::string_view space, std::string_view handler) {
  ScriptCall call = call_of(part, scripts::resume, space);
  call.arguments.emplace_back(handler);
  return part.write_soon(call).integer(1) > 0;
}

PausedReply paused(Part& part, std::string_view space) {
  const Reply reply = part.read(call_of(part, scripts::paused, space));
  PausedReply answer{TimePoint{Millis{reply.integer(0)}}, {}};
  for (std::size_t i = 1; i + 1 < reply.size(); i += 2) {
    Unpacker value{reply.text(i + 1)};
    const TimePoint since = value.time();
    answer.handlers.push_back({std::string{reply.text(i)}, since, std::string{value.rest()}});
  }
  std::ranges::sort(answer.handlers, {}, &PausedHandler::handler);
  return answer;
}

}  // namespace easyretry::storage::redis
