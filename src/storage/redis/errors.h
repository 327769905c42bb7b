#pragma once
// The errors that Redis answers with: their meaning, and what to do about them.

#include <string_view>

#include "storage/server/server_error.h"

namespace easyretry::storage::redis {

// The server may have the whole request, and no reply came: it may have been executed.
class LostReply : public server::ServerError {
 public:
  using ServerError::ServerError;
};

server::ServerError server_error(std::string_view reply);

// The server will not accept our commands. A new connection may lead to another server.
bool spoils_connection(std::string_view reply);

// The server, or the cluster, is not ready for this slot. By now another server may have it.
bool may_be_elsewhere(std::string_view reply);

inline bool is_no_script(std::string_view reply) {
  return reply.starts_with("NOSCRIPT");
}
inline bool is_stale(std::string_view reply) {
  return reply.starts_with("STALE");
}

}  // namespace easyretry::storage::redis
