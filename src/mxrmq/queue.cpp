#include <algorithm>
#include <stdexcept>

#include <easyretry/mxrmq.h>

#include "base/utf8.h"
#include "mxrmq/message.h"
#include "mxrmq/next_step.h"
#include "mxrmq/operations.h"
#include "mxrmq/raw_object.h"
#include "policy/limits.h"

namespace easyretry::mxrmq {
namespace {

// As in Python: the times inside a message are informational, and no script relies on them.
std::int64_t wall_millis() {
  return system_clock().now().time_since_epoch().count();
}

constexpr Millis kLongest = std::chrono::floor<Millis>(policy::kLongestDelay);

void check_duration(std::string_view what, Millis duration) {
  if (duration >= Millis{0} && duration <= kLongest) return;
  throw std::invalid_argument(std::string{what} + " is " + std::to_string(duration.count()) +
                              " ms; use 0 to ten years");
}

void check_topic(std::string_view topic) {
  constexpr std::string_view kBlank = " \t\r\n\v\f";
  const bool padded =
      topic.empty() || kBlank.find(topic.front()) != kBlank.npos || kBlank.find(topic.back()) != kBlank.npos;
  if (padded || base::invalid_utf8(topic) != std::string_view::npos) {
    throw std::invalid_argument("the topic \"" + base::storable_utf8(topic) +
                                "\" must be UTF-8, not empty, and not begin or end with a space");
  }
}

std::string checked_payload(std::string_view payload) try {
  return RawObject{payload}.text();
} catch (const std::invalid_argument& why) {
  throw std::invalid_argument(std::string{"the payload is "} + why.what() + "; mx-rmq takes JSON objects only");
}

void check(const ProduceOptions& options) {
  check_duration("ttl", options.ttl);
  if (options.max_retries < 0) throw std::invalid_argument("max_retries is negative");
  for (const auto& delay : options.retry_delays) check_duration("a retry delay", delay);
  if (base::invalid_utf8(options.id) != std::string_view::npos) throw std::invalid_argument("the id is not UTF-8");
  if (options.id.ends_with(":queue")) {
    throw std::invalid_argument("an id must not end with :queue, which mx-rmq reserves for the topic of a message");
  }
}

}  // namespace

class Queue::Impl {
 public:
  explicit Impl(std::string_view url) : link_(parse_queue_url(url)) {}

  std::string produce(std::string_view topic, std::string_view payload, const ProduceOptions& options, Millis delay) {
    check_topic(topic);
    check(options);
    check_duration("the delay", delay);
    const std::string checked = checked_payload(payload);
    return or_store_error("mxrmq.produce", Access::write, [&] {
      const Message message = new_message(topic, checked, options, delay);
      const auto store = [&] {
        if (delay > Millis{0}) {
          mxrmq::produce_delayed(link_, message, delay);
        } else {
          mxrmq::produce(link_, message, options.ttl);
        }
      };
      // Safe to repeat if the reply was lost: an existing message is not stored again.
      try {
        store();
      } catch (const LostReply&) {
        store();
      }
      return message.id;
    });
  }

  bool requeue(const std::string& id, Millis delay) {
    check_duration("the delay", delay);
    return or_store_error("mxrmq.requeue", Access::write, [&] {
      while (true) {
        const std::string before = dead_letter(link_, id);
        if (before.empty()) return false;
        const Requeued answer = requeue_as_read(id, before, delay);
        if (answer != Requeued::changed) return answer == Requeued::done;
      }
    });
  }

  Counts counts(std::string_view topic) {
    check_topic(topic);
    return or_store_error("mxrmq.counts", Access::read, [&] { return mxrmq::counts(link_, topic); });
  }

 private:
  Message new_message(std::string_view topic, const std::string& payload, const ProduceOptions& options, Millis delay) {
    const std::int64_t now = wall_millis();
    Message message;
    message.id = options.id.empty() ? new_id() : options.id;
    message.topic = topic;
    message.priority = options.priority;
    message.created_at = now;
    message.payload = payload;
    Meta& meta = message.meta;
    meta.delay = std::chrono::ceil<std::chrono::seconds>(delay).count();
    meta.max_retries = options.max_retries;
    meta.retry_delays.clear();
    for (const auto& each : options.retry_delays) meta.retry_delays.push_back(each.count());
    meta.expire_at = now + options.ttl.count();
    meta.created_at = now;
    meta.updated_at = now;
    return message;
  }

  Requeued requeue_as_read(const std::string& id, const std::string& before, Millis delay) {
    try {
      const Message message = parse_message(before);
      const std::string json = rewritten(before, requeued(message.meta, wall_millis()));
      return mxrmq::requeue(link_, id, before, json, message.topic, delay);
    } catch (const MessageError& why) {
      throw StoreError{
          {Errc::invalid_argument, "mxrmq.requeue",
           "the dead letter " + id + " cannot be read (" + why.what() + "); correct it in " + link_.keys().dlq_data}};
    }
  }

  QueueConnection link_;
};

Queue::Queue(std::string_view url) : impl_(std::make_unique<Impl>(url)) {}
Queue::~Queue() = default;

std::string Queue::produce(std::string_view topic, std::string_view payload, const ProduceOptions& options) {
  return impl_->produce(topic, payload, options, Millis{0});
}
std::string Queue::produce_after(Millis delay, std::string_view topic, std::string_view payload,
                                 const ProduceOptions& options) {
  return impl_->produce(topic, payload, options, delay);
}
bool Queue::requeue(std::string_view id, Millis delay) {
  return impl_->requeue(std::string{id}, delay);
}
Counts Queue::counts(std::string_view topic) const {
  return impl_->counts(topic);
}

}  // namespace easyretry::mxrmq
