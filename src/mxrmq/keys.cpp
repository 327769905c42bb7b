#include "mxrmq/keys.h"

namespace easyretry::mxrmq {
namespace {

void name_gen2(Keys& keys, const std::string& p) {
  keys.payloads = p + "payloads";
  keys.expires = p + "expires";
  keys.delays = p + "delays";
  keys.wake = p + "delay:wake";
  keys.dlq = p + "dlq";
  keys.dlq_data = p + "dlq:data";
  keys.errors = p + "errors";
  keys.errors_data = p + "errors:data";
}

void name_gen1(Keys& keys, const std::string& p) {
  keys.payloads = p + "payload:map";
  keys.expires = p + "expire:monitor";
  keys.delays = p + "delay:tasks";
  keys.wake = p + "delay:wakeup";
  keys.dlq = p + "dlq:queue";
  keys.dlq_data = p + "dlq:payload:map";
  keys.errors = p + "error:parse:queue";
  keys.errors_data = p + "error:parse:payload:map";
}

void name_gen_doc(Keys& keys, const std::string& p, const std::string& queue) {
  keys.payloads = p + queue + ":payload";
  keys.expires = p + "all_expire_monitor";
  keys.delays = p + queue + ":delay_tasks";
  keys.wake = p + queue + ":delay_wakeup";
  keys.dlq = p + "dlq";
  keys.dlq_data = p + "dlq_payload_map";
  keys.errors = p + "error:parse:queue";
  keys.errors_data = p + "error:parse:payload";
}

}  // namespace

std::string_view to_string(Profile profile) {
  switch (profile) {
    case Profile::gen2: return "gen2";
    case Profile::gen1: return "gen1";
    case Profile::gen_doc: return "gen-doc";
  }
  return "";
}

std::string Keys::topic_of(std::string_view full_topic) const {
  if (full_topic.starts_with(prefix)) full_topic.remove_prefix(prefix.size());
  return std::string{full_topic};
}

Keys make_keys(Profile profile, std::string_view prefix, std::string_view queue) {
  Keys keys;
  keys.profile = profile;
  keys.prefix = prefix.empty() ? "" : std::string{prefix} + ":";
  switch (profile) {
    case Profile::gen2: name_gen2(keys, keys.prefix); break;
    case Profile::gen1: name_gen1(keys, keys.prefix); break;
    case Profile::gen_doc: name_gen_doc(keys, keys.prefix, std::string{queue}); break;
  }
  return keys;
}

}  // namespace easyretry::mxrmq
