// Makes machine code of tile programs, at once or on a thread of its own.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "common/base/system/mutex.h"

namespace hlod::engine {

namespace assemble {
class CodeMemory;
class KernelCache;
}

struct Code;
struct TileKernel;
class KernelSlot;
class LoopSlot;

// The programs and loops of one plan, which are assembled together.
class AssemblyJob {
 public:
  // The loops are those of the code.
  AssemblyJob(std::vector<KernelSlot*> slots, const Code& code);
  // Waits for a slot that is being assembled. Afterwards none is touched, nor the code.
  void Cancel();
  // The number of programs that became machine code, and its bytes.
  int64_t kernels() const { return kernels_.load(std::memory_order_relaxed); }
  int64_t code_bytes() const { return code_bytes_.load(std::memory_order_relaxed); }

 private:
  friend class Assembler;
  Mutex mu_;
  // The remaining ones, the first at the end.
  std::vector<KernelSlot*> slots_ ABSL_GUARDED_BY(mu_);
  std::vector<LoopSlot*> loops_ ABSL_GUARDED_BY(mu_);
  const Code& code_;
  std::atomic<int64_t> kernels_{0}, code_bytes_{0};
};

// Thread-safe.
class Assembler {
 public:
  struct Options {
    int64_t code_bytes_max = int64_t{256} << 20;  // The bound for all kernels together.
    size_t jobs_max = 4096;                       // The jobs that wait.
    bool at_once = false;  // Assembles a plan when it is compiled, instead of at its second run.
    // Outputs of more bytes are stored past the caches; 0: those that the last cache of this processor holds.
    int64_t last_cache_bytes = 0;
    int nice = 5;  // Added to the nice value of the thread, which runs beside programs.
  };
  explicit Assembler(const Options& options);
  // Drops the jobs that wait.
  ~Assembler();
  Assembler(const Assembler&) = delete;
  Assembler& operator=(const Assembler&) = delete;

  const Options& options() const { return options_; }
  // Returns true if this process uses a processor with AVX2.
  static bool Supported();
  // Leaves the job to the thread. Returns false when too many jobs wait.
  bool Request(std::shared_ptr<AssemblyJob> job);
  // Assembles the job's programs before it returns. Those that cannot be assembled stay interpreted.
  void Assemble(AssemblyJob& job);
  // Returns the kernel of a program; null if it cannot be assembled.
  std::shared_ptr<const TileKernel> Make(const KernelSlot& slot);
  // Installs the code of a loop, unless it cannot be assembled. Returns its bytes.
  int64_t MakeLoop(const Code& code, LoopSlot& slot);
  // The number of requests so far.
  int64_t requests() const { return requests_.load(std::memory_order_relaxed); }
  // The bytes of machine code in use.
  int64_t code_bytes() const;

 private:
  void Work();
  bool Next(AssemblyJob& job);
  // Returns the machine code that `emit` emits with its argument, an x86::Compiler, and its bytes; null if it
  // returns false, or there is no memory, or the code is larger than `bytes_max`.
  template <typename Emit>
  std::shared_ptr<const void> Finished(int64_t bytes_max, int64_t* bytes, Emit emit);

  const Options options_;
  const std::shared_ptr<assemble::CodeMemory> memory_;
  const std::unique_ptr<assemble::KernelCache> cache_;
  std::atomic<int64_t> requests_{0};
  Mutex mu_;
  CondVar wake_;
  std::deque<std::shared_ptr<AssemblyJob>> waiting_ ABSL_GUARDED_BY(mu_);
  bool ends_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_ ABSL_GUARDED_BY(mu_);  // Started by the first request.
};

// When programs become machine code: never, at their plan's second run, or when they are compiled.
enum class Assembling : uint8_t { kOff, kSecondRun, kFirst };
// Parses "off", "on" and "first". Returns INVALID_ARGUMENT with these names for another text.
absl::StatusOr<Assembling> ParseAssembling(std::string_view text);
// Returns null for kOff.
std::shared_ptr<Assembler> MakeAssembler(Assembling when);

// The assembler of plans whose options name none; null at first. For tests, which set it before they compile.
const std::shared_ptr<Assembler>& DefaultAssembler();
void SetDefaultAssembler(std::shared_ptr<Assembler> assembler);

}  // namespace hlod::engine
