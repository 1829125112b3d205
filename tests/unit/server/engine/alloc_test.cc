// A plan without reference steps does not allocate memory while it runs. Every allocation function is
// replaced by one that counts.
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "common/base/errors/status.h"
#include "common/hlo/builder.h"
#include "gtest/gtest.h"
#include "server/engine/contraction/onednn.h"
#include "server/engine/plan/plan.h"
#include "tests/unit/server/engine/plan_testing.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define HLOD_COUNT_ALLOCATIONS 1
#endif

#ifdef HLOD_COUNT_ALLOCATIONS
namespace {
// The counts of this thread. The threads of the OpenMP team are not counted, because they run only this
// thread's work.
thread_local bool counting = false;
thread_local int64_t allocations = 0;
void Count() {
  if (counting && !hlod::engine::InsideOneDnn()) ++allocations;
}
}  // namespace

// glibc's own functions, to which the replacements below forward; operator new calls the replacements, too.
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

void* malloc(size_t bytes) {
  Count();
  return __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) {
  Count();
  return __libc_calloc(count, bytes);
}
void* realloc(void* old, size_t bytes) {
  Count();
  return __libc_realloc(old, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  Count();
  return __libc_memalign(alignment, bytes);
}
void* memalign(size_t alignment, size_t bytes) {
  Count();
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** out, size_t alignment, size_t bytes) {
  Count();
  *out = __libc_memalign(alignment, bytes);
  return *out == nullptr ? ENOMEM : 0;
}
}
#endif

namespace hlod::engine {
namespace {

using hlo::Builder;
using hlo::Literal;
using hlo::Module;
using hlo::Op;
using hlo::Shape;

#ifdef HLOD_COUNT_ALLOCATIONS

// Returns the number of allocations of a run, after a first run that may set up threads.
int64_t AllocationsOfRun(const Plan& plan) {
  std::vector<Literal> arguments, results;
  std::vector<const std::byte*> in;
  std::vector<std::byte*> out;
  uint32_t seed = 0;
  for (const Shape& shape : plan.arguments()) {
    arguments.push_back(Sample(shape, ++seed));
    in.push_back(arguments.back().bytes().data());
  }
  for (size_t r = 0; r < plan.results().size(); ++r) {
    results.emplace_back(plan.results()[r]);
    const int alias = plan.aliases()[r];
    out.push_back(alias < 0 ? results.back().bytes().data() : arguments[alias].bytes().data());
  }
  Literal temporary(Shape::Array(hlo::kU8, {plan.memory().temporary_bytes}));
  RunContext context;
  context.deadline = absl::Now() + absl::Minutes(1);
  EXPECT_TRUE(plan.Run(in, out, temporary.bytes().data(), context).ok());
  allocations = 0;
  counting = true;
  const bool ok = plan.Run(in, out, temporary.bytes().data(), context).ok();
  counting = false;
  EXPECT_TRUE(ok);
  return allocations;
}

void ExpectNoAllocation(const Module& module) {
  const auto plan = Compile(module, {.threads = 1});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ((*plan)->stats().reference_steps, 0) << (*plan)->Dump();
  EXPECT_EQ(AllocationsOfRun(**plan), 0) << (*plan)->Dump();
}

TEST(Allocation, TheHookCounts) {
  allocations = 0;
  counting = true;
  std::free(std::malloc(100));
  delete new int64_t(1);
  counting = false;
  EXPECT_GE(allocations, 1);
}

TEST(Allocation, SoftmaxOfADotRunsWithout) {
  Module module("softmax");
  const hlo::ComputationId add = hlo::AddScalarReducer(module, hlo::kAdd, hlo::kF32);
  const hlo::ComputationId max = hlo::AddScalarReducer(module, hlo::kMaximum, hlo::kF32);
  Builder b(module, "main");
  const Op x = b.MatMul(b.Parameter(0, Shape::Array(hlo::kF32, {32, 64})),
                        b.Parameter(1, Shape::Array(hlo::kF32, {64, 48})));
  const Op m = b.Broadcast(b.Reduce(x, b.Constant(-1e30f), {1}, max), {32, 48}, {0});
  const Op e = b.Unary(hlo::kExponential, x - m);
  const Op sum = b.Broadcast(b.Reduce(e, b.Constant(0.0f), {1}, add), {32, 48}, {0});
  ASSERT_TRUE(b.Build(b.Tuple({e / sum, b.Transpose(x, {1, 0}), b.Slice(x, {0, 8}, {32, 40})})).ok());
  ExpectNoAllocation(module);
}

TEST(Allocation, ALoopWithABranchRunsWithout) {
  Module module("loop");
  const Shape counter = Shape::Scalar(hlo::kS32), matrix = Shape::Array(hlo::kF32, {16, 16});
  const Shape state = Shape::Tuple({counter, matrix});
  std::vector<hlo::ComputationId> branches;
  for (float scale : {0.5f, -0.25f}) {
    Builder branch(module, "branch");
    const Op x = branch.Parameter(0, matrix);
    ASSERT_TRUE(branch.Build(branch.MatMul(x, x) * branch.Constant(scale)).ok());
    branches.push_back(branch.id());
  }
  Builder condition(module, "condition");
  {
    const Op s = condition.Parameter(0, state);
    ASSERT_TRUE(condition
                    .Build(condition.Compare(condition.GetTupleElement(s, 0),
                                             condition.Constant(Literal::Scalar<int32_t>(10)),
                                             hlo::ComparisonDirection::kLt))
                    .ok());
  }
  Builder body(module, "body");
  {
    const Op s = body.Parameter(0, state);
    const Op i = body.GetTupleElement(s, 0), x = body.GetTupleElement(s, 1);
    const Op y = body.Conditional(body.Binary(hlo::kAnd, i, body.Constant(Literal::Scalar<int32_t>(1))),
                                  {x, x}, branches);
    const Op row = body.DynamicSlice(y, {i, i}, {1, 16});
    const Op z = body.DynamicUpdateSlice(y, body.Unary(hlo::kTanh, row),
                                         {i, body.Constant(Literal::Scalar<int32_t>(0))});
    ASSERT_TRUE(body.Build(body.Tuple({i + body.Constant(Literal::Scalar<int32_t>(1)), z})).ok());
  }
  Builder b(module, "main");
  ASSERT_TRUE(b.Build(b.While(b.Tuple({b.Constant(Literal::Scalar<int32_t>(0)), b.Parameter(0, matrix)}),
                              condition.id(), body.id()))
                  .ok());
  ExpectNoAllocation(module);
}

TEST(Allocation, SwappedDonationsRunWithout) {
  Module module("swap");
  const Shape shape = Shape::Array(hlo::kF32, {100});
  Builder b(module, "main");
  const Op x = b.Parameter(0, shape), y = b.Parameter(1, shape);
  ASSERT_TRUE(b.Build(b.Tuple({y, x})).ok());
  for (int64_t i : {0, 1}) {
    hlo::InputOutputAlias& alias = module.config.input_output_alias.emplace_back();
    alias.output_index = {i};
    alias.parameter_number = i;
  }
  ExpectNoAllocation(module);
}

#endif  // HLOD_COUNT_ALLOCATIONS

}  // namespace
}  // namespace hlod::engine
