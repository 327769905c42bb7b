#include "nacos/config_messages.h"

#include "nacos/json_read.h"

namespace easyretry::nacos {
namespace {

constexpr int kNoSuchConfig = 300;  // in a ConfigQueryResponse; elsewhere it means a server that is starting

void write(JsonWriter& out, std::string_view key, std::string_view value) {
  out.key(key);
  out.string(value);
}

// Opens the object. Configuration wants the default namespace as an empty id, unlike naming; and always the key.
void begin_key(JsonWriter& out, const std::string& space, const ConfigKey& key) {
  out.begin_object();
  write(out, "dataId", key.data_id);
  write(out, "group", key.group);
  write(out, "tenant", space == "public" ? "" : space);
}

Message request_of_key(const char* type, const std::string& space, const ConfigKey& key) {
  JsonWriter out;
  begin_key(out, space, key);
  out.end_object();
  return {type, out.take()};
}

}  // namespace

Message config_query(const std::string& space, const ConfigKey& key) {
  return request_of_key("ConfigQueryRequest", space, key);
}

Message config_remove(const std::string& space, const ConfigKey& key) {
  return request_of_key("ConfigRemoveRequest", space, key);
}

Message config_publish(const std::string& space, const ConfigKey& key, const std::string& text) {
  JsonWriter out;
  begin_key(out, space, key);
  write(out, "content", text);
  out.end_object();
  return {"ConfigPublishRequest", out.take()};
}

Message config_listen(const std::string& space, const std::vector<HeldConfig>& held, bool listen) {
  JsonWriter out;
  out.begin_object();
  out.key("listen");
  out.boolean(listen);
  out.key("configListenContexts");
  out.begin_array();
  for (const auto& [key, md5] : held) {
    begin_key(out, space, key);
    write(out, "md5", md5);
    out.end_object();
  }
  out.end_array();
  out.end_object();
  return {"ConfigBatchListenRequest", out.take()};
}

Result<ConfigContent> read_config(const Reply& reply) {
  if (reply.ok()) return ConfigContent{string_at(reply.body.root(), "content"), string_at(reply.body.root(), "md5")};
  if (reply.code == kNoSuchConfig && !reply.is_general_error()) return ConfigContent{};
  return tl::make_unexpected(error_of(reply, "ConfigQueryRequest"));
}

std::vector<ConfigKey> read_changed(JsonView body) {
  std::vector<ConfigKey> changed;
  if (const auto list = value_at(body, "changedConfigs")) {
    for (std::size_t i = 0; i < list->size(); ++i) changed.push_back(read_config_key(list->at(i)));
  }
  return changed;
}

ConfigKey read_config_key(JsonView body) {
  return {string_at(body, "dataId"), string_at(body, "group")};
}

}  // namespace easyretry::nacos
