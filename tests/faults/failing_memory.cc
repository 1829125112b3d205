// Replaces operator new, aligned_alloc and mmap of the whole program, which must export its symbols
// (IsOfLibrary). malloc is left alone: hlod has no calls of it outside of Literal's aligned_alloc, and the C
// libraries' own calls are theirs to handle.
#include "tests/faults/failing_memory.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <malloc.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <string_view>

namespace hlod::faults {
namespace {

std::atomic<bool> armed{false}, failed{false}, show_it{false};
std::atomic<int64_t> counted{0}, live{0};
std::atomic<int64_t> fail_at{0};
std::atomic<size_t> least_bytes{0};
thread_local bool this_thread_is_spared = false;

// Returns true if the caller's allocation belongs to a library that breaks by itself when it fails: Abseil's
// hash tables free what they do not have, its StrFormat ends the process, and protobuf's messages leak.
bool IsOfLibrary() {
  void* frames[64];
  const int depth = backtrace(frames, 64);
  for (int i = 0; i < depth; ++i) {
    Dl_info info;
    if (dladdr(frames[i], &info) == 0) continue;
    const std::string_view file = info.dli_fname != nullptr ? info.dli_fname : "";
    const std::string_view name = info.dli_sname != nullptr ? info.dli_sname : "";
    if (file.find("libprotobuf") != file.npos || name.find("raw_hash_set") != name.npos ||
        name.find("str_format_internal") != name.npos || name.find("6google8protobuf") != name.npos ||
        name.starts_with("_ZN4hlod2v1") || name.starts_with("_ZN4hlod3xla") ||
        name.starts_with("_ZNK4hlod2v1"))
      return true;
  }
  return false;
}

bool Fails(size_t bytes) {
  if (!armed || this_thread_is_spared || bytes < least_bytes) return false;
  if (++counted != fail_at) return false;
  this_thread_is_spared = true;
  const bool of_library = IsOfLibrary();
  this_thread_is_spared = false;
  if (of_library) return false;
  failed = true;
  if (show_it) {
    void* frames[64];
    const int depth = backtrace(frames, 64);
    backtrace_symbols_fd(frames, depth, 2);
  }
  return true;
}

void* Allocate(size_t bytes, size_t alignment) {
  if (Fails(bytes)) return nullptr;
  void* memory = nullptr;
  if (alignment <= alignof(std::max_align_t)) {
    memory = std::malloc(bytes == 0 ? 1 : bytes);
  } else if (posix_memalign(&memory, alignment, bytes == 0 ? 1 : bytes) != 0) {
    memory = nullptr;
  }
  if (memory != nullptr) live += static_cast<int64_t>(malloc_usable_size(memory));
  return memory;
}

void* AllocateOrThrow(size_t bytes, size_t alignment) {
  void* const memory = Allocate(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void Free(void* memory) {
  if (memory == nullptr) return;
  live -= static_cast<int64_t>(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

void ArmMemory(int64_t failing, size_t bytes_min) {
  void* frame;
  (void)backtrace(&frame, 1);  // Loads what it needs.
  counted = 0;
  failed = false;
  fail_at = failing;
  least_bytes = bytes_min;
  armed = true;
}

int64_t DisarmMemory() {
  armed = false;
  return counted;
}

bool MemoryHasFailed() { return failed; }
int64_t LiveBytes() { return live; }
void SpareThisThread(bool spared) { this_thread_is_spared = spared; }
void ShowFailingAllocation(bool show) { show_it = show; }

Counted::Counted() : before_(this_thread_is_spared) { this_thread_is_spared = false; }
Counted::~Counted() { this_thread_is_spared = before_; }

}  // namespace hlod::faults

using hlod::faults::AllocateOrThrow;

void* operator new(size_t bytes) { return hlod::faults::AllocateOrThrow(bytes, 1); }
void* operator new[](size_t bytes) { return hlod::faults::AllocateOrThrow(bytes, 1); }
void* operator new(size_t bytes, std::align_val_t to) {
  return hlod::faults::AllocateOrThrow(bytes, static_cast<size_t>(to));
}
void* operator new[](size_t bytes, std::align_val_t to) {
  return hlod::faults::AllocateOrThrow(bytes, static_cast<size_t>(to));
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return hlod::faults::Allocate(bytes, 1); }
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept {
  return hlod::faults::Allocate(bytes, 1);
}
void* operator new(size_t bytes, std::align_val_t to, const std::nothrow_t&) noexcept {
  return hlod::faults::Allocate(bytes, static_cast<size_t>(to));
}
void* operator new[](size_t bytes, std::align_val_t to, const std::nothrow_t&) noexcept {
  return hlod::faults::Allocate(bytes, static_cast<size_t>(to));
}
void operator delete(void* memory) noexcept { hlod::faults::Free(memory); }
void operator delete[](void* memory) noexcept { hlod::faults::Free(memory); }
void operator delete(void* memory, size_t) noexcept { hlod::faults::Free(memory); }
void operator delete[](void* memory, size_t) noexcept { hlod::faults::Free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { hlod::faults::Free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { hlod::faults::Free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { hlod::faults::Free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { hlod::faults::Free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { hlod::faults::Free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { hlod::faults::Free(memory); }

extern "C" void* aligned_alloc(size_t alignment, size_t bytes) noexcept {
  void* memory = nullptr;
  if (hlod::faults::Fails(bytes) || posix_memalign(&memory, alignment, bytes) != 0) {
    errno = ENOMEM;
    return nullptr;
  }
  return memory;
}

extern "C" void* mmap(void* address, size_t bytes, int protection, int flags, int fd, off_t offset) noexcept {
  using Mmap = void* (*)(void*, size_t, int, int, int, off_t);
  static const auto real = reinterpret_cast<Mmap>(dlsym(RTLD_NEXT, "mmap"));
  // Files (libraries that are loaded) are not memory that a client asks for.
  if ((flags & MAP_ANONYMOUS) != 0 && hlod::faults::Fails(bytes)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return real(address, bytes, protection, flags, fd, offset);
}
