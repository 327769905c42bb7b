#include "storage/memory/task_filter.h"

namespace easyretry::storage {
namespace {

bool allows(const std::string& wanted, const std::string& value) {
  return wanted.empty() || wanted == value;
}

}  // namespace

bool matches(const TaskRecord& record, const TaskQuery& query) {
  const TaskInfo& info = record.info;
  return allows(query.space, info.space) && allows(query.key, info.key) && allows(query.handler, info.handler) &&
         allows(query.business_type, info.business_type) && allows(query.business_id, info.business_id) &&
         (!query.state || query.state == info.state) && (!query.outcome || query.outcome == info.outcome);
}

}  // namespace easyretry::storage
