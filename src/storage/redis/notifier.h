#pragma once
// Announcements with PUBLISH and SUBSCRIBE.
//
// An insert publishes nothing: the server would do it for every task, also for those that the instance which stored
// them runs itself. Announcements are sent afterwards, at most once in Notifier::kInterval. One connection listens,
// because Redis answers no other commands on it; one that is opened for the first announcement publishes.
//
// A user who may not subscribe to the channel, as none may whom an ACL gives no channels, does not listen: then
// instances ask for new tasks as often as before.

#include <memory>
#include <string>

#include "storage/redis/link.h"
#include "storage/server/notifier.h"

namespace easyretry::storage::redis {

// For the store with this prefix in this database. The link must outlive it.
std::unique_ptr<server::Notifier> make_notifier(Link& link, const std::string& prefix, int database);

}  // namespace easyretry::storage::redis
