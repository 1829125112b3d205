// One thread takes the jobs in turn. A kernel that cannot be made leaves its program interpreted, so that nothing
// here can fail a run.
#include "server/engine/assemble/assembler.h"

#include <asmjit/x86.h>
#include <sys/resource.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "common/base/errors/status.h"
#include "common/base/system/cpu.h"
#include "server/engine/assemble/code_memory.h"
#include "server/engine/assemble/emitter.h"
#include "server/engine/assemble/kernel_cache.h"
#include "server/engine/assemble/loops.h"
#include "server/engine/run/code.h"
#include "server/engine/tile/kernel.h"

namespace hlod::engine {
namespace {

// Remembers that an error occurred: AsmJit drops an invalid instruction and goes on.
class Latch : public asmjit::ErrorHandler {
 public:
  void handleError(asmjit::Error, const char*, asmjit::BaseEmitter*) override { failed_ = true; }
  bool failed() const { return failed_; }

 private:
  bool failed_ = false;
};

int64_t LastCacheBytes() {
  static const int64_t bytes = [] {
    const int64_t last = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return last > 0 ? last : int64_t{32} << 20;
  }();
  return bytes;
}

// Returns true if all outputs together are larger than the last cache, and all ranges of the domain begin at
// a multiple of a vector: the step divides it into tiles, and no operand into runs that begin anywhere.
bool StoresPastCaches(const KernelSlot& slot, int64_t last_cache_bytes) {
  if (slot.form() != KernelForm::kMap || slot.in_caches()) return false;
  int64_t bytes = 0;
  for (const TileProgram::Value& value : slot.program().values()) {
    if (value.place == TileProgram::Value::Place::kOutput) bytes += value.width * slot.count();
  }
  if (bytes <= (last_cache_bytes > 0 ? last_cache_bytes : LastCacheBytes())) return false;
  for (const TileProgram::Instruction& instruction : slot.program().code()) {
    const bool reads = instruction.kind == TileProgram::Instruction::Kind::kReadView ||
                       instruction.kind == TileProgram::Instruction::Kind::kReadIota;
    if (!reads) continue;
    const TileProgram::ReadForm form = slot.program().ReadFormOf(instruction);
    if (form != TileProgram::ReadForm::kDense && form != TileProgram::ReadForm::kScalar) return false;
  }
  return true;
}

// Returns true for programs that were slower as code for AVX2 than interpreted, by one thread: column sums of
// exponentials, which wait for accumulators in memory (4096 x 1024: 5.8 ms, interpreted 5.3), and rows of a
// few vectors, whose rest is folded element by element (softmax of 400,000 x 10: 51 ms, interpreted 40).
bool IsSlowerWithAvx2(const KernelSlot& slot) {
  constexpr int64_t kRowMin = 32;
  if (slot.form() == KernelForm::kColumns) return slot.HasPolynomial();
  return slot.form() == KernelForm::kRows && slot.program().kernel_row() < kRowMin;
}

}  // namespace

AssemblyJob::AssemblyJob(std::vector<KernelSlot*> slots, const Code& code)
    : slots_(std::move(slots)), code_(code) {
  for (const std::unique_ptr<LoopSlot>& loop : code.loops) loops_.push_back(loop.get());
}

void AssemblyJob::Cancel() {
  MutexLock lock(&mu_);
  slots_.clear();
  loops_.clear();
}

Assembler::Assembler(const Options& options)
    : options_(options),
      memory_(assemble::CodeMemory::Make(options.code_bytes_max)),
      cache_(std::make_unique<assemble::KernelCache>()) {}

Assembler::~Assembler() {
  std::thread thread;
  {
    MutexLock lock(&mu_);
    ends_ = true;
    waiting_.clear();
    thread = std::move(thread_);
    wake_.Signal();
  }
  if (thread.joinable()) thread.join();
}

bool Assembler::Supported() { return BestCpuLevel() >= CpuLevel::kAvx2; }

int64_t Assembler::code_bytes() const { return memory_->bytes(); }

bool Assembler::Request(std::shared_ptr<AssemblyJob> job) {
  MutexLock lock(&mu_);
  if (ends_ || waiting_.size() >= options_.jobs_max) return false;
  waiting_.push_back(std::move(job));
  ++requests_;
  if (!thread_.joinable()) thread_ = std::thread([this] { Work(); });
  wake_.Signal();
  return true;
}

void Assembler::Work() {
  if (options_.nice != 0) {
    const int nice = getpriority(PRIO_PROCESS, 0) + options_.nice;
    setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), nice);
  }
  for (;;) {
    std::shared_ptr<AssemblyJob> job;
    {
      MutexLock lock(&mu_);
      while (waiting_.empty() && !ends_) wake_.Wait(&mu_);
      if (ends_) return;
      job = std::move(waiting_.front());
      waiting_.pop_front();
    }
    for (bool more = true; more;) {
      more = Next(*job);
      MutexLock lock(&mu_);
      if (ends_) return;
    }
  }
}

