// The collectives of axis.h: appending, batching, transposing.
#include "client/transform/batch/axis.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/tensor/ops/shape/movement.h"
#include "common/base/text/strings.h"

namespace hlod::lazy {
namespace {

constexpr std::string_view kTargets[] = {"hlod_axis_sum", "hlod_axis_gather", "hlod_axis_scatter",
                                         "hlod_axis_permute", "hlod_axis_swap"};

AxisCall CallOfTarget(std::string_view target) {
  return static_cast<AxisCall>(std::find(std::begin(kTargets), std::end(kTargets), target) -
                               std::begin(kTargets));
}

// The configuration is the senders, a space, and the axis's name.
std::string ConfigOf(std::string_view name, const std::vector<int64_t>& sources) {
  return absl::StrCat(absl::StrJoin(sources, ","), " ", ToAbsl(name));
}
std::string_view NameOf(std::string_view config) { return config.substr(config.find(' ') + 1); }
std::vector<int64_t> SourcesOf(std::string_view config) {
  std::vector<int64_t> sources;
  const std::string list(config.substr(0, config.find(' ')));
  for (const auto word : absl::StrSplit(list, ',', absl::SkipEmpty())) {
    int64_t source = -1;
    if (absl::SimpleAtoi(word, &source)) sources.push_back(source);
  }
  return sources;
}

Op Appended(Lowering& l, AxisCall call, Op x, Op index, const std::string& config, const Dims& dims) {
  hlo::CustomCallAttributes attributes;
  attributes.target = std::string(kTargets[static_cast<size_t>(call)]);
  attributes.backend_config = config;
  const Shape shape = Shape::Array(l.type(x), dims);
  return l.b.Add(hlo::kCustomCall, {x, index}, attributes, {}, &shape);
}

Op Repeated(Lowering& l, const Batched& x, int64_t size) {
  if (x.has_batch) return x.op;
  Dims dims = l.dims(x.op), mapping;
  for (size_t i = 0; i < dims.size(); ++i) mapping.push_back(static_cast<int64_t>(i) + 1);
  dims.insert(dims.begin(), size);
  return l.b.Broadcast(x.op, dims, mapping);
}

// Returns the sum over the examples.
Op Total(Lowering& l, const Batched& x, int64_t size) {
  if (x.has_batch) return l.Reduce(hlo::kAdd, x.op, {0});
  return x.op * l.Full(l.type(x.op), l.dims(x.op), size);
}

Op PermutedExamples(Lowering& l, Op x, std::vector<int64_t> sources) {
  const int64_t size = l.dims(x)[0];
  if (std::find(sources.begin(), sources.end(), -1) != sources.end()) {
    x = PadDim(l, x, l.Number(l.type(x), 0), 0, {.high = 1});
    std::replace(sources.begin(), sources.end(), int64_t{-1}, size);
  }
  return SelectSlices(l, x, 0, IndexVector(l, sources));
}

// Swaps the first two dimensions.
Op Swapped(Lowering& l, Op x) { return MovedDim(l, x, 1, 0); }

Batched AlongExamples(Lowering& l, AxisCall call, const std::string& config, const Batched& x, int64_t size) {
  switch (call) {
    case AxisCall::kSum: return {Total(l, x, size), false};
    case AxisCall::kGather: return {Repeated(l, x, size), false};
    case AxisCall::kScatter: return {Total(l, x, size), true};
    case AxisCall::kPermute: return {PermutedExamples(l, Repeated(l, x, size), SourcesOf(config)), true};
    case AxisCall::kSwap: return {Swapped(l, Repeated(l, x, size)), true};
  }
  return x;
}

// A collective over another axis, for each of the examples, which are dimension 0 of x.
Op ForEachExample(Lowering& l, AxisCall call, const std::string& config, Op x, Op index, const Shape& one) {
  Dims dims = one.dims;
  dims.insert(dims.begin(), l.dims(x)[0]);
  const bool slices = call == AxisCall::kScatter || call == AxisCall::kSwap;  // The operand has slices.
  const bool made = call == AxisCall::kGather || call == AxisCall::kSwap;     // The result has slices.
  if (made) std::swap(dims[0], dims[1]);
  const Op y = Appended(l, call, slices ? Swapped(l, x) : x, index, config, dims);
  return made ? Swapped(l, y) : y;
}

}  // namespace

Op AppendAxisCall(Lowering& l, AxisCall call, Op x, Op index, std::string_view name, int64_t size,
                  const std::vector<int64_t>& sources) {
  Dims dims = l.dims(x);
  if (call == AxisCall::kGather) dims.insert(dims.begin(), size);
  if (call == AxisCall::kScatter) dims.erase(dims.begin());
  return Appended(l, call, x, index, ConfigOf(name, sources), dims);
}

bool IsAxisTarget(std::string_view target) {
  return std::find(std::begin(kTargets), std::end(kTargets), target) != std::end(kTargets);
}
bool IsAxisCall(const hlo::Instruction& instruction) {
  return instruction.opcode() == hlo::kCustomCall &&
         IsAxisTarget(instruction.attributes<hlo::CustomCallAttributes>().target);
}

void RefuseAxisCalls(const hlo::Computation& computation, std::string_view name, const char* where) {
  if (name.empty()) return;
  for (NodeId node = 0; node < computation.size(); ++node) {
    const hlo::Instruction instruction = computation[node];
    if (IsAxisCall(instruction) &&
        NameOf(instruction.attributes<hlo::CustomCallAttributes>().backend_config) == name) {
      Refuse("a collective over \"%s\" stands in %s; compute it outside", name, where);
    }
    for (const hlo::ComputationId called : instruction.called()) {
      RefuseAxisCalls(TraceTables::Get().callees().computation(called), name, where);
    }
  }
}

Batched BatchedAxisCall(Lowering& l, const hlo::Instruction& instruction, const Batched& x,
                        const Batched& index, int64_t size, std::string_view name) {
  const auto& attributes = instruction.attributes<hlo::CustomCallAttributes>();
  const AxisCall call = CallOfTarget(attributes.target);
  if (NameOf(attributes.backend_config) == name) {
    return AlongExamples(l, call, attributes.backend_config, x, size);
  }
  // The index of another axis is one number; a loop may have repeated it for every example.
  const Op number = index.has_batch ? l.Reshape(SliceDim(l, index.op, 0, 0, 1), {}) : index.op;
  if (x.has_batch) {
    return {ForEachExample(l, call, attributes.backend_config, x.op, number, instruction.shape()), true};
  }
  return {Appended(l, call, x.op, number, attributes.backend_config, instruction.shape().dims), false};
}

Tangents AxisTangents(const TangentArgs& c) {
  return {c.l.b.Add(c.opcode, {c.t[0], c.x[1]}, c.attributes, c.called, &c.shape)};
}

Cotangents AxisCotangents(const TransposeArgs& c) {
  const auto& attributes = c.Get<hlo::CustomCallAttributes>();
  if (!IsAxisTarget(attributes.target)) {
    Refuse("custom-call (%s) has no transpose rule", attributes.target);
  }
  const AxisCall call = CallOfTarget(attributes.target);
  std::string config = attributes.backend_config;
  AxisCall transposed = call;
  if (call == AxisCall::kGather) transposed = AxisCall::kScatter;
  if (call == AxisCall::kScatter) transposed = AxisCall::kGather;
  if (call == AxisCall::kPermute) {
    const std::vector<int64_t> sources = SourcesOf(config);
    std::vector<int64_t> inverse(sources.size(), -1);
    for (size_t i = 0; i < sources.size(); ++i) {
      if (sources[i] >= 0) inverse[static_cast<size_t>(sources[i])] = static_cast<int64_t>(i);
    }
    config = ConfigOf(NameOf(config), inverse);
  }
  return {Appended(c.l, transposed, c.ct, c.x[1], config, c.operands[0]->dims), Op{}};
}

}  // namespace hlod::lazy
