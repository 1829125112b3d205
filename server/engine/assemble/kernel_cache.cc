// A digest is that of the bytes of all numbers that the emitter reads.
#include "server/engine/assemble/kernel_cache.h"

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "common/base/system/cpu.h"

namespace hlod::engine::assemble {
namespace {

class Text {
 public:
  template <typename... Numbers>
  void Add(Numbers... numbers) {
    (Append(numbers), ...);
  }
  void AddBytes(const std::byte* bytes, size_t count) {
    text_.append(reinterpret_cast<const char*>(bytes), count);
  }
  const std::string& text() const { return text_; }

 private:
  template <typename Number>
  void Append(Number number) {
    static_assert(std::is_scalar_v<Number>);
    text_.append(reinterpret_cast<const char*>(&number), sizeof(number));
  }

  std::string text_;
};

void AddInstruction(const TileProgram& program, const TileProgram::Instruction& instruction, Text& text) {
  using Kind = TileProgram::Instruction::Kind;
  const TileOp& op = instruction.op;
  text.Add(instruction.kind, instruction.function, op.kind, op.opcode, op.from, op.to, op.type, op.to_type);
  text.Add(instruction.out, instruction.a, instruction.b, instruction.c, instruction.immediate);
  text.Add(instruction.view, instruction.input, instruction.width);
  if (instruction.kind == Kind::kReadView || instruction.kind == Kind::kReadIota)
    text.Add(program.ReadFormOf(instruction));
}

}  // namespace

Digest DigestOf(const KernelSlot& slot, bool past_caches) {
  const TileProgram& program = slot.program();
  Text text;
  text.Add(BestCpuLevel(), past_caches, slot.form(), slot.count() == 1, slot.streams(), program.kernel_row());
  text.Add(slot.folds().size(), program.values().size(), program.views().size(), program.prologue().size());
  for (const KernelFold& fold : slot.folds()) text.Add(fold.kept, fold.op, fold.carrier);
  for (const TileProgram::Value& value : program.values()) {
    text.Add(value.carrier, value.place, value.width);
    if (value.place == TileProgram::Value::Place::kConstant)
      text.AddBytes(program.ConstantOf(value), static_cast<size_t>(CarrierBytes(value.carrier)));
    else text.Add(value.index);
  }
  for (const View& view : program.views()) {
    text.Add(view.dims.size());
    for (const View::Dimension& dim : view.dims) text.Add(dim.size, dim.stride);
  }
  for (const TileProgram::Instruction& instruction : program.prologue())
    AddInstruction(program, instruction, text);
  for (const TileProgram::Instruction& instruction : program.code())
    AddInstruction(program, instruction, text);
  return Sha256(text.text());
}

std::shared_ptr<const TileKernel> KernelCache::Find(const Digest& digest) {
  MutexLock lock(&mu_);
  const auto found = kernels_.find(digest);
  return found == kernels_.end() ? nullptr : found->second.lock();
}

std::shared_ptr<const TileKernel> KernelCache::Add(const Digest& digest,
                                                   std::unique_ptr<const TileKernel> kernel) {
  const std::shared_ptr<const TileKernel> shared(
      kernel.release(), [cache = shared_from_this(), digest](const TileKernel* gone) {
        cache->Forget(digest);
        delete gone;
      });
  MutexLock lock(&mu_);
  kernels_[digest] = shared;
  return shared;
}

void KernelCache::Forget(const Digest& digest) {
  MutexLock lock(&mu_);
  // Another kernel of the same digest may have been added since.
  const auto found = kernels_.find(digest);
  if (found != kernels_.end() && found->second.expired()) kernels_.erase(found);
}

}  // namespace hlod::engine::assemble
