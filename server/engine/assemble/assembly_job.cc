// A job takes several of its user's turns when it has many programs, so that one plan keeps neither other
// users nor other plans of its user waiting for long.
#include "server/engine/assemble/assembly_job.h"

#include <chrono>
#include <utility>

#include "server/engine/assemble/assembler.h"
#include "server/engine/run/code.h"
#include "server/engine/tile/kernel.h"

namespace hlod::engine {
namespace {

// The time after which no further program is begun in a turn.
constexpr std::chrono::milliseconds kTurn{10};

}  // namespace

// Exists until the job is done, or its user drops it.
class AssemblyJob::Turn {
 public:
  Turn(std::shared_ptr<AssemblyJob> job, std::shared_ptr<AssemblyUser> user)
      : job_(std::move(job)), user_(std::move(user)) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    if (!done_) job_->requested_ = false;
  }

  static void Submit(const std::shared_ptr<Turn>& turn) {
    turn->user_->Submit([turn] { Run(turn); });
  }

 private:
  static void Run(const std::shared_ptr<Turn>& turn) {
    const auto end = std::chrono::steady_clock::now() + kTurn;
    while (turn->job_->Next(turn->user_.get())) {
      if (std::chrono::steady_clock::now() >= end) return Submit(turn);
    }
    turn->done_ = true;
  }

  const std::shared_ptr<AssemblyJob> job_;
  const std::shared_ptr<AssemblyUser> user_;
  bool done_ = false;
};

AssemblyJob::AssemblyJob(std::shared_ptr<Assembler> assembler, std::weak_ptr<const void> owner,
                         std::vector<KernelSlot*> slots, const Code& code)
    : assembler_(std::move(assembler)), owner_(std::move(owner)), code_(code), slots_(std::move(slots)) {
  for (const std::unique_ptr<LoopSlot>& loop : code.loops) loops_.push_back(loop.get());
}

void AssemblyJob::Request(AssemblyUser& user) {
  if (requested_.exchange(true)) return;
  Turn::Submit(std::make_shared<Turn>(shared_from_this(), user.shared_from_this()));
}

void AssemblyJob::Assemble(AssemblyUser* user) {
  requested_ = true;
  while (Next(user)) {
  }
}

// Assembles one program or loop: loops first, for they may be running. Returns false when none is left, or
// the owner has gone.
bool AssemblyJob::Next(AssemblyUser* user) {
  const std::shared_ptr<const void> owner = owner_.lock();
  if (owner == nullptr) return false;
  MutexLock lock(&mu_);
  if (!loops_.empty()) {
    LoopSlot* const loop = loops_.back();
    loops_.pop_back();
    assembler_->MakeLoop(code_, *loop, user);
    return true;
  }
  if (slots_.empty()) return false;
  KernelSlot* const slot = slots_.back();
  slots_.pop_back();
  std::shared_ptr<const TileKernel> kernel = assembler_->Make(*slot, user);
  if (kernel != nullptr) {
    ++kernels_;
    slot->Install(std::move(kernel));
  }
  return true;
}

}  // namespace hlod::engine
