#include "http/message.h"

namespace easyretry::http {

std::string_view to_string(Method method) {
  switch (method) {
    case Method::get: return "GET";
    case Method::head: return "HEAD";
    case Method::post: return "POST";
    case Method::put: return "PUT";
    case Method::patch: return "PATCH";
    case Method::del: return "DELETE";
    case Method::other: break;
  }
  return "OTHER";
}

}  // namespace easyretry::http
