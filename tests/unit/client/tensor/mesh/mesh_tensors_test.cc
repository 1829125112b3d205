// Tensors on a mesh of four devices: results, gradients and updates equal those of one device. XLA's
// partitioner divides the programs: without jaxlib these tests are skipped.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <thread>

#include "hlod/nn/shard_module.h"
#include "hlod/runtime/shards.h"
#include "hlod/tensor/sharding.h"
#include "tests/support/python.h"
#include "tests/support/shell.h"
#include "tests/support/source_dir.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

const Mesh kMesh({{"data", 2}, {"model", 2}});

class MeshTensors : public TensorTest {
 protected:
  static void SetUpTestSuite() {
    daemon_ = new testing::Daemon(testing::Daemon::Start({.flags = {"--devices", "4"}}).value());
  }
  void SetUp() override {
    TensorTest::SetUp();
    if (!HasPartitioner()) GTEST_SKIP() << "There is no jaxlib.";
  }

  static bool HasPartitioner() {
    static const std::optional<std::string> python = PythonWith("jaxlib");
    if (python.has_value()) setenv("HLOD_PYTHON", python->c_str(), 1);
    return python.has_value();
  }

  // Returns `count` numbers from -1 to 1 that look random.
  static std::vector<float> Numbers(int64_t count, int seed) {
    std::vector<float> numbers;
    for (int64_t i = 0; i < count; ++i)
      numbers.push_back(static_cast<float>(std::sin(static_cast<double>(1 + i * 7 + seed * 131))));
    return numbers;
  }
  Tensor Of(const Dims& dims, int seed) {
    int64_t count = 1;
    for (const int64_t size : dims) count *= size;
    return FromValues<float>(Numbers(count, seed), dims);
  }
  static void ExpectNear(const Tensor& a, const Tensor& b, float tolerance, const std::string& what) {
    const std::vector<float> x = a.ToVector<float>(), y = b.ToVector<float>();
    ASSERT_EQ(x.size(), y.size()) << what;
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_NEAR(x[i], y[i], tolerance * std::max(1.0f, std::abs(y[i]))) << what << " element " << i;
  }
};

TEST_F(MeshTensors, ATensorIsCutAndReadsAssembleIt) {
  const std::vector<float> numbers = Numbers(5 * 6, 1);
  Tensor x = FromValues<float>(numbers, Dims{5, 6}).To(device());
  MarkSharding(x, kMesh, {"data", "model"});
  EXPECT_EQ(ShardingOf(x), "{devices=[2,2]<=[4]}");
  const Buffer buffer = x.ToBuffer();
  ASSERT_EQ(buffer.shards().size(), 4u);
  EXPECT_EQ(buffer.shards()[1].shape(), Shape::Array(kF32, {3, 3}));
  EXPECT_EQ(x.ToVector<float>(), numbers);
  const Tensor direct =
      ToMesh(FromValues<float>(numbers, Dims{5, 6}), device(), kMesh, {std::nullopt, {"model", "data"}});
  EXPECT_EQ(ShardingOf(direct), "{devices=[1,4]<=[2,2]T(1,0)}");
  EXPECT_EQ(direct.ToVector<float>(), numbers);
}

TEST_F(MeshTensors, AProgramRunsOnAllDevices) {
  const Tensor x = Of({8, 6}, 1), w = Of({6, 4}, 2);
  const Tensor on_mesh_x = ToMesh(x, device(), kMesh, {"data", std::nullopt});
  const Tensor on_mesh_w = ToMesh(w, device(), kMesh, {std::nullopt, "model"});
  const Tensor scale = Full({}, 3, {.device = device()});  // Lies on one device.
  const Tensor y = Tanh(MatMul(on_mesh_x, on_mesh_w)) * scale, mean = Mean(y);
  Sync();
  EXPECT_EQ(y.ToBuffer().shards().size(), 4u);
  EXPECT_THAT(ShardingOf(y), HasSubstr("devices=[2,2]"));
  ExpectNear(y, Tanh(MatMul(x, w)) * 3, 1e-6f, "y");
  EXPECT_NEAR(mean.Item<float>(), Mean(Tanh(MatMul(x, w)) * 3).Item<float>(), 1e-6f);
}

