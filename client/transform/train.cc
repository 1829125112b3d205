// What a training step needs to know of a module's buffers.
#include "hlod/train.h"

#include "client/tensor/impl.h"
#include "client/tensor/lock.h"

namespace hlod::lazy {

uint64_t WriteCount(const Tensor& tensor) {
  const TraceLock lock;
  return tensor.impl()->storage->version;
}

}  // namespace hlod::lazy
