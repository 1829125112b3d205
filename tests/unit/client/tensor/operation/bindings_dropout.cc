// Dropout where it is deterministic: with probability 0, or outside training.
#include "tests/unit/client/tensor/operation/bindings.h"

namespace hlod {
namespace {

Binding Dropping(const char* name, Tensor (*function)(const Operand&, double, bool), bool training) {
  return {name, "input p training inplace", [function, training](Arguments& a) {
            return function(a.Arg("input"), a.Double("p", 0.5), a.Bool("training", training));
          }};
}

}  // namespace

std::vector<Binding> DropoutBindings() {
  return {
      Dropping("nn.functional.dropout2d", Dropout2d, true),
      Dropping("nn.functional.dropout3d", Dropout3d, true),
      Dropping("nn.functional.feature_alpha_dropout", FeatureAlphaDropout, false),
  };
}

}  // namespace hlod