void Assembler::Assemble(AssemblyJob& job) {
  while (Next(job)) {
  }
}

// Assembles one program or loop of the job: loops first, for they may be running. Returns false when none is
// left.
bool Assembler::Next(AssemblyJob& job) {
  MutexLock lock(&job.mu_);
  if (!job.loops_.empty()) {
    LoopSlot* const loop = job.loops_.back();
    job.loops_.pop_back();
    job.code_bytes_ += MakeLoop(job.code_, *loop);
    return true;
  }
  if (job.slots_.empty()) return false;
  KernelSlot* const slot = job.slots_.back();
  job.slots_.pop_back();
  std::shared_ptr<const TileKernel> kernel = Make(*slot);
  if (kernel != nullptr) {
    job.kernels_ += 1;
    job.code_bytes_ += kernel->code_bytes;
    slot->Install(std::move(kernel));
  }
  return true;
}

// The time to choose registers grows with the square of their number, and nothing can stop it: this many take
// about half a second. Programs with more stay interpreted, so that one does not keep the thread from others'.
constexpr size_t kRegistersMax = 2500;

template <typename Emit>
std::shared_ptr<const void> Assembler::Finished(int64_t bytes_max, int64_t* bytes, Emit emit) {
  if (!Supported()) return nullptr;
  Latch latch;
  asmjit::CodeHolder code;
  if (code.init(memory_->environment()) != asmjit::kErrorOk) return nullptr;
  code.setErrorHandler(&latch);
  asmjit::x86::Compiler compiler(&code);
  compiler.addDiagnosticOptions(asmjit::DiagnosticOptions::kValidateAssembler |
                                asmjit::DiagnosticOptions::kValidateIntermediate);
  if (!emit(compiler) || latch.failed()) return nullptr;
  if (compiler.virtRegs().size() > kRegistersMax) return nullptr;
  if (compiler.finalize() != asmjit::kErrorOk || latch.failed()) return nullptr;
  if (static_cast<int64_t>(code.codeSize()) > bytes_max) return nullptr;
  std::shared_ptr<const void> added = memory_->Add(code, bytes);
  return latch.failed() ? nullptr : added;
}

std::shared_ptr<const TileKernel> Assembler::Make(const KernelSlot& slot) {
  if (IsSlowerWithAvx2(slot) && BestCpuLevel() < CpuLevel::kAvx512) return nullptr;
  const bool past_caches = StoresPastCaches(slot, options_.last_cache_bytes);
  const std::string text = assemble::TextOf(slot, past_caches);
  if (std::shared_ptr<const TileKernel> found = cache_->Find(text); found != nullptr) return found;
  auto kernel = std::make_shared<TileKernel>();
  kernel->code = Finished(slot.code_bytes_max(), &kernel->code_bytes, [&](asmjit::x86::Compiler& compiler) {
    assemble::Emitter emitter(compiler, BestCpuLevel() == CpuLevel::kAvx512, slot, past_caches);
    if (!emitter.Emit()) return false;
    kernel->operands = emitter.operands();
    kernel->row = emitter.row();
    return true;
  });
  if (kernel->code == nullptr) return nullptr;
  kernel->folds = slot.form() != KernelForm::kMap;
  kernel->function = reinterpret_cast<TileKernel::Function>(const_cast<void*>(kernel->code.get()));
  cache_->Add(text, kernel);
  return kernel;
}

int64_t Assembler::MakeLoop(const Code& code, LoopSlot& slot) {
  int64_t bytes = 0;
  std::shared_ptr<const void> loop =
      Finished(slot.code_bytes_max(), &bytes, [&](asmjit::x86::Compiler& compiler) {
        return assemble::LoopEmitter(compiler, BestCpuLevel() == CpuLevel::kAvx512, code, slot).Emit();
      });
  if (loop == nullptr) return 0;
  const auto function = reinterpret_cast<LoopSlot::Function>(const_cast<void*>(loop.get()));
  slot.Install(function, std::move(loop));
  return bytes;
}

namespace {

std::shared_ptr<Assembler>& Standard() {
  static auto* const assembler = new std::shared_ptr<Assembler>;
  return *assembler;
}

}  // namespace

absl::StatusOr<Assembling> ParseAssembling(std::string_view text) {
  if (text == "off") return Assembling::kOff;
  if (text == "on") return Assembling::kSecondRun;
  if (text == "first") return Assembling::kFirst;
  return InvalidArgument("\"%s\" is not one of off, on, first", text);
}

std::shared_ptr<Assembler> MakeAssembler(Assembling when) {
  if (when == Assembling::kOff) return nullptr;
  return std::make_shared<Assembler>(Assembler::Options{.at_once = when == Assembling::kFirst});
}

const std::shared_ptr<Assembler>& DefaultAssembler() { return Standard(); }
void SetDefaultAssembler(std::shared_ptr<Assembler> assembler) { Standard() = std::move(assembler); }

}  // namespace hlod::engine
