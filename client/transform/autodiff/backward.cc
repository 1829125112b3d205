// Backward(): visits the tape's entries from the last to the first and appends the transpose of each to the
// open trace.
#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/tensor/autograd/grad_hooks.h"
#include "client/tensor/autograd/tape.h"
#include "client/tensor/dispatch/apply.h"
#include "client/tensor/function/function_trace.h"
#include "client/tensor/trace/abstract.h"
#include "client/tensor/trace/backward_cuts.h"
#include "client/tensor/trace/lock.h"
#include "client/tensor/trace/thread_traces.h"
#include "client/tensor/value/defined.h"
#include "client/tensor/value/throw.h"
#include "client/transform/autodiff/differentiate.h"
#include "client/transform/autodiff/residual_primals.h"
#include "client/transform/autodiff/rules.h"
#include "client/transform/functions/suspend.h"
#include "hlod/ops/elementwise.h"
#include "hlod/ops/math.h"
#include "hlod/tensor/autograd.h"

namespace hlod {
namespace lazy {
namespace {

// Sets GradMode() and suspends autocast for a scope.
class GradScope {
 public:
  explicit GradScope(bool on) : before_(std::exchange(GradMode(), on)) {}
  ~GradScope() { GradMode() = before_; }
  GradScope(const GradScope&) = delete;
  GradScope& operator=(const GradScope&) = delete;

 private:
  const bool before_;
  const AutocastSuspension suspension_;
};

Operation Named(const char* operation) { return {operation, operation, Promotion::kNone, "a gradient"}; }

// Maps the cotangent of a view to that of the root of its view chain: `root`, or the whole `base` when root
// is null.
Op ThroughView(Lowering& l, const Shape& base, const View& view, const View* root, Op ct) {
  if (view.steps.size() <= view.leading) return ct;
  Trace scratch(l.graph.place, Trace::Kind::kFunction);
  Lowering s{scratch};
  const Op from = Apply(s, FirstSteps(view, view.leading), scratch.op(scratch.ArgumentParameter(base)));
  const Op shown = Apply(s, StepsAfter(view, view.leading), from);
  if (!s.b.status().ok()) throw Refusal{s.b.TakeStatus()};
  const Subgraph part{scratch.computation(), 0, scratch.size(), {from.id}, {true}};
  // The base, for which `ct` is a placeholder because its value is not needed, and numbers.
  std::vector<Op> parameters;
  for (const Parameter& parameter : scratch.parameters()) {
    parameters.push_back(
        parameter.literal == nullptr ? ct : l.graph.op(l.graph.NumberParameter(*parameter.literal)));
  }
  RecomputedPrimals copies(l, scratch.computation(), std::move(parameters));
  Op result = AppendVjp(l, part, copies, {shown.id}, {ct})[0];
  if (IsZero(result)) result = Zeros(l, s.shape(from));
  // The root is a view of the storage by AsStrided(): elements outside of it get no cotangent.
  return root != nullptr && root->steps.size() != view.leading ? Apply(l, *root, result) : result;
}

Tensor ThroughView(const Shape& base, const View& view, const View* root, const Tensor& ct,
                   const Caller& caller) {
  if (view.steps.size() <= view.leading) return ct;
  return Call(Named("backward"), {Operand(ct, caller)},
              [&](Lowering& l, Operands o) { return ThroughView(l, base, view, root, o[0]); });
}

// Returns the gradient of an operand that the results do not vary with: zeros in the shape of its lineage's
// root.
Op ZerosOf(Lowering& l, const TapeInput& input) {
  return Zeros(l, Shape::Array(input.base.type, input.root != nullptr ? input.root->dims : input.base.dims));
}

// Returns the operand that the tape saved as a tensor with its history.
Tensor AsTensor(const TapeInput& input) {
  auto impl = MakeRef<TensorImpl>(NextId(), MakeRef<Storage>(input.value), input.view);
  if (input.root != nullptr || !input.wanted) {
    impl->lineage = input.root == nullptr ? NewLineage(*impl, impl->id) : MakeRef<Lineage>(input.root, 0);
    impl->lineage->leaf = input.leaf;
    impl->lineage->history = input.history;
    impl->lineage->history_output = input.history_output;
  }
  return MakeTensor(std::move(impl));
}

Tensor Conjugate(const Tensor& x) { return hlo::IsComplex(x.dtype()) ? Conj(x) : x; }

class BackwardPass {
 public:
  BackwardPass(const BackwardOptions& options, const Caller& caller) : options_(options), caller_(caller) {}

