#pragma once
// A queue as a URL, and the names of its keys in Redis:
//
//   mxrmq://user:password@host:port/database?prefix=…&topic=…&profile=…&queue=…&in_flight=…&connections=N

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/time.h>

#include "storage/redis/address.h"

namespace easyretry::mxrmq {

// mx-rmq has had three generations of key names.
enum class Profile {
  gen2,     // 1.5 and newer
  gen1,     // up to 1.4
  gen_doc,  // the names in its design notes, per queue
};

std::string_view to_string(Profile profile);

struct Keys {
  Profile profile = Profile::gen2;
  std::string prefix;  // with its colon; empty if there is none

  std::string payloads;     // hash: id → message, id:queue → its topic with the prefix
  std::string expires;      // zset: id → end of its time to live or, once it is taken, of its lease
  std::string delays;       // zset: id → when it may be taken
  std::string wake;         // channel: there is a new first delayed message
  std::string dlq;          // list: ids of dead letters, the newest on the left
  std::string dlq_data;     // hash: like payloads, for dead letters
  std::string errors;       // list: ids of unreadable messages
  std::string errors_data;  // hash: id → record of the unreadable message

  // Our own keys, which Python does not know
  std::string own() const { return prefix + "cxx:own"; }           // hash: id → end and token of our lease
  std::string lost() const { return prefix + "cxx:lost"; }         // hash: id → number of workers that died with it
  std::string importing() const { return prefix + "cxx:import"; }  // zset: id → when to run; taken by an import
  std::string letters() const { return prefix + "cxx:letters"; }   // set: ids of dead letters that an import has taken

  std::string full_topic(std::string_view topic) const { return prefix + std::string{topic}; }
  // A list; the next message is on the right.
  std::string pending(std::string_view topic) const { return full_topic(topic) + ":pending"; }
  // A list; the newest message is on the left.
  std::string processing(std::string_view topic) const { return full_topic(topic) + ":processing"; }
  // Without the prefix.
  std::string topic_of(std::string_view full_topic) const;
};

// `queue` is the {queue_name} of gen_doc; the other profiles ignore it.
Keys make_keys(Profile profile, std::string_view prefix, std::string_view queue);

enum class InFlight {
  lease,  // only in expires, so that Python's monitor of processing, which allows minutes, ignores long runs
  list,   // also in the topic's processing, where Python counts them
};

struct QueueOptions {
  storage::redis::Address address{};
  std::string prefix{};
  std::optional<Profile> profile{};   // nullopt: the one that has data
  std::string queue{};                // for gen-doc; empty: the first topic
  std::vector<std::string> topics{};  // that fsck and import check in addition to those that messages name
  InFlight in_flight = InFlight::lease;
  std::size_t connections = 8;
  const Clock* clock = nullptr;  // null: the server's clock. For tests
};

// Throws std::invalid_argument that says what is wrong, without the password.
QueueOptions parse_queue_url(std::string_view url);

}  // namespace easyretry::mxrmq
