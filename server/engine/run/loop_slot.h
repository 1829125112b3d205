// The place of the machine code of a loop in a plan's code. The code is made by server/engine/assemble.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace hlod::engine {

// The arguments of a loop's machine code. The code knows the positions of these members.
struct LoopCall {
  // Runs one instruction of the plan's code that is not part of the machine code. Returns 0, or -1 when the
  // run must end.
  int32_t (*run)(LoopCall* call, int32_t pc) = nullptr;
  int64_t budget = 0;  // The jumps back that remain before the code returns.
  int32_t pc = 0;      // The position to begin at: the beginning of the loop, or of one inside it.
};

// A loop, and the loops inside it: the instructions [begin, end). Any thread may run them meanwhile.
class LoopSlot {
 public:
  // Returns the position of the next instruction for the interpreter, or -1 when an instruction failed.
  // `table` is the table of pointers of the run.
  using Function = int32_t (*)(std::byte* const* table, LoopCall* call);

  LoopSlot(int32_t begin, int32_t end, int64_t code_bytes_max, int64_t budget)
      : begin_(begin), end_(end), code_bytes_max_(code_bytes_max), budget_(budget) {}

  int32_t begin() const { return begin_; }
  int32_t end() const { return end_; }
  // The limit on the bytes of its code. Plans are charged for it before there is any.
  int64_t code_bytes_max() const { return code_bytes_max_; }
  // The jumps back between two checks whether the run must stop.
  int64_t budget() const { return budget_; }
  // Returns null until code is installed.
  Function function() const { return function_.load(std::memory_order_acquire); }
  // Must be called at most once. `code` keeps the function in memory.
  void Install(Function function, std::shared_ptr<const void> code) {
    code_ = std::move(code);
    function_.store(function, std::memory_order_release);
  }

 private:
  const int32_t begin_, end_;
  const int64_t code_bytes_max_, budget_;
  std::shared_ptr<const void> code_;
  std::atomic<Function> function_{nullptr};
};

}  // namespace hlod::engine
