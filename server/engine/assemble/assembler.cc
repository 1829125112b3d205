// A kernel that cannot be made leaves its program interpreted, so that nothing here can fail a run.
#include "server/engine/assemble/assembler.h"

#include <asmjit/x86.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "common/base/errors/status.h"
#include "common/base/system/cpu.h"
#include "server/engine/assemble/assembly_job.h"
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

// Returns the bytes of the last cache, or 32 MiB if the system does not tell.
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

// Returns true for programs that were slower as code for AVX2 than interpreted, by one thread: rows of less
// than a unit, which is folded element by element (softmax of 400,000 x 10: 51 ms, interpreted 40).
bool IsSlowerWithAvx2(const KernelSlot& slot) {
  constexpr int64_t kRowMin = 16;
  return slot.form() == KernelForm::kRows && slot.program().kernel_row() < kRowMin;
}

}  // namespace

Assembler::Assembler(const Options& options)
    : options_(options),
      memory_(assemble::CodeMemory::Make(options.code_bytes_max)),
      cache_(std::make_shared<assemble::KernelCache>()) {}

Assembler::~Assembler() = default;

bool Assembler::Supported() { return BestCpuLevel() >= CpuLevel::kAvx2; }

int64_t Assembler::code_bytes() const { return memory_->bytes(); }

// The time to choose registers grows with the square of their number, and nothing can stop it: this many take
// about half a second. Programs with more stay interpreted, so that one does not keep the thread from
// others'.
constexpr size_t kRegistersMax = 2500;

template <typename Emit>
std::shared_ptr<const void> Assembler::Finished(int64_t bytes_max, AssemblyUser* user, Emit emit) {
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
  std::shared_ptr<const void> added = memory_->Add(code, user);
  return latch.failed() ? nullptr : added;
}

std::shared_ptr<const TileKernel> Assembler::Make(const KernelSlot& slot, AssemblyUser* user) {
  if (IsSlowerWithAvx2(slot) && BestCpuLevel() < CpuLevel::kAvx512) return nullptr;
  const bool past_caches = StoresPastCaches(slot, options_.last_cache_bytes);
  const Digest digest = assemble::DigestOf(slot, past_caches);
  if (std::shared_ptr<const TileKernel> found = cache_->Find(digest); found != nullptr) return found;
  auto kernel = std::make_unique<TileKernel>();
  kernel->code = Finished(slot.code_bytes_max(), user, [&](asmjit::x86::Compiler& compiler) {
    assemble::Emitter emitter(compiler, BestCpuLevel() == CpuLevel::kAvx512, slot, past_caches);
    if (!emitter.Emit()) return false;
    kernel->operands = emitter.operands();
    kernel->row = emitter.row();
    return true;
  });
  if (kernel->code == nullptr) return nullptr;
  kernel->folds = slot.form() != KernelForm::kMap;
  kernel->function = reinterpret_cast<TileKernel::Function>(const_cast<void*>(kernel->code.get()));
  return cache_->Add(digest, std::move(kernel));
}

namespace {

// Returns the loop's steps that are called, by position: the programs for which there is no place among
// `size_max` instructions.
assemble::LoopEmitter::Called CalledBeyond(const Code& code, const LoopSlot& slot, int64_t size_max) {
  assemble::LoopEmitter::Called called;
  LoopCodeSpace space(size_max);
  for (int32_t pc = slot.begin(); pc < slot.end(); ++pc) {
    const CodeInstruction& now = code.instructions[static_cast<size_t>(pc)];
    const bool runs = now.kind == CodeInstruction::Kind::kRun;
    const KernelSlot* const program = runs ? LoopProgram(*now.step) : nullptr;
    called.push_back(program != nullptr && !space.Take(*program));
  }
  return called;
}

}  // namespace

void Assembler::MakeLoop(const Code& code, LoopSlot& slot, AssemblyUser* user) {
  std::shared_ptr<const void> loop;
  bool again = false;
  const auto make = [&](assemble::LoopEmitter::Called* known) {
    loop = Finished(slot.code_bytes_max(), user, [&](asmjit::x86::Compiler& compiler) {
      assemble::LoopEmitter emitter(compiler, BestCpuLevel() == CpuLevel::kAvx512, code, slot, known);
      const bool emitted = emitter.Emit();
      again = emitter.must_begin_anew();
      return emitted;
    });
  };
  // With scalars in registers. Steps that turn out to be called are known at the second time, and more of
  // them are called if there are too many registers.
  constexpr int64_t kSizeMin = 250;
  for (int64_t size_max = kLoopCodeMax; size_max >= kSizeMin && loop == nullptr; size_max /= 2) {
    assemble::LoopEmitter::Called called = CalledBeyond(code, slot, size_max);
    make(&called);
    if (again) make(&called);
  }
  if (loop == nullptr) make(nullptr);
  if (loop == nullptr) return;
  const auto function = reinterpret_cast<LoopSlot::Function>(const_cast<void*>(loop.get()));
  slot.Install(function, std::move(loop));
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
