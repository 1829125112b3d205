// Each call becomes a computation: a row of the table says how it is made. JAX's GPU calls have one name for
// all types, and attributes of their own (`lower`, `compute_uv`), where LAPACK's name has the type, and its
// attributes are letters. JAX has both lowerings side by side in jax/_src/lax/linalg.py.
#include "common/passes/expand/expand_gpu_calls.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/hlo/builder.h"
#include "common/hlo/math/threefry.h"
#include "common/lapack/config.h"
#include "common/lapack/target.h"
#include "common/passes/copy.h"

namespace hlod::passes {

using namespace hlo;

namespace {

using Config = std::map<std::string, int64_t, std::less<>>;

// Returns the shapes of a call's results, one or the elements of a tuple, without layouts.
std::vector<Shape> ResultsOf(Instruction call) {
  std::vector<Shape> results = call.shape().IsTuple() ? call.shape().tuple : std::vector<Shape>{call.shape()};
  for (Shape& result : results) result.layout.reset();
  return results;
}

// A loop that exchanges elements of 0, 1, ... one after the other: iteration i those at i and pivots[i]. Its
// state is i, the numbers and the pivots.
struct ExchangeLoop {
  ComputationId condition, body;
};

ComputationId MakeCondition(Module& to, const Shape& state) {
  Builder b(to, "more_exchanges");
  const Op i = b.GetTupleElement(b.Parameter(0, state), 0);
  const Op count = b.Constant(Literal::Scalar(static_cast<int32_t>(state.tuple[2].dims.back())));
  static_cast<void>(b.Build(b.Compare(i, count, ComparisonDirection::kLt)));
  return b.id();
}

ComputationId MakeBody(Module& to, const Shape& state) {
  const ComputationId add = AddScalarReducer(to, kAdd, kS32);
  Builder b(to, "exchange");
  const Op given = b.Parameter(0, state);
  const Op i = b.GetTupleElement(given, 0), order = b.GetTupleElement(given, 1),
           pivots = b.GetTupleElement(given, 2);
  const Shape& shape = state.tuple[1];
  const auto last = static_cast<int64_t>(shape.dims.size()) - 1;
  const Op zero = b.Constant(Literal::Scalar(int32_t{0}));
  Dims batch = shape.dims;
  batch.pop_back();
  std::vector<int64_t> kept;
  for (int64_t d = 0; d < last; ++d) kept.push_back(d);
  const auto each = [&](Op one) { return b.Broadcast(one, shape.dims, kept); };
  const auto at = [&](Op mask) {
    return b.Reduce(b.Select(mask, order, b.Broadcast(zero, shape.dims, {})), zero, {last}, add);
  };
  std::vector<Op> starts(static_cast<size_t>(last) + 1, zero);
  starts.back() = i;
  Dims sizes = state.tuple[2].dims;
  sizes.back() = 1;
  const Op pivot = b.Reshape(b.DynamicSlice(pivots, starts, sizes), batch);
  const Op places = b.Iota(shape, last);
  const Op here = b.Compare(places, b.Broadcast(i, shape.dims, {}), ComparisonDirection::kEq);
  const Op there = b.Compare(places, each(pivot), ComparisonDirection::kEq);
  const Op exchanged = b.Select(here, each(at(there)), b.Select(there, each(at(here)), order));
  const Op next[] = {i + b.Constant(Literal::Scalar(int32_t{1})), exchanged, pivots};
  static_cast<void>(b.Build(b.Tuple(next)));
  return b.id();
}

ExchangeLoop MakeExchangeLoop(Module& to, const Dims& pivots, const Dims& order) {
  const Shape state =
      Shape::Tuple({Shape::Array(kS32, {}), Shape::Array(kS32, order), Shape::Array(kS32, pivots)});
  return {MakeCondition(to, state), MakeBody(to, state)};
}

// One call, and the computation in its place.
class GpuCall {
 public:
  // Makes the computation of a call. Permutation() needs `loop`, unless it has no exchanges.
  GpuCall(Instruction call, Config config, Module& to, std::optional<ExchangeLoop> loop)
      : config_(std::move(config)),
        notes_(call.computation().notes(call.id())),
        loop_(loop),
        b_(to, "gpu_call"),
        results_(ResultsOf(call)),
        is_tuple_(call.shape().IsTuple()) {
    for (uint32_t i = 0; i < call.operand_count(); ++i) {
      Shape shape = call.operand(i).shape();
      shape.layout.reset();
      operands_.push_back(b_.Parameter(i, shape));
    }
  }

