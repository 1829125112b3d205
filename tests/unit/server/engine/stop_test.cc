// Every kind of step checks `cancel` while it runs, so that one client's long program does not hold up others
// for long.
//
// The run is cancelled before the step begins, so the step stops at its first check, and the end of its
// output is still untouched. A reference step also checks before it begins; therefore its test lets a
// deadline pass while it runs. Without the check a run would take seconds, or hours for the transform.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "common/hlo/analysis/effects.h"
#include "common/hlo/text/text.h"
#include "gtest/gtest.h"
#include "server/engine/plan/plan.h"
#include "server/engine/run/reference_step.h"
#include "server/engine/tile/fusion.h"
#include "tests/unit/server/engine/step_testing.h"

namespace hlod::engine {
namespace {

enum class Made { kByFactory, kByFusion, kAsReference };

struct StopCase {
  const char* name;
  const char* text;  // Computations and the entry, whose root is the step (or the end of the fusion).
  Made made = Made::kByFactory;
};

void PrintTo(const StopCase& c, std::ostream* out) { *out << c.name; }

constexpr char kSum[] = R"(
sum { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
)";
constexpr char kOdd[] = R"(
odd { a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] multiply(a, b)
  ROOT r = f32[] add(c, b) }
)";
constexpr char kLess[] = R"(
less { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=LT }
)";
constexpr char kOddLess[] = R"(
oddless { a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] cosine(a)
  d = f32[] cosine(b)
  ROOT r = pred[] compare(c, d), direction=LT }
)";
constexpr char kGe[] = R"(
ge { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=GE }
)";

