#include "storage/task_filter.h"

namespace easyretry::storage {
namespace {

bool allows(const std::string& wanted, const std::string& value) {
  return wanted.empty() || wanted == value;
}

bool within(const TimeRange& range, const std::optional<TimePoint>& time) {
  return !range.restricts() || (time && range.contains(*time));
}

}  // namespace

bool matches(const TaskRecord& record, const TaskQuery& query) {
  const TaskInfo& info = record.info;
  return allows(query.space, info.space) && allows(query.key, info.key) && allows(query.handler, info.handler) &&
         allows(query.business_type, info.business_type) && allows(query.business_id, info.business_id) &&
         (!query.state || query.state == info.state) && (!query.outcome || query.outcome == info.outcome) &&
         query.created_at.contains(info.created_at) && within(query.finished_at, info.finished_at) &&
         (query.requeued || !info.requeued_as);
}

}  // namespace easyretry::storage
