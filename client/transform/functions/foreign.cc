// Records foreign programs as operations: HLO modules, custom calls, host functions.
#include "hlod/transform/foreign.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "client/import/import.h"
#include "client/runtime/observe/metrics.h"
#include "client/runtime/session/state.h"
#include "client/tensor/dispatch/apply.h"
#include "client/tensor/function/function.h"
#include "client/tensor/trace/close.h"
#include "client/tensor/trace/close_event.h"
#include "client/tensor/trace/copy_nodes.h"
#include "client/tensor/trace/lock.h"
#include "client/tensor/trace/runtime.h"
#include "client/tensor/value/copy_to.h"
#include "client/tensor/value/throw.h"
#include "client/transform/foreign/formulas.h"
#include "client/transform/foreign/logistic.h"
#include "client/transform/foreign/special.h"
#include "client/transform/functions/counted_loop.h"
#include "client/transform/functions/mask.h"
#include "client/transform/rules/lapack.h"
#include "client/transform/rules/own.h"
#include "client/transform/rules/unbounded.h"
#include "common/base/text/strings.h"
#include "common/hlo/flat_signature.h"
#include "common/hlo/inference/verifier.h"
#include "common/hlo/instruction_cloner.h"
#include "common/hlo/translation.h"
#include "common/passes/expand/expand_functions.h"
#include "common/passes/passes.h"

namespace hlod::lazy {
namespace {

constexpr Operation kLoaded = {"LoadedFunction", "call", Promotion::kNone, "an HLO module"};
constexpr Operation kCustom = {"CustomCall", "custom_call", Promotion::kNone, "a custom call"};
constexpr char kHost[] = "host_function";
// The maximum number of instructions after inlining calls, because nested calls multiply quickly.
constexpr uint32_t kSplicedMax = 1'000'000;

// Returns true when the location of the function's last instruction, which JAX 0.10 states within the
// function, has a file. Earlier versions state it within the whole program ("jit(f)/jit(relu)/max"), with the
// file of the call.
bool IsUsers(const hlo::Computation& function) {
  const hlo::Notes* const notes = function.notes(function.root_id());
  return notes != nullptr && !notes->metadata.source_file.empty() &&
         notes->metadata.op_name.find('/') == std::string::npos;
}

}  // namespace

// A loaded module: its entry over the trace tables, in which its callees are interned. Immutable.
class LoadedProgram {
 public:
  LoadedProgram(const Module& module, hlo::FlatSignature signature)
      : name_(module.name()),
        signature_(std::move(signature)),
        entry_(std::make_unique<hlo::Computation>(TraceTables::Get().tables(), module.name())) {
    hlo::Translation translation(module.tables(), *TraceTables::Get().tables());
    std::vector<hlo::ComputationId> ids;
    for (hlo::ComputationId c = 0; c < module.computation_count(); ++c) {
      const hlo::Computation& from = module.computation(c);
      hlo::Computation callee(TraceTables::Get().tables(), from.name());
      const bool is_entry = c == module.entry_id();
      hlo::Computation& to = is_entry ? *entry_ : callee;
      hlo::InstructionCloner cloner(from, to,
                                    {.callee = [&ids](hlo::ComputationId id) { return ids[id]; },
                                     .translation = &translation,
                                     .notes = false});
      for (NodeId node = 0; node < from.size(); ++node) {
        const hlo::Instruction instruction = from[node];
        const std::optional<NodeId> replaced =
            Replaced(to, instruction, cloner.operands(instruction), cloner.called(instruction));
        if (replaced.has_value()) {
          // JAX writes the last select of a formula as a call.
          cloner.set_node(node, AppendFormula(to, *replaced).value_or(*replaced));
          continue;
        }
        NodeId copy = cloner.Clone(node);
        if (instruction.opcode() == hlo::kCustomCall) copy = AppendReflectedQr(to, copy).value_or(copy);
        if (instruction.opcode() == hlo::kSelect) {
          MarkMasking(to.mutable_notes(copy));
          copy = AppendBesselI0e(to, copy).value_or(copy);
          copy = AppendTriangleOfQr(to, copy).value_or(copy);
        }
        copy = AppendFormula(to, copy).value_or(copy);
        if (instruction.opcode() == hlo::kWhile) MarkReversible(to.mutable_notes(copy));
        cloner.set_node(node, copy);
        const hlo::Notes* const notes = from.notes(node);
        if (notes == nullptr) continue;
        hlo::Notes& kept = to.mutable_notes(copy);
        kept.frontend_attributes.insert(notes->frontend_attributes.begin(), notes->frontend_attributes.end());
        kept.sharding = notes->sharding;
      }
      const NodeId root = cloner.node(from.root_id());
      to.set_root(AppendNamed(to, root, from.name(), IsUsers(from)).value_or(root));
      ids.push_back(is_entry ? 0 : TraceTables::Get().Callee(callee));
    }
    for (const auto& leaf : signature_.arguments) parameters_.push_back(leaf.shape);
    for (const auto& leaf : signature_.results) results_.push_back(leaf.shape);
  }

