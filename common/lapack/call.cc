// Finds targets by name, checks calls, and converts to Fortran's order of elements and back.
#include "common/lapack/call.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/base/arithmetic.h"
#include "common/base/errors/status.h"
#include "common/lapack/config.h"
#include "common/lapack/routines.h"
#include "common/lapack/target.h"

namespace hlod::lapack {
namespace {

// The limit on the elements of a matrix: workspaces of some routines are five times as large, and LAPACK
// counts them in 32 bits.
constexpr int64_t kElementsMax = int64_t{1} << 28;

// The info of a routine that was not called, with the values that LAPACK's gesdd and jaxlib's geev use.
constexpr Integer kNotFinite = -4;

struct Named {
  const Routine* routine = nullptr;
  int type = 0;
};

bool IsTpuCall(const Routine& routine) { return absl::ascii_isupper(routine.name[0]); }

// Finds the routine and type of a target. A TPU's call has the type of its first operand.
Named FindTarget(std::string_view target, hlo::PrimitiveType type_of_first = hlo::kF32) {
  for (const Routine& routine : Routines()) {
    if (!IsTpuCall(routine) || routine.name != target) continue;
    const std::optional<int> type = TypeIndex(type_of_first);
    return type.has_value() ? Named{&routine, *type} : Named{};
  }
  const std::optional<Target> parsed = ParseTarget(target);
  if (!parsed.has_value()) return {};
  for (const Routine& routine : Routines()) {
    if (routine.name == parsed->routine &&
        routine.types.find(kTypeLetters[parsed->type]) != routine.types.npos)
      return {&routine, parsed->type};
  }
  return {};
}

Layout LayoutOf(std::string_view signature, hlo::PrimitiveType type, const Sizes& sizes) {
  const int width = hlo::ByteWidth(TypeOf(signature[0], type));
  const int64_t rank = static_cast<int64_t>(signature.size()) - 1;
  const int64_t rows = rank == 2 ? sizes[signature[1]] : 1, columns = rank > 0 ? sizes[signature[rank]] : 1;
  // An empty batch may state matrices of any size; CheckLayouts refuses those whose sizes overflow.
  const int64_t elements = CheckedMultiply(rows, columns).value_or(INT64_MAX);
  return {CheckedMultiply(elements, width).value_or(INT64_MAX), rows, columns, width};
}

int64_t Aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

// Transposes a row-major matrix of rows x columns in square blocks that fit into the cache.
template <typename E>
void TransposeElements(const std::byte* from, std::byte* to, int64_t rows, int64_t columns) {
  constexpr int64_t kSide = 16;
  if (rows <= kSide && columns <= kSide) {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c)
        std::memcpy(to + (c * rows + r) * sizeof(E), from + (r * columns + c) * sizeof(E), sizeof(E));
    }
    return;
  }
  for (int64_t r0 = 0; r0 < rows; r0 += kSide) {
    for (int64_t c0 = 0; c0 < columns; c0 += kSide) {
      for (int64_t r = r0; r < std::min(rows, r0 + kSide); ++r) {
        for (int64_t c = c0; c < std::min(columns, c0 + kSide); ++c) {
          std::memcpy(to + (c * rows + r) * sizeof(E), from + (r * columns + c) * sizeof(E), sizeof(E));
        }
      }
    }
  }
}
struct Wide {
  uint64_t low, high;
};
void Transpose(const std::byte* from, std::byte* to, int64_t rows, int64_t columns, int width) {
  if (rows == 1 || columns == 1) {
    std::memcpy(to, from, static_cast<size_t>(rows * columns * width));
  } else if (width == 4) {
    TransposeElements<uint32_t>(from, to, rows, columns);
  } else if (width == 8) {
    TransposeElements<uint64_t>(from, to, rows, columns);
  } else {
    TransposeElements<Wide>(from, to, rows, columns);
  }
}

// Returns true when all `count` numbers of the type are finite.
template <typename R>
bool AllFinite(const std::byte* bytes, int64_t count) {
  const auto* const numbers = reinterpret_cast<const R*>(bytes);
  return std::all_of(numbers, numbers + count, [](R x) { return std::isfinite(x); });
}
bool AllFinite(const std::byte* memory, int64_t bytes, hlo::PrimitiveType real) {
  return real == hlo::kF32 ? AllFinite<float>(memory, bytes / 4) : AllFinite<double>(memory, bytes / 8);
}
void FillNan(std::byte* memory, int64_t bytes, hlo::PrimitiveType real) {
  if (real == hlo::kF32) {
    std::fill_n(reinterpret_cast<float*>(memory), bytes / 4, std::numeric_limits<float>::quiet_NaN());
  } else {
    std::fill_n(reinterpret_cast<double*>(memory), bytes / 8, std::numeric_limits<double>::quiet_NaN());
  }
}