  // Makes the gradient of an edge results[index]. After a request, gradients are not added to leaves.
  void RequestGradient(const GradEdge& edge, size_t index) { wanted_.emplace_back(edge, index); }
  std::vector<Tensor> results;

  void AddGradient(const GradEdge& edge, Tensor gradient) {
    if (edge.leaf) {
      if (wanted_.empty()) CheckLeaf(*edge.leaf);
      else if (!IsWanted(*edge.leaf)) return;
      const auto [found, is_new] = leaf_places_.try_emplace(edge.leaf.get(), leaves_.size());
      if (is_new) leaves_.emplace_back(edge.leaf, std::move(gradient));
      else leaves_[found->second].second = Sum(leaves_[found->second].second, gradient);
      return;
    }
    if (!edge.entry) return;
    auto& [entry, gradients] = pending_[edge.entry->sequence];
    entry = edge.entry;
    gradients.resize(edge.entry->output_shapes.size());
    Tensor& sum = gradients[edge.output];
    sum = sum.defined() ? Sum(sum, gradient) : std::move(gradient);
  }

  void Finish() {
    const GradScope scope(options_.create_graph);
    while (!pending_.empty()) {
      auto last = std::prev(pending_.end());
      const Ref<TapeEntry> entry = last->second.first;
      const std::vector<Tensor> gradients = std::move(last->second.second);
      pending_.erase(last);
      Pull(*entry, gradients);
      // An entry that keeps no input can be used again by later passes, for example the cached cast of a
      // weight.
      const bool keeps = std::any_of(entry->inputs.begin(), entry->inputs.end(),
                                     [](const TapeInput& input) { return bool{input.value}; });
      if (keeps && !options_.retain_graph && !options_.create_graph) spent_.push_back(entry);
    }
    for (auto& [leaf, gradient] : leaves_) {
      if (leaf->hooks != nullptr) gradient = Hooked(*leaf->hooks, {gradient})[0];
      gradient = Conjugate(gradient);
      for (const auto& [want, index] : wanted_) {
        if (want.leaf.get() == leaf.get()) results[index] = gradient;
      }
    }
    // Leaves and tape are changed only here, after everything that can fail.
    for (const auto& [leaf, gradient] : leaves_) {
      if (wanted_.empty()) Accumulate(*leaf, gradient);
    }
    for (const Ref<TapeEntry>& entry : spent_) entry->Release();
  }

 private:
  Tensor Sum(const Tensor& x, const Tensor& y) { return Add(Operand(x, caller_), Operand(y, caller_)); }

  bool IsWanted(const GradLeaf& leaf) const {
    return std::any_of(wanted_.begin(), wanted_.end(),
                       [&](const auto& wanted) { return wanted.first.leaf.get() == &leaf; });
  }
  // Returns the gradients that the hooks leave. They get copies, which they may keep and change.
  std::vector<Tensor> Hooked(const GradHooks& hooks, const std::vector<Tensor>& gradients) const {
    std::vector<Tensor> given;
    for (const Tensor& gradient : gradients) {
      given.push_back(gradient.defined() ? Conjugate(gradient).Clone(caller_) : Tensor());
    }
    hooks.Run(given, caller_);
    for (Tensor& gradient : given) {
      if (gradient.defined()) gradient = Conjugate(gradient);
    }
    return given;
  }
  void RunHooks(const TapeEntry& entry, std::vector<Tensor>& gradients) const {
    const size_t outputs = gradients.size();
    for (size_t i = 0; i < std::min(outputs, entry.hooks.size()); ++i) {
      if (entry.hooks[i] != nullptr && gradients[i].defined()) {
        gradients[i] = Hooked(*entry.hooks[i], {gradients[i]})[0];
      }
    }
    if (entry.hooks.size() > outputs) gradients = Hooked(*entry.hooks[outputs], gradients);
  }

  void CheckLeaf(const GradLeaf& leaf) {
    if (!leaf.in_function && FunctionTrace::Innermost() != nullptr) {
      Throw(ErrorKind::kArgument,
            "Backward() inside a function that is traced would set the gradient of a tensor of its "
            "surroundings; use Grad()",
            "backward", caller_);
    }
  }

