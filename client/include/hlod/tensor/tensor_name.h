// The program's name for a tensor, under which the ledger keeps its transfers.
#pragma once

#include <string>
#include <string_view>

namespace hlod {

// While it exists, this thread's transfers, compiles and runs are attributed to the tensor of that name. The
// innermost of nested scopes applies. Moving a module, and saving and loading a state, name each tensor.
//   { hlod::TensorName scope("batch"); x = batch.To(device); }
class TensorName {
 public:
  explicit TensorName(std::string name);
  ~TensorName();
  TensorName(const TensorName&) = delete;
  TensorName& operator=(const TensorName&) = delete;

  // Returns this thread's name; "" outside of a scope. Valid as long as the scope.
  static std::string_view Current();

 private:
  const std::string name_;
  const std::string* const outer_;
};

}  // namespace hlod