// Matches the shapes with the signatures of the routine's operands or results (`what`), and finds the sizes.
absl::Status MatchAll(std::string_view target, const char* what,
                      const std::vector<std::string_view>& signatures, hlo::PrimitiveType type,
                      const std::vector<const hlo::Shape*>& shapes, Sizes& sizes) {
  if (shapes.size() != signatures.size()) {
    return InvalidArgument("%s has %d %ss, and %d are expected", target, shapes.size(), what,
                           signatures.size());
  }
  for (size_t i = 0; i < shapes.size(); ++i) {
    const std::string name = absl::StrCat(what, " ", i, " of ", std::string(target));
    RETURN_IF_ERROR(Match(signatures[i], type, *shapes[i], name, sizes));
  }
  return absl::OkStatus();
}

// Returns an error unless the configuration has the routine's attributes, with values that the routine takes.
absl::Status CheckAttributes(std::string_view target, const Routine& routine, std::string_view config,
                             const std::map<std::string, int64_t, std::less<>>& values) {
  for (const Attribute& attribute : routine.attributes) {
    const auto found = values.find(attribute.name);
    if (found == values.end()) {
      return InvalidArgument("%s has no attribute %s in its backend_config (%s)", target, attribute.name,
                             config);
    }
    const int64_t value = found->second;
    if (!attribute.letters.empty() &&
        (value < 0 || value > 127 ||
         attribute.letters.find(static_cast<char>(value)) == std::string_view::npos)) {
      return InvalidArgument("The attribute %s (%d) of %s is none of the letters %s", attribute.name, value,
                             target, attribute.letters);
    }
  }
  return absl::OkStatus();
}

// Returns an error for a matrix that is too large for LAPACK.
absl::Status CheckLayouts(std::string_view target, const std::vector<Layout>& layouts) {
  for (const Layout& layout : layouts) {
    if (layout.rows <= INT32_MAX && layout.columns <= INT32_MAX &&
        layout.rows * layout.columns <= kElementsMax)
      continue;
    return ResourceExhausted("A matrix (%d x %d) of %s has more than %d elements", layout.rows,
                             layout.columns, target, kElementsMax);
  }
  return absl::OkStatus();
}

}  // namespace

bool IsTarget(std::string_view target) { return FindTarget(target).routine != nullptr; }

std::vector<std::string> Targets() {
  std::vector<std::string> targets;
  for (const Routine& routine : Routines()) {
    if (IsTpuCall(routine)) {
      targets.emplace_back(routine.name);
      continue;
    }
    for (const char letter : routine.types)
      targets.push_back(TargetName(routine.name, kTypes[kTypeLetters.find(letter)]));
  }
  return targets;
}

absl::StatusOr<Call> Call::Make(hlo::Instruction instruction) {
  const auto& call = instruction.attributes<hlo::CustomCallAttributes>();
  std::vector<const hlo::Shape*> operands, results;
  for (uint32_t i = 0; i < instruction.operand_count(); ++i)
    operands.push_back(&instruction.operand(i).shape());
  if (instruction.shape().IsTuple()) {
    for (const hlo::Shape& element : instruction.shape().tuple) results.push_back(&element);
  } else {
    results.push_back(&instruction.shape());
  }
  return Make(call.target, operands, results, call.backend_config);
}

absl::StatusOr<Call> Call::Make(std::string_view target, const std::vector<const hlo::Shape*>& operands,
                                const std::vector<const hlo::Shape*>& results, std::string_view config) {
  const hlo::PrimitiveType first = operands.empty() ? hlo::kInvalid : operands[0]->type;
  const Named named = FindTarget(target, first);
  if (named.routine == nullptr) {
    if (!IsTarget(target)) return InvalidArgument("%s is not a LAPACK routine's target", target);
    return InvalidArgument("Operand 0 of %s is of type %s, and f32, f64, c64 or c128 is expected", target,
                           hlo::Name(first));
  }
  const Routine& routine = *named.routine;
  const hlo::PrimitiveType type = kTypes[named.type];
  Call call;
  call.routine_ = &routine;
  call.type_ = named.type;
  RETURN_IF_ERROR(MatchAll(target, "operand", routine.operands, type, operands, call.sizes_));
  RETURN_IF_ERROR(MatchAll(target, "result", routine.results, type, results, call.sizes_));
  ASSIGN_OR_RETURN(call.config_, target == "Eigh" ? ParseEighConfig(config) : ParseConfig(config));
  RETURN_IF_ERROR(CheckAttributes(target, routine, config, call.config_));
  if (const char* why = routine.check(call.sizes_, call.config_))
    return InvalidArgument("%s %s", target, why);
  call.empty_ =
      std::ranges::any_of(operands, [](const hlo::Shape* shape) { return hlo::ElementCount(*shape) == 0; });
  for (const std::string_view s : routine.operands) call.operands_.push_back(LayoutOf(s, type, call.sizes_));
  for (const std::string_view s : routine.results) call.results_.push_back(LayoutOf(s, type, call.sizes_));
  RETURN_IF_ERROR(CheckLayouts(target, call.operands_));
  RETURN_IF_ERROR(CheckLayouts(target, call.results_));
  for (const int64_t size : call.sizes_.batch) {
    const std::optional<int64_t> batch = CheckedMultiply(call.batch_, size);
    if (!batch.has_value()) return ResourceExhausted("%s has more problems than can be counted", target);
    call.batch_ = *batch;
  }
  RETURN_IF_ERROR(CheckLibrary());
  if (!call.empty_) call.Measure();
  return call;
}

