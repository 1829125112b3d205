// The machine code of one plan: for whom it is made, and when.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "common/base/system/mutex.h"

namespace hlod::engine {

class Assembler;
struct Code;
class KernelSlot;
class LoopSlot;

// The party for whom programs become machine code. It gives the time and the memory. Thread-safe.
class AssemblyUser : public std::enable_shared_from_this<AssemblyUser> {
 public:
  virtual ~AssemblyUser() = default;
  // Runs `work` when it is the user's turn, on a thread that may take its time. Destroys it without a call,
  // at once or later, when too much of the user's work waits or the user has gone.
  virtual void Submit(std::function<void()> work) = 0;
  // Takes memory for code until Release. Returns false when the user has too much of it.
  virtual bool Reserve(int64_t bytes) = 0;
  virtual void Release(int64_t bytes) = 0;
};

// The programs and loops of one plan, which are assembled together. Thread-safe.
class AssemblyJob : public std::enable_shared_from_this<AssemblyJob> {
 public:
  // The slots and the code, whose loops are assembled, too, are parts of `owner`. It is kept while one of them
  // is being assembled, so that it may be destroyed on that thread, and dropping it takes no time. Once it has
  // gone, none is touched.
  AssemblyJob(std::shared_ptr<Assembler> assembler, std::weak_ptr<const void> owner,
              std::vector<KernelSlot*> slots, const Code& code);
  // Leaves the job to the user's turns, unless it is requested already. A program that cannot be assembled
  // stays interpreted.
  void Request(AssemblyUser& user);
  // Returns true from a request on, or the end of Assemble, until the user drops it: then another may request
  // it.
  bool requested() const { return requested_.load(std::memory_order_relaxed); }
  // Assembles the remaining programs before it returns. With a null user, their memory is charged to no user.
  void Assemble(AssemblyUser* user);

  const Assembler& assembler() const { return *assembler_; }
  // The number of programs that became machine code.
  int64_t kernels() const { return kernels_.load(std::memory_order_relaxed); }

 private:
  class Turn;
  bool Next(AssemblyUser* user);

  const std::shared_ptr<Assembler> assembler_;
  const std::weak_ptr<const void> owner_;
  const Code& code_;
  std::atomic<bool> requested_{false};
  std::atomic<int64_t> kernels_{0};
  Mutex mu_;
  // The remaining ones, the first at the end.
  std::vector<KernelSlot*> slots_ ABSL_GUARDED_BY(mu_);
  std::vector<LoopSlot*> loops_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hlod::engine
