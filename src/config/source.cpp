#include "config/source.h"

#include <utility>

#include "config/file_source.h"
#include "config/nacos_source.h"

namespace easyretry::config {

std::shared_ptr<Source> open_source(const std::filesystem::path& where, LogSink log) {
  const std::string text = where.string();
  if (!text.starts_with("nacos://")) return std::make_shared<FileSource>(where);
  return std::make_shared<NacosSource>(nacos::parse_config_url(text), std::move(log));
}

}  // namespace easyretry::config
