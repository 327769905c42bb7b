#pragma once
// Instances meet in Nacos: each registers itself under a service, and is told at once who comes and who goes.
//
// What Nacos says is a hint like any other list. It knows us by our connection: a connection that is lost takes us out
// of the list though we live, and a server that restarts has forgotten everybody.

#include <condition_variable>
#include <mutex>
#include <optional>

#include "cluster/coming_back.h"
#include "cluster/held_port.h"
#include "cluster/membership.h"
#include "cluster/nacos_roll.h"
#include "nacos/nacos_url.h"
#include "nacos/naming_client.h"

namespace easyretry::cluster {

class NacosMembership final : public Membership {
 public:
  // Does nothing before the first refresh().
  NacosMembership(nacos::ServiceUrl where, Company company, std::string node);
  ~NacosMembership() override;

  const Traits& traits() const override { return traits_; }
  // From what the client knows; asks nobody. Waits for the first list, for a moment.
  Result<Roll> refresh(const Word& word) override;
  void leave() override;
  void listen(std::function<void()> changed) override;

 private:
  struct Line;  // what there is while we take part

  Line& line();
  // False: the handlers do not fit.
  bool announce(Line& line, const Word& word);
  void take(const nacos::ServiceView& view);
  std::optional<nacos::ServiceView> first_list();
  Error why_no_list(const Line& line) const;

  // Fixed after construction
  const nacos::ServiceUrl where_;
  const Company company_;
  const TimePoint since_;
  const Traits traits_;
  const HeldPort port_;

  // Of the thread that refreshes
  ComingBack coming_back_;
  bool waited_ = false;

  std::mutex mutex_;
  std::condition_variable heard_;
  // Guarded by mutex_
  std::optional<nacos::ServiceView> newest_;
  std::function<void()> changed_;

  std::unique_ptr<Line> line_;  // last: its listener uses the others
};

}  // namespace easyretry::cluster
