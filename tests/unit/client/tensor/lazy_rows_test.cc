// The acceptance rows of lazy tracing: keys, scalars, donation, threads, random numbers, limits.
#include <thread>

#include "common/hlo/inference/verifier.h"
#include "common/hlo/text/text.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

class LazyRows : public TensorTest {};

// Acceptance row LT1. PyTorch/XLA has one hash for both programs (its issue 8353); here they differ, and both
// results are right.
TEST_F(LazyRows, ProgramsThatDifferInWhichOperandIsTransposedAreTwo) {
  const Tensor x = OnDevice({1, 2, 3, 4}, {2, 2}), y = OnDevice({5, 6, 7, 8}, {2, 2});
  const Tensor first = MatMul(x.T(), y);
  EXPECT_THAT(first.ToVector<float>(), ElementsAre(26, 30, 38, 44));
  const Tensor second = MatMul(x, y.T());
  EXPECT_THAT(second.ToVector<float>(), ElementsAre(17, 23, 39, 53));
  EXPECT_EQ(GetTraceStats().compiles, 2);
}

// Acceptance row LT2.
TEST_F(LazyRows, TheOrderOfCreationDoesNotChangeTheProgramAnAttributeDoes) {
  const Tensor x = OnDevice({1, 2, 3, 4}, {2, 2});
  const auto run = [&](bool sine_first) {
    Tensor product;
    {
      const Tensor a = sine_first ? Sin(x) : Exp(x), b = sine_first ? Exp(x) : Sin(x);
      product = sine_first ? a * b : b * a;
    }
    product.ToHost();
  };
  run(true);
  const int64_t compiles = GetTraceStats().compiles;
  run(false);
  EXPECT_EQ(GetTraceStats().compiles, compiles);
  EXPECT_GE(GetTraceStats().canonical_hits, 1);
  run(true);
  EXPECT_GE(GetTraceStats().trace_hits, 1);
  // A reduction over another dimension is another program.
  Sum(x, {0}).ToHost();
  Sum(x, {1}).ToHost();
  EXPECT_EQ(GetTraceStats().compiles, compiles + 2);
}