void Call::Measure() {
  double elements = 0, side = 0;
  for (const std::vector<Layout>* layouts : {&operands_, &results_}) {
    for (const Layout& layout : *layouts) {
      scratch_bytes_ += Aligned(layout.bytes);
      elements = std::max(elements, static_cast<double>(layout.rows) * static_cast<double>(layout.columns));
      side = std::max(side, static_cast<double>(std::min(layout.rows, layout.columns)));
    }
  }
  work_ = elements * side;
  Frame frame(sizes_, config_, nullptr, operands_.size(), results_.size());
  routine_->solve[type_](frame);
  scratch_bytes_ += frame.used();
}

bool Call::Answer(const std::byte* const* operands, std::byte* const* results, int64_t problem) const {
  const hlo::PrimitiveType real = hlo::RealType(kTypes[type_]);
  const bool refused = !empty_ && routine_->iterates &&
                       !AllFinite(operands[0] + problem * operands_[0].bytes, operands_[0].bytes, real);
  if (!empty_ && !refused) return false;
  for (size_t i = 0; i < results_.size(); ++i) {
    std::byte* const result = ResultAt(results, i, problem);
    if (refused && routine_->results[i][0] != 'I') {
      FillNan(result, results_[i].bytes, real);
    } else {
      std::memset(result, 0, results_[i].bytes);
    }
  }
  const bool has_info = routine_->results.back() == "I";
  if (refused && has_info)
    std::memcpy(ResultAt(results, results_.size() - 1, problem), &kNotFinite, sizeof(kNotFinite));
  return true;
}

std::unique_ptr<Call::Problem> Call::Place(std::byte* scratch) const {
  std::unique_ptr<Problem> place(new Problem);
  place->call_ = this;
  std::byte* next = scratch;
  const auto take = [&](const Layout& layout) {
    std::byte* const at = next;
    next += Aligned(layout.bytes);
    return at;
  };
  for (const Layout& layout : operands_) place->operands_.push_back(take(layout));
  for (const Layout& layout : results_) place->results_.push_back(take(layout));
  place->frame_ = std::make_unique<Frame>(sizes_, config_, next, operands_.size(), results_.size());
  return place;
}

Call::Problem::~Problem() = default;

void Call::Problem::Load(const std::byte* const* operands, int64_t problem) {
  index_ = problem;
  frame_->Begin();
  for (size_t i = 0; i < operands_.size(); ++i) {
    const Layout& layout = call_->operands_[i];
    Transpose(operands[i] + problem * layout.bytes, operands_[i], layout.rows, layout.columns, layout.width);
    frame_->set_operand(i, operands_[i]);
  }
  for (size_t i = 0; i < results_.size(); ++i) {
    std::memset(results_[i], 0, static_cast<size_t>(call_->results_[i].bytes));
    frame_->set_result(i, results_[i]);
  }
}

void Call::Problem::Solve() { call_->routine_->solve[call_->type_](*frame_); }

void Call::Problem::Store(std::byte* const* results) const {
  for (size_t i = 0; i < call_->results_.size(); ++i) {
    // The result is in column-major order in scratch memory.
    const Layout& layout = call_->results_[i];
    Transpose(frame_->result<std::byte>(i), call_->ResultAt(results, i, index_), layout.columns, layout.rows,
              layout.width);
  }
}

void Call::Run(const std::byte* const* operands, std::byte* const* results, int64_t problem,
               Problem& place) const {
  if (Answer(operands, results, problem)) return;
  place.Load(operands, problem);
  place.Solve();
  place.Store(results);
}

}  // namespace hlod::lapack
