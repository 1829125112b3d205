// Shares machine code between programs of equal text: the layers of a network have many.
#pragma once

#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "common/base/sha256.h"
#include "common/base/system/mutex.h"
#include "server/engine/tile/kernel.h"

namespace hlod::engine::assemble {

// Returns a digest that is equal for slots whose code is equal on the processor's best instruction set.
Digest DigestOf(const KernelSlot& slot, bool past_caches);

// Has no memory of its own besides a few words per kernel, which exist as long as the kernel: CodeMemory
// counts them, as its user's. Thread-safe.
class KernelCache : public std::enable_shared_from_this<KernelCache> {
 public:
  // Returns the kernel of that digest, or null.
  std::shared_ptr<const TileKernel> Find(const Digest& digest);
  // Shares the kernel as long as the result, or a copy of it, exists.
  std::shared_ptr<const TileKernel> Add(const Digest& digest, std::unique_ptr<const TileKernel> kernel);

 private:
  void Forget(const Digest& digest);

  Mutex mu_;
  absl::flat_hash_map<Digest, std::weak_ptr<const TileKernel>> kernels_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hlod::engine::assemble