  const std::string& name() const { return name_; }
  const std::vector<Shape>& parameters() const { return parameters_; }
  const std::vector<Shape>& results() const { return results_; }

  std::vector<Op> Inline(Lowering& l, Operands arguments) const {
    const hlo::Computation& from = *entry_;
    const auto argument = [&](NodeId, const hlo::Instruction& instruction) -> std::optional<NodeId> {
      if (instruction.opcode() != hlo::kParameter) return std::nullopt;
      return ArgumentOf(l, instruction.parameter_number(), instruction.shape(), {}, arguments).id;
    };
    const std::vector<NodeId> copy_of =
        CopyNodes(from, from.size(), argument, [&](NodeId node, absl::Span<const NodeId> operands) {
          return l.graph.AppendCopy(from, node, operands);
        });
    std::vector<Op> results;
    for (const auto& leaf : signature_.results) {
      Op result = l.graph.op(copy_of[from.root_id()]);
      for (const int64_t index : leaf.index) result = l.b.GetTupleElement(result, index);
      results.push_back(result);
    }
    return results;
  }

 private:
  // Appends and returns the replacement of an instruction that transforms need; nullopt for most
  // instructions. A plain call or a fusion is replaced by the callee's instructions, a counted loop by a
  // scan, and the last instruction of a logistic function by the opcode.
  static std::optional<NodeId> Replaced(hlo::Computation& to, const hlo::Instruction& instruction,
                                        absl::Span<const NodeId> operands,
                                        absl::Span<const hlo::ComputationId> called) {
    const bool call =
        instruction.opcode() == hlo::kCall && !instruction.attributes<hlo::CallAttributes>().is_composite;
    if (call || instruction.opcode() == hlo::kFusion) {
      const hlo::Computation& callee = TraceTables::Get().callees().computation(called[0]);
      if (to.size() + callee.size() > kSplicedMax) return std::nullopt;
      return Spliced(to, callee, operands);
    }
    if (instruction.opcode() == hlo::kDivide) return AppendAsLogistic(to, instruction, operands);
    if (instruction.opcode() != hlo::kWhile) return std::nullopt;
    return AppendAsScan(to, {to, operands[0], called[0], called[1]});
  }

  static NodeId Spliced(hlo::Computation& to, const hlo::Computation& callee,
                        absl::Span<const NodeId> arguments) {
    return CopyNodes(callee, callee.size(), InPlaceOfParameters(arguments),
                     AppendingTo(to, callee))[callee.root_id()];
  }

