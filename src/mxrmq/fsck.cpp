#include "mxrmq/fsck.h"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <vector>

#include "mxrmq/message.h"
#include "mxrmq/operations.h"

namespace easyretry::mxrmq {
namespace {

using Kind = Finding::Kind;
using Ids = std::vector<std::string>;

constexpr Millis kRepairLease = std::chrono::minutes{1};

Kind lone_kind(Where where) {
  switch (where) {
    case Where::payloads: return Kind::lone_topic;
    case Where::dlq: return Kind::lone_letter;
    case Where::own: return Kind::lone_lease;
  }
  return Kind::lone_topic;
}

class Fsck {
 public:
  Fsck(QueueConnection& link, const FsckOptions& options) : link_(link), options_(options) {}

  FsckReport run() {
    for (const std::string& topic : topics_of(link_)) check_lists(topic);
    check_messages();
    for (const Where where : {Where::dlq, Where::own}) {
      each_slice(link_, where, [&](const std::vector<FoundField>& fields) { repair_lone(where, fields); });
    }
    repair_orphans();
    return report_;
  }

 private:
  void found(Kind kind, const std::string& id, const std::string& topic) {
    ++report_.findings;
    options_.tell({kind, id, topic});
  }

  // A list that grows while it is read shows ids twice; the script tells which ones really are duplicates.
  void check_lists(const std::string& topic) {
    std::map<std::string, int> mentions;
    each_slice(link_, link_.keys().pending(topic), [&](const Ids& ids) {
      for (const std::string& id : ids) ++mentions[id];
    });
    Ids doubled;
    for (const auto& [id, times] : mentions) {
      listed_.insert(id);
      if (times > 1) doubled.push_back(id);
    }
    each_slice(link_, link_.keys().processing(topic), [&](const Ids& ids) { listed_.insert(ids.begin(), ids.end()); });
    in_slices(doubled, [&](const Ids& some) { repair_doubled(topic, some); });
  }

  void repair_doubled(const std::string& topic, const Ids& ids) {
    Ids arguments{options_.repair ? "1" : "0"};
    arguments.insert(arguments.end(), ids.begin(), ids.end());
    const Reply others = link_.run(scripts::dedupe, topic, arguments);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (others.integer(i) > 0) found(Kind::doubled, ids[i], topic);
    }
  }

  void check_messages() {
    const std::string& payloads = link_.keys().payloads;
    const std::int64_t expected = link_.run(Command::of("HLEN", std::string_view{payloads})).integer() / 2;
    each_slice(link_, Where::payloads, [&](const std::vector<FoundField>& fields) {
      Ids unlisted;
      for (const FoundField& each : fields) {
        if (each.kind != FoundField::Kind::body) continue;
        ++report_.messages;
        if (!listed_.contains(each.id)) unlisted.push_back(each.id);
      }
      repair_lone(Where::payloads, fields);
      in_slices(unlisted, [&](const Ids& some) {
        for (std::string& id : still_orphans(some)) orphans_.push_back(std::move(id));
      });
      options_.progress(report_.messages, expected);
    });
  }

  void repair_lone(Where where, const std::vector<FoundField>& fields) {
    Ids arguments{name_of(where)};
    for (const FoundField& each : fields) {
      if (each.kind != FoundField::Kind::lone) continue;
      found(lone_kind(where), each.id, each.topic);
      arguments.push_back(each.id);
    }
    if (options_.repair && arguments.size() > 1) link_.run(scripts::sweep, "", arguments);
  }

  Ids still_orphans(const Ids& ids) {
    const Reply reply = link_.run(scripts::orphans, "", ids);
    Ids orphans;
    for (std::size_t i = 0; i < reply.size(); ++i) orphans.emplace_back(reply.text(i));
    return orphans;
  }

  void repair_orphans() {
    std::ranges::sort(orphans_);
    orphans_.erase(std::unique(orphans_.begin(), orphans_.end()), orphans_.end());
    if (orphans_.empty()) return;
    options_.pauses->sleep(options_.grace);
    in_slices(orphans_, [&](const Ids& some) {
      if (options_.repair) {
        rescue(some);
      } else {
        for (const std::string& id : still_orphans(some)) found(Kind::orphan, id, "");
      }
    });
  }

  void rescue(const Ids& ids) {
    const std::string token = "fsck-" + new_id();
    Ids arguments{token, std::to_string(kRepairLease.count())};
    arguments.insert(arguments.end(), ids.begin(), ids.end());
    const Reply reply = link_.run(scripts::rescue, "", arguments);
    for (std::size_t i = 0; i + 3 < reply.size(); i += 4) {
      const std::string id{reply.text(i)};
      if (reply.text(i + 1) == "rescued") found(Kind::orphan, id, link_.keys().topic_of(reply.text(i + 2)));
      if (reply.text(i + 1) != "homeless") continue;
      found(Kind::unreadable, id, "");
      const std::int64_t now = system_clock().now().time_since_epoch().count();
      const LeasedMessage taken{{id, token},
                                parse_error_record(id, reply.text(i + 3), "", "not JSON, or no topic", now)};
      set_aside(link_, "", {&taken, 1});
    }
  }

  template <class Visit>
  static void in_slices(const Ids& ids, Visit visit) {
    for (std::size_t from = 0; from < ids.size(); from += kMessagesACall) {
      const auto begin = ids.begin() + static_cast<std::ptrdiff_t>(from);
      const auto count = static_cast<std::ptrdiff_t>(std::min(kMessagesACall, ids.size() - from));
      visit(Ids{begin, begin + count});
    }
  }

  QueueConnection& link_;
  const FsckOptions& options_;
  FsckReport report_;
  std::unordered_set<std::string> listed_;
  Ids orphans_;
};

}  // namespace

std::string_view to_string(Finding::Kind kind) {
  switch (kind) {
    case Kind::orphan: return "orphan";
    case Kind::unreadable: return "unreadable orphan";
    case Kind::doubled: return "pending twice";
    case Kind::lone_topic: return "topic without message";
    case Kind::lone_letter: return "topic without dead letter";
    case Kind::lone_lease: return "lease without message";
  }
  return "";
}

FsckReport fsck(std::string_view queue_url, const FsckOptions& options) {
  QueueConnection link{parse_queue_url(queue_url)};
  return or_store_error("mxrmq.fsck", options.repair ? Access::write : Access::read, [&] {
    return Fsck{link, options}.run();
  });
}

}  // namespace easyretry::mxrmq
