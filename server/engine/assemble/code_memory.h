// Memory for machine code. No page of it is writable and executable at one address: it is mapped twice.
#pragma once

#include <asmjit/x86.h>

#include <atomic>
#include <cstdint>
#include <memory>

namespace hlod::engine {
class AssemblyUser;
}

namespace hlod::engine::assemble {

// Bounded, and counted as its users'. Thread-safe.
class CodeMemory : public std::enable_shared_from_this<CodeMemory> {
 public:
  static std::shared_ptr<CodeMemory> Make(int64_t bytes_max);

  const asmjit::Environment& environment() const { return runtime_.environment(); }
  // Copies the finished code to executable memory, which is kept as long as the result. Returns null if the
  // system gives no memory, or the bound is reached, or the user, unless that is null, may take no more.
  std::shared_ptr<const void> Add(asmjit::CodeHolder& code, AssemblyUser* user);
  // The bytes that are in use, with the description of each piece of code, which is elsewhere.
  int64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  explicit CodeMemory(int64_t bytes_max);
  bool Take(int64_t bytes, AssemblyUser* user);
  void GiveBack(int64_t bytes, AssemblyUser* user);

  const int64_t bytes_max_;
  std::atomic<int64_t> bytes_{0};
  asmjit::JitRuntime runtime_;
};

}  // namespace hlod::engine::assemble
