// Chooses the dimension along which a tensor is divided among devices.
#pragma once

#include <cstdint>
#include <string>

#include "hlod/runtime/caller.h"
#include "hlod/runtime/types.h"

namespace hlod::nn {

// Divides along the first dimension whose size is a multiple of the number of devices: torchax's
// SingleAxisSharder. Its result is an argument for ShardedPlaceholder(), such as "{devices=[1,4]<=[4]}".
class SingleAxisSharder {
 public:
  // With `replicate_unshardable`, a tensor without such a dimension is "{replicated}" instead of an error.
  explicit SingleAxisSharder(int64_t devices, bool replicate_unshardable = false)
      : devices_(devices), replicate_unshardable_(replicate_unshardable) {}

  std::string operator()(const Dims& dims, Caller caller = Caller::Here()) const;

 private:
  int64_t devices_;
  bool replicate_unshardable_;
};

}  // namespace hlod::nn
