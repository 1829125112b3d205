// Shares machine code between programs of equal text: the layers of a network have many.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "common/base/system/mutex.h"
#include "server/engine/tile/kernel.h"

namespace hlod::engine::assemble {

// Returns a text that is equal for slots whose code is equal on the processor's best instruction set.
std::string TextOf(const KernelSlot& slot, bool past_caches);

// Thread-safe. Kernels exist as long as a slot has them.
class KernelCache {
 public:
  // Returns the kernel of that text, or null.
  std::shared_ptr<const TileKernel> Find(const std::string& text);
  void Add(const std::string& text, const std::shared_ptr<const TileKernel>& kernel);

 private:
  // When there are as many, those that no slot has any more are removed; if most are in use, no more are
  // added.
  static constexpr size_t kKernelsMax = 4096;

  Mutex mu_;
  absl::flat_hash_map<std::string, std::weak_ptr<const TileKernel>> kernels_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hlod::engine::assemble