const StopCase kCases[] = {
    {"Transpose", R"(ENTRY e { p = f32[2048,4096] parameter(0)
      ROOT r = f32[4096,2048] transpose(p), dimensions={1,0} })"},
    {"Reverse", R"(ENTRY e { p = f32[8388608] parameter(0)
      ROOT r = f32[8388608] reverse(p), dimensions={0} })"},
    {"LongRuns", R"(ENTRY e { p = f32[2,16777216] parameter(0)
      ROOT r = f32[2,16777215] slice(p), slice={[0:2], [0:16777215]} })"},
    {"DynamicUpdateSlice", R"(ENTRY e { p = f32[16777216] parameter(0)
      u = f32[1] parameter(1)
      i = s32[] parameter(2)
      ROOT r = f32[16777216] dynamic-update-slice(p, u, i) })"},
    {"Pad", R"(ENTRY e { p = f32[1] parameter(0)
      z = f32[] parameter(1)
      ROOT r = f32[8388609] pad(p, z), padding=0_8388608 })"},
    {"Iota", R"(ENTRY e { ROOT r = f32[2,8388608] iota(), iota_dimension=0 })"},
    {"GatherOfElements", R"(ENTRY e { p = f32[16] parameter(0)
      i = s32[4194304,1] parameter(1)
      ROOT r = f32[4194304] gather(p, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0},
        index_vector_dim=1, slice_sizes={1} })"},
    {"GatherOfLongWindows", R"(ENTRY e { p = f32[2,16777216] parameter(0)
      i = s32[2,1] parameter(1)
      ROOT r = f32[2,16777216] gather(p, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},
        index_vector_dim=1, slice_sizes={1,16777216} })"},
    {"ScatterOfElements", R"(
      sum { a = f32[] parameter(0)
        b = f32[] parameter(1)
        ROOT r = f32[] add(a, b) }
      ENTRY e { p = f32[16] parameter(0)
      i = s32[4194304,1] parameter(1)
      u = f32[4194304] parameter(2)
      ROOT r = f32[16] scatter(p, i, u), update_window_dims={}, inserted_window_dims={0},
        scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum })"},
    {"ScatterOfALongWindow", R"(
      sum { a = f32[] parameter(0)
        b = f32[] parameter(1)
        ROOT r = f32[] add(a, b) }
      ENTRY e { p = f32[16777216] parameter(0)
      i = s32[1,1] parameter(1)
      u = f32[1,16777216] parameter(2)
      ROOT r = f32[16777216] scatter(p, i, u), update_window_dims={1}, inserted_window_dims={},
        scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum })"},
    {"Sort",
     "LESS ENTRY e { p = f32[4194304] parameter(0)\n"
     " ROOT r = f32[4194304] sort(p), dimensions={0}, to_apply=less }"},
    {"SortOfManyLines",
     "LESS ENTRY e { p = f32[65536,64] parameter(0)\n"
     " ROOT r = f32[65536,64] sort(p), dimensions={1}, to_apply=less }"},
    {"SortByAnyComparator",
     "ODDLESS ENTRY e { p = f32[1048576] parameter(0)\n"
     " ROOT r = f32[1048576] sort(p), dimensions={0}, to_apply=oddless }"},
    {"TopKOfALongLine", R"(ENTRY e { p = f32[4194304] parameter(0)
      ROOT r = (f32[8], s32[8]) topk(p), k=8, largest=true })"},
    {"TopKOfManyLines", R"(ENTRY e { p = f32[4096,1024] parameter(0)
      ROOT r = (f32[4096,8], s32[4096,8]) topk(p), k=8, largest=true })"},
    {"ReduceToFew",
     "SUM ENTRY e { p = f32[16777216] parameter(0)\n z = f32[] parameter(1)\n"
     " ROOT r = f32[] reduce(p, z), dimensions={0}, to_apply=sum }"},
    {"ReduceOfRows",
     "SUM ENTRY e { p = f32[4096,4096] parameter(0)\n z = f32[] parameter(1)\n"
     " ROOT r = f32[4096] reduce(p, z), dimensions={0}, to_apply=sum }"},
    {"ReduceByAnyFunction",
     "ODD ENTRY e { p = f32[4,1048576] parameter(0)\n z = f32[] parameter(1)\n"
     " ROOT r = f32[4] reduce(p, z), dimensions={1}, to_apply=odd }"},
    {"RunningTotal",
     "SUM ENTRY e { p = f32[16777216] parameter(0)\n z = f32[] parameter(1)\n"
     " ROOT r = f32[16777216] reduce-window(p, z), window={size=16777216 pad=16777215_0}, "
     "to_apply=sum }"},
    {"LongWindow",
     "SUM ENTRY e { p = f32[4194304] parameter(0)\n z = f32[] parameter(1)\n"
     " ROOT r = f32[4194205] reduce-window(p, z), window={size=100}, to_apply=sum }"},
    {"ShortWindow",
     "SUM ENTRY e { p = f32[8388608] parameter(0)\n z = f32[] parameter(1)\n"
     " ROOT r = f32[8388606] reduce-window(p, z), window={size=3}, to_apply=sum }"},
    {"WindowByAnyFunction",
     "ODD ENTRY e { p = f32[1048576] parameter(0)\n z = f32[] parameter(1)\n"
     " ROOT r = f32[1048574] reduce-window(p, z), window={size=3}, to_apply=odd }"},
    {"SelectAndScatter",
     "SUM GE ENTRY e { p = f32[4194304] parameter(0)\n s = f32[2097152] parameter(1)\n"
     " z = f32[] parameter(2)\n ROOT r = f32[4194304] select-and-scatter(p, s, z), "
     "window={size=2 stride=2}, select=ge, scatter=sum }"},
    {"Random", R"(ENTRY e { s = u64[2] parameter(0)
      ROOT r = (u64[2], u32[8388608]) rng-bit-generator(s), algorithm=rng_three_fry })"},
    {"Dot", R"(ENTRY e { a = f32[1536,1536] parameter(0)
      b = f32[1536,1536] parameter(1)
      ROOT r = f32[1536,1536] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} })"},
    {"DotInLoops", R"(ENTRY e { a = s64[512,512] parameter(0)
      b = s64[512,512] parameter(1)
      ROOT r = s64[512,512] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} })"},
    {"DotOfALongSum", R"(ENTRY e { a = s64[4194304] parameter(0)
      b = s64[4194304] parameter(1)
      ROOT r = s64[] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0} })"},
    {"Convolution", R"(ENTRY e { a = f32[64,64,64,32] parameter(0)
      b = f32[3,3,32,32] parameter(1)
      ROOT r = f32[64,64,64,32] convolution(a, b), window={size=3x3 pad=1_1x1_1},
        dim_labels=b01f_01io->b01f })"},
    {"ConvolutionInLoops", R"(ENTRY e { a = s32[4,64,64,16] parameter(0)
      b = s32[3,3,16,16] parameter(1)
      ROOT r = s32[4,64,64,16] convolution(a, b), window={size=3x3 pad=1_1x1_1},
        dim_labels=b01f_01io->b01f })"},
    {"Fft", R"(ENTRY e { p = c64[4194304] parameter(0)
      ROOT r = c64[4194304] fft(p), fft_type=FFT, fft_length={4194304} })"},
    {"FftOfManyLines", R"(ENTRY e { p = c64[65536,64] parameter(0)
      ROOT r = c64[65536,64] fft(p), fft_type=FFT, fft_length={64} })"},
    {"FftOfAPrimeLength", R"(ENTRY e { p = c64[1000003] parameter(0)
      ROOT r = c64[1000003] fft(p), fft_type=FFT, fft_length={1000003} })"},
    // Each single line is too short for a check.
    {"FftOfManyLinesOfAPrimeLength", R"(ENTRY e { p = c64[32,16411] parameter(0)
      ROOT r = c64[32,16411] fft(p), fft_type=FFT, fft_length={16411} })"},
    {"FftOfRealLines", R"(ENTRY e { p = f32[2048,2048] parameter(0)
      ROOT r = c64[2048,1025] fft(p), fft_type=RFFT, fft_length={2048} })"},
    {"Elementwise", R"(ENTRY e { p = f32[8388608] parameter(0)
      ROOT r = f32[8388608] tanh(p) })",
     Made::kByFusion},
    {"ElementwiseAndReduce",
     "SUM ENTRY e { p = f32[64,262144] parameter(0)\n z = f32[] constant(0)\n"
     " t = f32[64,262144] tanh(p)\n"
     " ROOT r = f32[64] reduce(t, z), dimensions={1}, to_apply=sum }",
     Made::kByFusion},
};

