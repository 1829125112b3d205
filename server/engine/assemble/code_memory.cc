// Gives machine code memory that the system maps twice, up to a bound.
#include "server/engine/assemble/code_memory.h"

namespace hlod::engine::assemble {
namespace {

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

std::shared_ptr<const void> CodeMemory::Add(asmjit::CodeHolder& code, int64_t* bytes) {
  const auto size = static_cast<int64_t>(code.codeSize());
  if (bytes_.fetch_add(size) + size > bytes_max_) {
    bytes_.fetch_sub(size);
    return nullptr;
  }
  void* function = nullptr;
  if (runtime_.add(&function, &code) != asmjit::kErrorOk) {
    bytes_.fetch_sub(size);
    return nullptr;
  }
  *bytes = size;
  return {function, [memory = shared_from_this(), size](const void* held) {
            memory->runtime_.release(const_cast<void*>(held));
            memory->bytes_.fetch_sub(size);
          }};
}

}  // namespace hlod::engine::assemble
