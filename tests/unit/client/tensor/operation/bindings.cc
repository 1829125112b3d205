// All bindings.
#include "tests/unit/client/tensor/operation/bindings.h"

#include <stdexcept>

namespace hlod {

const std::map<std::string, Binding>& AllBindings() {
  static const std::map<std::string, Binding>* const kAll = [] {
    auto* all = new std::map<std::string, Binding>();
    for (const auto family :
         {ArithmeticBindings,     UnaryBindings,        BinaryBindings,        ChoiceBindings,
          ActivationBindings,     LossBindings,         TargetLossBindings,    ReductionBindings,
          ViewBindings,           BroadcastingBindings, SplittingBindings,     JoiningBindings,
          ArrangementBindings,    DiagonalBindings,     WritingBindings,       IndexingBindings,
          MaskBindings,           ProductBindings,      NormalizationBindings, EmbeddingBindings,
          PoolingBindings,        SpecialBindings,      DecompositionBindings, OldLinalgBindings,
          MatrixFunctionBindings, SpectralBindings,     ImageBindings,         MarginLossBindings,
          DropoutBindings,        WindowBindings,       CreationBindings,      CumulativeBindings,
          StatisticsBindings,     SearchBindings,       AlgebraBindings,       FourierBindings}) {
      for (Binding& binding : family()) {
        const std::string name = binding.name;
        if (!all->emplace(name, std::move(binding)).second)
          throw std::runtime_error(name + " is bound twice");
      }
    }
    return all;
  }();
  return *kAll;
}

const Binding* BindingOf(const nlohmann::json& record) {
  const std::string op = record.at("op"), variant = record.at("variant");
  auto found = AllBindings().find(op + "." + variant);
  if (found == AllBindings().end()) found = AllBindings().find(op);
  return found == AllBindings().end() ? nullptr : &found->second;
}

}  // namespace hlod
