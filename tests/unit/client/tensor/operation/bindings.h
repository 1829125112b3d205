// Bindings of PyTorch's names to hlod's operations, by which recorded cases are called.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/unit/client/tensor/operation/arguments.h"

namespace hlod {

struct Binding {
  // The name in PyTorch's table of operations, for example "add" or "nn.functional.relu".
  std::string name;
  // The parameters in order: "input other alpha".
  std::string parameters;
  std::function<Results(Arguments&)> call;
  // A factor of the usual tolerance.
  double slack = 1;
};

// One list per family (bindings_*.cc).
std::vector<Binding> ArithmeticBindings();
std::vector<Binding> UnaryBindings();
std::vector<Binding> BinaryBindings();
std::vector<Binding> ChoiceBindings();
std::vector<Binding> ActivationBindings();
std::vector<Binding> LossBindings();
std::vector<Binding> TargetLossBindings();
std::vector<Binding> ReductionBindings();
std::vector<Binding> ViewBindings();
std::vector<Binding> BroadcastingBindings();
std::vector<Binding> SplittingBindings();
std::vector<Binding> JoiningBindings();
std::vector<Binding> ArrangementBindings();
std::vector<Binding> DiagonalBindings();
std::vector<Binding> WritingBindings();
std::vector<Binding> IndexingBindings();
std::vector<Binding> MaskBindings();
std::vector<Binding> ProductBindings();
std::vector<Binding> NormalizationBindings();
std::vector<Binding> EmbeddingBindings();
std::vector<Binding> PoolingBindings();
std::vector<Binding> SpecialBindings();
std::vector<Binding> DecompositionBindings();
std::vector<Binding> OldLinalgBindings();
std::vector<Binding> MatrixFunctionBindings();
std::vector<Binding> SpectralBindings();
std::vector<Binding> ImageBindings();
std::vector<Binding> MarginLossBindings();
std::vector<Binding> DropoutBindings();
std::vector<Binding> WindowBindings();
std::vector<Binding> CreationBindings();
std::vector<Binding> CumulativeBindings();
std::vector<Binding> StatisticsBindings();
std::vector<Binding> SearchBindings();
std::vector<Binding> AlgebraBindings();
std::vector<Binding> FourierBindings();

// Returns all bindings by name. A name in two lists is a failure.
const std::map<std::string, Binding>& AllBindings();
// Returns the binding of a recorded case; that of its variant when there is one. Null when there is none.
const Binding* BindingOf(const nlohmann::json& record);

}  // namespace hlod