  // Returns the argument for an array parameter, or a tuple of the arguments that are the parameter's leaves.
  Op ArgumentOf(Lowering& l, int64_t number, const Shape& shape, Dims index, Operands arguments) const {
    if (!shape.IsTuple()) return arguments[static_cast<size_t>(signature_.FindArgument(number, index))];
    std::vector<Op> elements;
    for (size_t i = 0; i < shape.tuple.size(); ++i) {
      Dims inner = index;
      inner.push_back(static_cast<int64_t>(i));
      elements.push_back(ArgumentOf(l, number, shape.tuple[i], std::move(inner), arguments));
    }
    return l.b.Tuple(elements);
  }

  const std::string name_;
  const hlo::FlatSignature signature_;
  std::unique_ptr<hlo::Computation> entry_;
  std::vector<Shape> parameters_, results_;
};

}  // namespace hlod::lazy

namespace hlod {

using lazy::Throw;

const std::vector<Shape>& LoadedFunction::parameters() const { return program_->parameters(); }
const std::vector<Shape>& LoadedFunction::results() const { return program_->results(); }
const std::string& LoadedFunction::name() const { return program_->name(); }

std::vector<Tensor> LoadedFunction::operator()(const std::vector<Tensor>& arguments, Caller caller) const {
  const char* const name = lazy::kLoaded.pytorch;
  if (arguments.size() != parameters().size()) {
    Throw(ErrorKind::kArgument,
          absl::StrCat(program_->name(), " takes ", parameters().size(), " arguments; ", arguments.size(),
                       " are given"),
          name, caller);
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].defined() && Compatible(arguments[i].shape(), parameters()[i])) continue;
    Throw(ErrorKind::kArgument,
          absl::StrCat("argument ", i, " of ", program_->name(), " is ",
                       arguments[i].defined() ? hlo::ToStringNoLayout(arguments[i].shape()) : "undefined",
                       "; the module takes ", hlo::ToStringNoLayout(parameters()[i])),
          name, caller);
  }
  for (size_t i = 0; i < results().size(); ++i) {
    if (results()[i].IsArray() && !results()[i].HasDynamicDimension()) continue;
    Throw(ErrorKind::kUnimplemented,
          absl::StrCat("result ", i, " of ", program_->name(), " is ", hlo::ToStringNoLayout(results()[i]),
                       "; tensors are arrays of static sizes"),
          name, caller);
  }
  std::vector<Operand> operands = lazy::OperandsOf(arguments, caller);
  if (operands.empty()) operands.emplace_back(Scalar(0), caller);  // This operand carries the caller's line.
  return lazy::CallSeveral(lazy::kLoaded, operands,
                           [&](lazy::Lowering& l, lazy::Operands o) { return program_->Inline(l, o); });
}

namespace {

constexpr char kLoad[] = "load_function";

// Loads a program from bytes; `source` names them in errors.
LoadedFunction Loaded(std::string_view bytes, std::string_view source, const Caller& caller) {
  const auto check = [&](const absl::Status& status) {
    if (status.ok()) return;
    ErrorDetails error = ErrorOf(AsProgramError(status));
    error.text = absl::StrCat(ToAbsl(source), ": ", error.text);
    lazy::ThrowIfError(ToStatus(std::move(error)), kLoad, caller);
  };
  absl::StatusOr<std::unique_ptr<Module>> module =
      ReadModule(bytes, {.for_execution = true, .with_rules = true});
  check(module.status());
  check(hlo::Verify(**module));
  // A trace's instructions have no layouts.
  module = passes::DropLayouts(**module);
  check(module.status());
  // Expands batch norms, maps and scaled dots to instructions that have rules for transforms.
  if (passes::HasFunctions(**module)) *module = passes::ExpandFunctions(**module);
  if (passes::HasOtherScans(**module)) *module = passes::ScansAlongDimension0(**module);
  hlo::FlatSignature signature((*module)->entry());
  const lazy::TraceLock lock;
  return LoadedFunction(std::make_shared<const lazy::LoadedProgram>(**module, std::move(signature)));
}

}  // namespace

