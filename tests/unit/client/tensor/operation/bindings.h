// From PyTorch's names to hlod's operations: how a recorded case is called.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/unit/client/tensor/operation/arguments.h"

namespace hlod {

struct Binding {
  // The name in PyTorch's table of operations: "add", "nn.functional.relu".
  std::string name;
  // Its parameters in order: "input other alpha".
  std::string parameters;
  std::function<Results(Arguments&)> call;
  // How many times the usual tolerance.
  double slack = 1;
};

// One list a family (bindings_*.cc).
std::vector<Binding> ElementwiseBindings();
std::vector<Binding> ActivationBindings();
std::vector<Binding> LossBindings();
std::vector<Binding> ReductionBindings();
std::vector<Binding> ViewBindings();
std::vector<Binding> JoiningBindings();
std::vector<Binding> IndexingBindings();
std::vector<Binding> NetworkBindings();
std::vector<Binding> PoolingBindings();
std::vector<Binding> SpecialBindings();
std::vector<Binding> LinalgBindings();
std::vector<Binding> ImageBindings();
std::vector<Binding> MarginLossBindings();
std::vector<Binding> DropoutBindings();
std::vector<Binding> CreationBindings();
std::vector<Binding> StatisticsBindings();
std::vector<Binding> AlgebraBindings();
std::vector<Binding> FourierBindings();

// All of them by name. A name in two lists is a failure.
const std::map<std::string, Binding>& AllBindings();
// That of a recorded case: of its variant, if it has one of its own; null where there is none.
const Binding* BindingOf(const nlohmann::json& record);

}  // namespace hlod
