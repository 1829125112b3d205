// The cost of instructions, by one rule per opcode, and of modules.
#include "client/analysis/module/cost.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "absl/functional/function_ref.h"
#include "client/analysis/module/access.h"
#include "client/analysis/module/callees_first.h"
#include "common/hlo/analysis/iterations.h"
#include "common/hlo/analysis/trip_count.h"

namespace hlod::analysis {
namespace {

using hlo::Instruction;
using hlo::Shape;

double Elements(const Shape& shape) { return static_cast<double>(hlo::ElementCount(shape).value_or(0)); }
double Bytes(const Shape& shape) { return static_cast<double>(hlo::ByteSize(shape).value_or(0)); }
double AllElements(const Shape& shape) {
  double elements = 0;
  for (const hlo::ShapeLeaf& leaf : hlo::Leaves(shape)) elements += Elements(*leaf.shape);
  return elements;
}

// The input of a rule.
struct CostArgs {
  Instruction i;
  absl::FunctionRef<Cost(hlo::ComputationId)> cost_of;

  double out() const { return AllElements(i.shape()); }
  double in(uint32_t operand) const { return Elements(i.operand(operand).shape()); }
  double out_bytes() const { return Bytes(i.shape()); }
  double in_bytes(uint32_t operand) const { return Bytes(i.operand(operand).shape()); }
  // Every operand is read once, and the result is written once.
  double all_bytes() const {
    double bytes = out_bytes();
    for (uint32_t operand = 0; operand < i.operand_count(); ++operand) bytes += in_bytes(operand);
    return bytes;
  }
  // Returns the cost of one application of a called computation, without the bytes that it reads.
  Cost Applied(size_t index = 0) const {
    Cost cost = cost_of(i.called()[index]);
    cost.bytes = 0;
    return cost;
  }
};

using Rule = Cost (*)(const CostArgs&);

Cost Nothing(const CostArgs&) { return {}; }
Cost Movement(const CostArgs& c) { return {.bytes = c.all_bytes()}; }
Cost Elementwise(const CostArgs& c) { return {.flops = c.out(), .bytes = c.all_bytes()}; }
Cost Transcendental(const CostArgs& c) { return {.transcendentals = c.out(), .bytes = c.all_bytes()}; }
Cost Adds(const CostArgs& c) { return {.flops = c.out(), .bytes = c.all_bytes()}; }

// A tuple is written as a table of pointers.
Cost Tuple(const CostArgs& c) { return {.bytes = 8.0 * static_cast<double>(c.i.operand_count())}; }

// A transpose does not move bytes if the layouts keep them in place.
Cost Transpose(const CostArgs& c) {
  const Shape &from = c.i.operand(0).shape(), &to = c.i.shape();
  if (!from.layout.has_value() || !to.layout.has_value()) return Movement(c);
  const hlo::Dims& permutation = c.i.dimensions();
  hlo::Dims stays;
  for (const int64_t dim : to.layout->minor_to_major) stays.push_back(permutation[static_cast<size_t>(dim)]);
  return stays == from.layout->minor_to_major ? Cost{} : Movement(c);
}

Cost Slice(const CostArgs& c) { return {.bytes = 2 * c.out_bytes()}; }
Cost DynamicSlice(const CostArgs& c) {
  return {.bytes = 2 * c.out_bytes() + c.all_bytes() - c.out_bytes() - c.in_bytes(0)};
}
Cost DynamicUpdateSlice(const CostArgs& c) {
  return {.bytes = c.in_bytes(1) + c.all_bytes() - c.out_bytes() - c.in_bytes(0)};
}
Cost Gather(const CostArgs& c) { return {.bytes = 2 * c.out_bytes() + c.in_bytes(1)}; }

// Old values and updates are read, and new values are written.
Cost Scatter(const CostArgs& c) {
  const uint32_t arrays = (c.i.operand_count() - 1) / 2;
  double updates = 0, bytes = c.in_bytes(arrays);
  for (uint32_t update = arrays + 1; update < c.i.operand_count(); ++update) {
    updates = c.in(update);
    bytes += 3 * c.in_bytes(update);
  }
  Cost cost = c.Applied() * updates;
  cost.bytes = bytes;
  return cost;
}

Cost Reduce(const CostArgs& c) {
  const uint32_t arrays = c.i.operand_count() / 2;
  const double results = c.out() / std::max(arrays, 1u);
  Cost cost = c.Applied() * (c.in(0) - results);
  cost.bytes = c.all_bytes();
  return cost;
}

double WindowSize(const hlo::Window& window) {
  double size = 1;
  for (const hlo::WindowDimension& dimension : window) size *= static_cast<double>(dimension.size);
  return size;
}
Cost ReduceWindow(const CostArgs& c) {
  const uint32_t arrays = c.i.operand_count() / 2;
  const double window = WindowSize(c.i.attributes<hlo::WindowAttributes>().window);
  Cost cost = c.Applied() * ((window - 1) * c.out() / std::max(arrays, 1u));
  cost.bytes = c.all_bytes();
  return cost;
}
Cost SelectAndScatter(const CostArgs& c) {
  const double window = WindowSize(c.i.attributes<hlo::WindowAttributes>().window);
  Cost cost = c.Applied(0) * (c.in(1) * (window - 1));
  cost += c.Applied(1) * c.in(1);
  cost.bytes = c.all_bytes();
  return cost;
}

Cost Sort(const CostArgs& c) {
  return {.flops = c.in(0) > 1 ? c.in(0) * std::ceil(std::log2(c.in(0))) : 0, .bytes = c.all_bytes()};
}
Cost Map(const CostArgs& c) {
  Cost cost = c.Applied() * c.out();
  cost.bytes = c.all_bytes();
  return cost;
}

Cost Dot(const CostArgs& c) {
  double contracted = 1;
  const Shape& left = c.i.operand(0).shape();
  for (const int64_t dim : c.i.attributes<hlo::DotAttributes>().lhs_contracting) {
    contracted *= static_cast<double>(left.dims[static_cast<size_t>(dim)]);
  }
  return {.flops = 2 * c.out() * contracted, .bytes = c.all_bytes()};
}

// Returns the number of pairs of an output position and a window position that meet an element, not padding
// or a hole.
double ValidPairs(const hlo::WindowDimension& window, int64_t input, int64_t output) {
  double pairs = 0;
  const int64_t dilated = input == 0 ? 0 : (input - 1) * window.base_dilation + 1;
  for (int64_t o = 0; o < output; ++o) {
    for (int64_t w = 0; w < window.size; ++w) {
      const int64_t at = o * window.stride - window.padding_low + w * window.window_dilation;
      pairs += at >= 0 && at < dilated && at % window.base_dilation == 0 ? 1 : 0;
    }
  }
  return pairs;
}
Cost Convolution(const CostArgs& c) {
  const auto& convolution = c.i.attributes<hlo::ConvolutionAttributes>();
  const Shape &input = c.i.operand(0).shape(), &output = c.i.shape();
  const auto size = [](const Shape& shape, int64_t dim) { return shape.dims[static_cast<size_t>(dim)]; };
  double flops =
      2.0 * static_cast<double>(size(input, convolution.input_feature) / convolution.feature_group_count) *
      static_cast<double>(size(output, convolution.output_feature)) *
      static_cast<double>(size(input, convolution.input_batch) / convolution.batch_group_count);
  for (size_t i = 0; i < convolution.window.size(); ++i) {
    flops *= ValidPairs(convolution.window[i], size(input, convolution.input_spatial[i]),
                        size(output, convolution.output_spatial[i]));
  }
  return {.flops = flops, .bytes = c.all_bytes()};
}

Cost Fft(const CostArgs& c) {
  double logs = 0;
  for (const int64_t length : c.i.attributes<hlo::FftAttributes>().length) {
    if (length > 0) logs += std::log2(static_cast<double>(length));
  }
  // A complex multiplication and addition takes four real ones.
  return {.flops = 2 * 4 * logs * c.in(0), .bytes = c.all_bytes()};
}
// Only one triangle of the matrices is read.
Cost TriangularSolve(const CostArgs& c) {
  const double n = static_cast<double>(c.i.operand(0).shape().dims.back());
  return {.flops = 2 * n * c.in(1) / 2, .bytes = c.in_bytes(0) / 2 + c.in_bytes(1) + c.out_bytes()};
}
Cost Cholesky(const CostArgs& c) {
  const double n = static_cast<double>(c.i.operand(0).shape().dims.back());
  return {.flops = n * c.in(0) / 3, .bytes = c.in_bytes(0) / 2 + c.out_bytes()};
}

Cost Rng(const CostArgs& c) { return {.transcendentals = c.out(), .bytes = c.out_bytes()}; }
Cost HostTransfer(const CostArgs& c) { return {.bytes = c.out_bytes()}; }

struct Row {
  hlo::Opcode opcode;
  Rule rule;
};
// Opcodes that are not listed move bytes; elementwise ones also compute one operation per element.
constexpr Row kRows[] = {
#define HLOD_COST(opcode, rule) {hlo::opcode, rule},
#include "client/analysis/module/cost_rules.inc"
#undef HLOD_COST
};

std::array<Rule, hlo::kOpcodeCount> MakeRules() {
  std::array<Rule, hlo::kOpcodeCount> rules{};
  for (int opcode = 0; opcode < hlo::kOpcodeCount; ++opcode) {
    const bool elementwise = hlo::HasTrait(static_cast<hlo::Opcode>(opcode), hlo::kElementwise);
    rules[static_cast<size_t>(opcode)] = elementwise ? Elementwise : Movement;
  }
  for (const Row& row : kRows) rules[static_cast<size_t>(row.opcode)] = row.rule;
  return rules;
}

// Returns the bytes that a fused computation reads and writes. It reads all of a parameter unless the
// parameter is only sliced or updated, and writes all of its result unless that is an update in place.
double FusedBytes(const hlo::Computation& fused) {
  std::vector<double> read(fused.size(), 0);
  double result = 0;
  for (hlo::NodeId node = 0; node < fused.size(); ++node) {
    const Instruction user = fused[node];
    for (uint32_t operand = 0; operand < user.operand_count(); ++operand) {
      const Access access = AccessOf(user, operand);
      double& bytes = read[user.operands()[operand]];
      if (access == Access::kWhole) bytes = INFINITY;
      if (access == Access::kPart) bytes += Bytes(user.shape());
    }
  }
  read[fused.root_id()] = INFINITY;
  for (const hlo::NodeId parameter : fused.parameters())
    result += std::min(Bytes(fused[parameter].shape()), read[parameter]);
  const Instruction root = fused.root();
  return result +
         (root.opcode() == hlo::kDynamicUpdateSlice ? Bytes(root.operand(1).shape()) : Bytes(root.shape()));
}

Cost OwnCost(Instruction instruction, absl::FunctionRef<Cost(hlo::ComputationId)> cost_of) {
  static const std::array<Rule, hlo::kOpcodeCount> rules = MakeRules();
  return rules[static_cast<size_t>(instruction.opcode())]({instruction, cost_of});
}

// Iterates over computations, callees first.
class Walk {
 public:
  Walk(const hlo::Module& module, hlo::ComputationId root) : module_(module), root_(root), sums_(root + 1) {
    for (const hlo::ComputationId id : CalleesFirst(module, root)) {
      const hlo::Computation& computation = module.computation(id);
      Sum sum;
      for (hlo::NodeId node = 0; node < computation.size(); ++node) Add(sum, computation[node]);
      sums_[id] = sum;
    }
  }