  // Return the results in the place of the call's. REQUIRES: the call fits its row.
  std::vector<Op> Factor(std::string_view real, std::string_view complex, const std::string& config) {
    return Lapack(IsComplex(type()) ? complex : real, results_, config);
  }
  std::vector<Op> Eigh() {
    return Factor("syevd", "heevd", absl::StrCat("{mode = 86 : ui8, uplo = ", Uplo(), " : ui8}"));
  }
  std::vector<Op> Triangle(std::string_view real, std::string_view complex) {
    return Factor(real, complex, absl::StrCat("{uplo = ", Uplo(), " : ui8}"));
  }
  std::vector<Op> Product() {
    return Factor("ormqr", "unmqr",
                  absl::StrCat("{left = ", Flag("left"), ", transpose = ", Flag("transpose"), "}"));
  }
  // JAX gives a matrix with more columns than rows to the library in transposed form. The library's U is then
  // V^T of the matrix, and the two change places.
  std::vector<Op> Svd(std::string_view routine) {
    const bool swaps = Flag("transposed") != 0;
    std::vector<Shape> shapes = results_;
    if (swaps) std::swap(shapes[2], shapes[3]);
    std::vector<Op> made = Lapack(routine, shapes, SvdConfig());
    if (swaps) std::swap(made[2], made[3]);
    return made;
  }
  // The libraries' Jacobi iterations give V, and LAPACK its conjugate transpose.
  std::vector<Op> SvdWithV() {
    std::vector<Shape> shapes = results_;
    const auto rank = static_cast<int64_t>(shapes[3].dims.size());
    std::swap(shapes[3].dims[static_cast<size_t>(rank - 2)], shapes[3].dims[static_cast<size_t>(rank - 1)]);
    std::vector<Op> made = Lapack("gesdd", shapes, SvdConfig());
    std::vector<int64_t> order(static_cast<size_t>(rank));
    for (int64_t d = 0; d < rank; ++d) order[static_cast<size_t>(d)] = d;
    std::swap(order[static_cast<size_t>(rank - 2)], order[static_cast<size_t>(rank - 1)]);
    Op v = b_.Transpose(made[3], order);
    if (IsComplex(type())) v = b_.Binary(kComplex, b_.Unary(kReal, v), b_.Unary(kNegate, b_.Unary(kImag, v)));
    made[3] = v;
    return made;
  }
  std::vector<Op> SolveTridiagonal() {
    std::vector<Shape> shapes;
    for (const Op operand : operands_) shapes.push_back(b_.shape(operand));
    Shape info = Shape::Array(kS32, shapes[0].dims);
    info.dims.pop_back();
    shapes.push_back(info);
    return {Lapack("gtsv", shapes, "{}")[3]};
  }

  std::vector<Op> Threefry() {
    const WordPair made = hlo::Threefry({operands_[0], operands_[1]}, {operands_[2], operands_[3]});
    return {made.first, made.second};
  }

  std::vector<Op> Permutation() {
    const Shape& order = results_[0];
    const Op numbers = b_.Iota(order, static_cast<int64_t>(order.dims.size()) - 1);
    if (!loop_.has_value()) return {numbers};
    const Op start[] = {b_.Constant(Literal::Scalar(int32_t{0})), numbers, operands_[0]};
    return {b_.GetTupleElement(b_.While(b_.Tuple(start), loop_->condition, loop_->body), 1)};
  }

  // Ends the computation, whose instructions all get the call's line.
  ComputationId Finish(const std::vector<Op>& results) {
    const Op root = is_tuple_ ? b_.Tuple(results) : results[0];
    for (NodeId id = 0; notes_ != nullptr && id <= root.id; ++id) {
      b_.mutable_notes({&b_, id}).metadata = notes_->metadata;
    }
    static_cast<void>(b_.Build(root));
    return b_.id();
  }

