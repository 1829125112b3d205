// Arguments that no program should pass, and threads that share tensors: each case returns a clear error or
// the right value, never crashes, and the program goes on.
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <thread>

#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

class Misuse : public TensorTest {
 protected:
  static void ExpectArgument(const std::function<void()>& body, const std::string& text) {
    const absl::Status status = Thrown(body);
    EXPECT_EQ(KindOf(status), ErrorKind::kArgument) << status;
    EXPECT_THAT(last_what_, HasSubstr(text));
  }
};

TEST_F(Misuse, ValuesAreCountedWithoutOverflow) {
  const std::vector<float> values(200);
  Throws([&] { FromValues<float>(values, Dims{-10, -20}); });
  Throws([&] { FromValues<float>({}, Dims{int64_t{1} << 32, int64_t{1} << 32}); });
  ExpectArgument([&] { FromValues<float>(values, Dims{10, 10}); }, "200 values do not fill f32[10,10]");
  EXPECT_EQ(FromValues<float>({}, Dims{0, 5}).numel(), 0);
}

TEST_F(Misuse, ShapesThatOverflowAreRefused) {
  const Tensor x = Ones({4, 4}), none = Zeros({0});
  Throws([&] { none.View({int64_t{1} << 32, int64_t{1} << 32}); });
  Throws([&] { x.View({int64_t{1} << 32, int64_t{1} << 32}); });
  Throws([&] { x.AsStrided({3}, {int64_t{1} << 62}); });
  EXPECT_EQ(x.Slice(0, 0, 4, std::numeric_limits<int64_t>::max()).dims(), (Dims{1, 4}));
  EXPECT_THAT(x.Slice(0, 1, 4, std::numeric_limits<int64_t>::max()).ToVector<float>(),
              ElementsAre(1, 1, 1, 1));
  EXPECT_EQ(none.View({0, 7}).dims(), (Dims{0, 7}));
}

TEST_F(Misuse, NumbersThatOverflowSizesAreRefused) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(), kLarge = int64_t{1} << 62;
  const Tensor image = Ones({1, 4, 2, 2}), x = Ones({3});
  ExpectArgument([&] { PixelShuffle(image, int64_t{1} << 32); }, "do not divide by the factor 4294967296");
  ExpectArgument([&] { SplitWithSizes(x, {kLarge, kLarge, kLarge, kLarge, 3}); }, "do not add up");
  ExpectArgument([&] { Repeat(Ones({4}), {kLarge}); }, "are too many for a dimension");
  ExpectArgument([&] { RepeatInterleave(Ones({4}), kLarge, 0); }, "are too many for a dimension");
  ExpectArgument([&] { DiagEmbed(x, kLeast); }, "is too large");
  // Their first part is refused; others would index its dimensions.
  Throws([&] { DiagEmbed(x, int64_t{1} << 50); });
  Throws([&] { fft::Fft2(Ones({2, 2}), {int64_t{1} << 50, 2}); });
  Throws([&] { Pad(image, {1, 0, int64_t{1} << 50, 0}, PadMode::kReplicate); });
  ExpectArgument([&] { Pad(x, {kLeast, 0}); }, "cuts more than the 3 elements");
  ExpectArgument([&] { MaxPool2d(image, {int64_t{1} << 32, 2}); }, "must be at most 2147483647");
  EXPECT_EQ(Chunk(x, std::numeric_limits<int64_t>::max()).size(), 3);
}

TEST_F(Misuse, NumbersThatMakeEndlessProgramsAreRefused) {
  const Tensor x = Ones({3});
  ExpectArgument([&] { TensorSplit(x, int64_t{1} << 40); }, "1099511627776 parts of 3 elements");
  ExpectArgument([&] { Chunk(Zeros({0}), int64_t{1} << 40); }, "1099511627776 parts of 0 elements");
  ExpectArgument([&] { Mvlgamma(x, int64_t{1} << 40); }, "between 1 and 1000");
  ExpectArgument([&] { AdaptiveAvgPool1d(Ones({1, 1, 3}), int64_t{1} << 30); }, "are more than 65536");
  ExpectArgument([&] { Combinations(x, int64_t{1} << 32, /*with_replacement=*/true); }, "exceed 67108864");
  EXPECT_EQ(Combinations(x, int64_t{1} << 32).dims(), (Dims{0, int64_t{1} << 32}));
  ExpectArgument([] { TrilIndices(int64_t{1} << 40, 3); }, "1099511627776 rows are more than");
  ExpectArgument([] { TriuIndices(3, int64_t{1} << 40); }, "are more than 134217728");
  EXPECT_EQ(TrilIndices(2, int64_t{1} << 40).dims(), (Dims{2, 3}));
  EXPECT_EQ(TrilIndices(2, 2, std::numeric_limits<int64_t>::max()).dims(), (Dims{2, 4}));
  EXPECT_EQ(TensorSplit(x, 5).size(), 5);
}

