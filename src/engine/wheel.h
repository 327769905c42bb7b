#pragma once
// Holds the tasks that are due within the window: one slot per millisecond. One thread at a time: the Schedule owns it.
//
// schedule() appends, take_due() empties the slots up to now. Nothing is sorted, and nothing is cancelled: a task that
// is cancelled meanwhile stays until its slot and then fails its claim. A bitmap of the slots finds the next filled
// one, so an idle wheel does not tick.
//
// 64 slots, one word of the bitmap, are a bucket. Tasks wait together in their bucket and are spread over its slots
// when their time comes close: a first version appended directly to 65,536 slots and took 60 ns for it at 1,000,000
// pending; with a thousand buckets, and the larger blocks that they allow, it was 26, and 13 to 18 after tuning.
// Buckets and slots are chains of blocks from one pool, so memory follows the number of tasks.
//
// The store's clock may jump. Forward, by any time: at most one turn, and only its filled slots, are visited. Back:
// nothing is lost, and nothing comes out before its time is reached again, whether it was scheduled before the jump or
// after it. The few tasks that have no slot wait in a heap: overdue ones, those that a jump back left too far ahead,
// and those whose version does not fit into 31 bits.
//
// bench/wheel_bench.cpp has the measurements; decision 35 explains why it is more than a few buckets.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "task/record.h"

namespace easyretry::engine {

using task::DueTask;

class Wheel {
 public:
  // `start` is the present; slots reach from there to start + reach and move with take_due.
  // Throws std::invalid_argument unless 1 ms <= reach <= 1 h.
  Wheel(TimePoint start, Millis reach);
  Wheel(const Wheel&) = delete;
  Wheel& operator=(const Wheel&) = delete;

  // False, and the task is not taken, if it is due more than the reach after the last take_due. So call take_due first
  // after a long sleep. An overdue task comes out with the next take_due.
  bool schedule(const DueTask& task);

  // Appends everything due at or before now, earliest first, in no order within a millisecond, each with the due time
  // it was scheduled with. `now` may be earlier than the last one (the clock went back): then the reach counts from
  // there.
  void take_due(TimePoint now, std::vector<DueTask>& out);

  // When the earliest entry is due; in the past where one is overdue, TimePoint::max() when empty.
  TimePoint next_due() const;

  // Removes tasks, of shards that were given away for example. `gone` must not throw.
  void remove_if(const std::function<bool(const DueTask&)>& gone);

  std::size_t size() const { return size_; }

  // Everything allocated; bounded by the peak. The first take_due that finds the wheel empty frees all but the slots
  // and one chunk of 64 KiB: not the one that empties it, or a load that comes in waves would pay each time.
  std::size_t memory_bytes() const;

 private:
  static constexpr unsigned kSlotsPerBucket = 64;

  // A task packed into 16 bytes. The rest of its due time follows from the bucket that it is in.
  struct Held {
    TaskId id;
    std::uint32_t version : 31;
    std::uint32_t retried : 1;
    std::uint16_t handler;
    std::uint8_t slot : 6;  // in its bucket
    std::uint8_t task_class : 2;
    std::uint8_t suspicion;
    DueTask task(TimePoint bucket) const {
      return {{id, version}, bucket + Millis{slot}, handler, suspicion, static_cast<TaskClass>(task_class),
              retried != 0};
    }
  };
  static_assert(sizeof(Held) == 16);
  static constexpr std::int64_t kMostVersion = 0x7FFF'FFFF;
  // A version above that can only come from a manually edited row; such a task waits in the heap.
  static bool fits(const DueTask& task);

  // 512 bytes. Only a chain's first block is appended to; one further down has room only after remove_if.
  struct alignas(64) Block {
    std::uint64_t used;
    Block* next;
    std::array<Held, 31> held;
    std::span<Held> in_use() { return std::span{held}.first(used); }
  };

  class BlockPool {
   public:
    Block* take(Block* next);
    void give_back(Block* block) { free_.push_back(block); }
    void release_all_but_one_chunk();  // only while every block is in the pool
    std::size_t memory_bytes() const;

   private:
    void add_chunk();
    void add_free(Block* chunk);

    std::vector<std::unique_ptr<Block[]>> chunks_;
    std::vector<Block*> free_;  // room for all; not a list through the blocks, which would be a cache miss each
  };

  // The filled slots. The second level has a bit for each non-zero word of the first, so that a search through
  // 65,536 empty slots looks at 16 words.
  class SlotSet {
   public:
    static constexpr std::size_t kNone = ~std::size_t{0};

    explicit SlotSet(std::size_t buckets);
    void insert(std::size_t slot);
    void erase(std::size_t slot);
    void assign(std::size_t bucket, std::uint64_t slots);
    std::size_t first_from(std::size_t slot) const;  // goes round
    std::size_t memory_bytes() const;

   private:
    std::vector<std::uint64_t> words_;
    std::vector<std::uint64_t> filled_words_;
  };

  // Buckets are numbered from the epoch; the index of one is that number modulo their count.
  static std::int64_t bucket_of(TimePoint due) {
    return due.time_since_epoch().count() >> std::countr_zero(kSlotsPerBucket);
  }
  // The only bucket from now on that has this index.
  std::int64_t bucket_at(std::size_t index) const {
    const std::int64_t open = bucket_of(current_);
    return open + ((static_cast<std::int64_t>(index) - open) & (std::ssize(buckets_) - 1));
  }
  static TimePoint start_of(std::int64_t bucket) { return TimePoint{Millis{bucket * kSlotsPerBucket}}; }
  static std::size_t slot_in_bucket(TimePoint due) { return due.time_since_epoch().count() & (kSlotsPerBucket - 1); }
  std::size_t bucket_index(TimePoint due) const { return bucket_of(due) & (buckets_.size() - 1); }
  std::size_t slot_index(TimePoint due) const { return bucket_index(due) * kSlotsPerBucket + slot_in_bucket(due); }

  bool is_open(TimePoint due) const { return bucket_of(due) == bucket_of(current_); }
  bool has_slot(TimePoint due) const;
  TimePoint filled_from(TimePoint from) const;  // the earliest filled slot at or after `from`, or TimePoint::max()

  void place(const DueTask& task);
  Held& room_in(Block*& chain);
  void add_stray(const DueTask& stray);

  void move_on(TimePoint to);
  void spread(Block* bucket);
  void take_slot(TimePoint due, std::vector<DueTask>& out);
  void take_strays(TimePoint now, std::vector<DueTask>& out);

  void turn_back(TimePoint now);
  void close_bucket();
  void bucket_to_strays(TimePoint due);

  std::uint64_t filter(Block*& chain, TimePoint bucket, const std::function<bool(const DueTask&)>& gone);
  void give_memory_back();
  static void prefetch(const Block* block);

  const Millis reach_;
  TimePoint current_;  // the last take_due; nothing in a slot is due before it
  std::size_t size_ = 0;
  std::vector<Block*> buckets_;                       // a power of two of them
  std::array<Block*, kSlotsPerBucket> open_slots_{};  // of the bucket of current_, which itself is empty
  SlotSet filled_;
  BlockPool pool_;
  std::vector<DueTask> strays_;  // a heap, the earliest on top
};

}  // namespace easyretry::engine