TEST_F(MeshTensors, ALoopCompilesOnceAndDonates) {
  Tensor w = ToMesh(Of({8, 8}, 1), device(), kMesh, {"data", "model"});
  Tensor g = Of({8, 8}, 2).To(device());
  for (int i = 0; i < 5; ++i) {
    w.Sub_(g * 0.1);
    Sync();
  }
  EXPECT_EQ(GetTraceStats().compiles, 1);
  EXPECT_EQ(ShardingOf(w), "{devices=[2,2]<=[4]}");
  EXPECT_GE(GetTraceStats().donated, 5);
  ExpectNear(w, Of({8, 8}, 1) - Of({8, 8}, 2) * 0.5, 1e-6f, "w");
}

TEST_F(MeshTensors, AStatedResultAndItsGradientLieAsStated) {
  Tensor w = ToMesh(Of({4, 8}, 3), device(), kMesh, {std::nullopt, "model"});
  w.RequiresGrad_();
  const Tensor x = Of({6, 4}, 4).To(device());
  const Tensor y = WithSharding(MatMul(x, w), kMesh, {"data", "model"});
  Sum(Square(y)).Backward();
  Sync();
  EXPECT_EQ(ShardingOf(y), "{devices=[2,2]<=[4]}");
  Tensor host = Of({4, 8}, 3);
  host.RequiresGrad_();
  Sum(Square(MatMul(Of({6, 4}, 4), host))).Backward();
  ExpectNear(w.Grad(), host.Grad(), 1e-5f, "gradient");
  // In functions, and in loops that they trace.
  const auto loss = [](const Tensor& v, const Tensor& in) {
    const auto body = [&](const Tensor& h) { return Tanh(WithSharding(h, kMesh, {"data", std::nullopt})); };
    return Sum(body(body(MatMul(in, v))));
  };
  const auto plain = [](const Tensor& v, const Tensor& in) { return Sum(Tanh(Tanh(MatMul(in, v)))); };
  const auto [value, gradient] = Jit(ValueAndGrad(loss))(w.Detach(), x);
  const auto [expected, expected_gradient] = ValueAndGrad(plain)(Of({4, 8}, 3).To(device()), x);
  ExpectNear(value, expected, 1e-5f, "value");
  ExpectNear(gradient, expected_gradient, 1e-5f, "gradient of a function");
}

TEST_F(MeshTensors, PlaceholdersAndErrors) {
  const Tensor p = ShardedPlaceholder({8, 4}, kF32, device(), kMesh, {"data", std::nullopt});
  EXPECT_TRUE(p.is_placeholder());
  EXPECT_THAT(ShardingOf(p), HasSubstr("devices=[2,1,2]"));
  EXPECT_EQ(KindOf(Thrown([&] { Sum(p).ToHost(); })), ErrorKind::kPlaceholder);
  Tensor host = Of({4, 4}, 1), x = host.To(device());
  EXPECT_THAT(Thrown([&] {
                MarkSharding(host, kMesh, {"data", std::nullopt});
              }).ToString(),
              HasSubstr("a host tensor lies on no mesh"));
  EXPECT_THAT(Thrown([&] { MarkSharding(x, kMesh, {"data"}); }).ToString(),
              HasSubstr("has 1 dimensions; the array has 2"));
  EXPECT_THAT(Thrown([&] {
                MarkSharding(x, kMesh, {"data", "data"});
              }).ToString(),
              HasSubstr("names the axis data twice"));
  EXPECT_THAT(Thrown([&] {
                MarkSharding(x, Mesh({{"data", 8}}), {"data", std::nullopt});
              }).ToString(),
              HasSubstr("the daemon has 4"));
  Tensor a = ToMesh(host, device(), Mesh({{"x", 2}}), {"x", std::nullopt});
  Tensor b = ToMesh(host, device(), Mesh({{"x", 2}}, {0, 2}), {"x", std::nullopt});
  const Tensor sum = a + b;
  EXPECT_THAT(Thrown([&] { sum.ToHost(); }).ToString(),
              HasSubstr("different meshes: on devices 0,1 and on devices 0,2"));
  MarkSharding(b, Mesh({{"x", 2}}), {std::nullopt, "x"});
  ExpectNear(a + b, host + host, 0, "moved");
}

