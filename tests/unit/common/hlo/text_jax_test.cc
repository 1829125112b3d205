// XLA's own text of the modules that JAX lowered: it parses to the same program as the proto, and hlod's text
// parses back.
#include "common/hlo/proto/codec.h"
#include "common/hlo/text/text.h"
#include "tests/unit/common/hlo/codec_test_util.h"

namespace hlod::hlo {
namespace {

class JaxText : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(JaxText, ParsesToTheSameProgramAsTheProto) {
  const auto from_text = ParseModule(ReadFile(GetParam() / "module.txt"));
  ASSERT_TRUE(from_text.ok()) << from_text.status();
  const auto from_proto = FromSerialized(ReadFile(GetParam() / "module.pb"));
  ASSERT_TRUE(from_proto.ok()) << from_proto.status();
  ExpectSameProgram(**from_text, **from_proto);
}

TEST_P(JaxText, PrintedAndParsedAgainIsTheSameProgramAndTheSameText) {
  const auto module = FromSerialized(ReadFile(GetParam() / "module.pb"));
  ASSERT_TRUE(module.ok()) << module.status();
  const std::string text = ToText(**module);
  const auto again = ParseModule(text);
  ASSERT_TRUE(again.ok()) << again.status();
  ExpectSameProgram(**module, **again);
  EXPECT_EQ(ToText(**again), text);
}

// Removes blanks and comments: printers differ in the spacing of a literal.
std::string Squeezed(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "/*") == 0) {
      i = std::min(text.find("*/", i), text.size()) + 1;
    } else if (text[i] != ' ' && text[i] != '\n') {
      out += text[i];
    }
  }
  return out;
}

TEST_P(JaxText, IsPrintedAsXlaPrintsIt) {
  const auto module = FromSerialized(ReadFile(GetParam() / "module.pb"));
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(Squeezed(ToText(**module, {.metadata = false})), Squeezed(ReadFile(GetParam() / "module.txt")));
}

INSTANTIATE_TEST_SUITE_P(Cases, JaxText, testing::ValuesIn(JaxCases()),
                         [](const auto& info) { return info.param.filename().string(); });

}  // namespace
}  // namespace hlod::hlo
