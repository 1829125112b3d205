// The acceptance rows of placeholders: tensors with a shape and without a value.
#include "tests/unit/client/tensor/fixture.h"

#include "common/hlo/inference/verifier.h"
#include "common/hlo/text/text.h"

namespace hlod {
namespace {

class PlaceholderRows : public TensorTest {
 protected:
  // Expects a refusal from every route by which a value could be read.
  void ExpectEveryReadIsRefused(const Tensor& tensor, const std::string& made_at) {
    const std::vector<std::pair<const char*, std::function<void()>>> routes = {
        {"to_host", [&] { tensor.ToHost(); }},
        {"literal", [&] { tensor.ToLiteral(); }},
        {"print", [&] { tensor.ToString(); }},
        {"item", [&] { Sum(tensor).Item<float>(); }},
        {"bool", [&] { static_cast<void>(static_cast<bool>(Sum(tensor))); }},
        {"vector", [&] { Neg(tensor).To(kF32).ToVector<float>(); }},
    };
    for (const auto& [name, read] : routes) {
      const absl::Status status = Thrown(read);
      EXPECT_EQ(KindOf(status), ErrorKind::kPlaceholder) << name << ": " << status;
      EXPECT_THAT(last_what_, HasSubstr(made_at)) << name;
    }
  }
};

// Acceptance row PH1.
TEST_F(PlaceholderRows, HasAShapeAndNoBytes) {
  const SessionStats before = Account();
  for (const PrimitiveType type : {kF32, kBF16, kS8}) {
    for (const Dims& dims : {Dims{1, 2}, Dims{2, 3, 4}, Dims{3, 4, 5, 6}}) {
      const Tensor p = Placeholder(dims, type, device());
      EXPECT_EQ(p.dims(), dims);
      EXPECT_EQ(p.dtype(), type);
      EXPECT_EQ(p.device(), device());
      EXPECT_TRUE(p.is_placeholder());
    }
  }
  const SessionStats after = Account();
  EXPECT_EQ(after.live_bytes, before.live_bytes);
  EXPECT_EQ(after.host_to_device, before.host_to_device);
  EXPECT_EQ(after.placeholders, before.placeholders) << "not even the daemon was told";
}

// Acceptance row PH2.
TEST_F(PlaceholderRows, EveryReadIsATypedError) {
  const Tensor p = Placeholder({2, 3}, kF32, device());
  const std::string line = "placeholder_rows_test.cc:" + std::to_string(__LINE__ - 1);
  ExpectEveryReadIsRefused(p, line);
  const absl::Status status = Thrown([&] { p.ToHost(); });
  EXPECT_EQ(ErrorOf(status).handle, p.id());
  EXPECT_EQ(ErrorOf(status).shape, "f32[2,3]");
  EXPECT_EQ(ErrorOf(status).origin.line, __LINE__ - 6);
  // A description is not a read.
  EXPECT_THAT(p.Describe(), HasSubstr("placeholder"));
  // The next operation works.
  EXPECT_EQ(Sum(OnDevice({1, 2}, {2})).Item<float>(), 3);
}

// Acceptance row PH4.
TEST_F(PlaceholderRows, OnePlaceholderIsOneParameter) {
  const Tensor p1 = Placeholder({2, 3}, kBF16, device()), p2 = Placeholder({3, 4}, kBF16, device());
  const SessionStats before = Account();
  const Tensor a = Sin(p1), b = MatMul(MatMul(a, p2), p2.T());
  const std::unique_ptr<Module> module = Lower({&b, 1});
  const hlo::ProgramShape signature = module->entry().program_shape();
  ASSERT_EQ(signature.parameters.size(), 2u);
  // Parameters are in the order of first use.
  EXPECT_EQ(hlo::ToStringNoLayout(signature.parameters[0]), "bf16[2,3]");
  EXPECT_EQ(hlo::ToStringNoLayout(signature.parameters[1]), "bf16[3,4]");
  EXPECT_EQ(hlo::ToStringNoLayout(signature.result), "bf16[2,3]");
  EXPECT_TRUE(hlo::Verify(*module).ok());
  EXPECT_EQ(Account().host_to_device, before.host_to_device);
  const std::string text = Dump(b);
  for (const Tensor& p : {p1, p2}) {
    const std::string line = "placeholder, tensor " + std::to_string(p.id()) + ",";
    EXPECT_NE(text.find(line), std::string::npos) << text;
    EXPECT_EQ(text.find(line), text.rfind(line)) << "each once: " << text;
  }
}

// Acceptance row PH5.
TEST_F(PlaceholderRows, IdsAreNeverUsedAgain) {
  const Tensor p = Placeholder({2}, kF32, device()), q = Placeholder({2}, kF32, device());
  EXPECT_NE(p.id(), q.id());
  EXPECT_EQ(Lower(std::vector<Tensor>{p + q})->entry().parameters().size(), 2u);
  uint64_t last = q.id();
  for (int i = 0; i < 1'000'000; ++i) {
    const Tensor other = Placeholder({2}, kF32, device());
    ASSERT_GT(other.id(), last);
    last = other.id();
  }
}

// Acceptance row PH6.
TEST_F(PlaceholderRows, OneParameterForEachDistinctData) {
  const Tensor x = OnDevice({1, 2, 3, 4}, {2, 2});
  const Tensor view = x.T(), detached = x.Detach(), same_buffer = Tensor::FromBuffer(x.ToBuffer());
  const Tensor p = Placeholder({2, 2}, kF32, device());
  const Tensor y = x + view + detached + same_buffer + p + p;
  std::vector<Tensor> arguments;
  EXPECT_EQ(Lower({&y, 1}, &arguments)->entry().parameters().size(), 2u);
}

// Acceptance row PH7.
TEST_F(PlaceholderRows, RequiresGradIsKept) {
  Tensor p = Placeholder({2, 3}, kBF16, device(), /*requires_grad=*/true);
  EXPECT_TRUE(p.requires_grad());
  Lower(std::vector<Tensor>{Sin(p)});
  EXPECT_TRUE(p.requires_grad());
  const absl::Status status = Thrown([&] { Placeholder({2}, kS32, device(), true); });
  EXPECT_EQ(KindOf(status), ErrorKind::kArgument);
  EXPECT_THAT(last_what_, HasSubstr("s32"));
}

// Acceptance row PH8.
TEST_F(PlaceholderRows, SyncNamesThePlaceholderAndTheWayThere) {
  const Tensor p = Placeholder({2}, kF32, device());
  const Tensor x = OnDevice({1, 2}, {2});
  const Tensor independent = x + x;
  const Tensor dependent = Sin(p * x);
  const absl::Status status = Thrown([] { Sync(); });
  EXPECT_EQ(KindOf(status), ErrorKind::kPlaceholder);
  EXPECT_THAT(last_what_, HasSubstr("1 tensor depends on placeholders"));
  EXPECT_THAT(last_what_, HasSubstr("`hloctl check -- PROGRAM` or ConnectAbstract()"));
  EXPECT_THAT(last_what_, HasSubstr("sin (placeholder_rows_test.cc"));
  EXPECT_THAT(last_what_, HasSubstr("mul (placeholder_rows_test.cc"));
  EXPECT_THAT(last_what_, HasSubstr("tensor " + std::to_string(p.id())));
  // The independent result was sent.
  EXPECT_THAT(independent.state(), ::testing::AnyOf(TensorState::kPending, TensorState::kReady));
  EXPECT_THAT(independent.ToVector<float>(), ElementsAre(2, 4));
  EXPECT_EQ(KindOf(Thrown([&] { dependent.ToHost(); })), ErrorKind::kPlaceholder);
  EXPECT_THAT(last_what_, HasSubstr("sin (placeholder_rows_test.cc"));
}

TEST_F(PlaceholderRows, SyncOfALoopShowsOneWayAndTheNumber) {
  const Tensor p = Placeholder({2}, kF32, device());
  std::vector<Tensor> results;
  for (int i = 0; i < 4; ++i) results.push_back(Cos(p) + i);
  EXPECT_EQ(KindOf(Thrown([] { Sync(); })), ErrorKind::kPlaceholder);
  EXPECT_THAT(last_what_, HasSubstr("4 tensors depend on placeholders"));
  const size_t first = last_what_.find("cos (");
  ASSERT_NE(first, std::string::npos) << last_what_;
  EXPECT_EQ(last_what_.find("cos (", first + 1), std::string::npos) << last_what_;
}

// Acceptance row PH9.
TEST_F(PlaceholderRows, BarePlaceholdersNeedNoSync) {
  const Tensor p = Placeholder({2}, kF32, device());
  const int64_t before = Account().executes;
  Sync();
  EXPECT_EQ(Account().executes, before);
  EXPECT_EQ(GetTraceStats().closes, 0);
}

// Acceptance row PH10.
TEST_F(PlaceholderRows, AnUpdateInPlaceOfAPlaceholderIsLazy) {
  Tensor p = Placeholder({2}, kF32, device());
  const uint64_t id = p.id();
  p += 1;
  EXPECT_EQ(p.id(), id);
  EXPECT_TRUE(p.is_placeholder()) << "it still has no value";
  const std::unique_ptr<Module> module = Lower({&p, 1});
  EXPECT_EQ(module->entry().parameters().size(), 1u);
  EXPECT_EQ(KindOf(Thrown([&] { p.ToHost(); })), ErrorKind::kPlaceholder);
  EXPECT_THAT(last_what_, HasSubstr("add (placeholder_rows_test.cc"));
}

// Acceptance row PH11.
TEST_F(PlaceholderRows, FillingMakesItAndWhatDependsOnItReadable) {
  Tensor p = Placeholder({2}, kF32, device());
  const uint64_t id = p.id();
  const Tensor y = p * 2.0;
  std::vector<Tensor> before, after;
  Lower({&y, 1}, &before);
  p.Fill(Literal::Vector<float>({3, 4}));
  EXPECT_FALSE(p.is_placeholder());
  EXPECT_EQ(p.id(), id);
  EXPECT_EQ(Lower({&y, 1}, &after)->entry().parameters().size(), before.size());
  EXPECT_THAT(p.ToVector<float>(), ElementsAre(3, 4));
  EXPECT_THAT(y.ToVector<float>(), ElementsAre(6, 8));
  EXPECT_EQ(KindOf(Thrown([&] { p.Fill(Literal::Vector<float>({1, 2})); })), ErrorKind::kArgument);
}

// Acceptance row PH12.
TEST_F(PlaceholderRows, TheFourStatesAreToldApart) {
  const Tensor placeholder = Placeholder({2}, kF32, device());
  const Tensor lazy = OnDevice({1, 2}, {2}) + 1.0;
  EXPECT_EQ(placeholder.state(), TensorState::kPlaceholder);
  EXPECT_EQ(lazy.state(), TensorState::kLazy);
  EXPECT_FALSE(lazy.is_placeholder());

  // Donating the buffer through the runtime marks the tensor as donated.
  const Tensor donated = OnDevice({1, 2}, {2});
  Module module("consume");
  hlo::Builder b(module, "main");
  const hlo::Op x = b.Parameter(0, donated.shape());
  ASSERT_TRUE(b.Build(x + x).ok());
  const Executable executable = client_->Compile(module).value();
  ASSERT_TRUE(executable.Execute({donated.ToBuffer()}, {.donate = {0}}).ok());
  EXPECT_EQ(donated.state(), TensorState::kDonated);
  EXPECT_EQ(KindOf(Thrown([&] { donated.ToHost(); })), ErrorKind::kDonated);
  // A result computed from it fails with the same reason; the rest of the trace does not.
  const Tensor from_donated = donated + 1.0;
  EXPECT_THAT(lazy.ToVector<float>(), ElementsAre(2, 3));
  EXPECT_EQ(KindOf(Thrown([&] { from_donated.ToHost(); })), ErrorKind::kDonated);
  EXPECT_EQ(lazy.state(), TensorState::kReady);
}

// Acceptance row PH13.
TEST_F(PlaceholderRows, EveryDumpWorksWithoutTransfers) {
  const Tensor p = Placeholder({2, 3}, kF32, device()), y = Tanh(p + 1.0);
  const SessionStats before = Account();
  EXPECT_THAT(Dump(y, DumpFormat::kText), HasSubstr("placeholder"));
  EXPECT_TRUE(hlo::ParseModule(Dump(y, DumpFormat::kHlo)).ok());
  EXPECT_THAT(Dump(y, DumpFormat::kDot), HasSubstr("digraph"));
  const SessionStats after = Account();
  EXPECT_EQ(after.host_to_device, before.host_to_device);
  EXPECT_EQ(after.compiles, before.compiles);
}

// Acceptance row PH14.
TEST_F(PlaceholderRows, AShardedPlaceholdersParameterCarriesTheSharding) {
  const Tensor p = ShardedPlaceholder({4, 6}, kF32, device(), "{devices=[2,1]<=[2]}"), q = p + p;
  EXPECT_THAT(Dump(q, DumpFormat::kHlo), HasSubstr("sharding={devices=[2,1]<=[2]}"));
  EXPECT_EQ(KindOf(Thrown([&] { q.ToHost(); })), ErrorKind::kPlaceholder);
  // A sharded parameter makes a program different from that of a whole one.
  Tensor sharded = ShardedPlaceholder({2}, kF32, device(), "{devices=[2]<=[2]}");
  Tensor whole = Placeholder({2}, kF32, device());
  sharded.Fill(Literal::Vector<float>({1, 2}));
  whole.Fill(Literal::Vector<float>({3, 4}));
  EXPECT_THAT((whole + 1.0).ToVector<float>(), ElementsAre(4, 5));
  const int64_t compiles = GetTraceStats().compiles;
  EXPECT_THAT((sharded + 1.0).ToVector<float>(), ElementsAre(2, 3));
  EXPECT_EQ(GetTraceStats().compiles, compiles + 1);
  // Shardings that are malformed, or do not fit the shape.
  for (const char* wrong : {"{devices=[2]<=[2]}", "{devices=[2,2]<=[2]}", "{devices=[0,2]<=[0]}",
                            "{{replicated}}", "{devices=[2,1]<=[2]} x", "{shiny}", ""}) {
    const absl::Status refused = Thrown([&] { ShardedPlaceholder({4, 6}, kF32, device(), wrong); });
    EXPECT_FALSE(refused.ok()) << wrong;
    EXPECT_THAT(last_what_, HasSubstr("placeholder (placeholder_rows_test.cc")) << wrong;
  }
}

// Acceptance row PH15.
TEST_F(PlaceholderRows, TheDeviceIsHonouredAndBadTypesAreNamed) {
  EXPECT_EQ(Placeholder({2}, kF8E4M3FN, device()).device(), device());
  EXPECT_TRUE(Placeholder({2}, kF32, Device()).device().is_host());
  EXPECT_EQ(KindOf(Thrown([&] { Placeholder({2}, kTupleType, device()); })), ErrorKind::kArgument);
}

// Acceptance row PH16.
TEST_F(PlaceholderRows, ACopyToAnotherDeviceIsARead) {
  const Tensor p = Placeholder({2}, kF32, device());
  EXPECT_EQ(KindOf(Thrown([&] { p.To(Device()); })), ErrorKind::kPlaceholder);
  Tensor host = Zeros({2});
  EXPECT_EQ(KindOf(Thrown([&] { host.Copy_(p); })), ErrorKind::kPlaceholder);
  EXPECT_THAT(host.ToVector<float>(), ElementsAre(0, 0));
}

}  // namespace
}  // namespace hlod
