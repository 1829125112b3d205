// Results with bounded dynamic dimensions through a daemon. The elements are XLA's (jaxlib 0.10.2 on the CPU
// returns them at the start of an array of the bounds); XLA's Python client does not report the sizes.
#include <gmock/gmock.h>

#include <fstream>

#include "tests/integration/support/hloctl.h"

namespace hlod {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kProgram = R"(
HloModule m
ENTRY e {
  p = f32[6] parameter(0)
  n = s32[] parameter(1)
  d = f32[<=6] set-dimension-size(p, n), dimensions={0}
  b = f32[<=6,4] broadcast(d), dimensions={0}
  c = f32[2,<=6] broadcast(d), dimensions={1}
  ROOT r = (f32[<=6], f32[<=6,4], f32[2,<=6], s32[]) tuple(d, b, c, n)
}
)";

class Dynamic : public Hloctl {};

TEST_F(Dynamic, ResultsHaveTheirActualSizes) {
  const Executable program = Must(client_->CompileText(kProgram));
  const Device device = client_->device(0);
  const Buffer p = Must(device.Upload(Literal::Vector<float>({1, 2, 3, 4, 5, 6})));
  const std::vector<Buffer> results =
      Must(program.Execute({p, Must(device.Upload(Literal::Scalar<int32_t>(3)))}));
  EXPECT_EQ(hlo::ToStringNoLayout(results[0].shape()), "f32[<=6]");
  EXPECT_EQ(Must(results[0].ToLiteral()), Literal::Vector<float>({1, 2, 3}));
  EXPECT_EQ(Must(results[1].ToLiteral()),
            Literal::Array<float>({3, 4}, {1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}));
  EXPECT_EQ(Must(results[2].ToLiteral()), Literal::Array<float>({2, 3}, {1, 2, 3, 1, 2, 3}));
  const std::vector<Buffer> none =
      Must(program.Execute({p, Must(device.Upload(Literal::Scalar<int32_t>(0)))}));
  EXPECT_EQ(Must(none[0].ToLiteral()), Literal::Vector<float>({}));
  // A size beyond the bound fails the run.
  const std::vector<Buffer> beyond =
      Must(program.Execute({p, Must(device.Upload(Literal::Scalar<int32_t>(7)))}));
  EXPECT_THAT(std::string(beyond[0].ToLiteral().status().message()), HasSubstr("d sets"));
  // A dynamic array is refused where a static one is required.
  const Executable add = Must(client_->CompileText(AddProgram(6)));
  const auto refused = add.Execute({results[0], p});
  EXPECT_EQ(KindOf(refused.status()), ErrorKind::kArgument) << refused.status();
}

TEST_F(Dynamic, HloctlPrintsWhatIsThere) {
  std::ofstream(folder_ / "dynamic.hlo")
      << "HloModule m\nENTRY e {\n  p = f32[6] iota(), iota_dimension=0\n"
         "  n = s32[] constant(2)\n"
         "  ROOT d = f32[<=6] set-dimension-size(p, n), dimensions={0}\n}\n";
  const Output ran = Run("run " + File("dynamic.hlo"));
  EXPECT_EQ(ran.code, 0) << ran.text;
  EXPECT_THAT(ran.text, HasSubstr("result 0: f32[2] of f32[<=6] {0, 1}"));
  EXPECT_EQ(RunJson("run " + File("dynamic.hlo"))["results"][0]["value_shape"], "f32[2]");
}

}  // namespace
}  // namespace hlod
