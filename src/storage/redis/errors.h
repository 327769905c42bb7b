#pragma once
// What an error that Redis answers with means, and what helps.

#include <string_view>

#include "storage/server/server_error.h"

namespace easyretry::storage::redis {

// The server has the whole request, and no reply came: it may have been done.
class LostReply : public server::ServerError {
 public:
  using ServerError::ServerError;
};

server::ServerError server_error(std::string_view reply);

// The connection leads to a server that will not do what it is for: a new one may lead to another.
bool spoils_connection(std::string_view reply);

// The server, or the cluster, is not ready for this slot: another server may have it by now.
bool may_be_elsewhere(std::string_view reply);

inline bool is_no_script(std::string_view reply) {
  return reply.starts_with("NOSCRIPT");
}
inline bool is_stale(std::string_view reply) {
  return reply.starts_with("STALE");
}

}  // namespace easyretry::storage::redis