struct Mlp : nn::Module {
  nn::Linear up{*this, "up", 6, 16}, down{*this, "down", 16, 4};
  Tensor operator()(const Tensor& x) const { return down(Relu(up(x))); }
};

// Gives a module's parameters values that do not depend on its random numbers.
void Set(nn::Module& module, const std::function<Tensor(const Dims&, int)>& values) {
  const NoGrad scope;
  int seed = 10;
  for (auto& [name, parameter] : module.NamedParameters()) parameter.Copy_(values(parameter.dims(), seed++));
}

// Draws are positions of one stream, whether or not devices divide them, and no device draws the whole.
TEST_F(MeshTensors, RandomNumbersAreThoseOfOneDevice) {
  const auto drawn = [&](bool divided) {
    ManualSeed(7);
    std::vector<Tensor> draws = {Randn({6, 4}, {.device = device()}), Rand({8, 2}, {.device = device()}),
                                 Randint(-5, 5, {4, 3}, {.device = device()})};
    for (Tensor& draw : draws) {
      if (divided) MarkSharding(draw, kMesh, {"data", std::nullopt});
    }
    Sync();
    return draws;
  };
  const std::vector<Tensor> whole = drawn(false), parts = drawn(true);
  EXPECT_EQ(parts[0].ToBuffer().shards()[0].shape().dims, (Dims{3, 4}));
  for (size_t i = 0; i < 2; ++i) ExpectNear(whole[i], parts[i], 0, "draw " + std::to_string(i));
  EXPECT_EQ(whole[2].ToVector<int64_t>(), parts[2].ToVector<int64_t>());
}

// The state of w (rows) and of v (columns), whose dimensions are the same.
TEST_F(MeshTensors, AnOptimizersStateLiesAsItsParameters) {
  const auto divided = [&](int seed, const PartitionSpec& spec) {
    Tensor w = Of({4, 4}, seed).To(device());
    return MarkSharding(w, kMesh, spec);
  };
  const std::vector<Tensor> params = {divided(1, {"data", std::nullopt}),
                                      divided(2, {std::nullopt, "model"})};
  const optim::State made_after = optim::Adam(1e-3).Init(params);
  const std::vector<Tensor> plain = {Of({4, 4}, 1).To(device()), Of({4, 4}, 2).To(device())};
  const optim::State made_before = optim::Adam(1e-3).Init(plain);
  optim::Optimizer::PlaceLeaves(params, made_before);
  Sync();
  for (const optim::State* state : {&made_after, &made_before}) {
    int rows = 0, columns = 0;
    for (const std::vector<Tensor>& part : state->parts) {
      for (const Tensor& tensor : part) {
        if (tensor.dims().empty()) continue;
        const Dims tile = tensor.ToBuffer().shards()[0].shape().dims;
        rows += tile == Dims{2, 4};
        columns += tile == Dims{4, 2};
      }
    }
    EXPECT_EQ(rows, 2);
    EXPECT_EQ(columns, 2);
  }
}

// Returns the partitioner's process, a child of this one; 0 if there is none.
pid_t PartitionerOf(pid_t parent) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream stat(entry.path() / "stat"), line(entry.path() / "cmdline");
    std::string text, words;
    std::getline(stat, text);
    std::getline(line, words);
    const size_t after = text.rfind(") ");
    if (after == std::string::npos || words.find("hlod.partition") == std::string::npos) continue;
    if (std::atoi(text.c_str() + after + 4) == parent) return std::atoi(entry.path().filename().c_str());
  }
  return 0;
}

TEST_F(MeshTensors, ANeighbourTracesWhileTheProgramIsPartitioned) {
  Tensor x = Of({4, 6}, 3).To(device());
  MarkSharding(x, kMesh, {"data", std::nullopt});
  Sum(x).Item<double>();  // The partitioner runs.
  const pid_t partitioner = PartitionerOf(getpid());
  ASSERT_GT(partitioner, 0);
  ASSERT_EQ(kill(partitioner, SIGSTOP), 0);
  double product = 0;
  std::atomic<bool> ended = false;
  std::thread divided([&] {
    product = Sum(x * 3 + 1).Item<double>();  // A program that is new waits for the partitioner.
    ended = true;
  });
  for (int i = 0; i < 50; ++i) {
    const Tensor y = Of({3}, i).To(device()) * 2;
    EXPECT_NEAR(y.ToVector<float>()[0], 2 * Numbers(3, i)[0], 1e-6);
  }
  EXPECT_FALSE(ended);
  ASSERT_EQ(kill(partitioner, SIGCONT), 0);
  divided.join();
  double sum = 0;
  for (const float number : Numbers(24, 3)) sum += number;
  EXPECT_NEAR(product, 3 * sum + 24, 1e-3);
}

