// Gives machine code memory that the system maps twice, up to a bound.
#include "server/engine/assemble/code_memory.h"

#include "server/engine/assemble/assembly_job.h"

namespace hlod::engine::assemble {
namespace {

// The bytes that are counted for the description of a piece of code: TileKernel and its entry in KernelCache.
constexpr int64_t kDescriptionBytes = 1024;

asmjit::JitAllocator::CreateParams MappedTwice() {
  asmjit::JitAllocator::CreateParams parameters;
  parameters.options = asmjit::JitAllocatorOptions::kUseDualMapping;
  return parameters;
}

}  // namespace

CodeMemory::CodeMemory(int64_t bytes_max)
    : bytes_max_(bytes_max), runtime_([] {
        static const asmjit::JitAllocator::CreateParams parameters = MappedTwice();
        return &parameters;
      }()) {}

std::shared_ptr<CodeMemory> CodeMemory::Make(int64_t bytes_max) {
  return std::shared_ptr<CodeMemory>(new CodeMemory(bytes_max));
}

bool CodeMemory::Take(int64_t bytes, AssemblyUser* user) {
  if (bytes_.fetch_add(bytes) + bytes <= bytes_max_ && (user == nullptr || user->Reserve(bytes))) return true;
  bytes_.fetch_sub(bytes);
  return false;
}

void CodeMemory::GiveBack(int64_t bytes, AssemblyUser* user) {
  bytes_.fetch_sub(bytes);
  if (user != nullptr) user->Release(bytes);
}

std::shared_ptr<const void> CodeMemory::Add(asmjit::CodeHolder& code, AssemblyUser* user) {
  const int64_t bytes = static_cast<int64_t>(code.codeSize()) + kDescriptionBytes;
  if (!Take(bytes, user)) return nullptr;
  void* function = nullptr;
  if (runtime_.add(&function, &code) != asmjit::kErrorOk) {
    GiveBack(bytes, user);
    return nullptr;
  }
  return {function, [memory = shared_from_this(), bytes,
                     held_by = user == nullptr ? nullptr : user->shared_from_this()](const void* held) {
            memory->runtime_.release(const_cast<void*>(held));
            memory->GiveBack(bytes, held_by.get());
          }};
}

}  // namespace hlod::engine::assemble
