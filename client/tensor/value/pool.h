// A pool for the small objects that every operation makes: a thread keeps the blocks that it frees and reuses
// them.
#pragma once

#include <cstddef>
#include <new>

namespace hlod::lazy {

// Sanitizers only check memory that is returned to the allocator.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
template <typename T>
class Pooled {};
#else

// A base class that makes T, but not classes derived from it, use such blocks. A thread keeps at most kKept
// of them, and none after it has ended.
template <typename T>
class Pooled {
 public:
  static void* operator new(size_t) {
    Blocks& blocks = mine;
    if (blocks.first == nullptr) return ::operator new(sizeof(T));
    --blocks.count;
    Block* const block = blocks.first;
    blocks.first = block->next;
    return block;
  }

  static void operator delete(void* memory) {
    Blocks& blocks = mine;
    if (blocks.count >= kKept || !Watched()) return ::operator delete(memory);
    ++blocks.count;
    blocks.first = new (memory) Block{blocks.first};
  }

 private:
  static constexpr size_t kKept = 256;

  struct Block {
    Block* next;
  };
  // Has no destructor, so that it may be used until the very end of the thread.
  struct Blocks {
    Block* first;
    size_t count;
    enum : char { kNew, kInUse, kEnded } state;
  };
  struct AtThreadEnd {
    ~AtThreadEnd() {
      mine.state = Blocks::kEnded;
      while (Block* const block = mine.first) {
        mine.first = block->next;
        ::operator delete(block);
      }
      mine.count = 0;
    }
  };

  // Returns true when the blocks that are kept will be freed at the end of the thread.
  static bool Watched() {
    if (mine.state == Blocks::kInUse) return true;
    if (mine.state == Blocks::kEnded) return false;
    thread_local AtThreadEnd at_end;
    mine.state = Blocks::kInUse;
    return true;
  }

  static constinit inline thread_local Blocks mine = {nullptr, 0, Blocks::kNew};
};
#endif

}  // namespace hlod::lazy
