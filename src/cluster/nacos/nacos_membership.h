#pragma once
// Instances find each other in Nacos. Each registers itself under a service, and Nacos pushes every change.
//
// The list from Nacos is a hint like any other. Nacos identifies an instance by its connection: losing the connection
// removes a live instance from the list, and a server that restarts has lost all registrations.

#include <condition_variable>
#include <mutex>
#include <optional>

#include "cluster/membership.h"
#include "cluster/nacos/nacos_metadata.h"
#include "nacos/naming_client.h"
#include "nacos/options.h"

namespace easyretry::cluster {

// A port of this machine that is reserved while the object lives. Nothing listens on it. It distinguishes instances
// with the same address, for registries that identify them by address and port.
class ReservedPort {
 public:
  ReservedPort();
  ~ReservedPort();
  ReservedPort(const ReservedPort&) = delete;
  ReservedPort& operator=(const ReservedPort&) = delete;

  int number() const { return number_; }  // 0: no port was available

 private:
  int socket_ = -1;
  int number_ = 0;
};

class NacosMembership final : public Membership {
 public:
  // Does nothing before the first refresh().
  NacosMembership(nacos::ServiceUrl where, SharedSettings settings, std::string node);
  ~NacosMembership() override;

  const Traits& traits() const override { return traits_; }
  // Answers from what the client knows, without a request. Waits briefly for the first list.
  Result<MemberList> refresh(const Announcement& announcement) override;
  void leave() override;
  void listen(std::function<void()> changed) override;

 private:
  struct Session;  // exists from the first refresh() to leave()

  Session& open_session();
  // Returns false if the handlers do not fit.
  bool announce(Session& session, const Announcement& announcement);
  void take(const nacos::ServiceView& view);
  std::optional<nacos::ServiceView> first_list();
  Error why_no_list(const Session& session) const;

  // Fixed after construction
  const nacos::ServiceUrl where_;
  const SharedSettings settings_;
  const TimePoint since_;
  const Traits traits_;
  const ReservedPort port_;

  // Used by the thread that refreshes
  RejoinGrace rejoin_grace_;
  bool waited_ = false;

  std::mutex mutex_;
  std::condition_variable arrived_;
  // Guarded by mutex_
  std::optional<nacos::ServiceView> newest_;
  std::function<void()> changed_;

  std::unique_ptr<Session> session_;  // last: its listener uses the others
};

}  // namespace easyretry::cluster
