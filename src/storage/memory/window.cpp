#include "storage/memory/window.h"

#include <algorithm>
#include <map>

#include "base/later.h"
#include "task/transitions.h"

namespace easyretry::storage {
namespace {

// Judged by the claim's own guard at the moment the claim would come.
bool claimable(const TaskRecord& record, TimePoint now) {
  const Ticket seen{record.info.id, record.info.version};
  return task::claim_event(record, seen, std::max(now, record.info.next_at)).has_value();
}

class WindowScan {
 public:
  WindowScan(const LiveTasks& live, const LoadQuery& query, TimePoint now)
      : live_(live), query_(query), until_(base::later(now, query.ahead)) {
    reply_.now = now;
  }

  void scan(const ShardCursor& from) {
    const auto& due = live_.due(query_.space, from.shard);
    std::size_t room = query_.limit;
    for (auto it = due.upper_bound({from.place, from.id}); it != due.end() && it->next_at <= until_; ++it) {
      if (room == 0) break;
      const TaskRecord& record = *live_.find(it->id);
      if (!claimable(record, reply_.now)) continue;
      add(record);
      if (--room == 0) reply_.more.push_back({.shard = from.shard, .place = it->next_at, .id = it->id});
    }
  }

  LoadReply take() { return std::move(reply_); }

 private:
  void add(const TaskRecord& record) {
    const TaskInfo& info = record.info;
    reply_.tasks.push_back(
        {{info.id, info.version}, info.next_at, handler_index(info.handler), suspicion_byte(task::suspicion(record))});
  }

  std::uint32_t handler_index(const std::string& name) {
    const auto [found, fresh] = index_.try_emplace(name, static_cast<std::uint32_t>(index_.size()));
    if (fresh) reply_.handlers.push_back(name);
    return found->second;
  }

  const LiveTasks& live_;
  const LoadQuery& query_;
  const TimePoint until_;
  LoadReply reply_;
  std::map<std::string_view, std::uint32_t> index_;
};

}  // namespace

LoadReply load_window(const LiveTasks& live, const LoadQuery& query, TimePoint now) {
  WindowScan scan{live, query, now};
  for (const ShardCursor& from : query.from) scan.scan(from);
  return scan.take();
}

}  // namespace easyretry::storage
