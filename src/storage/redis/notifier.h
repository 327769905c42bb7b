#pragma once
// Announcements with PUBLISH and SUBSCRIBE.
//
// An insert publishes nothing: the server would publish every task, even those that the inserting instance runs
// itself. Announcements are sent later, at most one in Notifier::kInterval. One connection listens, because Redis
// accepts no other commands on it. Another one publishes; it is opened for the first announcement.
//
// An ACL user has no channels unless it is given some. If the user may not subscribe to this one, the instance does not
// listen, and asks for new tasks as often as before.

#include <memory>
#include <string>

#include "storage/redis/link.h"
#include "storage/server/notifier.h"

namespace easyretry::storage::redis {

// For the store with this prefix in this database. The link must outlive it.
std::unique_ptr<server::Notifier> make_notifier(Link& link, const std::string& prefix, int database);

}  // namespace easyretry::storage::redis
