// Machine code for fused steps: random programs have the same bits as when they are interpreted, on AVX2 and,
// where the processor has it, on AVX-512.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/system/cpu.h"
#include "common/base/system/cpu_limit.h"
#include "common/hlo/builder.h"
#include "common/hlo/text/text.h"
#include "server/engine/assemble/assembler.h"
#include "server/engine/plan/lowering/lowering.h"
#include "server/engine/plan/plan.h"
#include "server/engine/tile/kernel.h"
#include "tests/unit/server/engine/assemble/assembly_users.h"
#include "tests/unit/server/engine/assemble/random_programs.h"
#include "tests/unit/server/engine/plan_testing.h"

namespace hlod::engine {
namespace {

using hlo::Builder;
using hlo::Literal;
using hlo::Op;
using hlo::Shape;

// The instruction sets that this process may use.
std::vector<CpuLevel> Levels() {
  std::vector<CpuLevel> levels;
  for (const CpuLevel level : {CpuLevel::kAvx2, CpuLevel::kAvx512}) {
    if (level <= BestCpuLevel()) levels.push_back(level);
  }
  return levels;
}

// Limits the instruction set of the plans that are made while it exists.
class Limited {
 public:
  explicit Limited(CpuLevel level) : before_(CpuLimit()) { LimitCpu(level); }
  ~Limited() { LimitCpu(before_); }