  void Accumulate(GradLeaf& leaf, const Tensor& gradient) {
    SetRole(gradient, Role::kGradient);
    if (!leaf.gradient.defined()) leaf.gradient = gradient;
    else if (options_.create_graph) leaf.gradient = Sum(leaf.gradient, gradient);
    else leaf.gradient.Add_(Operand(gradient, caller_));
  }

  void Pull(TapeEntry& entry, std::vector<Tensor> gradients) {
    if (entry.released) {
      Throw(ErrorKind::kArgument,
            absl::StrCat("the gradient of ", entry.operation, " (", LineText(entry.caller),
                         ") was computed before, and what it needs was given up then; the first Backward() "
                         "takes retain_graph"),
            "backward", caller_);
    }
    RunHooks(entry, gradients);
    for (const auto& [want, index] : wanted_) {
      if (want.entry.get() == &entry && gradients[want.output].defined()) {
        results[index] = Conjugate(gradients[want.output]);
      }
    }
    for (size_t i = 0; i < entry.retained.size(); ++i) {
      if (entry.retained[i] && gradients[i].defined() && wanted_.empty()) {
        Accumulate(*entry.retained[i], Conjugate(gradients[i]));
        if (!options_.create_graph) gradients[i] = gradients[i].Clone(caller_);
      }
    }
    std::vector<size_t> which;  // The index of the input of each gradient in `made`.
    std::vector<Tensor> made;
    if (entry.backward) {
      for (size_t i = 0; i < entry.inputs.size(); ++i) which.push_back(i);
      made = entry.backward(gradients);
    } else {
      made = AppendTransposed(entry, gradients, which);
    }
    for (size_t i = 0; i < made.size(); ++i) {
      const TapeInput& input = entry.inputs[which[i]];
      if (!input.wanted || !made[i].defined()) continue;
      if (entry.backward) {
        made[i] = ThroughView(input.base, input.view, input.root.get(), made[i], caller_);
      }
      AddGradient({input.leaf, input.history, input.history_output}, std::move(made[i]));
    }
  }

  // Returns true when the entry's nodes are in the trace that the gradients will be computed in.
  bool IsHere(const TapeEntry& entry, const std::vector<Tensor>& gradients) {
    if (entry.graph == nullptr || options_.create_graph) return false;
    const TraceLock lock;
    bool abstract = false;
    Place place;
    for (const Tensor& gradient : gradients) {
      if (!gradient.defined()) continue;
      const Value& value = gradient.impl()->value();
      place = value.place;
      abstract = abstract || value.IsAbstract();
    }
    if (place.is_host()) return false;
    return entry.graph ==
           &ThreadTraces::Get().Open(place, abstract ? Trace::Kind::kAbstract : Trace::Kind::kReal);
  }

  std::vector<Tensor> AppendTransposed(TapeEntry& entry, const std::vector<Tensor>& gradients,
                                       std::vector<size_t>& which) {
    std::vector<Operand> operands;
    std::vector<size_t> outputs;
    for (size_t i = 0; i < gradients.size(); ++i) {
      if (!gradients[i].defined()) continue;
      outputs.push_back(i);
      operands.emplace_back(gradients[i], entry.caller);
    }
    const bool here = IsHere(entry, gradients);
    std::vector<Tensor> inputs, captured, kept;
    if (!here) {
      const TraceLock lock;
      entry.KeepFunction();
      for (const TapeInput& input : entry.inputs) {
        if (input.value) inputs.push_back(AsTensor(input));
      }
      captured = entry.function->Captured();
      for (const TapeEntry::Kept& each : entry.kept) kept.push_back(MakeTensor(each.value));
      for (const Tensor& tensor : inputs) operands.emplace_back(tensor, entry.caller);
      for (const Tensor& tensor : kept) operands.emplace_back(tensor, entry.caller);
      for (const Tensor& tensor : captured) operands.emplace_back(tensor, entry.caller);
    }
    return CallSeveral(Named(entry.operation), operands, [&](Lowering& l, Operands o) {
      const Operands cotangents = o.subspan(0, outputs.size());
      std::vector<Op> results =
          here ? VjpInTrace(l, entry, outputs, cotangents)
               : VjpRecomputed(l, entry, outputs, cotangents, o.subspan(outputs.size(), inputs.size()),
                               o.subspan(outputs.size() + inputs.size(), kept.size()),
                               o.subspan(outputs.size() + inputs.size() + kept.size()));
      std::vector<Op> given;
      for (size_t i = 0; i < results.size(); ++i) {
        const TapeInput& input = entry.inputs[i];
        if (!input.wanted || (IsZero(results[i]) && !HasZeroGradient(entry, i, here))) continue;
        which.push_back(i);
        given.push_back(IsZero(results[i])
                            ? ZerosOf(l, input)
                            : ThroughView(l, input.base, input.view, input.root.get(), results[i]));
      }
      return given;
    });
  }

