#include "storage/redis/loading.h"

#include <algorithm>
#include <deque>
#include <map>

#include "storage/redis/limits.h"
#include "storage/redis/packing.h"

namespace easyretry::storage::redis {
namespace {

constexpr std::size_t kShardsACall = 256;
// As in lua/load.lua.
enum class Found { end_of_it = 0, full = 1, more = 2, something_else = 3 };

// A shard that is being read, a few thousand members a call.
struct Shard {
  ShardCursor cursor;
  std::size_t room = 0;
};

class Loading {
 public:
  Loading(Server& server, const LoadQuery& query) : server_(server), query_(query) {
    const std::size_t room = std::min<std::size_t>(query.limit, 1'000'000);
    for (const ShardCursor& cursor : query.from) left_.push_back({cursor, room});
  }

  // Where a set is none, the other shards go on; whoever stores a task in it is told.
  LoadReply run() {
    while (!left_.empty()) read();
    if (unreadable_ == query_.from.size()) throw server_error("WRONGTYPE at all sets of due tasks");
    std::ranges::stable_sort(tasks_, {}, [](const Task& task) { return task.order; });
    for (const Task& task : tasks_) reply_.tasks.push_back(task.loaded);
    return std::move(reply_);
  }

 private:
  struct Task {
    std::tuple<ShardId, TimePoint, TaskId> order;
    LoadedTask loaded;
  };

  void read() {
    ScriptCall call = server_.script(scripts::load);
    call.keys.push_back(server_.keys().meta());
    call.arguments.push_back(Packer{}.millis(query_.ahead).take());
    call.arguments.push_back(std::to_string(kMembersALoad));
    for (std::size_t i = 0; i < std::min(left_.size(), kShardsACall); ++i) {
      const ShardCursor& from = left_[i].cursor;
      call.keys.push_back(server_.keys().due(from.shard, query_.space));
      const bool after = from.place != TimePoint::min();
      call.arguments.push_back(Packer{}.u8(after ? 1 : 0).time(from.place).id(from.id).u32(left_[i].room).take());
    }
    const Reply reply = server_.read(call);
    reply_.now = TimePoint{Millis{reply.integer(0)}};
    for (std::size_t i = 1; i + 2 < reply.size(); i += 3) {
      Shard shard = left_.front();
      left_.pop_front();
      take(shard, static_cast<Found>(reply.integer(i)), reply.text(i + 1), reply.text(i + 2));
    }
  }

  void take(Shard& shard, Found found, std::string_view entries, std::string_view place) {
    for (Unpacker in{entries}; !in.empty(); --shard.room) {
      LoadedTask task;
      task.ticket.id = in.id();
      task.ticket.version = to_millis(in.f64());
      task.next_at = in.time();
      task.handler = handler(in.u16());
      tasks_.push_back({{shard.cursor.shard, task.next_at, task.ticket.id}, task});
    }
    if (found == Found::something_else) ++unreadable_;
    if (found == Found::end_of_it || found == Found::something_else) return;
    Unpacker in{place};
    shard.cursor.place = in.time();
    shard.cursor.id = in.id();
    if (found == Found::more) {
      left_.push_back(shard);
    } else {
      reply_.more.push_back(shard.cursor);
    }
  }

  std::uint32_t handler(unsigned number) {
    const auto [found, fresh] = handlers_.try_emplace(number, static_cast<std::uint32_t>(reply_.handlers.size()));
    if (fresh) reply_.handlers.push_back(server_.name_of(number));
    return found->second;
  }

  Server& server_;
  const LoadQuery& query_;
  std::deque<Shard> left_;
  std::vector<Task> tasks_;
  std::map<unsigned, std::uint32_t> handlers_;
  std::size_t unreadable_ = 0;
  LoadReply reply_;
};

}  // namespace

LoadReply load(Server& server, const LoadQuery& query) {
  server.uses(query.space);
  if (query.from.empty() || query.limit == 0) {
    LoadReply nothing;
    nothing.now = server.now();
    return nothing;
  }
  return Loading{server, query}.run();
}

}  // namespace easyretry::storage::redis
