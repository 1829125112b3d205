// Legal but narrow limits: programs, uploads and staged uploads of many pieces work under them.
#include <algorithm>

#include "common/base/sha256.h"
#include "tests/integration/support/harness.h"

namespace hlod {
namespace {

struct Narrow {
  std::string name, chunk_bytes;
};

class NarrowLimits : public ::testing::TestWithParam<Narrow> {
 protected:
  const testing::Daemon daemon_ =
      Must(testing::Daemon::Start({.flags = {"--commands-in-flight-max", "64", "--chunk-bytes-max",
                                             GetParam().chunk_bytes, "--inline-bytes-max", "4096"}}));
  const Client client_ = Must(daemon_.Connect());
};

// Returns a program whose result is the constant `value`.
std::string ConstantProgram(const Literal& value) {
  Module module("constant");
  hlo::Builder b(module, "main");
  EXPECT_OK(b.Build(b.Constant(value)));
  return hlo::Serialize(module);
}

TEST_P(NarrowLimits, AProgramOfManyChunksCompiles) {
  const Literal value = Counting(2 << 20);
  const Executable program = Must(client_.CompileSerialized(ConstantProgram(value)));
  EXPECT_TRUE(Must(Must(program.Execute({}))[0].ToLiteral()) == value);
}

TEST_P(NarrowLimits, AnUploadOfManyPiecesArrives) {
  const Literal value = Counting(2 << 20);
  EXPECT_TRUE(Must(Must(client_.device(0).Upload(value)).ToLiteral()) == value);
}

TEST_P(NarrowLimits, AStagedUploadOfManyPiecesArrives) {
  const Literal value = Counting(14 << 20);
  StagedUpload staged = Must(client_.device(0).Stage(value.shape()));
  ASSERT_TRUE(staged.shared());
  std::copy(value.bytes().begin(), value.bytes().end(), staged.bytes().begin());
  const Buffer buffer = Must(staged.Commit());
  ASSERT_OK(buffer.ready().Await());
  EXPECT_TRUE(Must(buffer.ToLiteral()) == value);
  EXPECT_EQ(Must(client_.Stats()).host_to_device, (Amount{56 << 20, 1}));
}

INSTANTIATE_TEST_SUITE_P(Of, NarrowLimits,
                         ::testing::Values(Narrow{"4KiB", "4096"}, Narrow{"512KiB", "524288"}),
                         [](const auto& info) { return "Chunks" + info.param.name; });

class ProgramLimits : public DaemonTest {};

TEST_F(ProgramLimits, AProgramOfMoreThan16MiBIsDescribed) {
  const std::string bytes = ConstantProgram(Counting(5 << 20));
  ASSERT_GT(bytes.size(), size_t{16} << 20);
  const Executable program = Must(client_->CompileSerialized(bytes));
  const CompileResult described = Must(program.Describe());
  EXPECT_EQ(described.digest, ToHex(Sha256(bytes)));
  EXPECT_EQ(described.output_bytes, 20 << 20);
}

}  // namespace
}  // namespace hlod
