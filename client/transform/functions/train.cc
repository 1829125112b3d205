// Counts writes to a module's buffers, so that a training step knows which ones its model changed.
#include "hlod/optim/train.h"

#include "client/tensor/trace/lock.h"
#include "client/tensor/value/impl.h"

namespace hlod::lazy {

uint64_t WriteCount(const Tensor& tensor) {
  const TraceLock lock;
  return tensor.impl()->storage->version;
}

}  // namespace hlod::lazy
