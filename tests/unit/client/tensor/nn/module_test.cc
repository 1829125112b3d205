// Modules: names, shared weights, moving, loading, calls with other weights, and weights in files.
#include <cstdio>
#include <fstream>

#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

struct Linear : nn::Module {
  Linear(nn::Module& parent, std::string name, int64_t in, int64_t out)
      : nn::Module(parent, std::move(name)) {
    weight = Uniform({out, in}, -1, 1);
    bias = Zeros({out});
    RegisterParameter("weight", weight);
    RegisterParameter("bias", bias);
  }
  Tensor operator()(const Tensor& x) const { return MatMul(x, weight.T()) + bias; }
  Tensor weight, bias;
};

struct Mlp : nn::Module {
  Mlp() { RegisterBuffer("steps", steps); }
  Tensor steps = Zeros({1}, {.type = kS64});
  Linear up{*this, "up", 3, 4}, down{*this, "down", 4, 2};
  Tensor operator()(const Tensor& x) const { return down(Relu(up(x))); }
};

class NnModule : public TensorTest {
 protected:
  static std::vector<std::string> Names(const std::vector<std::pair<std::string, Tensor>>& named) {
    std::vector<std::string> names;
    for (const auto& [name, tensor] : named) names.push_back(name);
    return names;
  }
};

TEST_F(NnModule, NamesFollowFromMembers) {
  const Mlp model;
  EXPECT_THAT(Names(model.NamedParameters()),
              ElementsAre("up.weight", "up.bias", "down.weight", "down.bias"));
  EXPECT_THAT(Names(model.NamedBuffers()), ElementsAre("steps"));
  for (const Tensor& parameter : model.Parameters()) EXPECT_TRUE(parameter.requires_grad());
}

TEST_F(NnModule, MovingMakesTheSameValuesAndUploadsNoInitialisation) {
  Mlp model;
  const Tensor x = FromValues<float>({1, 2, 3, 4, 5, 6}, Dims{2, 3});
  ManualSeed(1);
  testing::TransferWatch watch(*client_);
  model.To(device());
  EXPECT_EQ(model.up.weight.device(), device());
  EXPECT_TRUE(model.up.weight.requires_grad());
  Sync();
  EXPECT_EQ(watch.Check({}), "") << "the device makes what is initialised";
  EXPECT_EQ(model(x.To(device())).dims(), (Dims{2, 2}));
}

TEST_F(NnModule, ASharedWeightStaysOneParameter) {
  Mlp model;
  struct Tied : nn::Module {
    explicit Tied(Mlp& other) : first(other.up.weight), second(other.up.weight) {
      RegisterParameter("first", first);
      RegisterParameter("second", second);
    }
    Tensor first, second;
  } tied(model);
  tied.To(device());
  EXPECT_EQ(tied.first.id(), tied.second.id());
  EXPECT_EQ(tied.NamedParameters().size(), 1u);
  EXPECT_EQ(tied.StateDict().size(), 2u);
  const Tensor sum = tied.first + tied.second;
  // A weight swapped under one of its two names changes in both places.
  const nn::TensorSwap swap(tied, {{"second", Ones({4, 3}, {.device = device()})}}, Caller::Here());
  EXPECT_EQ(Sum(tied.first).Item<float>(), 12);
}

TEST_F(NnModule, FunctionalCallTakesOtherTensorsAndRestoresThem) {
  Mlp model;
  nn::StateDict zeros;
  for (const auto& [name, parameter] : model.NamedParameters()) zeros[name] = Zeros(parameter.dims());
  zeros["down.bias"] = FromValues<float>({5, 6});
  const Tensor x = Ones({1, 3});
  const Tensor before = model(x);
  EXPECT_THAT(nn::FunctionalCall(model, zeros, x).ToVector<float>(), ElementsAre(5, 6));
  EXPECT_EQ(model(x).ToVector<float>(), before.ToVector<float>());
  EXPECT_EQ(KindOf(Thrown([&] { nn::FunctionalCall(model, {{"up.wieght", x}}, x); })), ErrorKind::kArgument);
  EXPECT_THAT(last_what_, HasSubstr("the nearest is up.weight"));
}

TEST_F(NnModule, LoadingChecksEverythingBeforeItChangesAnything) {
  Mlp model;
  nn::StateDict tensors;
  for (const auto& [name, tensor] : model.StateDict())
    tensors[name] = Ones(tensor.dims(), {.type = tensor.dtype()});
  tensors["up.weight"] = Ones({3, 4});
  tensors.erase("steps");
  tensors["extra"] = Ones({1});
  const std::vector<float> before = model.up.bias.ToVector<float>();
  EXPECT_EQ(KindOf(Thrown([&] { model.LoadStateDict(tensors); })), ErrorKind::kArgument);
  for (const char* fault : {"missing steps", "unknown extra", "up.weight is f32[3,4], here f32[4,3]"}) {
    EXPECT_THAT(last_what_, HasSubstr(fault));
  }
  EXPECT_EQ(model.up.bias.ToVector<float>(), before);
}