TEST_F(MeshTensors, AnMlpTrainsAsOnOneDevice) {
  const auto values = [this](const Dims& dims, int seed) { return Of(dims, seed) * 0.3; };
  const auto train = [&](nn::Module& module, const Mlp& mlp, const Device& on) {
    Adam adam(module.Parameters(), {.lr = 1e-2});
    for (int step = 0; step < 4; ++step) {
      const Tensor x = Of({8, 6}, step), y = Of({8, 4}, 50 + step);
      Tensor loss = MseLoss(mlp(x.To(on)), y.To(on));
      loss.Backward();
      adam.Step();
      adam.ZeroGrad();
      Sync();
    }
  };
  Mlp one, tensor_parallel, fully_sharded;
  for (Mlp* mlp : {&one, &tensor_parallel, &fully_sharded}) Set(*mlp, values);
  one.To(device());
  const std::vector<nn::ShardRule> megatron = {{"up\\.weight$", {"model", std::nullopt}},
                                               {"up\\.bias$", {"model"}},
                                               {"down\\.weight$", {std::nullopt, "model"}}};
  nn::ShardModule(tensor_parallel, device(), kMesh, megatron);
  const auto specs = nn::FullyShardModule(fully_sharded, device(), kMesh, "data", megatron);
  EXPECT_EQ(specs[0].second.ToString(), "(\"model\", \"data\")");
  EXPECT_EQ(specs[3].second.ToString(), "(\"data\")");
  EXPECT_THAT(ShardingOf(fully_sharded.up.weight), HasSubstr("devices=[2,2]"));
  train(one, one, device());
  ResetTraceStats();
  train(tensor_parallel, tensor_parallel, device());
  train(fully_sharded, fully_sharded, device());
  const auto expected = one.NamedParameters();
  for (const Mlp* mlp : {&tensor_parallel, &fully_sharded}) {
    const auto trained = mlp->NamedParameters();
    for (size_t i = 0; i < expected.size(); ++i)
      ExpectNear(trained[i].second, expected[i].second, 1e-5f, expected[i].first);
  }
  EXPECT_THAT(ShardingOf(fully_sharded.up.weight), HasSubstr("devices=[2,2]"));
  EXPECT_THAT(Thrown([&] {
                nn::ShardModule(one, device(), kMesh, {{"attention", {"model"}}});
              }).ToString(),
              HasSubstr("the rule \"attention\" fits no parameter"));
}

// Returns the losses that the example of a GPT prints. Its numbers are random, and the same in every run.
std::vector<double> LossesOfGpt(const std::string& address, const std::string& flags) {
  const std::filesystem::path bin = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "../bin";
  const std::string command = "HLOD_ADDRESS=" + address + " " + (bin / "example_gpt_train").string() +
                              " --steps 4 --layers 2 --size 32 --letters 1 --text " + SourceDir().string() +
                              "/LICENSE " + flags + " 2>&1";
  const Output output = RunShell(command);
  EXPECT_EQ(output.code, 0) << output.text;
  std::vector<double> losses;
  const std::regex line("loss ([0-9.]+)");
  for (std::sregex_iterator i(output.text.begin(), output.text.end(), line), end; i != end; ++i)
    losses.push_back(std::stod((*i)[1]));
  return losses;
}

// A scan of layers with checkpoints, mixed precision, AdamW and clipping. Products are rounded to bf16, whose
// sums have another order on each mesh.
TEST_F(MeshTensors, AGptTrainsAsOnOneDevice) {
  const std::vector<double> one = LossesOfGpt(daemon_->address(), ""),
                            four = LossesOfGpt(daemon_->address(), "--mesh data=2,model=2");
  ASSERT_EQ(one.size(), 4u);
  ASSERT_EQ(four.size(), 4u);
  EXPECT_LT(one[3], one[0]);
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(four[i], one[i], 0.01) << "step " << i;
}

}  // namespace
}  // namespace hlod
