// Makes machine code of tile programs and loops.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"

namespace hlod::engine {

namespace assemble {
class CodeMemory;
class KernelCache;
}

class AssemblyUser;
struct Code;
struct TileKernel;
class KernelSlot;
class LoopSlot;

// Thread-safe.
class Assembler {
 public:
  struct Options {
    int64_t code_bytes_max = int64_t{256} << 20;  // The bound for all kernels together.
    bool at_once = false;  // Assembles a plan when it is compiled, instead of at its second run.
    // Outputs of more bytes are stored past the caches; 0: those that the last cache of this processor holds.
    int64_t last_cache_bytes = 0;
  };
  explicit Assembler(const Options& options);
  ~Assembler();
  Assembler(const Assembler&) = delete;
  Assembler& operator=(const Assembler&) = delete;

  const Options& options() const { return options_; }
  // Returns true if this process uses a processor with AVX2.
  static bool Supported();
  // Returns the kernel of a program, whose memory is the user's, unless that is null; null if it cannot be
  // assembled, or there is no memory.
  std::shared_ptr<const TileKernel> Make(const KernelSlot& slot, AssemblyUser* user);
  // Installs the code of a loop, unless it cannot be assembled.
  void MakeLoop(const Code& code, LoopSlot& slot, AssemblyUser* user);
  // The bytes of machine code in use.
  int64_t code_bytes() const;

 private:
  // Returns the machine code that `emit` emits with its argument, an x86::Compiler; null if it returns false,
  // or there is no memory, or the code is larger than `bytes_max`.
  template <typename Emit>
  std::shared_ptr<const void> Finished(int64_t bytes_max, AssemblyUser* user, Emit emit);

  const Options options_;
  const std::shared_ptr<assemble::CodeMemory> memory_;
  const std::shared_ptr<assemble::KernelCache> cache_;
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
