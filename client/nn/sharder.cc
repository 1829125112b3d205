// Shardings by one axis.
#include "hlod/nn/sharder.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/tensor/value/throw.h"

namespace hlod::nn {

std::string SingleAxisSharder::operator()(const Dims& dims, Caller caller) const {
  if (devices_ < 1) {
    lazy::Throw(ErrorKind::kArgument, absl::StrCat("the number of devices (", devices_, ") is below 1"),
                "shard", caller);
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0 || dims[i] % devices_ != 0) continue;
    std::vector<int64_t> parts(dims.size(), 1);
    parts[i] = devices_;
    return absl::StrCat("{devices=[", absl::StrJoin(parts, ","), "]<=[", devices_, "]}");
  }
  if (replicate_unshardable_) return "{replicated}";
  lazy::Throw(ErrorKind::kArgument,
              absl::StrCat("Unable to find a dim to shard because None of the dims (",
                           absl::StrJoin(dims, ", "), ") in shape is multiple of ", devices_),
              "shard", caller);
}

}  // namespace hlod::nn
