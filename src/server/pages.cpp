#include "server/pages.h"

#include <algorithm>
#include <array>

namespace easyretry::server {
namespace {

using http::Method;

constexpr std::string_view kIndex = "/index.html";
constexpr std::string_view kAssets = "/assets/";
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src "
    "'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

// First segments of the paths that belong to the API, even without an endpoint: a program must not get a page there.
constexpr std::array<std::string_view, 5> kNotPages{"v1", "assets", "metrics", "healthz", "readyz"};

constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kTypes{{
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".json", "application/json"},
    {".svg", "image/svg+xml"},
    {".png", "image/png"},
    {".ico", "image/x-icon"},
    {".woff2", "font/woff2"},
    {".txt", "text/plain; charset=utf-8"},
    {".webmanifest", "application/manifest+json"},
}};

std::string_view type_of(std::string_view path) {
  for (const auto& [ending, type] : kTypes) {
    if (path.ends_with(ending)) return type;
  }
  return "application/octet-stream";
}

const PageFile* find(std::span<const PageFile> files, std::string_view path) {
  const auto found = std::ranges::find(files, path, &PageFile::path);
  return found == files.end() ? nullptr : &*found;
}

bool says(const http::Request& request, const std::string& header, std::string_view word) {
  return request.header(header).value_or("").find(word) != std::string_view::npos;
}

// "gzip;q=0" means that the client cannot take it.
bool takes_gzip(const http::Request& request) {
  return says(request, "accept-encoding", "gzip") && !says(request, "accept-encoding", "gzip;q=0");
}

const PageFile* file_for(const http::Request& request, std::span<const PageFile> files) {
  const std::string& path = request.target.path;
  if (const PageFile* exact = find(files, path)) return exact;
  const std::string& first = request.target.segments.front();
  if (std::ranges::find(kNotPages, first) != kNotPages.end()) return nullptr;
  return path == "/" || says(request, "accept", "text/html") ? find(files, kIndex) : nullptr;
}

http::Response answer(const PageFile& file, const http::Request& request) {
  http::Response response{.content_type = std::string{type_of(file.path)}};
  // The names of assets change with their bytes.
  const bool lasts = file.path.starts_with(kAssets);
  const std::string tag = "\"" + std::string{file.tag} + "\"";
  response.headers = {{"Content-Security-Policy", std::string{kPolicy}},
                      {"Referrer-Policy", "no-referrer"},
                      {"Vary", "Accept-Encoding"},
                      {"Cache-Control", lasts ? "public, max-age=31536000, immutable" : "no-cache"},
                      {"ETag", "W/" + tag}};
  if (says(request, "if-none-match", tag)) {
    response.status = 304;
  } else if (!file.gzip.empty() && takes_gzip(request)) {
    response.headers.emplace_back("Content-Encoding", "gzip");
    response.body = file.gzip;
  } else {
    response.body = file.plain;
  }
  return response;
}

}  // namespace

std::optional<http::Response> page_for(const http::Request& request, std::span<const PageFile> files) {
  if (request.method != Method::get && request.method != Method::head) return std::nullopt;
  const PageFile* const file = file_for(request, files);
  if (file == nullptr) return std::nullopt;
  return answer(*file, request);
}

}  // namespace easyretry::server
