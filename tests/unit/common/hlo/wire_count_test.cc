// Counts on the wire format of a module, before it is parsed.
#include "common/hlo/proto/wire_count.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "common/base/errors/error.h"
#include "common/hlo/proto/codec.h"
#include "common/hlo/text/text.h"
#include "gmock/gmock.h"
#include "tests/unit/common/hlo/codec_test_util.h"

namespace hlod::hlo::codec {
namespace {

using ::testing::HasSubstr;

// Returns one length-delimited field.
std::string Field(int number, const std::string& payload) {
  std::string bytes(1, static_cast<char>(number << 3 | 2));
  size_t length = payload.size();
  for (; length >= 128; length >>= 7) bytes += static_cast<char>((length & 127) | 128);
  return bytes + static_cast<char>(length) + payload;
}

std::string Repeat(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

// Returns the memory of the parsed message, as protobuf counts it.
int64_t ParsedBytes(const std::string& bytes) {
  xla::HloModuleProto module;
  EXPECT_TRUE(module.ParseFromString(bytes));
  return static_cast<int64_t>(module.SpaceUsedLong());
}

constexpr int kComputations = xla::HloModuleProto::kComputationsFieldNumber,
              kInstructions = xla::HloComputationProto::kInstructionsFieldNumber;

TEST(CountWire, IsNotLessThanTheMemoryOfTheParsedMessage) {
  using I = xla::HloInstructionProto;
  const auto module = [](const std::string& instruction, int count) {
    return Field(kComputations, Repeat(Field(kInstructions, instruction), count));
  };
  std::string packed(1000, '\x01'), unpacked;
  for (int i = 0; i < 1000; ++i) unpacked += std::string{'\x88', '\x02', '\x01'};  // Field 33, a varint.
  xla::HloInstructionProto operands;
  for (int i = 0; i < 1000; ++i) operands.add_operand_ids(i);
  for (const std::string& bytes :
       {std::string(), module("", 10000), module(Field(I::kShapeFieldNumber, ""), 1000),
        module(Field(I::kNameFieldNumber, "x"), 1000),
        module(Field(I::kNameFieldNumber, std::string(1000, 'x')), 100),
        module(Field(I::kShapeFieldNumber, Repeat(Field(4, ""), 100)), 10),  // tuple_shapes
        module(Field(I::kLiteralFieldNumber, Field(4, packed)), 10),         // s32s
        module(Field(I::kFrontendAttributesFieldNumber, Field(1, Field(1, "key") + Field(2, "value"))), 100),
        module(operands.SerializeAsString(), 10), module(unpacked, 10),
        Field(200 - 192, Repeat(Field(15, "unknown"), 100)), Repeat(Field(15, ""), 1000)}) {
    const auto count = CountWire(bytes);
    ASSERT_TRUE(count.has_value());
    EXPECT_GE(count->memory_bytes, ParsedBytes(bytes)) << bytes.size();
  }
  for (const std::filesystem::path& path : JaxCases()) {
    const std::string bytes = ReadFile(path / "module.pb");
    EXPECT_GE(CountWire(bytes)->memory_bytes, ParsedBytes(bytes)) << path;
    EXPECT_LE(CountWire(bytes)->memory_bytes, 48 * static_cast<int64_t>(bytes.size())) << path;
  }
}

TEST(CountWire, CountsInstructions) {
  EXPECT_EQ(CountWire("")->instructions, 0);
  EXPECT_EQ(CountWire(Field(kComputations, Repeat(Field(kInstructions, ""), 7)) +
                      Field(kComputations, Field(kInstructions, "")))
                ->instructions,
            8);
  for (const std::filesystem::path& path : JaxCases()) {
    const std::string bytes = ReadFile(path / "module.pb");
    xla::HloModuleProto module;
    ASSERT_TRUE(module.ParseFromString(bytes));
    int64_t instructions = 0;
    for (const auto& computation : module.computations()) instructions += computation.instructions_size();
    EXPECT_EQ(CountWire(bytes)->instructions, instructions) << path;
  }
}

TEST(CountWire, RefusesWhatIsNotAModule) {
  const std::string bytes = Field(kComputations, Repeat(Field(kInstructions, Field(1, "name")), 3));
  for (size_t length = 1; length < bytes.size(); ++length)
    EXPECT_FALSE(CountWire(bytes.substr(0, length)).has_value()) << length;
  EXPECT_FALSE(CountWire(std::string(1, '\x0b')).has_value()) << "a group";
  EXPECT_FALSE(CountWire(std::string(10, '\xff')).has_value());
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep = Field(4, deep);  // Nested shapes.
  EXPECT_FALSE(CountWire(Field(kComputations, Field(kInstructions, Field(3, deep)))).has_value());
}

TEST(FromSerialized, RefusesMoreThanTheLimitsBeforeItParses) {
  const std::string many = Field(kComputations, Repeat(Field(kInstructions, ""), 100'000));
  const absl::Status counted = FromSerialized(many, {.instructions_max = 99'999}).status();
  EXPECT_EQ(ErrorOf(counted).kind, ErrorKind::kLimit);
  EXPECT_THAT(std::string(counted.message()),
              HasSubstr("has 100000 instructions; the limit instructions_max is 99999"));
  const absl::Status large = FromSerialized(many, {.parse_bytes_max = int64_t{1} << 40}).status();
  EXPECT_EQ(ErrorOf(large).kind, ErrorKind::kLimit) << "some 370 bytes for each of the wire";
  EXPECT_THAT(std::string(large.message()), HasSubstr("as it is parsed"));
  EXPECT_EQ(FromSerialized(Field(kComputations, ""), {.parse_bytes_max = 0}).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(FromSerialized, TakesTheShortestInstructions) {
  std::string text = "HloModule m\n\nENTRY e {\n a0 = f32[8] parameter(0)\n";
  for (int i = 1; i < 20'000; ++i) absl::StrAppend(&text, " a", i, " = f32[8] negate(a", i - 1, ")\n");
  const auto module = ParseModule(text + "}\n");
  ASSERT_TRUE(module.ok()) << module.status();
  const std::string bytes = Serialize(**module);
  EXPECT_TRUE(FromSerialized(bytes, {.parse_bytes_max = int64_t{1} << 40}).ok());
  EXPECT_LE(CountWire(bytes)->memory_bytes, 48 * static_cast<int64_t>(bytes.size()));
}

TEST(FromSerialized, StopsWhenInterrupted) {
  std::string text = "HloModule m\n\nENTRY e {\n a0 = f32[8] parameter(0)\n";
  for (int i = 1; i < 5'000; ++i) absl::StrAppend(&text, " a", i, " = f32[8] negate(a", i - 1, ")\n");
  const auto module = ParseModule(text + "}\n");
  ASSERT_TRUE(module.ok()) << module.status();
  int looks = 0;
  const auto stopped = FromSerialized(Serialize(**module), {.interrupted = [&] {
                                        return ++looks < 3 ? absl::OkStatus() : absl::CancelledError("stop");
                                      }});
  EXPECT_EQ(stopped.status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(looks, 3);
}

}  // namespace
}  // namespace hlod::hlo::codec