 private:
  PrimitiveType type() const { return b_.shape(operands_[0]).type; }
  int64_t Flag(std::string_view name) const {
    const auto found = config_.find(name);
    return found == config_.end() ? 0 : found->second;
  }
  int Uplo() const { return Flag("lower") != 0 ? 'L' : 'U'; }
  std::string SvdConfig() const {
    const int mode = Flag("compute_uv") == 0 ? 'N' : Flag("full_matrices") != 0 ? 'A' : 'S';
    return absl::StrCat("{mode = ", mode, " : ui8}");
  }
  std::vector<Op> Lapack(std::string_view routine, const std::vector<Shape>& shapes,
                         const std::string& config) {
    const Shape shape = shapes.size() == 1 ? shapes[0] : Shape::Tuple(shapes);
    const CustomCallAttributes attributes{
        .target = lapack::TargetName(routine, type()), .backend_config = config, .api_version = 4};
    const Op call = b_.Add(kCustomCall, operands_, attributes, {}, &shape);
    if (shapes.size() == 1) return {call};
    std::vector<Op> elements;
    for (size_t i = 0; i < shapes.size(); ++i)
      elements.push_back(b_.GetTupleElement(call, static_cast<int64_t>(i)));
    return elements;
  }

  const Config config_;
  const Notes* const notes_;  // The call's, with its line; null if it has none.
  const std::optional<ExchangeLoop> loop_;
  Builder b_;
  const std::vector<Shape> results_;
  const bool is_tuple_;
  std::vector<Op> operands_;
};

struct Row {
  std::string_view name;  // Without "cu" or "hip".
  size_t operands, results;
  std::vector<std::string_view> attributes;
  std::vector<Op> (*make)(GpuCall&);
  // Returns true for operands and results that `make` can take apart. Other calls are not JAX's.
  bool (*fits)(const std::vector<Shape>& operands, const std::vector<Shape>& results);
};

// Returns true for a matrix, or a batch of them, in one of LAPACK's types.
bool IsMatrix(const Shape& shape) { return lapack::TypeIndex(shape.type).has_value() && shape.rank() >= 2; }
bool IsFactored(const std::vector<Shape>& operands, const std::vector<Shape>&) {
  return IsMatrix(operands[0]);
}
bool HasV(const std::vector<Shape>& operands, const std::vector<Shape>& results) {
  return IsMatrix(operands[0]) && results[3].type == operands[0].type &&
         results[3].rank() == operands[0].rank();
}
bool IsSystem(const std::vector<Shape>& operands, const std::vector<Shape>& results) {
  return IsMatrix(operands[3]) && operands[0].type == operands[3].type && operands[0].rank() >= 1 &&
         Compatible(results[0], operands[3]);
}
bool AreWords(const std::vector<Shape>& operands, const std::vector<Shape>& results) {
  const auto same = [&](const Shape& shape) { return Compatible(shape, operands[0]); };
  return operands[0].type == kU32 && std::ranges::all_of(operands, same) &&
         std::ranges::all_of(results, same);
}
bool AreExchanges(const std::vector<Shape>& operands, const std::vector<Shape>& results) {
  const Shape &pivots = operands[0], &order = results[0];
  return pivots.type == kS32 && order.type == kS32 && pivots.rank() >= 1 && order.rank() == pivots.rank() &&
         order.dims.back() >= pivots.dims.back() &&
         std::equal(order.dims.begin(), order.dims.end() - 1, pivots.dims.begin());
}

const std::vector<Row>& Rows() {
  static const auto* const rows = new std::vector<Row>{
      {"solver_potrf_ffi",
       1,
       2,
       {"lower"},
       [](GpuCall& c) { return c.Triangle("potrf", "potrf"); },
       IsFactored},
      {"solver_getrf_ffi", 1, 3, {}, [](GpuCall& c) { return c.Factor("getrf", "getrf", "{}"); }, IsFactored},
      {"solver_geqrf_ffi", 1, 2, {}, [](GpuCall& c) { return c.Factor("geqrf", "geqrf", "{}"); }, IsFactored},
      {"solver_orgqr_ffi", 2, 1, {}, [](GpuCall& c) { return c.Factor("orgqr", "ungqr", "{}"); }, IsFactored},
      {"solver_ormqr_ffi", 3, 1, {"left", "transpose"}, [](GpuCall& c) { return c.Product(); }, IsFactored},
      {"solver_syevd_ffi", 1, 3, {"lower"}, [](GpuCall& c) { return c.Eigh(); }, IsFactored},
      {"solver_sytrd_ffi",
       1,
       5,
       {"lower"},
       [](GpuCall& c) { return c.Triangle("sytrd", "hetrd"); },
       IsFactored},
      {"solver_gesvd_ffi",
       1,
       5,
       {"full_matrices", "compute_uv", "transposed"},
       [](GpuCall& c) { return c.Svd("gesvd"); },
       IsFactored},
      {"solver_gesdd_ffi",
       1,
       5,
       {"full_matrices", "compute_uv", "transposed"},
       [](GpuCall& c) { return c.Svd("gesdd"); },
       IsFactored},
      {"solver_gesvdj_ffi",
       1,
       5,
       {"full_matrices", "compute_uv"},
       [](GpuCall& c) { return c.SvdWithV(); },
       HasV},
      {"solver_gesvdp_ffi",
       1,
       5,
       {"full_matrices", "compute_uv"},
       [](GpuCall& c) { return c.SvdWithV(); },
       HasV},
      {"sparse_gtsv2_ffi", 4, 1, {}, [](GpuCall& c) { return c.SolveTridiagonal(); }, IsSystem},
      {"_threefry2x32_ffi", 4, 2, {}, [](GpuCall& c) { return c.Threefry(); }, AreWords},
      {"_lu_pivots_to_permutation", 1, 1, {}, [](GpuCall& c) { return c.Permutation(); }, AreExchanges},
  };
  return *rows;
}

// Returns the row of a target; null if it is none.
const Row* RowOf(std::string_view target) {
  for (const std::string_view vendor : {"cu", "hip"}) {
    if (!target.starts_with(vendor)) continue;
    const auto row = std::ranges::find(Rows(), target.substr(vendor.size()), &Row::name);
    return row == Rows().end() ? nullptr : &*row;
  }
  return nullptr;
}

// Returns the attributes of a call that has all of the row's; nullopt for others.
std::optional<Config> ConfigOf(const Row& row, Instruction call) {
  absl::StatusOr<Config> config = lapack::ParseConfig(call.attributes<CustomCallAttributes>().backend_config);
  const auto has = [&](std::string_view attribute) { return config->contains(attribute); };
  if (!config.ok() || !std::ranges::all_of(row.attributes, has)) return std::nullopt;
  return *std::move(config);
}

bool Fits(const Row& row, Instruction call) {
  std::vector<Shape> operands;
  for (uint32_t i = 0; i < call.operand_count(); ++i) operands.push_back(call.operand(i).shape());
  const std::vector<Shape> results = ResultsOf(call);
  const auto is_static = [](const Shape& shape) { return shape.IsArray() && !shape.HasDynamicDimension(); };
  return operands.size() == row.operands && results.size() == row.results &&
         std::ranges::all_of(operands, is_static) && std::ranges::all_of(results, is_static) &&
         row.fits(operands, results) && ConfigOf(row, call).has_value();
}

// Returns the row of an instruction that is replaced; null for others.
const Row* RowOf(Instruction call) {
  if (call.opcode() != kCustomCall) return nullptr;
  const Row* const row = RowOf(call.attributes<CustomCallAttributes>().target);
  return row != nullptr && Fits(*row, call) ? row : nullptr;
}

}  // namespace

bool IsGpuTarget(std::string_view target) { return RowOf(target) != nullptr; }

bool HasGpuCalls(const Module& module) {
  for (ComputationId c = 0; c < module.computation_count(); ++c) {
    const Computation& computation = module.computation(c);
    for (NodeId id = 0; id < computation.size(); ++id) {
      if (RowOf(computation[id]) != nullptr) return true;
    }
  }
  return false;
}

std::unique_ptr<Module> ExpandGpuCalls(const Module& module) {
  return WithFunctions(module, [](Instruction instruction, Module& to) -> std::optional<ComputationId> {
    const Row* const row = RowOf(instruction);
    if (row == nullptr) return std::nullopt;
    std::optional<ExchangeLoop> loop;  // Callees come before their callers.
    if (row->fits == AreExchanges && instruction.operand(0).shape().dims.back() > 0)
      loop = MakeExchangeLoop(to, instruction.operand(0).shape().dims, ResultsOf(instruction)[0].dims);
    GpuCall call(instruction, *ConfigOf(*row, instruction), to, loop);
    return call.Finish(row->make(call));
  });
}

}  // namespace hlod::passes
