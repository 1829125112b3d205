// The user's objects for one execution.
#pragma once

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "client/pjrt/ffi/call.h"

namespace hlod::pjrt {

// Thread-safe. The framework destroys it, and owns the objects.
class ExecuteContext {
 public:
  void Add(int64_t type, void* object) {
    absl::MutexLock lock(&mu_);
    data_[type] = object;
  }
  ffi::UserData data() const {
    absl::MutexLock lock(&mu_);
    return data_;
  }

 private:
  mutable absl::Mutex mu_;
  ffi::UserData data_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hlod::pjrt
