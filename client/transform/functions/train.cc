// Tells a training step whether a module's buffer was written.
#include "hlod/optim/train.h"

#include "client/tensor/trace/lock.h"
#include "client/tensor/value/impl.h"

namespace hlod::lazy {

uint64_t WriteCount(const Tensor& tensor) {
  const TraceLock lock;
  return tensor.impl()->storage->version;
}

}  // namespace hlod::lazy
