// Datasets from NumPy files and from CSV, and the loader's batches: order, bounds, errors.
#include <algorithm>
#include <fstream>
#include <numeric>

#include "tests/support/source_dir.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

using data::Batch;
using data::DataLoader;
using data::Dataset;

class Data : public TensorTest {
 protected:
  void TearDown() override {
    for (const std::string& path : written_) std::remove(path.c_str());
    TensorTest::TearDown();
  }
  std::string Write(const std::string& name, const std::string& contents) {
    written_.push_back(::testing::TempDir() + "/data-" + std::to_string(getpid()) + "-" + name);
    std::ofstream(written_.back(), std::ios::binary) << contents;
    return written_.back();
  }
  // Writes a file as numpy.save does (format version 1.0).
  std::string WriteNpy(const std::string& name, const std::string& dtype, const std::string& shape,
                       const std::string& elements, const std::string& fortran = "False") {
    std::string header =
        "{'descr': '" + dtype + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
    header += std::string(63 - (10 + header.size()) % 64, ' ') + "\n";
    const auto size = static_cast<uint16_t>(header.size());
    std::string start("\x93NUMPY\x01\x00", 8);
    start.append(reinterpret_cast<const char*>(&size), 2);
    return Write(name, start + header + elements);
  }
  static std::string Recorded(const std::string& name) {
    return (SourceDir() / "tests/unit/client/tensor/nn" / name).string();
  }
  static Dataset Numbers(int64_t count) {
    return Dataset::FromTensors({{"x", Arange(0, count)}, {"y", Arange(0, 2 * count).Reshape({count, 2})}});
  }
  static std::vector<int64_t> AllOf(DataLoader& loader) {
    std::vector<int64_t> all;
    for (const Batch& batch : loader) {
      const std::vector<int64_t> x = batch.at("x").ToVector<int64_t>();
      EXPECT_EQ(batch.at("y").Select(1, 0).ToVector<int64_t>(), (batch.at("x") * 2).ToVector<int64_t>());
      all.insert(all.end(), x.begin(), x.end());
    }
    return all;
  }
  void Refused(ErrorKind kind, const std::function<void()>& body, const char* why) {
    EXPECT_EQ(KindOf(Thrown(body)), kind) << why;
    EXPECT_THAT(last_what_, HasSubstr(why));
    EXPECT_THAT(last_what_, HasSubstr("data_test.cc:"));
  }

 private:
  std::vector<std::string> written_;
};

TEST_F(Data, BatchesComeInOrderAndTheLastMayBeSmall) {
  for (const int64_t prefetch : {0, 1, 3}) {
    DataLoader loader(Numbers(7), {.batch_size = 3, .prefetch = prefetch});
    EXPECT_EQ(loader.size(), 3);
    std::vector<Dims> dims;
    for (const Batch& batch : loader) dims.push_back(batch.at("y").dims());
    EXPECT_THAT(dims, ElementsAre(Dims{3, 2}, Dims{3, 2}, Dims{1, 2}));
    EXPECT_THAT(AllOf(loader), ElementsAre(0, 1, 2, 3, 4, 5, 6));
    DataLoader whole(Numbers(7), {.batch_size = 3, .drop_last = true, .prefetch = prefetch});
    EXPECT_EQ(whole.size(), 2);
    EXPECT_THAT(AllOf(whole), ElementsAre(0, 1, 2, 3, 4, 5));
    DataLoader none(Numbers(0), {.batch_size = 3, .prefetch = prefetch});
    EXPECT_THAT(AllOf(none), ElementsAre());
  }
}

TEST_F(Data, AnEpochsOrderFollowsFromTheSeedAndItsNumber) {
  const auto epochs = [](uint64_t seed, int64_t prefetch) {
    DataLoader loader(Numbers(50), {.batch_size = 8, .shuffle = true, .seed = seed, .prefetch = prefetch});
    const std::vector<int64_t> first_epoch = AllOf(loader);
    return std::pair(first_epoch, AllOf(loader));
  };
  const auto [first, second] = epochs(1, 2);
  EXPECT_EQ(epochs(1, 0), std::pair(first, second)) << "with and without a thread";
  EXPECT_NE(first, second);
  EXPECT_NE(epochs(2, 2).first, first);
  std::vector<int64_t> sorted = first, all(50);
  std::ranges::sort(sorted);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_NE(first, all);
  EXPECT_EQ(sorted, all) << "every example once";
  DataLoader later(Numbers(50), {.batch_size = 8, .shuffle = true, .seed = 1});
  later.SetEpoch(1);
  EXPECT_EQ(AllOf(later), second);
}