 private:
  const std::optional<CpuLevel> before_;
};

struct Counts {
  int64_t steps = 0, kernels = 0;
};

// Runs the module interpreted and as machine code, and expects the same bits.
void ExpectSameBits(const hlo::Module& module, Assembler& assembler, std::mt19937& random, Counts* counts) {
  const auto shared = std::shared_ptr<Assembler>(&assembler, [](Assembler*) {});
  const auto plan = Compile(module, {.threads = 2, .assembler = nullptr});
  const auto assembled = Compile(module, {.threads = 2, .assembler = shared});
  ASSERT_TRUE(plan.ok() && assembled.ok()) << plan.status() << assembled.status();
  (*assembled)->AssembleNow();
  counts->steps += (*plan)->stats().fused_steps;
  counts->kernels += (*assembled)->kernels();
  std::vector<Literal> arguments;
  for (const Shape& shape : (*plan)->arguments()) arguments.push_back(SpecialValues(shape, random));
  const auto expected = RunPlan(**plan, arguments), actual = RunPlan(**assembled, arguments);
  ASSERT_TRUE(expected.ok() && actual.ok()) << expected.status() << actual.status();
  for (size_t r = 0; r < expected->size(); ++r) {
    ASSERT_TRUE(SameBits((*actual)[r], (*expected)[r]))
        << "result " << r << ": " << FirstDifference((*actual)[r], (*expected)[r]) << "\n"
        << ToText(module);
  }
}

class Assemble : public testing::TestWithParam<CpuLevel> {};
INSTANTIATE_TEST_SUITE_P(All, Assemble, testing::ValuesIn(Levels()),
                         [](const auto& info) { return std::string(Name(info.param)); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Assemble);

// The number of seeds that a test tries: its own, or $HLOD_ASSEMBLE_SEEDS, after the first
// $HLOD_ASSEMBLE_SEED.
uint32_t Variable(const char* name, uint32_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
}

using Dims = std::vector<int64_t>;

// Makes programs of the seeds, compares each, and expects that a share of the fused steps is machine code.
template <typename Make>
void TrySeeds(uint32_t count, double share, Make make) {
  Assembler assembler({});
  const uint32_t first = Variable("HLOD_ASSEMBLE_SEED", 0),
                 end = first + Variable("HLOD_ASSEMBLE_SEEDS", count);
  Counts counts;
  for (uint32_t seed = first; seed < end && !testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    std::mt19937 random(seed);
    ExpectSameBits(*make(seed), assembler, random, &counts);
  }
  EXPECT_GE(static_cast<double>(counts.kernels), share * static_cast<double>(counts.steps))
      << "of " << counts.steps;
}

TEST_P(Assemble, RandomProgramsHaveTheBitsOfTheInterpreter) {
  const Limited limited(GetParam());
  const Dims dims[] = {{1, 1},       {1, 15},   {1, 16},    {1, 17},   {10, 10}, {3, 100}, {5, 64},
                       {1, 4095},    {4, 1024}, {65, 127},  {100, 8},  {37, 31}, {64, 16}, {},
                       {7},          {600},     {3, 5, 24}, {2, 9, 7}, {0, 5},   {5, 0},   {4, 3, 200},
                       {2, 2, 2, 9}, {513, 2},  {1, 70000}, {2, 70001}};  // Inputs that are fetched ahead.
  // Some operations have no translation.
  TrySeeds(400, 0.4, [&](uint32_t seed) {
    return RandomPrograms(seed).Make(dims[seed % std::size(dims)], 2 + static_cast<int>(seed / 3 % 40));
  });
}

TEST_P(Assemble, RandomReductionsHaveTheBitsOfTheInterpreter) {
  const Limited limited(GetParam());
  const Dims dims[] = {{70, 100}, {3, 64},    {9, 1000}, {200, 17}, {5, 513}, {64, 600},   {2, 5000},
                       {1, 4096}, {33, 96},   {400, 8},  {100, 10}, {90, 31}, {3, 40, 33}, {4, 16, 7},
                       {50, 2},   {1, 70000}, {1, 1},    {31},      {32},     {33},        {2, 65, 130},
                       {700, 48}, {1, 999},   {24, 24},  {2200, 60}};  // Inputs that are fetched ahead.
  TrySeeds(200, 0.1, [&](uint32_t seed) {
    const int size = static_cast<int>(seed % 13), reductions = 1 + static_cast<int>(seed % 5);
    return RandomPrograms(seed).Make(dims[seed % std::size(dims)], size, reductions);
  });
}

// A sum that is split into chunks, of columns and of everything.
TEST_P(Assemble, LargeReductionsHaveTheBitsOfTheInterpreter) {
  const Limited limited(GetParam());
  TrySeeds(12, 0.1, [](uint32_t seed) { return RandomPrograms(seed).Make({600, 700}, 3, 3); });
}

TEST_P(Assemble, RandomLoopsHaveTheBitsOfTheInterpreter) {
  const Limited limited(GetParam());
  const Dims dims[] = {{}, {1}, {2}, {4}, {7}, {3}, {16}, {256}, {2, 2}, {3, 100}, {40, 33}, {300, 60}};
  TrySeeds(240, 0.25, [&](uint32_t seed) {
    return RandomPrograms(seed).MakeLoop(dims[seed % std::size(dims)], 1 + static_cast<int>(seed % 9),
                                         static_cast<int>(seed % 7), /*nested=*/seed % 3 == 0);
  });
}

// More iterations than between two checks whether the run must stop, from the first run on.
TEST_P(Assemble, ALongLoopBecomesMachineCodeWhileItRuns) {
  const Limited limited(GetParam());
  const auto module = hlo::ParseModule(R"(HloModule m
cond { s = (s32[], s32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=1
  ROOT less = pred[] compare(i, n), direction=LT }
body { s = (s32[], s32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=1
  x = f32[3] get-tuple-element(s), index=2
  one = s32[] constant(1)
  half = f32[] constant(0.5)
  halves = f32[3] broadcast(half), dimensions={}
  next = s32[] add(i, one)
  y = f32[3] multiply(x, halves)
  z = f32[3] add(y, halves)
  ROOT t = (s32[], s32[], f32[3]) tuple(next, n, z) }
ENTRY main { n = s32[] parameter(0)
  x = f32[3] parameter(1)
  zero = s32[] constant(0)
  start = (s32[], s32[], f32[3]) tuple(zero, n, x)
  ROOT w = (s32[], s32[], f32[3]) while(start), condition=cond, body=body }
)");
  ASSERT_TRUE(module.ok()) << module.status();
  const auto assembler = std::make_shared<Assembler>(Assembler::Options{});
  const auto plan = Compile(**module, {.threads = 1, .assembler = assembler});
  ASSERT_TRUE(plan.ok()) << plan.status();
  const auto user = std::make_shared<ThreadUser>();
  RunContext context;
  context.assembly = user.get();
  const auto results =
      RunPlan(**plan, {Literal::Scalar<int32_t>(300000), Sample(Shape::Array(hlo::kF32, {3}), 1)}, context);
  user->Join();
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_GT((*plan)->kernels(), 0);
  EXPECT_EQ((*results)[0].data<int32_t>()[0], 300000);
  for (const float value : (*results)[2].data<float>())
    EXPECT_EQ(value, 1.0f);  // The fixed point of x / 2 + 1 / 2.
}

// Returns a loop of `chains` chains of twenty operations each, with a product after each, and of a loop if
// `nested`.
std::string LoopOfChains(int chains, bool nested) {
  std::string text = R"(HloModule m
cond { s = (s32[], f32[12]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)
  ROOT less = pred[] compare(i, n), direction=LT }
body { s = (s32[], f32[12]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[12] get-tuple-element(s), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  y = f32[12] sine(x)
  ROOT t = (s32[], f32[12]) tuple(next, y) }
outer { s = (s32[], f32[12]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x0 = f32[12] get-tuple-element(s), index=1
  one = s32[] constant(1)
  zero = s32[] constant(0)
  next = s32[] add(i, one)
  m = f32[12,12] iota(), iota_dimension=1
)";
  for (int chain = 0; chain < chains; ++chain) {
    absl::StrAppend(&text, "  y", chain, "_0 = f32[12] cosine(x", chain, ")\n");
    for (int i = 1; i < 20; ++i)
      absl::StrAppend(&text, "  y", chain, "_", i, " = f32[12] ", i % 2 == 0 ? "subtract" : "multiply", "(y",
                      chain, "_", i - 1, ", x", chain, ")\n");
    absl::StrAppend(&text, "  x", chain + 1, " = f32[12] dot(m, y", chain,
                    "_19), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n");
  }
  absl::StrAppend(&text, "  s1 = (s32[], f32[12]) tuple(zero, x", chains, ")\n  w1 = (s32[], f32[12]) ",
                  nested ? "while(s1), condition=cond, body=body" : "opt-barrier(s1)", R"(
  z = f32[12] get-tuple-element(w1), index=1
  ROOT t = (s32[], f32[12]) tuple(next, z) }
ENTRY main { x = f32[12] parameter(0)
  zero = s32[] constant(0)
  start = (s32[], f32[12]) tuple(zero, x)
  ROOT w = (s32[], f32[12]) while(start), condition=cond, body=outer }
)");
  return text;
}

// Returns the bound on the bytes of the module's code.
int64_t CodeBytesOf(const std::string& text) {
  const auto module = hlo::ParseModule(text);
  if (!module.ok()) throw std::runtime_error(module.status().ToString());
  const auto plan =
      Compile(**module, {.threads = 1, .assembler = std::make_shared<Assembler>(Assembler::Options{})});
  if (!plan.ok()) throw std::runtime_error(plan.status().ToString());
  return (*plan)->code_bytes_max();
}

// A loop's code has those of the loops inside. A loop that is too large, but for some of its steps, leaves
// the code to the loops inside: they are most of the time.
TEST_P(Assemble, ALoopThatIsTooLargeLeavesCodeToThoseInside) {
  const Limited limited(GetParam());
  EXPECT_GT(CodeBytesOf(LoopOfChains(2, true)), CodeBytesOf(LoopOfChains(2, false)));
  EXPECT_LT(CodeBytesOf(LoopOfChains(130, true)), CodeBytesOf(LoopOfChains(130, false)));
}

// Slices and updates whose starts are out of range at first and at last, a scatter of one point, which is
// then skipped, and concatenations.
constexpr char kLoopOfCopies[] = R"(HloModule m
set { a = s32[] parameter(0)
  ROOT b = s32[] parameter(1) }
cond { s = (s32[], s32[7], f32[3], s32[2,3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(50)
  ROOT less = pred[] compare(i, n), direction=LT }
body { s = (s32[], s32[7], f32[3], s32[2,3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  a = s32[7] get-tuple-element(s), index=1
  v = f32[3] get-tuple-element(s), index=2
  m = s32[2,3] get-tuple-element(s), index=3
  one = s32[] constant(1)
  next = s32[] add(i, one)
  wide = s64[] convert(i)
  read = s32[1] dynamic-slice(a, wide), dynamic_slice_sizes={1}
  value = s32[] reshape(read)
  sum = s32[] add(value, i)
  part = s32[1] broadcast(sum), dimensions={}
  three = s32[] constant(3)
  at = s32[] multiply(i, three)
  updated = s32[7] dynamic-update-slice(a, part, at)
  point = s32[1] reshape(next)
  set = s32[7] scatter(updated, point, at), update_window_dims={}, inserted_window_dims={0},
    scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=set
  first = f32[1] slice(v), slice={[0:1]}
  rest = f32[2] slice(v), slice={[1:3]}
  float = f32[] convert(i)
  floats = f32[1] broadcast(float), dimensions={}
  more = f32[1] add(first, floats)
  turned = f32[3] concatenate(rest, more), dimensions={0}
  row = s32[1,3] dynamic-slice(m, i, at), dynamic_slice_sizes={1,3}
  ones = s32[1,3] broadcast(one), dimensions={}
  row1 = s32[1,3] add(row, ones)
  zero = s32[] constant(0)
  rows = s32[2,3] dynamic-update-slice(m, row1, next, zero)
  ROOT t = (s32[], s32[7], f32[3], s32[2,3]) tuple(next, set, turned, rows) }
ENTRY main { i = s32[] parameter(0)
  a = s32[7] parameter(1)
  v = f32[3] parameter(2)
  m = s32[2,3] parameter(3)
  s = (s32[], s32[7], f32[3], s32[2,3]) tuple(i, a, v, m)
  ROOT w = (s32[], s32[7], f32[3], s32[2,3]) while(s), condition=cond, body=body }
)";
TEST_P(Assemble, LoopsOfCopiesHaveTheValuesOfTheEvaluator) {
  const Limited limited(GetParam());
  const auto module = hlo::ParseModule(kLoopOfCopies);
  ASSERT_TRUE(module.ok()) << module.status();
  const auto assembler = std::make_shared<Assembler>(Assembler::Options{.at_once = true});
  const auto plan = Compile(**module, {.threads = 1, .assembler = assembler});
  ASSERT_TRUE(plan.ok()) << plan.status();
  for (const int32_t begin : {-9, 0, 3, 49}) {
    const std::vector<Literal> arguments = {
        Literal::Scalar<int32_t>(begin), Sample(Shape::Array(hlo::kS32, {7}), 1),
        Sample(Shape::Array(hlo::kF32, {3}), 2), Sample(Shape::Array(hlo::kS32, {2, 3}), 3)};
    const auto actual = RunPlan(**plan, arguments), expected = RunEvaluator(**module, arguments);
    ASSERT_TRUE(actual.ok() && expected.ok()) << actual.status() << expected.status();
    EXPECT_EQ(*actual, *expected) << begin;
  }
}

// Scalars that are in registers meanwhile: elements of arrays that are sliced, padded (also inside, and by
// negative amounts) and joined, a branch's index, and a state that is exchanged; for more iterations than
// between two checks whether the run must stop.
constexpr char kLoopOfScalars[] = R"(HloModule m
cond { s = (s32[], f32[2], f32[3], f32[], f32[], pred[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3000)
  ROOT less = pred[] compare(i, n), direction=LT }
half { x = f32[] parameter(0)
  h = f32[] constant(0.5)
  ROOT r = f32[] multiply(x, h) }
less_one { y = f32[] parameter(0)
  o = f32[] constant(-1)
  ROOT r = f32[] add(y, o) }
same { z = f32[] parameter(0)
  ROOT r = f32[] negate(z) }
body { s = (s32[], f32[2], f32[3], f32[], f32[], pred[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  v = f32[2] get-tuple-element(s), index=1
  w = f32[3] get-tuple-element(s), index=2
  a = f32[] get-tuple-element(s), index=3
  b = f32[] get-tuple-element(s), index=4
  p = pred[] get-tuple-element(s), index=5
  one = s32[] constant(1)
  next = s32[] add(i, one)
  zero = f32[] constant(0)
  first = f32[1] slice(v), slice={[0:1]}
  second = f32[1] slice(v), slice={[1:2]}
  low = f32[2] pad(second, a), padding=1_0
  high = f32[2] pad(first, zero), padding=0_1
  v1 = f32[2] add(low, high)
  quarter = f32[] constant(0.25)
  quarters = f32[2] broadcast(quarter), dimensions={}
  v2 = f32[2] multiply(v1, quarters)
  inside = f32[3] pad(v2, b), padding=0_0_1
  cut = f32[3] pad(w, zero), padding=-1_1
  w1 = f32[3] add(inside, cut)
  w2 = f32[3] cosine(w1)
  three = s32[] constant(3)
  third = s32[] remainder(i, three)
  branched = f32[] conditional(third, a, a, a), branch_computations={half, less_one, same}
  last = f32[1] slice(w2), slice={[2:3]}
  scalar = f32[] reshape(last)
  a1 = f32[] select(p, branched, scalar)
  q = pred[] compare(a1, b), direction=LT
  ROOT t = (s32[], f32[2], f32[3], f32[], f32[], pred[]) tuple(next, v2, w2, b, a1, q) }
ENTRY main { i = s32[] constant(0)
  v = f32[2] parameter(0)
  w = f32[3] parameter(1)
  a = f32[] parameter(2)
  b = f32[] parameter(3)
  p = pred[] parameter(4)
  s = (s32[], f32[2], f32[3], f32[], f32[], pred[]) tuple(i, v, w, a, b, p)
  ROOT r = (s32[], f32[2], f32[3], f32[], f32[], pred[]) while(s), condition=cond, body=body }
)";
TEST_P(Assemble, LoopsOfScalarsHaveTheBitsOfTheInterpreter) {
  const Limited limited(GetParam());
  const auto module = hlo::ParseModule(kLoopOfScalars);
  ASSERT_TRUE(module.ok()) << module.status();
  Assembler assembler({});
  Counts counts;
  for (uint32_t seed = 0; seed < 8; ++seed) {
    std::mt19937 random(seed);
    ASSERT_NO_FATAL_FAILURE(ExpectSameBits(**module, assembler, random, &counts));
  }
}

// Reductions of a few elements: the best path to each state and its place, a sum of columns, and a product of
// all.
constexpr char kLoopOfReductions[] = R"(HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
multiply { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] multiply(a, b) }
best { v0 = f32[] parameter(0)
  i0 = s32[] parameter(1)
  v1 = f32[] parameter(2)
  i1 = s32[] parameter(3)
  more = pred[] compare(v0, v1), direction=GT
  nan = pred[] compare(v0, v0), direction=NE
  first = pred[] or(more, nan)
  v = f32[] select(first, v0, v1)
  equal = pred[] compare(v0, v1), direction=EQ
  lower = pred[] compare(i0, i1), direction=LT
  tie = pred[] and(equal, lower)
  place = pred[] or(first, tie)
  i = s32[] select(place, i0, i1)
  ROOT t = (f32[], s32[]) tuple(v, i) }
cond { s = (s32[], f32[3], f32[3,3], s32[3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(40)
  ROOT less = pred[] compare(i, n), direction=LT }
body { s = (s32[], f32[3], f32[3,3], s32[3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  d = f32[3] get-tuple-element(s), index=1
  t = f32[3,3] get-tuple-element(s), index=2
  one = s32[] constant(1)
  next = s32[] add(i, one)
  columns = f32[3,3] broadcast(d), dimensions={0}
  paths = f32[3,3] add(columns, t)
  low = f32[] constant(-inf)
  zero = s32[] constant(0)
  places = s32[3,3] iota(), iota_dimension=0
  both = (f32[3], s32[3]) reduce(paths, places, low, zero), dimensions={0}, to_apply=best
  value = f32[3] get-tuple-element(both), index=0
  place = s32[3] get-tuple-element(both), index=1
  nothing = f32[] constant(0)
  sums = f32[3] reduce(paths, nothing), dimensions={1}, to_apply=add
  unit = f32[] constant(1)
  all = f32[] reduce(d, unit), dimensions={0}, to_apply=multiply
  alls = f32[3] broadcast(all), dimensions={}
  eighth = f32[] constant(0.125)
  eighths = f32[3] broadcast(eighth), dimensions={}
  total = f32[3] add(sums, alls)
  part = f32[3] multiply(total, eighths)
  whole = f32[3] subtract(value, part)
  lowest = f32[] constant(-2)
  highest = f32[] constant(2)
  d1 = f32[3] clamp(lowest, whole, highest)
  ROOT r = (s32[], f32[3], f32[3,3], s32[3]) tuple(next, d1, t, place) }
ENTRY main { i = s32[] constant(0)
  d = f32[3] parameter(0)
  t = f32[3,3] parameter(1)
  p = s32[3] parameter(2)
  s = (s32[], f32[3], f32[3,3], s32[3]) tuple(i, d, t, p)
  ROOT w = (s32[], f32[3], f32[3,3], s32[3]) while(s), condition=cond, body=body }
)";
TEST_P(Assemble, LoopsOfReductionsHaveTheValuesOfTheEvaluator) {
  const Limited limited(GetParam());
  const auto module = hlo::ParseModule(kLoopOfReductions);
  ASSERT_TRUE(module.ok()) << module.status();
  const auto assembler = std::make_shared<Assembler>(Assembler::Options{.at_once = true});
  const auto plan = Compile(**module, {.threads = 1, .assembler = assembler});
  ASSERT_TRUE(plan.ok()) << plan.status();
  for (const uint32_t seed : {1u, 2u, 3u}) {
    const std::vector<Literal> arguments = {Sample(Shape::Array(hlo::kF32, {3}), seed),
                                            Sample(Shape::Array(hlo::kF32, {3, 3}), seed + 9),
                                            Sample(Shape::Array(hlo::kS32, {3}), seed)};
    const auto actual = RunPlan(**plan, arguments), expected = RunEvaluator(**module, arguments);
    ASSERT_TRUE(actual.ok() && expected.ok()) << actual.status() << expected.status();
    EXPECT_EQ((*actual)[3], (*expected)[3]) << seed;
    for (int i = 0; i < 3; ++i)
      EXPECT_NEAR((*actual)[1].data<float>()[i], (*expected)[1].data<float>()[i], 1e-4) << seed;
  }
}

// The best path to each of `n` states in `b` batches, its place, and sums of rows and of columns of
// exponentials: views of all rows' lengths, which vectors join.
std::string LoopOfRows(const std::string& type, int b, int n) {
  const std::string vector = absl::StrCat(type, "[", b, ",", n, "]"),
                    cube = absl::StrCat(type, "[", b, ",", n, ",", n, "]"),
                    matrix = absl::StrCat(type, "[", n, ",", n, "]"), row = absl::StrCat(type, "[", b, "]"),
                    places = absl::StrCat("s32[", b, ",", n, "]"),
                    state = absl::StrCat("(s32[], ", vector, ", ", matrix, ", ", places, ")");
  const auto binary = [&](const char* name, const char* opcode) {
    return absl::StrCat(name, " { a = ", type, "[] parameter(0)\n b = ", type,
                        "[] parameter(1)\n ROOT r = ", type, "[] ", opcode, "(a, b) }\n");
  };
  return absl::StrCat(
      "HloModule m\n", binary("add", "add"), binary("largest", "maximum"), "best { v0 = ", type,
      "[] parameter(0)\n i0 = s32[] parameter(1)\n v1 = ", type,
      "[] parameter(2)\n i1 = s32[] parameter(3)\n more = pred[] compare(v0, v1), direction=GE\n v = ", type,
      "[] select(more, v0, v1)\n i = s32[] select(more, i0, i1)\n ROOT t = (", type,
      "[], s32[]) tuple(v, i) }\ncond { s = ", state,
      " parameter(0)\n i = s32[] get-tuple-element(s), index=0\n n = s32[] constant(9)\n"
      " ROOT less = pred[] compare(i, n), direction=LT }\nbody { s = ",
      state, " parameter(0)\n i = s32[] get-tuple-element(s), index=0\n d = ", vector,
      " get-tuple-element(s), index=1\n t = ", matrix,
      " get-tuple-element(s), index=2\n one = s32[] constant(1)\n next = s32[] add(i, one)\n from = ", cube,
      " broadcast(d), dimensions={0,1}\n moves = ", cube, " broadcast(t), dimensions={1,2}\n paths = ", cube,
      " add(from, moves)\n low = ", type, "[] constant(-1000)\n nothing = ", type,
      "[] constant(0)\n zero = s32[] constant(0)\n places = s32[", b, ",", n, ",", n,
      "] iota(), iota_dimension=1\n both = (", vector, ", ", places,
      ") reduce(paths, places, low, zero), dimensions={1}, to_apply=best\n value = ", vector,
      " get-tuple-element(both), index=0\n place = ", places,
      " get-tuple-element(both), index=1\n most = ", row,
      " reduce(value, low), dimensions={1}, to_apply=largest\n mosts = ", vector,
      " broadcast(most), dimensions={0}\n less = ", vector, " subtract(value, mosts)\n cubes = ", cube,
      " broadcast(less), dimensions={0,2}\n turned = ", cube, " multiply(cubes, moves)\n sums = ", vector,
      " reduce(turned, nothing), dimensions={2}, to_apply=add\n low1 = ", type,
      "[] constant(-4)\n high = ", type, "[] constant(4)\n d1 = ", vector,
      " clamp(low1, sums, high)\n ROOT r = ", state,
      " tuple(next, d1, t, place) }\nENTRY main { i = s32[] constant(0)\n d = ", vector,
      " parameter(0)\n t = ", matrix, " parameter(1)\n p = ", places, " parameter(2)\n s = ", state,
      " tuple(i, d, t, p)\n ROOT w = ", state, " while(s), condition=cond, body=body }\n");
}

TEST_P(Assemble, LoopsOfShortRowsHaveTheValuesOfTheEvaluator) {
  const Limited limited(GetParam());
  const std::pair<hlo::PrimitiveType, const char*> types[] = {
      {hlo::kF32, "f32"}, {hlo::kF64, "f64"}, {hlo::kS32, "s32"}, {hlo::kS64, "s64"}};
  for (const auto& [type, name] : types) {
    for (const auto& [b, n] :
         {std::pair{3, 5}, {4, 4}, {16, 12}, {5, 7}, {2, 16}, {8, 6}, {11, 3}, {33, 2}, {40, 9}}) {
      SCOPED_TRACE(absl::StrCat(name, " ", b, " x ", n));
      const auto module = hlo::ParseModule(LoopOfRows(name, b, n));
      ASSERT_TRUE(module.ok()) << module.status();
      const auto assembler = std::make_shared<Assembler>(Assembler::Options{.at_once = true});
      const auto plan = Compile(**module, {.threads = 1, .assembler = assembler});
      const auto interpreted = Compile(**module, {.threads = 1, .assembler = nullptr});
      ASSERT_TRUE(plan.ok() && interpreted.ok()) << plan.status() << interpreted.status();
      const std::vector<Literal> arguments = {Sample(Shape::Array(type, {b, n}), 1),
                                              Sample(Shape::Array(type, {n, n}), 2),
                                              Sample(Shape::Array(hlo::kS32, {b, n}), 3)};
      const auto actual = RunPlan(**plan, arguments), expected = RunEvaluator(**module, arguments);
      const auto same = RunPlan(**interpreted, arguments);
      ASSERT_TRUE(actual.ok() && expected.ok() && same.ok());
      for (size_t i = 0; i < 4; ++i) EXPECT_TRUE(SameBits((*actual)[i], (*same)[i])) << i;
      EXPECT_EQ((*actual)[3], (*expected)[3]);
      if (type != hlo::kF32) EXPECT_EQ((*actual)[1], (*expected)[1]);
      for (int i = 0; type == hlo::kF32 && i < b * n; ++i)
        EXPECT_NEAR((*actual)[1].data<float>()[i], (*expected)[1].data<float>()[i], 1e-4);
    }
  }
}

// A pred is true when its byte is not zero, which a client may have uploaded.
TEST_P(Assemble, AnyByteButZeroIsTrue) {
  const Limited limited(GetParam());
  const auto module = hlo::ParseModule(R"(HloModule m
cond { s = (s32[], f32[], pred[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(50)
  ROOT less = pred[] compare(i, n), direction=LT }
body { s = (s32[], f32[], pred[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[] get-tuple-element(s), index=1
  p = pred[] get-tuple-element(s), index=2
  one = s32[] constant(1)
  next = s32[] add(i, one)
  f = f32[] constant(1)
  z = f32[] constant(0)
  more = f32[] select(p, f, z)
  y = f32[] add(x, more)
  ROOT t = (s32[], f32[], pred[]) tuple(next, y, p) }
ENTRY main { p = pred[] parameter(0)
  i = s32[] constant(0)
  x = f32[] constant(0)
  s = (s32[], f32[], pred[]) tuple(i, x, p)
  w = (s32[], f32[], pred[]) while(s), condition=cond, body=body
  ROOT r = f32[] get-tuple-element(w), index=1 }
)");
  ASSERT_TRUE(module.ok()) << module.status();
  const auto assembler = std::make_shared<Assembler>(Assembler::Options{.at_once = true});
  const auto plan = Compile(**module, {.threads = 1, .assembler = assembler});
  ASSERT_TRUE(plan.ok()) << plan.status();
  for (const int byte : {0, 1, 2, 254, 255}) {
    Literal pred(Shape::Scalar(hlo::kPred));
    pred.bytes()[0] = static_cast<std::byte>(byte);
    const auto results = RunPlan(**plan, {pred});
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ((*results)[0].data<float>()[0], byte == 0 ? 0.0f : 50.0f) << byte;
  }
}

// Integer divisions, also by powers of two; the total order of floats; and operands that repeat a few
// elements.
TEST_P(Assemble, DivisionsOrdersAndPeriods) {
  const Limited limited(GetParam());
  std::vector<std::string> bodies = {
      "x = f32[1000] parameter(0)\n y = f32[1000] parameter(1)\n"
      " ROOT r = pred[1000] compare(x, y), direction=LT, type=TOTALORDER",
      "x = f64[1000] parameter(0)\n y = f64[1000] parameter(1)\n"
      " ROOT r = pred[1000] compare(x, y), direction=GE, type=TOTALORDER",
      "x = f64[1000] parameter(0)\n y = f64[1000] log(x)\n z = f64[1000] log-plus-one(x)\n"
      " ROOT r = f64[1000] add(y, z)",
      "x = f32[300,3] parameter(0)\n b = f32[3] parameter(1)\n c = f32[300,3] broadcast(b), dimensions={1}\n"
      " ROOT r = f32[300,3] multiply(x, c)",
      "x = f32[40,70,5] parameter(0)\n b = f32[70,5] parameter(1)\n d = f32[5] parameter(2)\n"
      " c = f32[40,70,5] broadcast(b), dimensions={1,2}\n e = f32[40,70,5] broadcast(d), dimensions={2}\n"
      " i = f32[40,70,5] iota(), iota_dimension=2\n s = f32[40,70,5] add(x, c)\n"
      " t = f32[40,70,5] multiply(e, i)\n ROOT r = f32[40,70,5] subtract(s, t)",
      "x = u8[2000,3] parameter(0)\n b = bf16[3] parameter(1)\n f = f32[3] convert(b)\n"
      " c = f32[2000,3] broadcast(f), dimensions={1}\n g = f32[2000,3] convert(x)\n"
      " ROOT r = f32[2000,3] divide(g, c)"};
  for (const std::string type : {"s32", "u32", "s8", "u16"}) {
    const std::string array = type + "[1000]";
    for (const std::string op : {"divide", "remainder"}) {
      bodies.push_back("x = " + array + " parameter(0)\n y = " + array + " parameter(1)\n ROOT r = " + array +
                       " " + op + "(x, y)");
      for (const std::string by : {"0", "1", "2", "64", "3", "100"}) {
        bodies.push_back("x = " + array + " parameter(0)\n c = " + type + "[] constant(" + by + ")\n y = " +
                         array + " broadcast(c), dimensions={}\n ROOT r = " + array + " " + op + "(x, y)");
      }
    }
  }
  Assembler assembler({});
  std::mt19937 random(5);
  Counts counts;
  for (const std::string& body : bodies) {
    SCOPED_TRACE(body);
    const auto module = hlo::ParseModule("HloModule m\nENTRY main { " + body + " }\n");
    ASSERT_TRUE(module.ok()) << module.status();
    ExpectSameBits(**module, assembler, random, &counts);
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(counts.kernels, counts.steps);
}

// x^0 and 1^x are 1 for any x (C23 F.10.4.4). The maximum makes a signalling NaN quiet as machine code, and
// not when it is interpreted.
TEST_P(Assemble, PowersOfSignallingNaNs) {
  const Limited limited(GetParam());
  const auto module = hlo::ParseModule(R"(HloModule m
ENTRY main { x = f32[40] parameter(0)
  y = f32[40] parameter(1)
  one = f32[] constant(1)
  ones = f32[40] broadcast(one), dimensions={}
  most = f32[40] maximum(x, y)
  a = f32[40] power(most, y)
  b = f32[40] power(x, y)
  c = f32[40] power(ones, x)
  ROOT t = (f32[40], f32[40], f32[40]) tuple(a, b, c) }
)");
  ASSERT_TRUE(module.ok()) << module.status();
  Literal nans(Shape::Array(hlo::kF32, {40})), zeros(Shape::Array(hlo::kF32, {40}));
  for (size_t i = 0; i < 40; ++i) {
    const uint32_t bits = 0x7f800001u + static_cast<uint32_t>(i);
    std::memcpy(&nans.bytes()[4 * i], &bits, sizeof(bits));
  }
  const auto assembler = std::make_shared<Assembler>(Assembler::Options{.at_once = true});
  for (const auto& used : {std::shared_ptr<Assembler>(), assembler}) {
    const auto plan = Compile(**module, {.threads = 1, .assembler = used});
    ASSERT_TRUE(plan.ok()) << plan.status();
    const auto results = RunPlan(**plan, {nans, zeros});
    ASSERT_TRUE(results.ok()) << results.status();
    for (const Literal& result : *results) EXPECT_THAT(result.data<float>(), testing::Each(1.0f));
  }
  const auto evaluated = RunEvaluator(**module, {nans, zeros});
  ASSERT_TRUE(evaluated.ok()) << evaluated.status();
  for (const Literal& result : *evaluated) EXPECT_THAT(result.data<float>(), testing::Each(1.0f));
}

// The bytes from a row to the next are part of an instruction, and have 32 bits.
TEST_P(Assemble, RowsOfGigabytesAreNotComputedTogether) {
  const Limited limited(GetParam());
  for (const int64_t columns :
       {int64_t{1} << 27, (int64_t{1} << 28) - 8, int64_t{1} << 28, int64_t{1} << 31}) {
    auto module = std::make_shared<hlo::Module>("columns");
    const hlo::ComputationId sum = hlo::AddScalarReducer(*module, hlo::kAdd, hlo::kF64);
    Builder b(*module, "main");
    const Op x = b.Parameter(0, Shape::Array(hlo::kF64, {2, columns}));
    const Op square = b.Binary(hlo::kMultiply, x, x);
    ASSERT_TRUE(b.Build(b.Reduce(square, b.Constant(Literal(Shape::Scalar(hlo::kF64))), {0}, sum)).ok());
    const auto program = Lower(module, {.threads = 1}, 1);
    ASSERT_TRUE(program.ok()) << program.status();
    Assembler assembler({});
    int kernels = 0;
    for (const auto& op : program->ops) {
      if (op.step == nullptr) continue;
      for (const KernelSlot* const slot : op.step->kernel_slots()) {
        const auto kernel = assembler.Make(*slot, nullptr);
        ASSERT_NE(kernel, nullptr);
        EXPECT_EQ(kernel->row, columns < int64_t{1} << 28 ? columns : 0);
        ++kernels;
      }
    }
    EXPECT_GT(kernels, 0);
  }
}

// -0 is less than 0, wherever in the row it is, and a NaN makes the result NaN.
template <typename T>
void ExpectExtremesOfZeros(hlo::PrimitiveType type) {
  constexpr int64_t kRow = 43;  // Whole vectors, and a rest.
  auto module = std::make_unique<hlo::Module>("extremes");
  const hlo::ComputationId least = hlo::AddScalarReducer(*module, hlo::kMinimum, type),
                           greatest = hlo::AddScalarReducer(*module, hlo::kMaximum, type);
  Builder b(*module, "main");
  const std::vector<int64_t> dims = {3 * kRow, kRow};
  const Op first = b.Parameter(1, Shape::Scalar(type)), last = b.Parameter(2, Shape::Scalar(type)),
           one = b.Parameter(3, Shape::Scalar(type));
  // With a product, the reductions are a fused step.
  const Op x = b.Parameter(0, Shape::Array(type, {3 * kRow, kRow})) * b.Broadcast(one, dims, {});
  ASSERT_TRUE(b.Build(b.Tuple({b.Reduce(x, first, {1}, least), b.Reduce(x, last, {1}, greatest)})).ok());
  // Row i of the first has one -0 among zeros, of the second one 0 among -0s, of the third one NaN.
  Literal rows(Shape::Array(type, {3 * kRow, kRow}));
  for (int64_t i = 0; i < kRow; ++i) {
    for (int64_t j = 0; j < kRow; ++j) {
      T* const at = rows.data<T>().data() + i * kRow + j;
      at[0] = i == j ? T{-0.0} : T{0};
      at[kRow * kRow] = i == j ? T{0} : T{-0.0};
      at[2 * kRow * kRow] = i == j ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(j);
    }
  }
  const auto assembler = std::make_shared<Assembler>(Assembler::Options{.at_once = true});
  const auto plan = Compile(*module, {.threads = 1, .assembler = assembler});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_GT((*plan)->kernels(), 0);
  const auto results =
      RunPlan(**plan, {rows, Literal::Scalar<T>(1), Literal::Scalar<T>(-1), Literal::Scalar<T>(1)});
  ASSERT_TRUE(results.ok()) << results.status();
  for (int64_t i = 0; i < 3 * kRow; ++i) {
    const T low = (*results)[0].template data<T>()[i], high = (*results)[1].template data<T>()[i];
    EXPECT_EQ(std::isnan(low), i >= 2 * kRow) << i;
    EXPECT_EQ(std::isnan(high), i >= 2 * kRow) << i;
    if (i >= 2 * kRow) continue;
    EXPECT_EQ(low, 0) << i;
    EXPECT_EQ(high, 0) << i;
    EXPECT_TRUE(std::signbit(low)) << i;
    EXPECT_FALSE(std::signbit(high)) << i;
  }
}
TEST_P(Assemble, ExtremesOfZerosAndNaNs) {
  const Limited limited(GetParam());
  ExpectExtremesOfZeros<float>(hlo::kF32);
  ExpectExtremesOfZeros<double>(hlo::kF64);
}

// Several threads run a plan while its steps become machine code, and when it is destroyed soon after.
TEST_P(Assemble, ThreadsRunAPlanWhileItIsAssembled) {
  const Limited limited(GetParam());
  std::mt19937 random(5);
  std::vector<std::shared_ptr<ThreadUser>> users;  // Users that may still work.
  for (uint32_t seed = 0; seed < 20 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const auto module = seed % 2 == 0 ? RandomPrograms(seed).Make({30, 50}, 20, 2)
                                      : RandomPrograms(seed).MakeLoop({20}, 4, 200, /*nested=*/true);
    const auto interpreted = Compile(*module, {.threads = 1, .assembler = nullptr});
    const auto assembler = std::make_shared<Assembler>(Assembler::Options{});
    const auto plan = Compile(*module, {.threads = 1, .assembler = assembler});
    ASSERT_TRUE(interpreted.ok() && plan.ok()) << interpreted.status() << plan.status();
    std::vector<Literal> arguments;
    for (const Shape& shape : (*plan)->arguments()) arguments.push_back(SpecialValues(shape, random));
    const auto expected = RunPlan(**interpreted, arguments);
    ASSERT_TRUE(expected.ok()) << expected.status();
    const auto user = std::make_shared<ThreadUser>();
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&] {
        for (int run = 0; run < 6; ++run) {
          RunContext context;
          context.assembly = user.get();
          const auto actual = RunPlan(**plan, arguments, context);
          ASSERT_TRUE(actual.ok()) << actual.status();
          for (size_t r = 0; r < expected->size(); ++r) EXPECT_TRUE(SameBits((*actual)[r], (*expected)[r]));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    if (seed % 4 < 2) user->Join();
    else users.push_back(user);
  }
  for (const auto& user : users) user->Join();
}

// Returns a module of two groups that are computed row by row: one group has at most 96 operations.
std::unique_ptr<hlo::Module> LongChainOfRows(int64_t rows, int64_t columns) {
  auto module = std::make_unique<hlo::Module>("rows");
  const hlo::ComputationId sum = hlo::AddScalarReducer(*module, hlo::kAdd, hlo::kF32);
  Builder b(*module, "main");
  const Op x = b.Parameter(0, Shape::Array(hlo::kF32, {rows, columns}));
  std::vector<Op> results;
  Op value = x;
  for (int i = 0; i < 110; ++i) {
    value = b.Binary(i % 2 == 0 ? hlo::kMultiply : hlo::kSubtract, value, x);
    if (i == 1) results.push_back(b.Reduce(value, b.Constant(Literal(Shape::Scalar(hlo::kF32))), {1}, sum));
  }
  results.push_back(value);
  EXPECT_TRUE(b.Build(b.Tuple(results)).ok());
  return module;
}

// Stores past the caches need addresses that are multiples of a vector; blocks of rows begin at any address.
TEST_P(Assemble, OutputsLargerThanTheLastCache) {
  const Limited limited(GetParam());
  Assembler assembler({.last_cache_bytes = 1});
  std::mt19937 random(17);
  Counts counts;
  for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{1000, 19}, {700, 127}, {3, 5001}})
    ExpectSameBits(*LongChainOfRows(rows, columns), assembler, random, &counts);
  for (uint32_t seed = 0; seed < 100 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    ExpectSameBits(*RandomPrograms(seed).Make({67, 129}, 8, static_cast<int>(seed % 3)), assembler, random,
                   &counts);
  }
  EXPECT_GT(counts.kernels, 0);
}

TEST(Assembler, WithoutMemoryForCodeProgramsStayInterpreted) {
  std::mt19937 random(3);
  Counts counts;
  Assembler assembler({.code_bytes_max = 0});
  ExpectSameBits(*RandomPrograms(5).Make({3, 100}, 10), assembler, random, &counts);
  EXPECT_EQ(counts.kernels, 0);
  EXPECT_EQ(assembler.code_bytes(), 0);
}

}  // namespace
}  // namespace hlod::engine
