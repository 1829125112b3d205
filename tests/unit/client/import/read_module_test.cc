// The first bytes of a module determine its form.
#include "client/import/import.h"
#include "common/hlo/proto/codec.h"
#include "common/hlo/text/text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hlod {
namespace {

constexpr std::string_view kHlo =
    "HloModule negate\nENTRY main { p = f32[3] parameter(0)\n ROOT r = f32[3] negate(p) }";
constexpr std::string_view kStablehlo = R"(module @negate {
  func.func public @main(%arg0: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.negate %arg0 : tensor<3xf32>
    return %0 : tensor<3xf32>
  }
})";

TEST(ReadModule, TakesEachForm) {
  const auto text = ReadModule(kHlo), stablehlo = ReadModule(kStablehlo);
  ASSERT_TRUE(text.ok()) << text.status();
  ASSERT_TRUE(stablehlo.ok()) << stablehlo.status();
  const auto proto = ReadModule(hlo::Serialize(**text));
  ASSERT_TRUE(proto.ok()) << proto.status();
  for (const auto* const module : {&text, &stablehlo, &proto}) {
    const hlo::Computation& entry = (**module)->entry();
    EXPECT_EQ(entry.root().opcode(), hlo::kNegate);
  }
}

TEST(ReadModule, ErrorsSayWhichFormWasTaken) {
  EXPECT_THAT(std::string(ReadModule("ML\xefR\x0dStableHLO").status().message()),
              testing::HasSubstr("byte "));
  EXPECT_THAT(std::string(ReadModule(" \n").status().message()), testing::HasSubstr("It is empty"));
}

TEST(ReadModule, AnHloModuleHasOneEntry) {
  EXPECT_TRUE(ReadModule(kHlo, {.entry = "main"}).ok());
  const auto proto = hlo::Serialize(**ReadModule(kHlo));
  for (const std::string_view bytes : {kHlo, std::string_view(proto)}) {
    EXPECT_THAT(std::string(ReadModule(bytes, {.entry = "foo"}).status().message()),
                testing::HasSubstr("The entry foo cannot be chosen: an HLO module has one entry, here main"));
  }
}

}  // namespace
}  // namespace hlod
