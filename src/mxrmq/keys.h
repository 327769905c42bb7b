#pragma once
// The names of a queue's keys in Redis, of which mx-rmq has had three generations.

#include <string>
#include <string_view>

namespace easyretry::mxrmq {

enum class Profile {
  gen2,     // 1.5 and newer
  gen1,     // up to 1.4
  gen_doc,  // the names of its design notes, by queue
};

std::string_view to_string(Profile profile);

struct Keys {
  Profile profile = Profile::gen2;
  std::string prefix;  // with its colon; empty without one

  std::string payloads;     // hash: id → message, id:queue → its topic with the prefix
  std::string expires;      // zset: id → end of its time to live or, once it is taken, of its lease
  std::string delays;       // zset: id → when it may be taken
  std::string wake;         // channel: a delayed message is the next one now
  std::string dlq;          // list: ids of dead letters, the newest left
  std::string dlq_data;     // hash: as payloads, of dead letters
  std::string errors;       // list: ids of messages that could not be read
  std::string errors_data;  // hash: id → what is left of them

  // Of ours, which Python does not know.
  std::string own() const { return prefix + "cxx:own"; }           // hash: id → end of our lease, and whose it is
  std::string lost() const { return prefix + "cxx:lost"; }         // hash: id → workers that died with it
  std::string importing() const { return prefix + "cxx:import"; }  // zset: id → when to run; in the hands of an import
  std::string letters() const { return prefix + "cxx:letters"; }   // set: ids of dead letters, the same

  std::string full_topic(std::string_view topic) const { return prefix + std::string{topic}; }
  std::string pending(std::string_view topic) const { return full_topic(topic) + ":pending"; }  // list, next right
  std::string processing(std::string_view topic) const {
    return full_topic(topic) + ":processing";
  }  // list, newest left
  // Without the prefix.
  std::string topic_of(std::string_view full_topic) const;
};

// `queue` is the {queue_name} of gen_doc; the others do not look at it.
Keys make_keys(Profile profile, std::string_view prefix, std::string_view queue);

}  // namespace easyretry::mxrmq
