// Tensors in NumPy's archives: compared with NumPy in both directions, and damaged files.
#include <cstdio>
#include <filesystem>

#include "common/base/system/file.h"
#include "tests/support/python.h"
#include "tests/support/source_dir.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

// Returns the path of a file that numpy.savez or savez_compressed wrote (generate_npz.py).
std::string Recorded(const std::string& name) {
  return (SourceDir() / "tests/unit/client/tensor/nn" / name).string();
}

class Npz : public TensorTest {
 protected:
  void TearDown() override {
    std::remove(path_.c_str());
    TensorTest::TearDown();
  }
  const std::string path_ = ::testing::TempDir() + "/tensors-" + std::to_string(getpid()) + ".npz";
};

TEST_F(Npz, LoadsWhatNumpySaved) {
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    const nn::StateDict tensors = nn::LoadNpz(Recorded(name));
    std::vector<std::string> names;
    for (const auto& [key, tensor] : tensors) names.push_back(key);
    EXPECT_THAT(names, ElementsAre("bf16", "bools", "complex", "empty", "fortran", "half", "layer.0/weight",
                                   "scalar", "threes", "unsigned"));
    EXPECT_EQ(tensors.at("layer.0/weight").ToLiteral(), Literal::Array<float>({2, 3}, {0, 1, 2, 3, 4, 5}));
    // The array was written in column-major order.
    EXPECT_EQ(tensors.at("fortran").ToLiteral(), Literal::Array<double>({2, 2}, {1.5, 2.5, 3.5, 4.5}));
    EXPECT_EQ(tensors.at("scalar").ToLiteral(), Literal::Scalar<int64_t>(-7));
    EXPECT_EQ(tensors.at("empty").dims(), (Dims{0, 3}));
    EXPECT_EQ(tensors.at("bools").ToLiteral(), Literal::Vector<bool>({true, false, true}));
    EXPECT_EQ(tensors.at("complex").ToLiteral(), Literal::Vector<std::complex<float>>({{1, -2}}));
    EXPECT_EQ(tensors.at("unsigned").ToLiteral(), Literal::Vector<uint8_t>({0, 255}));
    EXPECT_EQ(tensors.at("half").dtype(), kF16);
    EXPECT_THAT(tensors.at("half").To(kF32).ToVector<float>(), ElementsAre(0.5, 65504));
    EXPECT_EQ(tensors.at("bf16").dtype(), kBF16);
    EXPECT_THAT(tensors.at("bf16").To(kF32).ToVector<float>(), ElementsAre(1, -2.5));
    EXPECT_THAT(tensors.at("threes").ToVector<float>(),
                ::testing::AllOf(::testing::SizeIs(1000), ::testing::Each(3)));
    // Loads to a device as to the host.
    EXPECT_EQ(Sum(tensors.at("layer.0/weight").To(device())).Item<float>(), 15);
  }
}