const StopCase kReferenceCases[] = {
    {"ReferenceFft", R"(ENTRY e { p = c64[1048576] parameter(0)
      ROOT r = c64[1048576] fft(p), fft_type=FFT, fft_length={1048576} })",
     Made::kAsReference},
    {"ReferenceTriangularSolve", R"(ENTRY e { a = f32[2048,2048] parameter(0)
      b = f32[2048,2048] parameter(1)
      ROOT r = f32[2048,2048] triangular-solve(a, b), left_side=true, lower=true, unit_diagonal=true,
        transpose_a=NO_TRANSPOSE })",
     Made::kAsReference},
    {"ReferenceCholesky", R"(ENTRY e { a = f32[2048,2048] parameter(0)
      ROOT r = f32[2048,2048] cholesky(a), lower=true })",
     Made::kAsReference},
    {"ReferenceSort",
     "LESS ENTRY e { p = f32[1048576] parameter(0)\n"
     " ROOT r = f32[1048576] sort(p), dimensions={0}, to_apply=less }",
     Made::kAsReference},
};

// Replaces words in capitals by the computations that they name.
std::string Spelled(std::string text) {
  for (const auto& [word, computation] :
       {std::pair{"ODDLESS ", kOddLess}, std::pair{"LESS ", kLess}, std::pair{"SUM ", kSum},
        std::pair{"ODD ", kOdd}, std::pair{"GE ", kGe}}) {
    const size_t at = text.find(word);
    if (at != std::string::npos)
      text = text.substr(0, at) + computation + text.substr(at + std::strlen(word));
  }
  return "HloModule test\n" + text;
}

// A step, the module that it refers to, and the shapes of its inputs and outputs.
struct Prepared {
  std::shared_ptr<const hlo::Module> module;
  std::unique_ptr<Step> step;
  std::vector<hlo::Shape> inputs, outputs;
};

void AppendLeaves(const hlo::Shape& shape, std::vector<hlo::Shape>& leaves) {
  for (const hlo::ShapeLeaf& leaf : hlo::Leaves(shape)) leaves.push_back(*leaf.shape);
}

Prepared Prepare(const StopCase& c, int threads) {
  auto module = hlo::ParseModule(Spelled(c.text));
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return {};
  Prepared made;
  made.module = *std::move(module);
  const hlo::Computation& entry = made.module->entry();
  const hlo::Instruction root = entry.root();
  if (c.made == Made::kByFusion) {
    const std::vector<FusionGroup> groups =
        PlanFusion(*made.module, entry, std::vector<bool>(entry.size(), true),
                   hlo::FindSideEffects(*made.module), StepReads(*made.module, entry));
    if (groups.size() != 1) return {};
    made.step = MakeFusedStep(*made.module, entry, groups[0], threads);
    for (hlo::NodeId id : groups[0].inputs) AppendLeaves(entry[id].shape(), made.inputs);
    for (hlo::NodeId id : groups[0].outputs) AppendLeaves(entry[id].shape(), made.outputs);
    return made;
  }
  for (uint32_t i = 0; i < root.operand_count(); ++i) AppendLeaves(root.operand(i).shape(), made.inputs);
  AppendLeaves(root.shape(), made.outputs);
  made.step = c.made == Made::kAsReference ? MakeReferenceStep(made.module, root)
                                           : MakeStep(*made.module, root, threads);
  return made;
}