// By definition all is kept, or nothing. (Sums with the diagonal overflow in PyTorch 2.9.)
TEST_F(Misuse, TrianglesOfDiagonalsFarAwayAreWhole) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(),
                    kGreatest = std::numeric_limits<int64_t>::max();
  for (const Tensor& x : {Ones({2, 3}), Ones({2, 3}, {.device = device()})}) {
    EXPECT_THAT(Tril(x, kGreatest).ToVector<float>(), ElementsAre(1, 1, 1, 1, 1, 1));
    EXPECT_THAT(Tril(x, kLeast).ToVector<float>(), ElementsAre(0, 0, 0, 0, 0, 0));
    EXPECT_THAT(Triu(x, kLeast).ToVector<float>(), ElementsAre(1, 1, 1, 1, 1, 1));
    EXPECT_THAT(Triu(x, kGreatest).ToVector<float>(), ElementsAre(0, 0, 0, 0, 0, 0));
    EXPECT_THAT(Tril(x, -1).ToVector<float>(), ElementsAre(0, 0, 0, 1, 0, 0));
    EXPECT_THAT(Triu(x, 2).ToVector<float>(), ElementsAre(0, 0, 1, 0, 0, 0));
  }
}

TEST_F(Misuse, RangesOfLargeIntegersAreExact) {
  const int64_t large = int64_t{1} << 60;
  EXPECT_THAT(Arange(large, large + 3).ToVector<int64_t>(), ElementsAre(large, large + 1, large + 2));
  EXPECT_THAT(Arange(5, 0, -2).ToVector<int64_t>(), ElementsAre(5, 3, 1));
  EXPECT_EQ(Arange(3, 3).numel(), 0);
  ExpectArgument([] { Arange(0.0, 1e300); }, "cannot be counted");
  ExpectArgument([] { Arange(0, 5, -1); }, "cannot be counted");
  ExpectArgument([] { Arange(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()); },
                 "cannot be counted");
}

TEST_F(Misuse, AnUndefinedTensorThrowsWhateverIsAskedOfIt) {
  const Tensor none;
  // The error names the line of the call.
  const std::string text = "(misuse_test.cc:";
  ExpectArgument([&] { none.dims(); }, "tensor (misuse_test.cc:");
  ExpectArgument([&] { none.dims(); }, "undefined");
  ExpectArgument([&] { none.size(0); }, text);
  ExpectArgument([&] { none.rank(); }, text);
  ExpectArgument([&] { none.numel(); }, text);
  ExpectArgument([&] { none.device(); }, text);
  ExpectArgument([&] { none.shape(); }, text);
  ExpectArgument([&] { none.strides(); }, text);
  ExpectArgument([&] { none.id(); }, text);
  ExpectArgument([&] { none.state(); }, text);
  ExpectArgument([&] { none.requires_grad(); }, text);
  ExpectArgument([&] { OnDevice({1}, {1}).size(3); }, "size (misuse_test.cc:");
  ExpectArgument([&] { none.dtype(); }, text);
  ExpectArgument([&] { none.T(); }, text);
  ExpectArgument([&] { none.Reshape({1}); }, text);
  ExpectArgument([&] { none.Unfold(0, 1, 1); }, text);
  ExpectArgument([&] { none.ToLiteral(); }, text);
  ExpectArgument([&] { none.To(device()); }, text);
  ExpectArgument([&] { none.Detach(); }, text);
  ExpectArgument([&] { none.Backward(); }, text);
  ExpectArgument([&] { none.is_leaf(); }, text);
  ExpectArgument([&] { none.Grad(); }, text);
  ExpectArgument([&] { Tensor().ZeroGrad(); }, text);
  ExpectArgument([&] { Tensor().RetainGrad(); }, text);
  EXPECT_FALSE(none.defined());
}