TEST_F(Data, BatchesAreOnTheDeviceAndNoMoreAreMadeThanWait) {
  DataLoader loader(Numbers(100), {.batch_size = 1, .prefetch = 2, .device = device()});
  int64_t taken = 0;
  for (const Batch& batch : loader) {
    EXPECT_EQ(batch.at("x").device(), device());
    EXPECT_EQ(batch.at("x").Item<int64_t>(), taken);
    // At most two arrays per batch: of batches taken, prefetched, and being made.
    EXPECT_LE(Account().host_to_device.calls, 2 * (++taken + 2 + 1));
    if (taken == 5) break;
  }
  // The loader's thread ended with the loop; another epoch begins from the start.
  EXPECT_EQ((*loader.begin()).at("x").Item<int64_t>(), 0);
}

TEST_F(Data, ArchivesOfNumpyAreRead) {
  // Arrays written by hlod have one size; those in NumPy's file have several.
  const std::string path = Write("examples.npz", "");
  nn::SaveNpz(path, {{"x", Arange(0, 6, 1, {.type = kF32}).Reshape({3, 2})}, {"y", Arange(3, 6)}});
  const Dataset dataset = Dataset::FromNpz(path);
  EXPECT_EQ(dataset.size(), 3);
  EXPECT_THAT(dataset.names(), ElementsAre("x", "y"));
  const Batch batch = dataset.Get({2, 0});
  EXPECT_EQ(batch.at("x").ToLiteral(), Literal::Array<float>({2, 2}, {4, 5, 0, 1}));
  EXPECT_THAT(batch.at("y").ToVector<int64_t>(), ElementsAre(5, 3));
  Refused(
      ErrorKind::kArgument, [] { Dataset::FromNpz(Recorded("stored.npz")); },
      "stored.npz: bools has 3 examples, and bf16 has 2");
  Refused(
      ErrorKind::kArgument, [] { Dataset::FromNpz("/nonexistent.npz"); },
      "/nonexistent.npz: No such file or directory");
}

TEST_F(Data, FilesOfNumpyAreMapped) {
  const std::string x = WriteNpy("x.npy", "<i2", "(3, 2)", std::string("\1\0\2\0\3\0\4\0\5\0\6\0", 12));
  const std::string y = WriteNpy("y.npy", "|b1", "(3,)", std::string("\1\0\2", 3));
  const Dataset dataset = Dataset::FromNpy({{"x", x}, {"y", y}});
  const Batch batch = dataset.Get({1, 0, 1});
  EXPECT_EQ(batch.at("x").ToLiteral(), Literal::Array<int16_t>({3, 2}, {3, 4, 1, 2, 3, 4}));
  EXPECT_THAT(batch.at("y").ToVector<bool>(), ElementsAre(false, true, false));
  Refused(
      ErrorKind::kCorrupt, [&] { dataset.Get({2}); }, "y.npy: a bool is neither 0 nor 1");
  Refused(
      ErrorKind::kArgument, [&] { dataset.Get({3}); }, "example 3 is not one of 3");
  // An error of the loader's thread is thrown in the loop, after the batches before it.
  DataLoader loader(dataset, {.batch_size = 2});
  int64_t batches = 0;
  const auto all = [&] {
    for (const Batch& each : loader) batches += each.at("x").size(0) / 2;
  };
  Refused(ErrorKind::kCorrupt, all, "y.npy: a bool is neither 0 nor 1");
  EXPECT_EQ(batches, 1);

  const std::string columns = WriteNpy("f.npy", "|u1", "(2, 2)", "1234", "True");
  Refused(
      ErrorKind::kArgument,
      [&] {
        Dataset::FromNpy({{"f", columns}});
      },
      "f.npy is in column-major order");
  const std::string cut = WriteNpy("cut.npy", "<f4", "(2,)", "1234");
  Refused(
      ErrorKind::kCorrupt,
      [&] {
        Dataset::FromNpy({{"c", cut}});
      },
      "cut.npy has 4 bytes of elements, and f32[2] takes 8");
  const std::string text = WriteNpy("text.npy", "<U1", "(1,)", "1234");
  Refused(
      ErrorKind::kCorrupt,
      [&] {
        Dataset::FromNpy({{"t", text}});
      },
      "the dtype (<U1) of");
  const std::string scalar = WriteNpy("scalar.npy", "|u1", "()", "1");
  Refused(
      ErrorKind::kArgument,
      [&] {
        Dataset::FromNpy({{"s", scalar}});
      },
      "s is a scalar");
}