nn::StateDict Examples(const Device& device) {
  nn::StateDict tensors;
  tensors["on.device"] = Arange(0, 6, 1, {.type = kF32, .device = device}).Reshape({2, 3});
  tensors["view"] = Arange(0, 6, 1, {.type = kF64}).Reshape({2, 3}).T();
  tensors["large"] = Arange(0, 300'000, 1, {.type = kS32});
  tensors["scalar"] = Full({}, 2.5, {.type = kF16});
  tensors["flags"] = FromLiteral(Literal::Vector<bool>({true, false}));
  tensors["empty"] = Zeros({0, 4}, {.type = kU8});
  tensors["bf16"] = Full({3}, 1.5, {.type = kBF16});
  tensors["größe"] = FromLiteral(Literal::Vector<std::complex<double>>({{1, 2}}));
  return tensors;
}

TEST_F(Npz, RoundTripsBitForBit) {
  const nn::StateDict tensors = Examples(device());
  for (const nn::NpzCompression compression : {nn::NpzCompression::kStored, nn::NpzCompression::kDeflated}) {
    std::vector<std::string> done;
    nn::SaveNpz(path_, tensors, compression,
                [&](const nn::Progress& progress) { done.push_back(progress.name); });
    EXPECT_EQ(done.size(), tensors.size());
    const nn::StateDict loaded = nn::LoadNpz(path_);
    ASSERT_EQ(loaded.size(), tensors.size());
    for (const auto& [name, tensor] : tensors) {
      EXPECT_EQ(loaded.at(name).ToLiteral(), tensor.ToLiteral()) << name;
    }
    // Ascending numbers compress.
    EXPECT_EQ(std::filesystem::file_size(path_) < 1'000'000, compression == nn::NpzCompression::kDeflated);
  }
  EXPECT_FALSE(std::filesystem::exists(path_ + ".unfinished"));
}

TEST_F(Npz, NumpyReadsWhatIsSaved) {
  const std::optional<std::string> python = PythonWith("numpy");
  if (!python.has_value()) GTEST_SKIP() << kNoPython << "numpy";
  for (const nn::NpzCompression compression : {nn::NpzCompression::kStored, nn::NpzCompression::kDeflated}) {
    nn::SaveNpz(path_, Examples(device()), compression);
    const std::string program = R"(
import numpy as np, sys, zipfile
assert zipfile.ZipFile(sys.argv[1]).testzip() is None
a = np.load(sys.argv[1])
def same(name, want):
    got = a[name]
    assert got.dtype == want.dtype and got.shape == want.shape and (got == want).all(), (name, got, want)
same("on.device", np.arange(6, dtype=np.float32).reshape(2, 3))
same("view", np.arange(6, dtype=np.float64).reshape(2, 3).T)
same("large", np.arange(300000, dtype=np.int32))
same("scalar", np.array(2.5, dtype=np.float16))
same("flags", np.array([True, False]))
same("empty", np.zeros((0, 4), dtype=np.uint8))
same("größe", np.array([1 + 2j]))
assert a["bf16"].dtype == np.dtype("V2") and a["bf16"].tobytes() == b"\xc0\x3f" * 3
assert len(a.files) == 8, a.files
)";
    const std::string script = path_ + ".py";
    ASSERT_TRUE(WriteFile(script, program).ok());
    EXPECT_EQ(std::system((*python + " " + script + " " + path_).c_str()), 0);
    std::remove(script.c_str());
  }
}

TEST_F(Npz, BadFilesAreNamed) {
  Throws([] { nn::LoadNpz("/nonexistent/weights.npz"); });
  EXPECT_THAT(last_what_, HasSubstr("/nonexistent/weights.npz: No such file or directory"));
  const auto refused = [&](const std::string& bytes, const char* why) {
    ASSERT_TRUE(WriteFile(path_, bytes).ok());
    EXPECT_EQ(KindOf(Thrown([&] { nn::LoadNpz(path_); })), ErrorKind::kCorrupt);
    EXPECT_THAT(last_what_, HasSubstr(path_));
    EXPECT_THAT(last_what_, HasSubstr(why));
  };
  refused("", "it is too short");
  refused("not an archive, but long enough for one", "the record at its end is missing");
  refused(ReadFile(Recorded("strings.npz")).value(), "the dtype (<U5) of names.npy is not one of a tensor");
  EXPECT_EQ(KindOf(Thrown([&] {
              nn::SaveNpz(path_, {{"w", Zeros({2}, {.type = kF8E5M2})}});
            })),
            ErrorKind::kArgument);
  EXPECT_THAT(last_what_, HasSubstr("w: the format has no name for f8e5m2"));
  Throws([&] { nn::SaveNpz("/nonexistent/w.npz", {{"w", Zeros({2})}}); });
  EXPECT_THAT(last_what_, HasSubstr("/nonexistent/w.npz: No such file or directory"));
}

// A file cut anywhere, or with one byte changed anywhere, is an error or has the same elements under the same
// names.
TEST_F(Npz, NoDamageChangesElementsOrCrashes) {
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    const std::string good = ReadFile(Recorded(name)).value();
    const nn::StateDict expected = nn::LoadNpz(Recorded(name));
    int refused = 0;
    const auto look = [&](const std::string& bytes) {
      ASSERT_TRUE(WriteFile(path_, bytes).ok());
      try {
        for (const auto& [key, tensor] : nn::LoadNpz(path_)) {
          const Literal read = tensor.ToLiteral();
          if (const auto found = expected.find(key); found != expected.end()) {
            EXPECT_EQ(read, found->second.ToLiteral()) << key;
          }
        }
      } catch (const Error& error) {
        ++refused;
      }
    };
    for (size_t length = 0; length < good.size(); length += 13) look(good.substr(0, length));
    EXPECT_EQ(refused, static_cast<int>((good.size() + 12) / 13));
    for (size_t at = 0; at < good.size(); at += 3) {
      std::string bytes = good;
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << (at % 8)));
      look(bytes);
    }
  }
}

}  // namespace
}  // namespace hlod
