#pragma once
// The dashboard: the files of web/dist, which the build embeds in the program (cmake/embed_folder.cmake).

#include <optional>
#include <span>
#include <string_view>

#include "http/message.h"

namespace easyretry::server {

struct PageFile {
  std::string_view path;  // "/assets/index-4f1c.js"
  std::string_view tag;   // of its bytes
  std::string_view plain;
  std::string_view gzip;  // empty if compressing does not make it shorter
};

extern const std::span<const PageFile> kPageFiles;  // empty: built with EASYRETRY_DASHBOARD=OFF

// Nullopt: the request is for the API. The dashboard has addresses of its own, such as /tasks/17, for which the browser
// gets index.html; any other client gets 404 there.
std::optional<http::Response> page_for(const http::Request& request, std::span<const PageFile> files);

}  // namespace easyretry::server
