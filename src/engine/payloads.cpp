#include "engine/payloads.h"

#include <charconv>

#include "task/task_key.h"

namespace easyretry::engine {
namespace {

// Like "$sealed" (seal/sealed_text.h), a name that no result of an application is expected to have.
constexpr std::string_view kLeftOut = R"({"$left_out":)";

seal::Binding binding(const task::TaskRecord& record, seal::Content content) {
  return {record.info.name_space, record.info.handler, record.info.key, content, record.payload_version};
}

}  // namespace

std::string left_out_result(std::size_t bytes) {
  return std::string{kLeftOut} + std::to_string(bytes) + "}";
}

std::optional<std::size_t> bytes_left_out(std::string_view result) {
  if (!result.starts_with(kLeftOut)) return std::nullopt;
  std::size_t bytes = 0;
  const char* const end = result.data() + result.size();
  const auto [rest, error] = std::from_chars(result.data() + kLeftOut.size(), end, bytes);
  if (error != std::errc{} || std::string_view{rest, static_cast<std::size_t>(end - rest)} != "}") return std::nullopt;
  return bytes;
}

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
                       {task.name_space, task.handler, task.key, seal::Content::arguments, task.payload_version});
}

Result<std::string> Payloads::seal_arguments(const task::TaskRecord& record, std::string arguments) const {
  if (!sealer_) return arguments;
  return sealer_->seal(arguments, binding(record, seal::Content::arguments));
}

Result<std::string> Payloads::open_arguments(const task::TaskRecord& record) const {
  if (!sealer_) return record.payload;
  return sealer_->open(record.payload, binding(record, seal::Content::arguments));
}

Result<std::string> Payloads::seal_result(const task::TaskRecord& record, std::string result) const {
  if (!sealer_ || result.empty() || bytes_left_out(result)) return result;
  return sealer_->seal(result, binding(record, seal::Content::result));
}

Result<std::string> Payloads::open_result(const task::TaskRecord& record) const {
  if (!sealer_ || record.result.empty() || bytes_left_out(record.result)) return record.result;
  return sealer_->open(record.result, binding(record, seal::Content::result));
}

}  // namespace easyretry::engine
