// One thread takes the jobs in turn. A kernel that cannot be made leaves its program interpreted, so that nothing
// here can fail a run.
#include "server/engine/assemble/assembler.h"

#include <asmjit/x86.h>
#include <sys/resource.h>
#include <unistd.h>

#include <utility>

#include "common/base/errors/status.h"
#include "common/base/system/cpu.h"
#include "server/engine/assemble/code_memory.h"
#include "server/engine/assemble/emitter.h"

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

}  // namespace

void AssemblyJob::Cancel() {
  MutexLock lock(&mu_);
  slots_.clear();
}

Assembler::Assembler(const Options& options)
    : options_(options), memory_(assemble::CodeMemory::Make(options.code_bytes_max)) {}

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

// Assembles one program of the job. Returns false when none is left.
bool Assembler::Next(AssemblyJob& job) {
  MutexLock lock(&job.mu_);
  if (job.slots_.empty()) return false;
  KernelSlot* const slot = job.slots_.back();
  job.slots_.pop_back();
  std::unique_ptr<const TileKernel> kernel = Make(*slot);
  if (kernel != nullptr) {
    job.kernels_ += 1;
    job.code_bytes_ += kernel->code_bytes;
    slot->Install(std::move(kernel));
  }
  return true;
}

std::unique_ptr<const TileKernel> Assembler::Make(const KernelSlot& slot) {
  if (!Supported()) return nullptr;
  Latch latch;
  asmjit::CodeHolder code;
  if (code.init(memory_->environment()) != asmjit::kErrorOk) return nullptr;
  code.setErrorHandler(&latch);
  asmjit::x86::Compiler compiler(&code);
  compiler.addDiagnosticOptions(asmjit::DiagnosticOptions::kValidateAssembler |
                                asmjit::DiagnosticOptions::kValidateIntermediate);
  assemble::Emitter emitter(compiler, BestCpuLevel() == CpuLevel::kAvx512, slot,
                            StoresPastCaches(slot, options_.last_cache_bytes));
  if (!emitter.Emit() || latch.failed()) return nullptr;
  if (compiler.finalize() != asmjit::kErrorOk || latch.failed()) return nullptr;
  if (static_cast<int64_t>(code.codeSize()) > slot.code_bytes_max()) return nullptr;
  auto kernel = std::make_unique<TileKernel>();
  kernel->code = memory_->Add(code, &kernel->code_bytes);
  if (kernel->code == nullptr || latch.failed()) return nullptr;
  kernel->operands = emitter.operands();
  kernel->function = reinterpret_cast<TileKernel::Function>(const_cast<void*>(kernel->code.get()));
  return kernel;
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