  ModuleCost Result(size_t contributors_max) {
    const Sum& sum = sums_[root_];
    std::sort(unknown_calls_.begin(), unknown_calls_.end());
    unknown_calls_.erase(std::unique(unknown_calls_.begin(), unknown_calls_.end()), unknown_calls_.end());
    return {sum.total, sum.once, std::move(unknown_loops_), std::move(unknown_calls_),
            Largest(contributors_max)};
  }

 private:
  struct Sum {
    Cost total, once;
  };
  const Sum& Of(hlo::ComputationId id) const { return sums_[id]; }

  void Add(Sum& sum, Instruction i) {
    switch (i.opcode()) {
      case hlo::kWhile: return AddLoop(sum, i);
      case hlo::kConditional: return AddBranches(sum, i);
      case hlo::kCall: return AddTimes(sum, Of(i.called()[0]), 1);
      case hlo::kFusion: return AddFusion(sum, i);
      case hlo::kScan: return AddScan(sum, i);
      case hlo::kCustomCall:
        unknown_calls_.push_back(i.attributes<hlo::CustomCallAttributes>().target);
        return;
      default: break;
    }
    const Cost own = OwnCost(i, [this](hlo::ComputationId id) { return sums_[id].total; });
    sum.total += own;
    sum.once += own;
  }
  static void AddTimes(Sum& sum, const Sum& other, double times) {
    sum.total += other.total * times;
    sum.once += other.once;
  }
  void AddLoop(Sum& sum, Instruction loop) {
    if (!hlo::TripCountOf(module_, loop).has_value()) unknown_loops_.push_back(loop.name());
    AddTimes(sum, Of(loop.called()[0]), hlo::TimesOf(module_, loop, 0));
    AddTimes(sum, Of(loop.called()[1]), hlo::TimesOf(module_, loop, 1));
  }
  void AddScan(Sum& sum, Instruction scan) {
    AddTimes(sum, Of(scan.called()[0]), hlo::TimesOf(module_, scan, 0));
  }
  // Returns the `count` instructions with the most operations.
  std::vector<CostContributor> Largest(size_t count) const {
    const SourceLines lines(module_);
    const std::vector<double> times = hlo::RunsOf(module_, root_);
    std::vector<CostContributor> largest;
    const auto more = [](const CostContributor& a, const CostContributor& b) { return a.flops > b.flops; };
    for (hlo::ComputationId id = root_ + 1; id-- > 0;) {
      if (times[id] == 0) continue;
      const hlo::Computation& computation = module_.computation(id);
      for (hlo::NodeId node = 0; node < computation.size(); ++node) {
        const Instruction i = computation[node];
        if (i.opcode() == hlo::kCustomCall) continue;
        const double flops =
            times[id] * OwnCost(i, [this](hlo::ComputationId of) { return sums_[of].total; }).flops;
        if (flops <= 0 || count == 0 || (largest.size() == count && flops <= largest.back().flops)) continue;
        CostContributor row{.name = i.name(), .shape = i.shape(), .flops = flops};
        if (const hlo::Notes* const notes = computation.notes(node); notes != nullptr) {
          row.op_name = notes->metadata.op_name;
          row.source = lines.Of(*notes);
        }
        largest.insert(std::upper_bound(largest.begin(), largest.end(), row, more), std::move(row));
        if (largest.size() > count) largest.pop_back();
      }
    }
    return largest;
  }
  // Adds the branch that costs most, chosen for each property by itself.
  void AddBranches(Sum& sum, Instruction conditional) {
    Sum most;
    const auto raise = [](Cost& cost, const Cost& other) {
      cost.flops = std::max(cost.flops, other.flops);
      cost.transcendentals = std::max(cost.transcendentals, other.transcendentals);
      cost.bytes = std::max(cost.bytes, other.bytes);
    };
    for (const hlo::ComputationId branch : conditional.called()) {
      raise(most.total, Of(branch).total);
      raise(most.once, Of(branch).once);
    }
    AddTimes(sum, most, 1);
  }
  void AddFusion(Sum& sum, Instruction fusion) {
    Sum inner = Of(fusion.called()[0]);
    inner.total.bytes = inner.once.bytes = FusedBytes(module_.computation(fusion.called()[0]));
    AddTimes(sum, inner, 1);
  }

  const hlo::Module& module_;
  const hlo::ComputationId root_;
  std::vector<Sum> sums_;
  std::vector<std::string> unknown_loops_, unknown_calls_;
};

}  // namespace

ModuleCost CostOf(const hlo::Module& module, size_t contributors_max) {
  return Walk(module, module.entry_id()).Result(contributors_max);
}

bool IsTranscendental(hlo::Instruction instruction) {
  return OwnCost(instruction, [](hlo::ComputationId) { return Cost(); }).transcendentals > 0;
}

}  // namespace hlod::analysis