// Acceptance row LT3.
TEST_F(LazyRows, ALongChainTakesLinearTime) {
  const SettingsScope scope({.trace_nodes_max = 1'000'000});
  Tensor x = OnDevice({1, 0}, {2});
  for (int i = 0; i < 100'000; ++i) x = x + x * 0;  // Each link of the chain is a diamond.
  EXPECT_THAT(x.ToVector<float>(), ElementsAre(1, 0));
  EXPECT_EQ(GetTraceStats().closes, 1);
}

// Acceptance row LT4.
TEST_F(LazyRows, NumbersDoNotRecompile) {
  const Tensor x = OnDevice({1, 2}, {2});
  const auto scaled = [&](double rate) { return (x * rate).ToVector<float>(); };
  EXPECT_THAT(scaled(0.5), ElementsAre(0.5, 1));
  const int64_t compiles = GetTraceStats().compiles;
  const SessionStats before = Account();
  EXPECT_THAT(scaled(0.25), ElementsAre(0.25, 0.5));
  EXPECT_THAT(scaled(1), ElementsAre(1, 2)) << "1 at a line whose number varies is a parameter";
  EXPECT_EQ(GetTraceStats().compiles, compiles);
  EXPECT_EQ(Account().host_to_device, before.host_to_device);
  EXPECT_EQ(Lower(std::vector<Tensor>{x * 0})->entry().parameters().size(), 1u) << "0 is a constant";
}

TEST_F(LazyRows, AnIndexThatVariesDoesNotRecompile) {
  const Tensor x = Arange(0, 12, 1, {.type = kF32, .device = device()}).Reshape({4, 3});
  Tensor y = Zeros({4, 3}, {.type = kF32, .device = device()});
  int64_t compiles = 0;
  for (int i = 0; i < 4; ++i) {
    Tensor row = x[i] * 2.0;
    y[i].Copy_(row);
    // The expected values are computed by hand.
    EXPECT_THAT(row.ToVector<float>(), ElementsAre(6 * i, 6 * i + 2, 6 * i + 4));
    if (i == 1) compiles = GetTraceStats().compiles;
  }
  EXPECT_EQ(GetTraceStats().compiles, compiles);
  EXPECT_THAT(y.Select(1, 0).ToVector<float>(), ElementsAre(0, 6, 12, 18));
  EXPECT_THAT(y[-1].ToVector<float>(), ElementsAre(18, 20, 22));
}

// Acceptance row LT5.
TEST_F(LazyRows, ANumberIsNeverAnUpload) {
  const Tensor x = OnDevice({1, 2}, {2});
  const SessionStats before = Account();
  const Tensor y = x + 0.125, z = x + 0.125;
  Sync();
  const SessionStats after = Account();
  EXPECT_EQ(after.host_to_device, before.host_to_device);
  EXPECT_EQ(after.inline_argument_bytes - before.inline_argument_bytes, 8);
}

// Acceptance row LT6.
TEST_F(LazyRows, WhatIsOverwrittenIsDonated) {
  Tensor x = OnDevice({1, 2}, {2}), y = OnDevice({3, 4}, {2});
  x += 1;
  y += 1;
  Sync();
  EXPECT_EQ(GetTraceStats().donated, 2);
  // A second reference keeps the old value of x: only y is donated.
  const Tensor kept = Tensor::FromBuffer(x.ToBuffer());
  x += 1;
  y += 1;
  Sync();
  EXPECT_EQ(GetTraceStats().donated, 3);
  EXPECT_THAT(kept.ToVector<float>(), ElementsAre(2, 3));
  EXPECT_THAT(x.ToVector<float>(), ElementsAre(3, 4));
  EXPECT_EQ(Account().live_bytes, 24);
}

// Acceptance row LT8.
TEST_F(LazyRows, AFailureSurfacesWhereItsResultIsRead) {
  const Tensor x = OnDevice({1, 2}, {2});
  Tensor huge = Zeros({1 << 20, 1 << 20}, {.type = kF64, .device = device()}) + 1.0;  // 8 TiB.
  Sync();
  const Tensor independent = x + 1.0;
  Sync();
  const Tensor dependent = huge + 1.0;
  Sync();
  EXPECT_THAT(independent.ToVector<float>(), ElementsAre(2, 3));
  const absl::Status status = Thrown([&] { dependent.ToHost(); });
  // The error names the first program, where the failure began.
  EXPECT_EQ(KindOf(status), ErrorKind::kLimit) << status;
  EXPECT_THAT(last_what_, HasSubstr("trace_lazy_rows_test.cc"));
  EXPECT_THAT(last_what_, HasSubstr("buffer_bytes_max"));
  EXPECT_EQ(huge.state(), TensorState::kFailed);
}

// Acceptance row LT12.
TEST_F(LazyRows, ViewsSeeUpdatesAndUpdatesGoThroughViews) {
  // The expected values are computed by hand.
  Tensor x = Arange(0, 12, 1, {.type = kF32, .device = device()}).Reshape({3, 4});
  const Tensor row = x[1], column = x.Select(1, 2), even = x.Slice(1, {}, {}, 2), diagonal = x.Diagonal();
  x += 100;
  EXPECT_THAT(row.ToVector<float>(), ElementsAre(104, 105, 106, 107));
  Tensor(row).Mul_(0);
  EXPECT_THAT(x.ToVector<float>(), ElementsAre(100, 101, 102, 103, 0, 0, 0, 0, 108, 109, 110, 111));
  Tensor(even).Fill_(7);
  EXPECT_THAT(x.ToVector<float>(), ElementsAre(7, 101, 7, 103, 7, 0, 7, 0, 7, 109, 7, 111));
  EXPECT_THAT(column.ToVector<float>(), ElementsAre(7, 7, 7));
  Tensor(diagonal).Copy_(FromValues<float>({1, 2, 3}).To(device()));
  EXPECT_THAT(x.ToVector<float>(), ElementsAre(1, 101, 7, 103, 7, 2, 7, 0, 7, 109, 3, 111));
  EXPECT_THAT(x.T()[0].ToVector<float>(), ElementsAre(1, 7, 7));
  EXPECT_EQ(KindOf(Thrown([&] { x.T().View({12}); })), ErrorKind::kArgument);
  EXPECT_EQ(KindOf(Thrown([&] { Tensor(x[0].Expand({2, 4})).Add_(1); })), ErrorKind::kArgument);
  const Tensor strided = x.AsStrided({2, 2}, {1, 4}, 1);
  EXPECT_THAT(strided.ToVector<float>(), ElementsAre(101, 2, 7, 7));
}

// Acceptance row LT13.
TEST_F(LazyRows, RandomNumbersDoNotDependOnWhereSyncFalls) {
  const auto draw = [&](bool sync) {
    ManualSeed(11);
    const Tensor a = Randn({5}, {.device = device()});
    if (sync) Sync();
    const Tensor b = Rand({3}, {.device = device()});
    std::vector<float> numbers = a.ToVector<float>();
    for (const float number : b.ToVector<float>()) numbers.push_back(number);
    return numbers;
  };
  const std::vector<float> numbers = draw(false);
  EXPECT_EQ(draw(true), numbers);
  const int64_t compiles = GetTraceStats().compiles;
  draw(true);
  EXPECT_EQ(GetTraceStats().compiles, compiles) << "another position is the same program";
}

// Acceptance row LT14.
TEST_F(LazyRows, AShapeThatDependsOnValuesIsReadOrBounded) {
  const auto closes = [] {
    return GetTraceStats().closes_by_cause[static_cast<int>(TraceCause::kDynamicShape)];
  };
  const Tensor x = OnDevice({0, 3, 0, 1, 3}, {5}), n = OnDevice({2, 0, 1}, {3}).To(kS64);
  const std::vector<std::pair<std::function<Tensor()>, Dims>> reading = {
      {[&] { return Nonzero(x); }, {3, 1}},
      {[&] { return MaskedSelect(x, Gt(x, 1)); }, {2}},
      {[&] { return Unique(x).values; }, {3}},
      {[&] { return UniqueConsecutive(x).values; }, {5}},
      {[&] { return Bincount(n); }, {3}},
      {[&] { return RepeatInterleave(OnDevice({1, 2, 3}, {3}), n); }, {3}},
      {[&] { return OneHot(n); }, {3, 3}},
  };
  for (size_t i = 0; i < reading.size(); ++i) {
    const int64_t before = closes();
    EXPECT_EQ(reading[i].first().dims(), reading[i].second) << i;
    EXPECT_EQ(closes(), before + 1) << i << ": the trace was closed, and its cause is on record";
  }
  // With a bound, the positions are not read until the caller reads them.
  const int64_t before = closes(), read = Account().device_to_host.bytes;
  const BoundedPositions positions = NonzeroBounded(x, 4), few = NonzeroBounded(x, 2);
  const BoundedUniqueResult unique = UniqueBounded(x, 4);
  const Tensor counts = BincountBounded(n, 2);
  const Tensor repeated = RepeatInterleave(OnDevice({1, 2, 3}, {3}), n, 0, 3);
  EXPECT_EQ(closes(), before);
  EXPECT_EQ(Account().device_to_host.bytes, read);
  EXPECT_THAT(positions.positions.ToVector<int64_t>(), ElementsAre(1, 3, 4, -1));
  EXPECT_EQ(positions.count.Item<int64_t>(), 3);
  EXPECT_THAT(few.positions.ToVector<int64_t>(), ElementsAre(1, 3));
  EXPECT_EQ(few.count.Item<int64_t>(), 3);
  EXPECT_THAT(unique.values.ToVector<float>(), ElementsAre(0, 1, 3, 0));
  EXPECT_THAT(unique.inverse.ToVector<int64_t>(), ElementsAre(0, 2, 0, 1, 2));
  EXPECT_THAT(unique.counts.ToVector<int64_t>(), ElementsAre(2, 1, 2, 0));
  EXPECT_EQ(unique.count.Item<int64_t>(), 3);
  EXPECT_THAT(counts.ToVector<int64_t>(), ElementsAre(1, 1));
  EXPECT_THAT(repeated.ToVector<float>(), ElementsAre(1, 1, 3));
  // The positions in a placeholder cannot be read, but their number can be bounded.
  const Tensor p = Placeholder({5}, kF32, device());
  EXPECT_EQ(KindOf(Thrown([&] { Nonzero(p); })), ErrorKind::kPlaceholder);
  EXPECT_THAT(last_what_, HasSubstr("nonzero (lazy_rows_test.cc"));
  EXPECT_EQ(KindOf(Thrown([&] { Bincount(p.To(kS64)); })), ErrorKind::kPlaceholder);
  EXPECT_EQ(NonzeroBounded(p, 4).positions.dims(), (Dims{4, 1}));
  EXPECT_TRUE(UniqueBounded(p, 4).count.is_placeholder());
}

// Acceptance row LT16.
TEST_F(LazyRows, DumpsAreDeterministicAndOfEveryState) {
  const Tensor live = OnDevice({1, 2}, {2}), placeholder = Placeholder({2}, kF32, device());
  const Tensor lazy = live + 1.0;
  for (const Tensor& tensor : {live, lazy, placeholder, lazy * placeholder}) {
    for (const DumpFormat form : {DumpFormat::kText, DumpFormat::kHlo, DumpFormat::kDot}) {
      const std::string text = Dump(tensor, form);
      EXPECT_FALSE(text.empty());
      EXPECT_EQ(Dump(tensor, form), text);
    }
    const auto parsed = hlo::ParseModule(Dump(tensor, DumpFormat::kHlo));
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_TRUE(hlo::Verify(**parsed).ok());
  }
}

// Acceptance row LT19.
TEST_F(LazyRows, MoreThan3200Parameters) {
  std::vector<Tensor> parts;
  for (int i = 0; i < 3300; ++i) parts.push_back(OnDevice({1}, {1}));
  Tensor sum = parts[0];
  for (size_t i = 1; i < parts.size(); ++i) sum = sum + parts[i];
  EXPECT_EQ(sum.Item<float>(), 3300);
}

// Acceptance row LT21.
TEST_F(LazyRows, SourceLinesAreInTheModuleAndNotInTheKey) {
  const Tensor x = OnDevice({1, 2}, {2});
  Sin(x).ToHost();
  const std::string text = Dump(Sin(x), DumpFormat::kHlo);
  EXPECT_THAT(text, HasSubstr("source_line=" + std::to_string(__LINE__ - 1)));
  EXPECT_THAT(text, HasSubstr("lazy_rows_test.cc"));
  const int64_t compiles = GetTraceStats().compiles;
  Sin(x).ToHost();
  EXPECT_EQ(GetTraceStats().compiles, compiles);
}

TEST_F(LazyRows, ATensorOfAnotherThreadBringsItsGraph) {
  const Tensor x = OnDevice({1, 2}, {2});
  Tensor made;
  std::thread([&] { made = Exp(x * 0) + x; }).join();
  EXPECT_EQ(made.state(), TensorState::kLazy);
  EXPECT_THAT((made + x).ToVector<float>(), ElementsAre(3, 5));
  EXPECT_THAT(made.ToVector<float>(), ElementsAre(2, 3));
}

TEST_F(LazyRows, ManyThreadsTraceAtOnce) {
  const Tensor shared = OnDevice({1, 2}, {2});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Tensor x = shared * t;
      for (int i = 0; i < 50; ++i) {
        x = x + shared;
        if (i % 10 == t) Sync();
      }
      const float expected = static_cast<float>(t + 50);
      EXPECT_THAT(x.ToVector<float>(), ElementsAre(expected, 2 * expected));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(LazyRows, ATraceThatGrowsTooLongClosesByItself) {
  const SettingsScope scope({.trace_nodes_max = 100});
  Tensor x = OnDevice({0}, {1});
  for (int i = 0; i < 250; ++i) x = x + 1.0;
  EXPECT_EQ(x.Item<float>(), 250);
  EXPECT_GE(GetTraceStats().closes_by_cause[static_cast<size_t>(TraceCause::kLimit)], 2);
}

// Programs on placeholders that are built and dropped repeatedly do not accumulate instructions.
TEST_F(LazyRows, WhatIsDroppedLeavesNoInstructions) {
  const SettingsScope scope({.placeholder_nodes_max = 50});
  const Tensor p = Placeholder({2}, kF32, device()), x = OnDevice({1, 2}, {2});
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE((p * x + 1.0).is_placeholder());
    const Tensor dropped = x * x + 1.0;
  }
  EXPECT_EQ(KindOf(Thrown([&] {
              Tensor kept = p;
              for (int i = 0; i < 100; ++i) kept = kept + x;
            })),
            ErrorKind::kArgument);
  EXPECT_THAT(last_what_, HasSubstr("placeholder_nodes_max (50)"));
}

// A loop like a training loop: a changing rate, reads, and a large program on placeholders beside it.
TEST_F(LazyRows, ALongLoopCompilesNothingAfterItsSecondStepAndKeepsItsMemory) {
  Tensor w = OnDevice({1, 2, 3, 4}, {2, 2});
  Tensor large = Placeholder({64, 64}, kF32, device());
  for (int i = 0; i < 2000; ++i) large = Tanh(MatMul(large, large));
  int64_t compiles = 0, bytes = 0;
  for (int step = 0; step < 1000; ++step) {
    const Tensor loss = Mean(w * w);
    w -= (w * 2.0) * (0.1 / (1 + step));
    EXPECT_GT(loss.Item<float>(), 0);
    if (step == 1) compiles = GetTraceStats().compiles;
    if (step == 10) bytes = Account().live_bytes;
    if (step == 999) {
      EXPECT_EQ(Account().live_bytes, bytes);
    }
  }
  EXPECT_EQ(GetTraceStats().compiles, compiles);
  EXPECT_TRUE(large.is_placeholder());
}

}  // namespace
}  // namespace hlod
