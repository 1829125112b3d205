// The store by which the processes of jax.distributed find each other, as the framework gives it to the
// plugin.
#pragma once

#include <string>

#include "client/pjrt/abi/client.h"
#include "hlod/runtime/group.h"

namespace hlod::pjrt {

class KeyValueStore : public GroupStore {
 public:
  // REQUIRES: `args` outlives the store.
  explicit KeyValueStore(const abi::Client_Create_Args& args) : args_(args) {}

  // Returns true if the framework has given a store.
  bool Exists() const { return args_.kv_get_callback != nullptr && args_.kv_put_callback != nullptr; }
  absl::Status Put(const std::string& key, const std::string& value) override;
  absl::StatusOr<std::string> Get(const std::string& key, absl::Duration timeout) override;

 private:
  const abi::Client_Create_Args& args_;
};

}  // namespace hlod::pjrt
