#include "storage/redis/membership.h"

#include <algorithm>

#include "storage/member_text.h"
#include "storage/redis/packing.h"

namespace easyretry::storage::redis {

// Said again in seconds: no replica is waited for, and a beat whose answer was lost is simply made again.
BeatReply beat(Part& part, const Beat& beat) {
  ScriptCall call = part.script(scripts::beat);
  call.keys.push_back(part.keys().members(beat.space));
  call.arguments.emplace_back(beat.node);
  call.arguments.push_back(std::to_string(beat.ttl.count()));
  call.arguments.push_back(member_text(beat.says, beat.handlers));
  const Reply reply = part.read(call);
  BeatReply answer{TimePoint{Millis{reply.integer(0)}}, {}};
  for (std::size_t i = 1; i + 2 < reply.size(); i += 3) {
    Member& member = answer.members.emplace_back();
    member.node = reply.text(i);
    member.since = Unpacker{reply.text(i + 1)}.time();
    read_member_text(reply.text(i + 2), member);
  }
  std::ranges::sort(answer.members, {}, &Member::node);
  return answer;
}

bool leave(Part& part, std::string_view space, std::string_view node) {
  const std::string key = part.keys().members(space);
  return part.read(Command::of("HDEL", std::string_view{key}, node)).integer() > 0;
}

}  // namespace easyretry::storage::redis