// The memory of a prepared step: zeros to read (square matrices are the identity), and outputs filled with a
// byte that shows which parts were not written.
struct Memory {
  static constexpr std::byte kUntouched{0xA5};
  std::vector<hlo::Literal> inputs, outputs;
  std::vector<const std::byte*> in;
  std::vector<std::byte*> out;
  std::vector<std::byte> scratch;

  explicit Memory(const Prepared& made) : scratch(made.step->scratch_bytes() + 64) {
    inputs.reserve(made.inputs.size());
    outputs.reserve(made.outputs.size());
    for (const hlo::Shape& shape : made.inputs) {
      hlo::Literal& input = inputs.emplace_back(shape);
      if (shape.type == hlo::kF32 && shape.rank() == 2 && shape.dims[0] == shape.dims[1]) {
        for (int64_t i = 0; i < shape.dims[0]; ++i) input.data<float>()[i * (shape.dims[0] + 1)] = 1;
      }
      in.push_back(input.bytes().data());
    }
    for (const hlo::Shape& shape : made.outputs) {
      const absl::Span<std::byte> bytes = outputs.emplace_back(shape).bytes();
      std::fill(bytes.begin(), bytes.end(), kUntouched);
      out.push_back(bytes.data());
    }
  }
  std::byte* aligned_scratch() {
    return scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64) % 64;
  }
};

class StopsWhileItRuns : public testing::TestWithParam<StopCase> {};

TEST_P(StopsWhileItRuns, WhenCancelled) {
  for (const int threads : {1, 2}) {
    const Prepared made = Prepare(GetParam(), threads);
    ASSERT_NE(made.step, nullptr);
    Memory memory(made);
    const std::atomic<bool> cancel = true;
    RunContext run;
    run.cancel = &cancel;
    StepContext context{run, memory.aligned_scratch(), threads};
    const absl::Status status = made.step->Run(memory.in.data(), memory.out.data(), context);
    EXPECT_EQ(status.code(), absl::StatusCode::kCancelled) << status << " by " << made.step->text();
    for (const hlo::Literal& output : memory.outputs) {
      const absl::Span<const std::byte> bytes = output.bytes();
      if (bytes.size() < (1 << 20)) continue;  // A small output may need only one check.
      EXPECT_EQ(bytes.back(), Memory::kUntouched) << made.step->text() << " went on to the end";
    }
  }
}

class ReferenceStopsWhileItRuns : public testing::TestWithParam<StopCase> {};

TEST_P(ReferenceStopsWhileItRuns, AtItsDeadline) {
  const Prepared made = Prepare(GetParam(), 1);
  ASSERT_NE(made.step, nullptr);
  Memory memory(made);
  RunContext run;
  run.deadline = absl::Now() + absl::Milliseconds(10);
  StepContext context{run, memory.aligned_scratch(), 1};
  EXPECT_EQ(made.step->Run(memory.in.data(), memory.out.data(), context).code(),
            absl::StatusCode::kDeadlineExceeded);
}

std::string NameOf(const testing::TestParamInfo<StopCase>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Steps, StopsWhileItRuns, testing::ValuesIn(kCases), NameOf);
INSTANTIATE_TEST_SUITE_P(Steps, ReferenceStopsWhileItRuns, testing::ValuesIn(kReferenceCases), NameOf);

// A compilation also stops, between its stages and between its steps.
TEST(Stops, ACompilation) {
  const auto module =
      hlo::ParseModule("HloModule test\nENTRY e { p = f32[4] parameter(0)\n ROOT r = f32[4] tanh(p) }");
  ASSERT_TRUE(module.ok()) << module.status();
  const std::atomic<bool> cancel = true;
  EXPECT_EQ(Compile(**module, {.cancel = &cancel}).status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(Compile(**module, {.deadline = absl::Now() - absl::Seconds(1)}).status().code(),
            absl::StatusCode::kDeadlineExceeded);
}

}  // namespace
}  // namespace hlod::engine
