// Reads results of jax.export's Exported.serialize(). The program has the arguments of the exported function,
// also those that its module does not take.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "client/import/import.h"
#include "common/base/errors/error.h"
#include "common/evaluator/evaluator.h"
#include "tests/support/source_dir.h"

namespace hlod::exported {
namespace {

using hlo::Literal;
using hlo::Shape;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Fixture(const std::string& name) {
  std::ifstream file(SourceDir() / "tests/unit/client/import/exported" / (name + ".exported"),
                     std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  EXPECT_FALSE(bytes.str().empty()) << name;
  return bytes.str();
}

Literal EvaluatedOf(const hlo::Module& module, const std::vector<Literal>& arguments) {
  std::vector<const Literal*> pointers;
  for (const Literal& argument : arguments) pointers.push_back(&argument);
  absl::StatusOr<Literal> result = Evaluate(module, pointers);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *std::move(result) : Literal();
}

Literal Matrix(int64_t rows, int64_t columns, std::initializer_list<float> values) {
  Literal matrix(Shape::Array(hlo::kF32, {rows, columns}));
  std::copy(values.begin(), values.end(), matrix.data<float>().begin());
  return matrix;
}

// The arguments in the order of the tree: b, w, x. [1 2 3] [[1 0] [0 1] [1 1]] is [4 5], and [0 1 0] times
// the matrix is [0 1].
TEST(Exported, SizesOfSymbolsComeFromTheArguments) {
  const auto module = ReadModule(Fixture("symbolic"), {.sizes = {{2, {2, 3}}}});
  ASSERT_TRUE(module.ok()) << module.status();
  const Literal result = EvaluatedOf(
      **module,
      {Literal::Vector<float>({10, 20}), Matrix(3, 2, {1, 0, 0, 1, 1, 1}), Matrix(2, 3, {1, 2, 3, 0, 1, 0})});
  ASSERT_EQ(result.elements().size(), 2);
  EXPECT_EQ(result.elements()[0].data<int32_t>()[0], 2);
  EXPECT_THAT(result.elements()[1].data<float>(), ElementsAre(14, 25, 10, 21));
}

TEST(Exported, ASizeThatIsNotGivenIsNamed) {
  const auto module = ReadModule(Fixture("symbolic"));
  ASSERT_FALSE(module.ok());
  EXPECT_THAT(ErrorOf(module.status()).text, HasSubstr("Argument 2 is f32[?,3]: its size is not known"));
}

// The result is that of the CPU's branch among three platforms, 2 x + k. Arguments 0 and 2 exist, though the
// module does not have them.
TEST(Exported, UnusedArgumentsStayAndTheCpusBranchIsTaken) {
  const auto module = ReadModule(Fixture("platforms"));
  ASSERT_TRUE(module.ok()) << module.status();
  const hlo::ProgramShape shape = (*module)->entry().program_shape();
  std::vector<std::string> parameters;
  for (const Shape& parameter : shape.parameters) parameters.push_back(hlo::ToStringNoLayout(parameter));
  EXPECT_THAT(parameters, ElementsAre("f32[2,3]", "f32[2]", "s8[4]", "f32[]"));
  const Literal result = EvaluatedOf(**module, {Matrix(2, 3, {}), Literal::Vector<float>({1, -2}),
                                                Literal(Shape::Array(hlo::kS8, {4})), Literal::Scalar(0.5f)});
  EXPECT_THAT(result.data<float>(), ElementsAre(2.5, -3.5));
  for (hlo::ComputationId c = 0; c < (*module)->computation_count(); ++c) {
    const hlo::Computation& computation = (*module)->computation(c);
    for (hlo::NodeId id = 0; id < computation.size(); ++id)
      EXPECT_NE(computation[id].opcode(), hlo::kConditional);
  }
}

TEST(Exported, OnePlatformAndKeys) {
  const auto plain = ReadModule(Fixture("one_platform"));
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_THAT(EvaluatedOf(**plain, {Literal::Vector<int32_t>({1, 41})}).data<int32_t>(), ElementsAre(2, 42));
  const auto key = ReadModule(Fixture("key"));
  ASSERT_TRUE(key.ok()) << key.status();
  EXPECT_EQ(hlo::ToStringNoLayout((*key)->entry().program_shape().parameters[0]), "u32[2]");
}

TEST(Exported, APlatformThatIsNotHereIsNamed) {
  const auto module = ReadModule(Fixture("no_cpu"));
  EXPECT_EQ(module.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(ErrorOf(module.status()).text, HasSubstr("lowered for the platforms tpu, cuda"));
}

// A file that is cut anywhere, or has any byte changed, is a module or an error. In this file the vtables
// come before the data.
TEST(Exported, DamagedFilesAreRefused) {
  const std::string bytes = Fixture("one_platform");
  for (size_t length = 0; length < bytes.size(); ++length) {
    const std::string cut = bytes.substr(0, length);
    const bool is_read = stablehlo::IsExported(cut) && stablehlo::ParseExported(cut).ok();
    EXPECT_FALSE(is_read && length < bytes.size() / 2) << length;
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const char flip : {'\x01', '\x80', '\xff'}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      if (stablehlo::IsExported(damaged)) ReadModule(damaged).IgnoreError();
    }
  }
}

}  // namespace
}  // namespace hlod::exported