TEST_F(Data, CsvIsReadByColumns) {
  const std::string path = Write("table.csv",
                                 "\xEF\xBB\xBFwidth,\"height, in m\",class\r\n"
                                 "1.5, -2e3 ,7\r\n\r\n\"0.25\",nan,-9007199254740993");
  const Dataset plain = Dataset::FromCsv(path);
  EXPECT_THAT(plain.names(), ElementsAre("width", "height, in m", "class"));
  EXPECT_THAT(plain.Get({1, 0}).at("width").ToVector<float>(), ElementsAre(0.25, 1.5));
  const Dataset grouped = Dataset::FromCsv(
      path, {.arrays = {{"x", {"height, in m", "width"}, kF64}, {"y", {"class"}, kS64}, {"w", {"width"}}}});
  const Batch batch = grouped.Get({0, 1});
  EXPECT_EQ(batch.at("x").dims(), (Dims{2, 2}));
  EXPECT_THAT(batch.at("x")[0].ToVector<double>(), ElementsAre(-2000, 1.5));
  EXPECT_THAT(batch.at("y").ToVector<int64_t>(), ElementsAre(7, -9007199254740993));
  EXPECT_EQ(batch.at("w").dtype(), kF32);
  const std::string bare = Write("bare.tsv", "1\t2\n3\t4\n");
  EXPECT_THAT(
      Dataset::FromCsv(bare, {.delimiter = '\t', .header = false}).Get({0, 1}).at("1").ToVector<float>(),
      ElementsAre(2, 4));
}

TEST_F(Data, FaultsOfCsvNameLineAndColumn) {
  const auto refused = [&](ErrorKind kind, const std::string& text, const data::CsvOptions& options,
                           const char* why) {
    const std::string path = Write("bad.csv", text);
    Refused(
        kind, [&] { Dataset::FromCsv(path, options); }, why);
  };
  refused(ErrorKind::kCorrupt, "a,b\n1,2\n3,x4\n", {},
          "bad.csv:3: \"x4\" of column b is not a number of type f32");
  refused(ErrorKind::kCorrupt, "a,b\n1,\n", {}, "bad.csv:2: \"\" of column b");
  refused(ErrorKind::kCorrupt, "a,b\n1,2,3\n", {}, "bad.csv:2 has 3 fields, and the first line 2");
  refused(ErrorKind::kCorrupt, "", {}, "bad.csv has no lines");
  refused(ErrorKind::kCorrupt, "a\n2147483648\n", {.arrays = {{"a", {"a"}, kS32}}},
          "\"2147483648\" of column a");
  refused(ErrorKind::kArgument, "a,b\n", {.arrays = {{"x", {"c"}}}}, "has no column c; it has a, b");
  refused(ErrorKind::kArgument, "a\n", {.arrays = {{"x", {"a"}, kBF16}}}, "is f32, f64, s32 or s64");
}

TEST_F(Data, WrongOptionsAreNamed) {
  Refused(
      ErrorKind::kArgument, [] { DataLoader(Numbers(1), {.batch_size = 0}); },
      "batch_size (0) is at least 1");
  Refused(
      ErrorKind::kArgument, [] { DataLoader(Numbers(1), {.prefetch = -1}); }, "prefetch (-1) at least 0");
  Refused(
      ErrorKind::kArgument,
      [] {
        Dataset::FromTensors({{"a", Ones({2})}, {"b", Ones({3})}});
      },
      "b has 3 examples, and a has 2");
  Refused(
      ErrorKind::kArgument, [] { Dataset::FromTensors({}); }, "at least one array");
}

}  // namespace
}  // namespace hlod