TEST_F(NnModule, SafetensorsRoundTripBitForBit) {
  const std::string path = ::testing::TempDir() + "/round_trip.safetensors";
  Mlp model;
  model.To(device());
  const Tensor view = Arange(0, 6, 1, {.type = kF32}).Reshape({2, 3}).T();
  nn::StateDict tensors = model.StateDict();
  tensors["view"] = view;
  tensors["flags"] = FromLiteral(Literal::Vector<bool>({true, false}));
  std::vector<std::string> done;
  nn::SaveSafetensors(path, tensors, [&](const nn::Progress& progress) { done.push_back(progress.name); });
  EXPECT_EQ(done.size(), tensors.size());
  const nn::StateDict loaded = nn::LoadSafetensors(path);
  ASSERT_EQ(loaded.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    EXPECT_EQ(loaded.at(name).ToLiteral(), tensor.ToLiteral()) << name;
  }
  Mlp other;
  nn::StateDict fitting = loaded;
  fitting.erase("view");
  fitting.erase("flags");
  other.LoadStateDict(fitting);
  EXPECT_EQ(other.down.weight.ToLiteral(), model.down.weight.ToLiteral());
  std::remove(path.c_str());
}

TEST_F(NnModule, BadFilesAreNamed) {
  Throws([] { (void)nn::LoadSafetensors("/nonexistent/weights.safetensors"); });
  EXPECT_THAT(last_what_, HasSubstr("/nonexistent/weights.safetensors: No such file or directory"));
  const std::string path = ::testing::TempDir() + "/bad.safetensors";
  const auto write = [&](const std::string& header, const std::string& data) {
    std::ofstream file(path, std::ios::binary);
    const uint64_t length = header.size();
    file.write(reinterpret_cast<const char*>(&length), sizeof(length));
    file << header << data;
  };
  const auto refused = [&](const std::string& header, const std::string& data, const char* why) {
    write(header, data);
    EXPECT_EQ(KindOf(Thrown([&] { nn::LoadSafetensors(path); })), ErrorKind::kCorrupt) << header;
    EXPECT_THAT(last_what_, HasSubstr(why));
  };
  refused("{", "", "parse error");
  refused(R"({"w": {"dtype": "F31", "shape": [1], "data_offsets": [0, 4]}})", "1234", "F31");
  refused(R"({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}})", "1234", "is not the 8 bytes");
  refused(R"({"w": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}})", "1234", "is not the 4 bytes");
  refused(R"({"w": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}})", "1234", "w");
  refused(R"({"w": {"dtype": "F32", "shape": [1.0], "data_offsets": [0, 4]}})", "1234",
          "1.0, which is not a count");
  refused(R"({"w": {"dtype": "F32", "shape": [true], "data_offsets": [0, 4]}})", "1234", "true");
  refused(R"({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4, 4]}})", "1234", "3 data_offsets");
  refused(R"({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4.5]}})", "1234", "4.5");
  // Lists in lists, so deep that a function that calls itself for each has no stack for them.
  constexpr size_t kDeep = 1'000'000;
  refused(R"({"w": {"dtype": "F32", "shape": )" + std::string(kDeep, '[') + std::string(kDeep, ']') +
              R"(, "data_offsets": [0, 4]}})",
          "1234", "an array, which is not a count");
  refused("[]", "", "not an object");
  // Each byte must belong to one tensor.
  const std::string two = R"({"v": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]},
                              "w": {"dtype": "U8", "shape": [4], "data_offsets": [)";
  refused(two + "2, 6]}}", "123456", "within another's");
  refused(two + "5, 9]}}", "123456789", "begins at 5, and the one before ends at 4");
  refused(two + "4, 8]}}", "123456789", "8 bytes of its data of 9");
  refused(two + R"(4, 8]}, "v": {"dtype": "U8", "shape": [4], "data_offsets": [8, 12]}})", "123456789012",
          "the name v twice");
  write(two + R"(4, 8]}, "none": {"dtype": "U8", "shape": [0], "data_offsets": [8, 8]}})", "12345678");
  EXPECT_THAT(nn::LoadSafetensors(path).at("w").ToVector<uint8_t>(), ElementsAre('5', '6', '7', '8'));
  std::remove(path.c_str());
  // A placeholder has no bytes to save; the failed save leaves no file.
  const absl::Status status = Thrown([&] {
    nn::SaveSafetensors(path, {{"p", Placeholder({2}, kF32, device())}});
  });
  EXPECT_EQ(KindOf(status), ErrorKind::kPlaceholder);
  EXPECT_FALSE(std::ifstream(path).good());
  EXPECT_FALSE(std::ifstream(path + ".unfinished").good());
}

}  // namespace
}  // namespace hlod