LoadedFunction LoadFunctionFromBytes(std::string_view bytes, Caller caller) {
  return Loaded(bytes, "what is given", caller);
}

LoadedFunction LoadFunction(const std::string& path, Caller caller) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  if (file) bytes << file.rdbuf();
  if (!file) Throw(ErrorKind::kArgument, absl::StrCat(std::strerror(errno), ": ", path), kLoad, caller);
  return Loaded(bytes.str(), path, caller);
}

std::vector<Tensor> CustomCall(const std::string& target, const std::vector<Tensor>& inputs,
                               const std::vector<Shape>& results, const CustomCallOptions& options,
                               Caller caller) {
  if (results.empty())
    Throw(ErrorKind::kArgument, "a custom call has a result", lazy::kCustom.pytorch, caller);
  std::vector<Operand> operands = lazy::OperandsOf(inputs, caller);
  if (operands.empty()) operands.emplace_back(Scalar(0), caller);  // This operand carries the caller's line.
  return lazy::CallSeveral(lazy::kCustom, operands, [&](lazy::Lowering& l, lazy::Operands o) {
    const hlo::CustomCallAttributes attributes{target, options.payload, options.has_side_effect,
                                               options.api_version};
    const Shape shape = results.size() == 1 ? results[0] : Shape::Tuple(results);
    const lazy::Op call = l.b.Add(hlo::kCustomCall, o.subspan(0, inputs.size()), attributes, {}, &shape);
    std::vector<lazy::Op> elements = {call};
    if (results.size() > 1) {
      elements.clear();
      for (size_t i = 0; i < results.size(); ++i) {
        elements.push_back(l.b.GetTupleElement(call, static_cast<int64_t>(i)));
      }
    }
    return elements;
  });
}

Tensor CustomCall(const std::string& target, const std::vector<Tensor>& inputs, const Shape& result,
                  const CustomCallOptions& options, Caller caller) {
  return CustomCall(target, inputs, std::vector<Shape>{result}, options, caller)[0];
}

std::vector<Tensor> HostFunction(const std::string& name,
                                 const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& f,
                                 const std::vector<Tensor>& inputs, Caller caller) {
  const runtime::DeliverEventsAtExit events;
  HostFunctionEvent event;
  Device device;
  std::vector<Tensor> on_host;
  for (const Tensor& input : inputs) {
    if (!input.device().is_host()) device = input.device();
    const lazy::Ref<lazy::Value> value = lazy::ShownValue(*input.impl(), lazy::kHost, caller);
    auto copy = lazy::MakeRef<lazy::Value>(input.dtype(), input.dims(), lazy::Place{}, caller);
    copy->Become(lazy::Read(value, TraceCause::kHostFunction, Cause::kDownload, lazy::kHost, caller));
    on_host.push_back(lazy::MakeTensor(std::move(copy)));
    if (!runtime::Observed()) continue;
    const lazy::TraceLock lock;
    event.inputs.push_back(lazy::EventValueOf(*value));
  }
  const runtime::Stopwatch watch;
  std::vector<Tensor> results = f(on_host);
  event.us = watch.us();
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i].defined() || !results[i].device().is_host()) {
      Throw(ErrorKind::kArgument, absl::StrCat("result ", i, " of ", name, " is not a tensor of the host"),
            lazy::kHost, caller);
    }
    results[i] = lazy::CopyTo(results[i], device, Cause::kUpload, caller);
  }
  runtime::CountMetric(runtime::MetricCounter::kHostFunctions);
  {
    const lazy::TraceLock lock;
    ++lazy::Stats().host_functions;
    if (runtime::Observed()) {
      for (const Tensor& result : results)
        event.outputs.push_back(lazy::EventValueOf(result.impl()->value()));
    }
  }
  if (runtime::Observed()) {
    event.name = name;
    event.origin = runtime::OriginOf(CallerScope::Of(caller));
    runtime::Emit(std::move(event));
  }
  return results;
}

}  // namespace hlod
