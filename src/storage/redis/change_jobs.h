#pragma once
// What one part is asked to change: lua/settle.lua, lua/revise.lua and lua/renew.lua.

#include <optional>
#include <string>
#include <vector>

#include "storage/redis/options.h"
#include "storage/redis/parts.h"
#include "task/record.h"

namespace easyretry::storage::redis {

// Of one task.
struct Change {
  task::Ticket ticket;
  std::string kind;  // for settle.lua: what many share
  std::string rest;  // packed
};

// Some at a time.
class ChangeJob : public Job {
 public:
  ChangeJob(Part& part, const RedisOptions& options) : Job(part), options_(options) {}

  void add(const Change& change, std::size_t place) {
    changes_.push_back(&change);
    places_.push_back(place);
    answers_.push_back('?');
  }
  // As the caller has them.
  std::size_t place(std::size_t i) const { return places_[i]; }
  // '1': applied; '0': the task has moved on; '?': nothing is known.
  const std::string& answers() const { return answers_; }
  TimePoint now() const { return now_; }
  bool begun() const { return answers_.find('1') != std::string::npos; }

  bool done() const override { return slice_.empty() && from_ == changes_.size(); }
  ScriptCall next() override;
  void take(const Reply& reply) override;

 protected:
  using Slice = std::vector<std::size_t>;  // of changes
  virtual ScriptCall call_for(const Slice& slice) = 0;
  // What is to be asked once more, before anything else.
  virtual Slice left(const Reply& reply, const Slice& slice) = 0;

  const Change& change(std::size_t i) const { return *changes_[i]; }
  const RedisOptions& options() const { return options_; }
  void forget(std::size_t i) { answers_[i] = '0'; }

 private:
  void take_slice();

  const RedisOptions& options_;
  std::vector<const Change*> changes_;
  std::vector<std::size_t> places_;
  std::string answers_;
  Slice slice_;           // that is asked about
  std::size_t from_ = 0;  // those before have been, or are
  TimePoint now_{};
};

class RenewJob final : public ChangeJob {
 public:
  using ChangeJob::ChangeJob;

 protected:
  ScriptCall call_for(const Slice& slice) override;
  Slice left(const Reply&, const Slice&) override { return {}; }
};

// Of those that change the sets of due tasks.
class DueJob : public ChangeJob {
 public:
  using ChangeJob::ChangeJob;

 protected:
  // Those of a namespace that was not known: it is now, unless it has no name.
  Slice left(const Reply& reply, const Slice& slice) override;

 private:
  bool learn_spaces(std::string_view numbers);
};

class SettleJob final : public DueJob {
 public:
  using DueJob::DueJob;

 protected:
  ScriptCall call_for(const Slice& slice) override;
};

class ReviseJob final : public DueJob {
 public:
  using DueJob::DueJob;

 protected:
  ScriptCall call_for(const Slice& slice) override;
};

}  // namespace easyretry::storage::redis