TEST_F(Misuse, ConvolutionsRefuseGroupsThatDoNotDivide) {
  nn::Module net;
  const auto make = [&](int64_t groups) { nn::Conv(net, "c", 3, 8, {3, 3}, {.groups = groups}); };
  ExpectArgument([&] { make(0); }, "groups (0)");
  ExpectArgument([&] { make(2); }, "groups (2)");
  EXPECT_TRUE(net.Parameters().empty()) << "a layer that was not made is not a part";
}

TEST_F(Misuse, ALayerThatIsNotMadeLeavesNoPart) {
  nn::Module net;
  Throws([&] { nn::MultiheadAttention(net, "attention", 10, 3); });
  EXPECT_TRUE(net.NamedParameters().empty());
  {
    nn::Linear part(net, "part", 2, 2);
  }
  EXPECT_TRUE(net.NamedParameters().empty()) << "a part that has ended is not a part";
}

TEST_F(Misuse, NamesThatAreNotTextAreNotSaved) {
  const std::string path = (std::filesystem::temp_directory_path() / "hlod-misuse.safetensors").string();
  ExpectArgument([&] { nn::SaveSafetensors(path, {{"\xff", Ones({1})}}); }, "a name cannot be written");
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(Misuse, AnEnvironmentThatHasEndedDoesNotConnectAgain) {
  Environment environment(daemon_->Connect().value());
  const Tensor x = Ones({2}, {.device = environment.device()});
  environment.End();
  EXPECT_EQ(KindOf(Thrown([&] { environment.device(); })), ErrorKind::kLostSession);
  EXPECT_EQ(KindOf(Thrown([&] { x.ToBuffer(); })), ErrorKind::kLostSession);
}

TEST_F(Misuse, TensorsOfTwoConnectionsAreNamedWithTheirs) {
  const Client other = daemon_->Connect().value();
  const Tensor x = OnDevice({1}, {1}), y = FromValues<float>({1}, Dims{1}, other.device(0));
  ExpectArgument([&] { x + y; },
                 "argument 0 is on hlod:0 of the daemon at " + other.address() + " (session ");
  EXPECT_THAT(last_what_, HasSubstr("add (misuse_test.cc:"));
  EXPECT_THAT(last_what_, HasSubstr("(session " + std::to_string(client_->session_id()) + ")"));
  EXPECT_THAT(last_what_, HasSubstr("(session " + std::to_string(other.session_id()) + ")"));
  Environment(other).End();
}

TEST_F(Misuse, PathsAndShardingsThatDoNotServeAreArguments) {
  const std::string missing = "/no/such/folder/weights";
  ExpectArgument([&] { nn::LoadSafetensors(missing + ".safetensors"); }, missing);
  ExpectArgument([&] { nn::LoadNpz(missing + ".npz"); }, missing);
  ExpectArgument([&] { nn::SaveSafetensors(missing, {{"x", Ones({1})}}); }, missing);
  ExpectArgument([&] { ShardedPlaceholder({4}, kF32, device(), "{devices=[2,2]<=[4]}"); }, "sharding");
  ExpectArgument([&] { ShardedPlaceholder({4}, kF32, device(), "nonsense"); }, "nonsense");
}

TEST_F(Misuse, DumpingAnUndefinedTensorIsRefused) {
  ExpectArgument([] { Dump(Tensor()); }, "tensor 0 of 1 is undefined");
  ExpectArgument([&] { Lower({Ones({1}, {.device = device()}), Tensor()}); }, "tensor 1 of 2 is undefined");
}

TEST_F(Misuse, OneSizeOfAShapeMayBeFound) {
  ExpectArgument([] { Ones({4}).View({-1, -1}); }, "leaves several sizes to be found");
}

TEST_F(Misuse, ABranchInATracedFunctionHasItsLine) {
  const Tensor x = OnDevice({1}, {1});
  int line = 0;
  const auto step = Jit([&](const Tensor& x) {
    line = __LINE__ + 1;
    if (x > 0) return x + 1;
    return x;
  });
  ExpectArgument([&] { step(x); }, "a value is read while the function of jit");
  EXPECT_THAT(last_what_, HasSubstr("misuse_test.cc:" + std::to_string(line)));
}

TEST_F(Misuse, ATracedFunctionChangesNoHostTensorOfItsSurroundings) {
  Tensor calls = Ones({1});
  const auto step = Jit([&](const Tensor& x) {
    Tensor own = Zeros({1});
    own += 2;
    calls += 1;
    return x * own;
  });
  ExpectArgument([&] { step(OnDevice({1}, {1})); }, "changes a host tensor of its surroundings f32[1]");
  EXPECT_THAT(calls.ToVector<float>(), ElementsAre(1));
}

TEST_F(Misuse, ErrorsOfSettingsAndDevicesHaveTheUsersLine) {
  Environment environment(daemon_->Connect().value());
  ExpectArgument([&] { environment.device(9); }, "device (misuse_test.cc:");
  EXPECT_THAT(last_what_, HasSubstr("device (9) does not exist: the daemon has 1"));
  environment.End();
  EXPECT_EQ(KindOf(Thrown([&] { environment.client(); })), ErrorKind::kLostSession);
  EXPECT_THAT(last_what_, HasSubstr("environment (misuse_test.cc:"));
  EXPECT_EQ(KindOf(Thrown([&] { environment.ManualSeed(1); })), ErrorKind::kLostSession);
  EXPECT_THAT(last_what_, HasSubstr("environment (misuse_test.cc:"));
  ExpectArgument([] { SettingsScope({.trace_nodes_max = 0}); }, "settings (misuse_test.cc:");
}

// The Box-Muller transform draws 64 bits twice per element; the next call must continue after both.
TEST_F(Misuse, WideNormalNumbersDoNotOverlap) {
  constexpr int64_t kCount = 1000;
  ManualSeed(7);
  const std::vector<double> first = Randn({kCount}, {.type = kF64}).ToVector<double>();
  const std::vector<double> second = Randn({kCount}, {.type = kF64}).ToVector<double>();
  ManualSeed(7);
  const std::vector<double> uniform = Rand({4 * kCount}, {.type = kF64}).ToVector<double>();
  // The expected numbers are computed from the uniform numbers of the same stream.
  const auto normal = [&](size_t u, size_t v) {
    return std::sqrt(-2 * std::log1p(-uniform[u])) * std::cos(2 * M_PI * uniform[v]);
  };
  for (size_t i = 0; i < kCount; ++i) {
    EXPECT_NEAR(first[i], normal(i, kCount + i), 1e-9);
    EXPECT_NEAR(second[i], normal(2 * kCount + i, 3 * kCount + i), 1e-9);
  }
}

TEST_F(Misuse, AskingWhileAnotherThreadUpdatesIsSafe) {
  Tensor x = Zeros({8}, {.device = device()});
  std::atomic<bool> done = false;
  std::thread asking([&] {
    while (!done) {
      EXPECT_EQ(x.dtype(), kF32);
      EXPECT_EQ(x.dims(), (Dims{8}));
      EXPECT_FALSE(x.requires_grad());
      EXPECT_FALSE(x.Describe().empty());
    }
  });
  for (int i = 0; i < 500; ++i) x.Add_(1);
  done = true;
  asking.join();
  EXPECT_EQ(x[0].Item<float>(), 500);
}

// Random draws of one thread, while another traces a function, are neither counted as the function's nor
// repeated.
TEST_F(Misuse, AFunctionTakesNoOtherThreadsRandomNumbers) {
  const Device where = device();
  ManualSeed(3);
  const std::vector<float> alone = Rand({4}, {.device = where}).ToVector<float>();
  ManualSeed(3);
  std::vector<float> meanwhile;
  const auto noisy = Jit([&](const Tensor& x) {
    if (meanwhile.empty())
      std::thread([&] { meanwhile = Rand({4}, {.device = where}).ToVector<float>(); }).join();
    return x + Rand({4}, {.device = where});
  });
  const std::vector<float> drawn = noisy(Zeros({4}, {.device = where})).ToVector<float>();
  EXPECT_EQ(meanwhile, alone);
  EXPECT_NE(drawn, meanwhile);
}

// Variables are read when settings are first used, so this runs in a process of its own, without a daemon.
TEST(MisuseAlone, AVariableThatIsNoValueIsReportedWhereSettingsAreFirstAskedFor) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto ask = [] {
    ::setenv("HLOD_TRACE_NODES_MAX", "many", 1);
    try {
      GetSettings();
    } catch (const Error& error) {
      std::fputs(error.what(), stderr);
      std::_Exit(3);
    }
    std::_Exit(0);
  };
  EXPECT_EXIT(ask(), ::testing::ExitedWithCode(3), "misuse_test.cc:.*HLOD_TRACE_NODES_MAX");
}

}  // namespace
}  // namespace hlod
