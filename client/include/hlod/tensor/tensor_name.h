// What the program calls a tensor: the ledger keeps its transfers under that name.
#pragma once

#include <string>
#include <string_view>

namespace hlod {

// Until it is destroyed, what this thread transfers, compiles and runs is about the tensor of that name. Of
// scopes that nest, the innermost holds. Moving a module, saving and loading a state name each tensor.
//   { hlod::TensorName scope("batch"); x = batch.To(device); }
class TensorName {
 public:
  explicit TensorName(std::string name);
  ~TensorName();
  TensorName(const TensorName&) = delete;
  TensorName& operator=(const TensorName&) = delete;

  // This thread's; "" outside of a scope. Valid as long as the scope.
  static std::string_view Current();

 private:
  const std::string name_;
  const std::string* const outer_;
};

}  // namespace hlod
