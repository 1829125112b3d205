// The methods of Tensor that request gradients, return them and drop them.
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/tensor/autograd/tape.h"
#include "client/tensor/function/function_trace.h"
#include "client/tensor/trace/abstract.h"
#include "client/tensor/trace/lock.h"
#include "client/tensor/value/defined.h"
#include "client/tensor/value/impl.h"
#include "client/tensor/value/throw.h"
#include "client/transform/autodiff/residual_primals.h"
#include "common/base/text/strings.h"
#include "hlod/tensor/autograd.h"

namespace hlod {
namespace lazy {
namespace {

// The tape's engine, which differentiates by the rules of client/transform.
class RuleGradients : public GradientEngine {
 public:
  void KeepResiduals(TapeEntry& entry, Trace& graph, const Caller& caller) const override {
    KeepForBackward(entry, graph, caller);
  }
};
constexpr RuleGradients kGradients;

}  // namespace
}  // namespace lazy

Tensor& Tensor::RequiresGrad_(bool requires_grad, Caller caller) {
  if (requires_grad && !hlo::IsFloat(dtype(caller)) && !hlo::IsComplex(dtype())) {
    lazy::Throw(ErrorKind::kArgument,
                absl::StrCat("only floating and complex tensors can require gradients; this is ",
                             ToAbsl(hlo::Name(dtype()))),
                "requires_grad_", caller);
  }
  const lazy::TraceLock lock;
  lazy::TensorImpl& impl = lazy::Defined(*this, caller);
  const bool requires_now = lazy::RequiresGrad(impl), is_leaf = lazy::IsGradLeaf(impl);
  if (!requires_grad && requires_now && !is_leaf) {
    lazy::Throw(ErrorKind::kArgument,
                "this tensor was computed from one that requires gradients; use Detach() to stop them",
                "requires_grad_", caller);
  }
  if (!requires_grad && is_leaf) {
    impl.lineage = lazy::Ref<lazy::Lineage>(impl.lineage->before);
  } else if (requires_grad && !requires_now) {
    lazy::Ref<lazy::Lineage> lineage = lazy::NewLineage(impl, impl.id);
    lineage->leaf =
        lazy::MakeRef<lazy::GradLeaf>(lazy::kGradients, lazy::FunctionTrace::Innermost() != nullptr);
    lineage->before = std::move(impl.lineage);
    impl.lineage = std::move(lineage);
    lazy::SetRole(*this, lazy::Role::kWeight);
  }
  return *this;
}

bool Tensor::is_leaf(Caller caller) const {
  const lazy::TraceLock lock;
  const lazy::TensorImpl& impl = lazy::Defined(*this, caller);
  return !lazy::RequiresGrad(impl) || lazy::IsGradLeaf(impl);
}
Tensor Tensor::Grad(Caller caller) const {
  const lazy::TraceLock lock;
  const lazy::TensorImpl& impl = lazy::Defined(*this, caller);
  if (!lazy::IsRoot(impl)) return {};
  const lazy::GradEdge edge = lazy::EdgeOf(impl);
  if (edge.leaf) return edge.leaf->gradient;
  if (!edge.entry || edge.entry->retained.size() <= edge.output) return {};
  const lazy::Ref<lazy::GradLeaf>& retained = edge.entry->retained[edge.output];
  return retained ? retained->gradient : Tensor();
}
void Tensor::ZeroGrad(Caller caller) {
  if (lazy::IsGradLeaf(lazy::Defined(*this, caller))) impl_->lineage->leaf->gradient = Tensor();
}
Tensor& Tensor::RetainGrad(Caller caller) {
  const lazy::TensorImpl& impl = lazy::Defined(*this, caller);
  if (lazy::IsGradLeaf(impl)) return *this;
  if (!requires_grad() || !lazy::IsRoot(impl)) {
    lazy::Throw(
        ErrorKind::kArgument,
        absl::StrCat("only a tensor that requires gradients, and is not a view, keeps one: ", Describe()),
        "retain_grad", caller);
  }
  const lazy::TraceLock lock;
  const lazy::GradEdge edge = lazy::EdgeOf(impl);
  edge.entry->retained.resize(edge.entry->output_shapes.size());
  lazy::Ref<lazy::GradLeaf>& leaf = edge.entry->retained[edge.output];
  if (!leaf)
    leaf = lazy::MakeRef<lazy::GradLeaf>(lazy::kGradients, lazy::FunctionTrace::Innermost() != nullptr);
  return *this;
}

}  // namespace hlod
