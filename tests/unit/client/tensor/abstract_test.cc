// Tensors in an abstract session are traced like tensors with values, and shardings stay with them through
// updates.
#include "hlod/runtime/abstract.h"

#include "client/nn/tensor_file.h"
#include "hlod/tensor/sharding.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

class Abstract : public TensorTest {
 protected:
  void SetUp() override { Connect({}); }
  void Connect(const AbstractOptions& abstract) {
    ConnectOptions options;
    options.address = daemon_->address();
    client_ = std::make_unique<Client>(ConnectAbstract(abstract, options).value());
    ResetTraceStats();
  }
  Tensor Large() { return Placeholder({1024, 1024}, kF32, device()); }
};

TEST_F(Abstract, SyncRunsWhatDependsOnPlaceholdersWithTheRest) {
  const Tensor w = Large(), x = OnDevice({1, 2, 3}, {3});
  const Tensor loss = Mean(Square(w)), twice = x * 2;
  Sync();
  EXPECT_EQ(GetTraceStats().closes, 1);
  EXPECT_EQ(GetTraceStats().compiles, 1) << "one program, as it would be with values";
  EXPECT_TRUE(loss.is_placeholder());
  EXPECT_THAT(twice.ToVector<float>(), ElementsAre(2, 4, 6));
  EXPECT_EQ(Account().executes, 1);
}

TEST_F(Abstract, WhatTheDeviceWouldMakeIsNotMade) {
  const Tensor w = Randn({1024, 1024}, {.device = device()}), sum = Sum(w);
  const Tensor little = Ones({2}, {.device = device()});
  Sync();
  EXPECT_TRUE(w.is_placeholder());
  EXPECT_TRUE(sum.is_placeholder());
  EXPECT_THAT(little.ToVector<float>(), ElementsAre(1, 1));
  const SessionStats stats = Account();
  EXPECT_LT(stats.peak_bytes, 1 << 20);
  EXPECT_GE(stats.simulated_peak_bytes, 4 << 20);
}

TEST_F(Abstract, HostTensorsAreNotSent) {
  const Tensor w = FromValues<float>(std::vector<float>(1024 * 1024), Dims{1024, 1024}).To(device());
  EXPECT_TRUE(w.is_placeholder());
  EXPECT_EQ(Account().host_to_device.bytes, 0);
}

// The usual path of weights: read from a file, converted to bf16, and moved to the device, which a preflight
// counts.
TEST_F(Abstract, HostTensorsInAnotherTypeAreNotMade) {
  int loads = 0;
  const auto load = [&loads]() -> absl::StatusOr<Literal> {
    ++loads;
    absl::StatusOr<Literal> literal = Literal::Make(Shape::Array(kF32, {1024, 1024}), 1 << 30);
    for (float& element : literal->data<float>()) element = 1.5f;
    return literal;
  };
  const Tensor file = nn::FileTensor(Shape::Array(kF32, {1024, 1024}), load, Caller::Here());
  const Tensor made = Randn({1024, 1024});
  const int64_t evaluated = GetTraceStats().host_operations;
  for (const Tensor& w : {file, made}) {
    const Tensor on_device = w.To(kBF16).To(device());
    EXPECT_EQ(on_device.dtype(), kBF16);
    EXPECT_EQ(on_device.dims(), w.dims());
    Sync();
    EXPECT_TRUE(on_device.is_placeholder());
  }
  EXPECT_EQ(loads, 0);
  EXPECT_EQ(GetTraceStats().host_operations, evaluated);
  // A read loads and converts the file.
  const Tensor half = file.To(kF64);
  EXPECT_EQ(loads, 0);
  EXPECT_EQ(half[3][7].Item<double>(), 1.5);
  EXPECT_EQ(loads, 1);
  EXPECT_EQ(half[1023][1023].Item<double>(), 1.5);
  EXPECT_EQ(loads, 1) << "converted once";
}

TEST_F(Abstract, APlaceholderIsPrintedAndNotRead) {
  const Tensor loss = Mean(Large());
  EXPECT_THAT(loss.ToString(), HasSubstr("tensor(placeholder f32[] made at abstract_test.cc:"));
  EXPECT_EQ(GetTraceStats().closes_by_cause[static_cast<size_t>(TraceCause::kPrint)], 1);
  EXPECT_THAT(Large()[0].ToString(), HasSubstr("tensor(placeholder f32[1024]"));
  EXPECT_EQ(KindOf(Thrown([&] { loss.Item<float>(); })), ErrorKind::kPlaceholder);
  EXPECT_EQ(KindOf(Thrown([&] { Large().ToHost(); })), ErrorKind::kPlaceholder);
}

TEST_F(Abstract, StandInsAreValues) {
  Connect({.stand_in = StandIn::kOnes});
  const Tensor w = Large();
  EXPECT_EQ(Sum(w).Item<float>(), 1);
  EXPECT_EQ(w[3].ToVector<float>(), std::vector<float>(1024, 1));
  EXPECT_TRUE(Gt(Sum(w), 0)) << "a comparison, too";
}

// Returns the sharding of the first parameter that has one in the program of `tensor`; empty when none has.
std::string MarkOfProgram(const Tensor& tensor) {
  const std::unique_ptr<Module> module = Lower({tensor});
  const hlo::Computation& entry = module->entry();
  for (const hlo::NodeId parameter : entry.parameters()) {
    if (entry.notes(parameter) != nullptr && !entry.notes(parameter)->sharding.empty())
      return entry.notes(parameter)->sharding;
  }
  return "";
}

class Sharded : public TensorTest {};

TEST_F(Sharded, AMarkStaysThroughUpdatesAndGoesOnWithTheMemory) {
  Tensor w = OnDevice({1, 2, 3, 4}, {4});
  MarkSharding(w, "{devices=[2]<=[2]}");
  const std::string mark = MarkOfProgram(w * 2);
  EXPECT_NE(mark, "");
  w -= 1;
  Sync();
  EXPECT_EQ(MarkOfProgram(w * 2), mark);
  Tensor next = w * 3;
  w = Tensor();  // The last reference to the old w, which is donated.
  Sync();
  EXPECT_EQ(MarkOfProgram(next * 2), mark);
  EXPECT_EQ(MarkOfProgram(OnDevice({1}, {1}) * 2), "");
  EXPECT_EQ(KindOf(Thrown([&] { MarkSharding(next, "{devices=[2,2]<=[4]}"); })), ErrorKind::kArgument);
}

}  // namespace
}  // namespace hlod
