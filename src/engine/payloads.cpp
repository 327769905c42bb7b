#include "engine/payloads.h"

#include "task/task_key.h"

namespace easyretry::engine {
namespace {

seal::Binding binding(const task::TaskRecord& record, seal::Content content) {
  return {record.info.space, record.info.handler, record.info.key, content, record.payload_version};
}

}  // namespace

Payloads::Payloads(const Encryption& encryption) {
  if (encryption.enabled()) sealer_ = std::make_shared<seal::Sealer>(encryption);
}

std::string Payloads::derive_key(std::string_view handler, std::string_view plain_arguments) const {
  if (!sealer_) return task::derive_key(handler, plain_arguments);
  return std::string{handler} + ":" + sealer_->identity(plain_arguments);
}

Result<std::string> Payloads::seal_arguments(const task::NewTask& task) const {
  if (!sealer_) return task.payload;
  return sealer_->seal(task.payload,
                       {task.space, task.handler, task.key, seal::Content::arguments, task.payload_version});
}

Result<std::string> Payloads::open_arguments(const task::TaskRecord& record) const {
  if (!sealer_) return record.payload;
  return sealer_->open(record.payload, binding(record, seal::Content::arguments));
}

Result<std::string> Payloads::seal_result(const task::TaskRecord& record, std::string result) const {
  if (!sealer_ || result.empty()) return result;
  return sealer_->seal(result, binding(record, seal::Content::result));
}

Result<std::string> Payloads::open_result(const task::TaskRecord& record) const {
  if (!sealer_ || record.result.empty()) return record.result;
  return sealer_->open(record.result, binding(record, seal::Content::result));
}

}  // namespace easyretry::engine