  // Returns true when input `i`, whose cotangent is zero, gets a gradient of zeros, as in PyTorch: an input
  // of an in-place operation, or one that the results depend on. An unused input gets no gradient.
  static bool HasZeroGradient(const TapeEntry& entry, size_t i, bool here) {
    if (entry.in_place) return true;
    const hlo::Computation& computation = here ? entry.graph->computation() : *entry.function->computation;
    const NodeId input = here ? entry.inputs[i].node : computation.parameters()[i];
    const NodeId first = here ? entry.first : 0, limit = here ? entry.limit : computation.size();
    std::vector<bool> depends(limit - first, false);  // By node from `first` on, true when it uses the input.
    const auto is = [&](NodeId node) {
      return node == input || (node >= first && node < limit && depends[node - first]);
    };
    for (NodeId node = first; node < limit; ++node) {
      const hlo::Instruction instruction = computation[node];
      if (!instruction.called().empty() && instruction.opcode() != hlo::kReduce) continue;
      const absl::Span<const NodeId> operands = instruction.operands();
      depends[node - first] = std::any_of(operands.begin(), operands.end(), is);
    }
    const std::vector<NodeId>& outputs = here ? entry.outputs : entry.function->outputs;
    return std::any_of(outputs.begin(), outputs.begin() + static_cast<std::ptrdiff_t>(entry.outputs.size()),
                       is);
  }

  static Subgraph SubgraphOf(const TapeEntry& entry, const hlo::Computation& computation) {
    Subgraph part{computation, 0, computation.size(), {}, {}};
    for (const TapeInput& input : entry.inputs) part.wanted.push_back(input.wanted);
    return part;
  }

  // Transposes in the trace of the forward computation, whose nodes are the primals, without recomputing any.
  static std::vector<Op> VjpInTrace(Lowering& l, const TapeEntry& entry, const std::vector<size_t>& outputs,
                                    Operands cotangents) {
    Subgraph part = SubgraphOf(entry, l.graph.computation());
    part.first = entry.first;
    part.limit = entry.limit;
    part.graph = &l.graph;
    std::vector<NodeId> nodes;
    for (const TapeInput& input : entry.inputs) part.inputs.push_back(input.node);
    for (const size_t output : outputs) nodes.push_back(entry.outputs[output]);
    InPlacePrimals values(l);
    return AppendVjp(l, part, values, nodes, cotangents);
  }

  // Transposes in another trace: recomputes intermediate values that were not saved, from the operands.
  static std::vector<Op> VjpRecomputed(Lowering& l, const TapeEntry& entry,
                                       const std::vector<size_t>& outputs, Operands cotangents,
                                       Operands inputs, Operands kept, Operands captured) {
    const Function& function = *entry.function;
    std::vector<Op> parameters;
    for (size_t i = 0; i < entry.inputs.size(); ++i) {
      if (entry.inputs[i].value) {
        parameters.push_back(inputs.front());
        inputs.remove_prefix(1);
      } else {  // The tape did not save the value, because no rule needs it.
        parameters.push_back(
            Zeros(l, function.computation->instruction(function.computation->parameters()[i]).shape()));
      }
    }
    const std::vector<Op> extra = ExtraArguments(l, function, captured);
    parameters.insert(parameters.end(), extra.begin(), extra.end());
    const hlo::Computation& computation = *function.computation;
    Subgraph part = SubgraphOf(entry, computation);
    std::vector<NodeId> nodes;
    for (size_t i = 0; i < entry.inputs.size(); ++i) part.inputs.push_back(computation.parameters()[i]);
    // An operand that occurs twice is a single input.
    for (size_t i = 0; i < entry.inputs.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (entry.inputs[j].node == entry.inputs[i].node) part.inputs[i] = part.inputs[j];
      }
    }
    for (const size_t output : outputs) nodes.push_back(function.outputs[output]);
    RecomputedPrimals copies(l, computation, std::move(parameters));
    for (size_t i = 0; i < kept.size(); ++i) {
      copies.Set(function.outputs[entry.outputs.size() + i], kept[i]);
    }
    return AppendVjp(l, part, copies, nodes, cotangents);
  }

