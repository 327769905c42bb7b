#pragma once
// OpenSSL contexts that have their key already: setting it up costs more than sealing a small payload. A context serves
// one caller at a time; there are as many as callers were ever inside at once. Thread-safe.

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace easyretry::seal {

template <class Context, void (*Free)(Context*)>
class ContextPool {
 public:
  struct Freed {
    void operator()(Context* context) const { Free(context); }
  };
  using Owned = std::unique_ptr<Context, Freed>;

  explicit ContextPool(std::function<Owned()> make) : make_(std::move(make)) { put_back(make_()); }

  Owned take() {
    {
      const std::lock_guard lock{mutex_};
      if (!idle_.empty()) {
        Owned context = std::move(idle_.back());
        idle_.pop_back();
        return context;
      }
    }
    return make_();
  }

  // Not after a failure: who knows what state it left.
  void put_back(Owned context) {
    const std::lock_guard lock{mutex_};
    idle_.push_back(std::move(context));
  }

 private:
  const std::function<Owned()> make_;  // throws where OpenSSL cannot
  std::mutex mutex_;
  std::vector<Owned> idle_;  // guarded by mutex_
};

}  // namespace easyretry::seal