  const BackwardOptions& options_;
  const Caller& caller_;
  std::vector<std::pair<GradEdge, size_t>> wanted_;
  std::map<uint64_t, std::pair<Ref<TapeEntry>, std::vector<Tensor>>> pending_;
  // The leaves' gradients, in the order of the pass, which Finish() accumulates at its end; and their places.
  std::vector<std::pair<Ref<GradLeaf>, Tensor>> leaves_;
  std::map<const GradLeaf*, size_t> leaf_places_;
  std::vector<Ref<TapeEntry>> spent_;
};

// Returns the first gradient: the given one, or 1. Throws when the output does not require gradients, or when
// the given gradient has another shape or is missing for an output of several elements.
Tensor SeedGradient(const Tensor& output, const Tensor& given, const Caller& caller) {
  if (!output.requires_grad(caller)) {
    Throw(ErrorKind::kArgument,
          absl::StrCat("the tensor does not require gradients, nor does anything that it was computed from: ",
                       output.Describe()),
          "backward", caller);
  }
  if (!given.defined() && output.numel() != 1) {
    Throw(ErrorKind::kArgument,
          absl::StrCat("a gradient is given for a tensor of more than one element; this is ",
                       output.Describe()),
          "backward", caller);
  }
  if (given.defined() && !(given.shape() == output.shape())) {
    Throw(ErrorKind::kArgument,
          absl::StrCat("the gradient ", hlo::ToStringNoLayout(given.shape()), " does not fit ",
                       output.Describe()),
          "backward", caller);
  }
  if (given.defined()) return Conjugate(given).Clone(caller);
  return Call(Named("backward"), {Operand(output, caller)},
              [](Lowering& l, Operands o) { return l.Full(l.type(o[0]), l.dims(o[0]), 1); });
}

// Adds the first gradient to the edge of the tensor, or of the tensor that it is a view of.
void BeginAt(BackwardPass& pass, const Tensor& output, const Tensor& gradient, const Caller& caller) {
  const TensorImpl& impl = *output.impl();
  const View* const root = impl.lineage ? impl.lineage->root.get() : nullptr;
  pass.AddGradient(EdgeOf(impl), ThroughView(impl.value().shape(), MarkedView(impl), root, gradient, caller));
}

}  // namespace
}  // namespace lazy

void Tensor::Backward(Caller caller) const { Backward(BackwardOptions{}, caller); }

void Tensor::Backward(const BackwardOptions& options, Caller caller) const {
  lazy::CutAtPhase(caller);
  lazy::BackwardPass pass(options, caller);
  {
    const lazy::GradScope scope(options.create_graph);
    lazy::BeginAt(pass, *this, lazy::SeedGradient(*this, options.gradient, caller), caller);
  }
  pass.Finish();
  lazy::CutAtPhase(caller);
}

std::vector<Tensor> Gradients(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                              const BackwardOptions& options, Caller caller) {
  lazy::BackwardPass pass(options, caller);
  pass.results.resize(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool requires_grad = inputs[i].requires_grad();
    const lazy::TensorImpl& impl = *inputs[i].impl();
    if (!requires_grad || !lazy::IsRoot(impl)) {
      lazy::Throw(
          ErrorKind::kArgument,
          absl::StrCat("input ", i, " must require gradients and not be a view: ", inputs[i].Describe()),
          "gradients", caller);
    }
    pass.RequestGradient(lazy::EdgeOf(impl), i);
  }
  for (const Tensor& output : outputs) {
    const lazy::GradScope scope(options.create_graph);
    lazy::BeginAt(pass, output, lazy::SeedGradient(output, options.gradient, caller), caller);
  }
  pass.Finish();
  return pass.results;
}

}  // namespace hlod
