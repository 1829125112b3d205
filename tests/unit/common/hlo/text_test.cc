// HLO text written by hand: forms that people and older tools write, numbers exact to the last bit, and
// hostile texts.
#include "common/hlo/text/text.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/hlo/proto/codec.h"
#include "gmock/gmock.h"
#include "proto/xla/hlo.pb.h"
#include "tests/support/source_dir.h"
#include "tests/unit/common/hlo/codec_test_util.h"

namespace hlod::hlo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::unique_ptr<Module> Parse(const std::string& text) {
  auto module = ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status() << "\n" << text;
  return module.ok() ? *std::move(module) : nullptr;
}

TEST(TextForm, AListOfComputationsNeedsNeitherHeaderNorEntryNorSigils) {
  const auto module = Parse("f { ROOT a = f32[] parameter(0) }  %g { %b = f32[] parameter(0) }");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->computation_count(), 2u);
  EXPECT_EQ(module->entry().name(), "g");
  EXPECT_EQ(module->entry().root().name(), "b");
}

TEST(TextForm, TheLongFormWithSigilsSignaturesAndOperandShapesSaysTheSame) {
  const auto module = Parse(
      "HloModule m\n"
      "%add (a: f32[], b: f32[]) -> f32[] {\n"
      "  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n  ROOT %c = f32[] add(f32[] %a, f32[] %b)\n}\n"
      "ENTRY %main (x: f32[4,8], t: (s32[], f32[2])) -> f32[4] {\n"
      "  %x = f32[4,8]{1,0} parameter(0)\n  %t = (s32[], f32[2]{0}) parameter(1)\n  %z = f32[] constant(0)\n"
      "  ROOT %r = f32[4]{0} reduce(f32[4,8]{1,0} %x, f32[] %z), dimensions={1}, to_apply=%add\n}\n");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(ToText(module->entry().root(), *module),
            "r = f32[4]{0} reduce(x, z), dimensions={1}, to_apply=add");
}

TEST(TextForm, AnAsynchronousInstructionMayStandForTheComputationThatItIs) {
  const auto module = Parse(
      "ENTRY main {\n  x = f32[8] parameter(0)\n"
      "  a = ((f32[8]), f32[2], u32[]) slice-start(x), slice={[0:2]}, async_execution_thread=\"side\"\n"
      "  b = ((f32[8]), f32[2], u32[]) slice-update(a), async_group_id=0\n"
      "  ROOT c = f32[2] slice-done(b), calls=a.wrapped\n}\n");
  ASSERT_NE(module, nullptr);
  ASSERT_EQ(module->computation_count(), 2u);
  EXPECT_EQ(module->computation(0).config.execution_thread, "side");
  EXPECT_EQ(ToText(module->computation(0).root(), *module),
            "async_wrapped = f32[2] slice(async_param.0), slice={[0:2]}");
  EXPECT_EQ(ToText(module->entry()[1], *module),
            "a = ((f32[8]), f32[2], u32[]) slice-start(x), slice={[0:2]}, async_execution_thread=\"side\"");
  EXPECT_EQ(ToText(module->entry()[2], *module), "b = ((f32[8]), f32[2], u32[]) slice-update(a)");
  EXPECT_EQ(module->entry().root().opcode(), kAsyncDone);
  EXPECT_THAT(
      std::string(ParseModule("ENTRY e {\n x = f32[] parameter(0)\n ROOT a = f32[] negate-start(x)\n}\n")
                      .status()
                      .message()),
      HasSubstr("negate-start needs its shape"));
}

TEST(TextForm, NamesMayBeUsedBeforeTheyAreDefined) {
  const auto module = Parse(
      "ENTRY main { ROOT y = f32[8] call(x), to_apply=f   x = f32[8] parameter(0) }"
      "f { b = f32[8] negate(a)  a = f32[8] parameter(0) }");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->computation(0).name(), "f");
  EXPECT_EQ(module->entry().name(), "main");
  EXPECT_EQ(module->entry().root().name(), "y");
  EXPECT_THAT(module->entry().root().operands(), ElementsAre(0));
  // Without ROOT, the last instruction of the text is the root, even when sorting moves it.
  EXPECT_EQ(module->computation(0).root().name(), "a");
}

TEST(TextForm, ComputationsMayBeWrittenInPlace) {
  const auto module = Parse(
      "ENTRY main { x = f32[4,8] parameter(0) z = f32[] constant(0)"
      "  ROOT r = f32[4] reduce(x, z), dimensions={1}, to_apply={ a = f32[] parameter(0) b = f32[] "
      "parameter(1)"
      "    ROOT c = f32[] add(a, b) } }");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->computation_count(), 2u);
  EXPECT_EQ(module->computation(module->entry().root().called()[0]).root().opcode(), kAdd);
}

TEST(TextForm, AListOfBranchesMixesNamesAndBodies) {
  const auto module = Parse(
      "f { ROOT a = f32[] parameter(0) }"
      "ENTRY main { i = s32[] parameter(0) x = f32[] parameter(1)"
      "  ROOT c = f32[] conditional(i, x, x), branch_computations={f, { p = f32[] parameter(0) ROOT n = "
      "f32[] negate(p) }} }");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->entry().root().called().size(), 2u);
}

TEST(TextForm, AShapeThatFollowsFromTheOperandsMayBeLeftOut) {
  const auto module = Parse(
      "ENTRY main { x = f32[4,8] parameter(0)  t = transpose(x), dimensions={1,0}  ROOT s = add(t, t) }");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(ToString(module->entry().root().shape()), "f32[8,4]");
}

TEST(TextForm, CommentsAreSkippedAndStackFramesKept) {
  const auto module = Parse(
      "// first\nHloModule /* second */ m\n"
      "FileNames\n1 \"a.py\"\n2 \"b.py\"\nFunctionNames\n1 \"f\"\n"
      "FileLocations\n1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=4 end_column=9}\n"
      "StackFrames\n1 {file_location_id=1 parent_frame_id=1}\n\n"
      "ENTRY main { x = (s32[], /*index=1*/f32[]) parameter(0), statistics={visualizing_index=1,a=1.0}, "
      "origin={{\"add\"}} }");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->name(), "m");
  const xla::StackFrameIndexProto table = ToProto(*module).stack_frame_index();
  EXPECT_EQ(table.file_names(1), "b.py");
  EXPECT_EQ(table.file_locations(0).line(), 3);
  EXPECT_EQ(table.stack_frames(0).parent_frame_id(), 0) << "in text 1 is none";
  const auto again = Parse(ToText(*module));
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(ToProto(*again).stack_frame_index().SerializeAsString(), table.SerializeAsString());
}

TEST(TextForm, TablesOfStackFramesMayBeEmpty) {
  const auto module = Parse(
      "HloModule m\nFileNames\n1 \"a.py\"\nFunctionNames\nFileLocations\nStackFrames\n\n"
      "StackFrames { ROOT x = s32[] parameter(0) }\n"
      "ENTRY FileNames (x: s32[]) -> s32[] { x = s32[] parameter(0) ROOT y = s32[] call(x), "
      "to_apply=StackFrames }");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->computation_count(), 2);
  const auto again = Parse(ToText(*module));
  ASSERT_NE(again, nullptr);
  const xla::StackFrameIndexProto table = ToProto(*again).stack_frame_index();
  ASSERT_EQ(table.file_names_size(), 1);
  EXPECT_EQ(table.file_names(0), "a.py");
  EXPECT_EQ(table.function_names_size() + table.file_locations_size() + table.stack_frames_size(), 0);
}

TEST(TextForm, WhatIsNotKnownComesWithTheNearest) {
  const auto said = [](const std::string& instruction) {
    return std::string(
        ParseModule("ENTRY main { x = f32[2] parameter(0) ROOT y = f32[2] " + instruction + " }")
            .status()
            .message());
  };
  EXPECT_THAT(said("expontial(x)"),
              HasSubstr("\"expontial\" is not known to this build; the nearest is exponential"));
  EXPECT_THAT(said("reverse(x), dimension={0}"), HasSubstr("; the nearest is dimensions"));
}

TEST(TextForm, AComparisonWithoutTypeIsOfTheTypeOfItsOperands) {
  const auto module =
      Parse("ENTRY main { x = u8[] parameter(0) ROOT c = pred[] compare(x, x), direction=LT }");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->entry().root().attributes<CompareAttributes>().type, ComparisonType::kUnsigned);
}

TEST(TextForm, BackendConfigIsAStringOrJsonKeptToTheByte) {
  const std::string json = R"({"a":{"b":"}"}, "c":[1, 2]})";
  const auto module =
      Parse("ENTRY main { x = f32[] parameter(0), backend_config=" + json +
            "  ROOT y = f32[] custom-call(x), custom_call_target=\"f\", backend_config=\"\\377\\000z\" }");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->entry().notes(0)->backend_config, json);
  EXPECT_EQ(module->entry().root().attributes<CustomCallAttributes>().backend_config,
            std::string("\xff\0z", 3));
}

TEST(TextForm, ConstantsMayBeElidedForPeopleButNotForTheParser) {
  const auto module = Parse("ENTRY main { c = s32[11] constant({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}) }");
  ASSERT_NE(module, nullptr);
  const std::string text = ToText(*module, {.large_constants = false});
  EXPECT_THAT(text, HasSubstr("constant({...})"));
  EXPECT_FALSE(ParseModule(text).ok());
}

TEST(TextForm, LayoutsAndMetadataMayBeLeftOut) {
  const auto module = Parse("ENTRY main { x = f32[4,8]{0,1} parameter(0), metadata={op_name=\"x\"} }");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(ToText(module->entry().root(), *module, {.metadata = false, .layouts = false}),
            "x = f32[4,8] parameter(0)");
}

TEST(TextForm, NamesFromElsewhereBecomeNamesOfTheGrammar) {
  Module module("a module");
  const ShapeId shape = module.tables().Intern(Shape::Scalar(kF32));
  for (const char* name : {"f(x)", "f(x)", "ENTRY"}) {
    Computation& computation = module.AddComputation(name);
    computation.Append(kParameter, shape, module.tables().Intern(ParameterAttributes{0}), {});
    computation.mutable_notes(0).name = "ROOT";
    computation.Append(kNegate, shape, 0, {0});
    computation.mutable_notes(1).name = "9 lives -> \"x\"";
  }
  const std::string text = ToText(module);
  const auto again = ParseModule(text);
  ASSERT_TRUE(again.ok()) << again.status() << text;
  ExpectSameProgram(module, **again);
}

TEST(TextForm, WhatTheTextLeavesOutItSays) {
  Module module("m");
  Computation& main = module.AddComputation("main");
  const ShapeId shape = module.tables().Intern(Shape::Scalar(kF32));
  main.Append(kParameter, shape, module.tables().Intern(ParameterAttributes{0}), {});
  main.Append(kNegate, shape, 0, {0});
  xla::HloInstructionProto rest;
  rest.set_channel_id(3);
  main.mutable_notes(1).unmodelled = rest.SerializeAsString();
  EXPECT_THAT(ToText(main.root(), module), HasSubstr("/* without channel_id */"));
}

TEST(TextShape, EveryFormComesBack) {
  for (const char* text :
       {"f32[]", "f32[2,3]{1,0}", "bf16[<=8,4]{1,0}", "s4[?]", "(f32[2], (s32[], token[]))", "()", "opaque[]",
        "b(f32[8]{0})", "u2[8,128]{1,0:T(8,128)(2,1)}", "f32[2]{0:S(5)}",
        "f32[2]{0:L(4)#(u32)*(u8)E(4)M(16)}", "f32[2]{0:P((u32[2]{0}, f32[]))}", "f32[]{:S(1)}",
        "f32[2,3]{1,0:T(*,2)SC(0:1)(1:1,2)}"}) {
    const auto shape = ParseShape(text);
    ASSERT_TRUE(shape.ok()) << text << shape.status();
    EXPECT_EQ(ToString(*shape), text);
  }
  EXPECT_EQ(ToString(*ParseShape("( f32[ 2 , 3 ]{ 0 , 1 } , pred[]{} )")), "(f32[2,3]{0,1}, pred[])");
}

TEST(TextShape, NonsenseIsRefused) {
  for (const char* text :
       {"", "f33[2]", "f32", "f32[", "f32[2", "f32[2,]", "f32[-1]", "f32[2]{1}", "f32[2]{0,0}",
        "f32[2]{0:Q(1)}", "(f32[2]", "f32[2] x", "tuple[]", "b(s32[], s32[])", "f32[<=]", "f32[2]{0:D(C)}",
        "token[2]", "f32[99999999999999999999]"}) {
    EXPECT_FALSE(ParseShape(text).ok()) << text;
  }
}

// Reads back every bit pattern of a type of at most 16 bits.
template <typename T>
void ExpectEveryPatternComesBack(PrimitiveType type, int64_t count) {
  Literal literal(Shape::Array(type, {count}));
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (kIsSmallFloat<T>) {
      literal.data<T>()[i] = T::FromBits(static_cast<typename T::Storage>(i));
    } else {
      literal.data<T>()[i] = T(i);
    }
  }
  const auto again = ParseLiteral(ToText(literal), literal.shape());
  ASSERT_TRUE(again.ok()) << Name(type) << again.status();
  for (int64_t i = 0; i < count; ++i) {
    const size_t width = sizeof(T);
    ASSERT_EQ(std::memcmp(literal.bytes().data() + i * width, again->bytes().data() + i * width, width), 0)
        << Name(type) << " pattern " << i << " printed in " << ToText(literal).substr(0, 200);
  }
}

TEST(NumberText, EveryPatternOfEverySmallTypeComesBack) {
  for (int number = 1; number < 40; ++number) {
    const std::optional<PrimitiveType> type = PrimitiveTypeFromNumber(number);
    if (!type || *type == kPred || !IsArrayType(*type) || Info(*type).bits > 16) continue;
    VisitType(*type,
              [&]<typename T>() { ExpectEveryPatternComesBack<T>(*type, int64_t{1} << Info(*type).bits); });
  }
}

template <typename T>
void ExpectBitsComeBack(std::initializer_list<uint64_t> patterns) {
  for (const uint64_t pattern : patterns) {
    Literal literal(Shape::Scalar(kPrimitiveTypeOf<T>));
    std::memcpy(literal.bytes().data(), &pattern, sizeof(T));
    const std::string text = ToText(literal);
    const auto again = ParseLiteral(text, literal.shape());
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(std::memcmp(again->bytes().data(), &pattern, sizeof(T)), 0)
        << std::hex << pattern << " printed as " << text;
  }
}

TEST(NumberText, FloatsComeBackToTheLastBit) {
  ExpectBitsComeBack<float>({0, 0x80000000, 1, 0x80000001, 0x007fffff, 0x00800000, 0x3dcccccd, 0x3dccccce,
                             0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x7fc00001,
                             0xff800001, 0x7fffffff, 0x4b800001});
  ExpectBitsComeBack<double>({0, 0x8000000000000000, 1, 0x000fffffffffffff, 0x3fb999999999999a,
                              0x3fb999999999999b, 0x7fefffffffffffff, 0x7ff0000000000000, 0x7ff8000000000000,
                              0xfff0000000000001});
}

TEST(NumberText, ManyFloatsComeBackToTheLastBit) {
  uint32_t pattern = 12345;
  for (int i = 0; i < 20'000; ++i) {
    pattern = pattern * 1664525 + 1013904223;
    ExpectBitsComeBack<float>({pattern});
  }
}

TEST(NumberText, WhatPeopleWriteIsRead) {
  const auto f32 = ParseLiteral("{1, -1.5e3, +2, .5, inf, nan(0x7fc00001), 1e-60}", Shape::Array(kF32, {7}));
  ASSERT_TRUE(f32.ok()) << f32.status();
  const auto data = f32->data<float>();
  EXPECT_EQ(data[1], -1500.0f);
  EXPECT_EQ(data[3], 0.5f);
  EXPECT_EQ(std::bit_cast<uint32_t>(data[5]), 0x7fc00001u);
  EXPECT_EQ(data[6], 0.0f);
  EXPECT_EQ(ToText(*ParseLiteral("{true, 0, false, 1}", Shape::Array(kPred, {4}))), "{1, 0, 0, 1}");
  EXPECT_EQ(ToText(*ParseLiteral("s32[2] {1, 2}", Shape::Array(kS32, {2}))), "{1, 2}");
  EXPECT_EQ(ToText(*ParseLiteral("{ /*i0=0*/ {1, 2}, /*i0=1*/ {3, 4} }", Shape::Array(kS32, {2, 2}))),
            "{ {1, 2}, {3, 4} }");
}

TEST(NumberText, WhatATypeCannotHoldIsRefused) {
  const std::pair<const char*, PrimitiveType> cases[] = {{"256", kU8},
                                                         {"-1", kU8},
                                                         {"-1", kU64},
                                                         {"128", kS8},
                                                         {"8", kS4},
                                                         {"-9", kS4},
                                                         {"4", kU2},
                                                         {"2", kU1},
                                                         {"18446744073709551616", kU64},
                                                         {"9223372036854775808", kS64},
                                                         {"1.5", kS32},
                                                         {"2", kPred},
                                                         {"x", kF32},
                                                         {"1.5.2", kF32},
                                                         {"--1", kF32},
                                                         {"-+1", kF32},
                                                         {"nan", kF4E2M1FN},
                                                         {"inf", kF8E4M3FN},
                                                         {"-1", kF8E8M0FNU},
                                                         {"nan(0x0)", kF32},
                                                         {"nan(12)", kF32},
                                                         {"nan(0xfffffffffff)", kF16},
                                                         {"(1)", kC64},
                                                         {"1", kC64},
                                                         {"", kF32},
                                                         {"0x10", kS32},
                                                         {"1 2", kF32}};
  for (const auto& [text, type] : cases) {
    EXPECT_FALSE(ParseLiteral(text, Shape::Scalar(type)).ok()) << text << " as " << Name(type);
  }
}

TEST(HostileText, NestingHasALimit) {
  std::string shape, literal, inline_computations, sharding = "x = f32[] parameter(0), sharding=";
  for (int i = 0; i < 100'000; ++i) {
    shape += '(';
    literal += '{';
    sharding += '{';
    inline_computations += "a = f32[] call(), to_apply={ ";
  }
  EXPECT_FALSE(ParseShape(shape).ok());
  EXPECT_FALSE(ParseLiteral(literal, Shape::Array(kF32, {1})).ok());
  EXPECT_THAT(std::string(ParseModule("f { " + inline_computations).status().message()),
              HasSubstr("nest deeper than 64"));
  EXPECT_THAT(std::string(ParseModule("f { " + sharding).status().message()), HasSubstr("nests too deep"));
}

TEST(HostileText, LongChainsAreNoRecursion) {
  // Each instruction uses the next one, each computation calls the next one.
  std::string chain = "ENTRY main { ROOT x0 = f32[] negate(x1)\n", calls;
  constexpr int kLength = 50'000;
  for (int i = 1; i < kLength; ++i) absl::StrAppend(&chain, "x", i, " = f32[] negate(x", i + 1, ")\n");
  absl::StrAppend(&chain, "x", kLength, " = f32[] parameter(0) }");
  const auto module = ParseModule(chain);
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ((*module)->entry().size(), kLength + 1u);
  for (int i = 0; i < kLength; ++i)
    absl::StrAppend(&calls, "f", i, " { a = f32[] parameter(0) b = f32[] call(a), to_apply=f", i + 1, " }\n");
  absl::StrAppend(&calls, "f", kLength, " { a = f32[] parameter(0) }");
  EXPECT_TRUE(ParseModule(calls).ok());
}

TEST(HostileText, ATextCutOffAnywhereIsRefusedOrShorter) {
  const std::string text = ReadFile(SourceDir() / "tests/golden/hlo/sorting_and_random.hlo");
  ASSERT_FALSE(text.empty());
  for (size_t length = 0; length < text.size(); ++length)
    ParseModule(std::string_view(text).substr(0, length)).status().IgnoreError();
}

TEST(HostileText, OneChangedCharacterAnywhereNeverCrashes) {
  for (const char* name : {"contractions", "control_flow", "types_and_layouts", "literals"}) {
    std::string text = ReadFile(SourceDir() / "tests/golden/hlo" / absl::StrCat(name, ".hlo"));
    for (size_t i = 0; i < text.size(); i += 3) {
      for (const char other : {'{', '}', '(', '"', '9', '-', ',', ' ', '\xff'}) {
        const char original = std::exchange(text[i], other);
        const auto module = ParseModule(text);
        if (module.ok()) {
          const auto again = ParseModule(ToText(**module));
          EXPECT_TRUE(again.ok()) << again.status() << " in\n" << ToText(**module);
        }
        text[i] = original;
      }
    }
  }
}

TEST(HostileText, BytesThatAreNoUtf8AreRefused) {
  EXPECT_FALSE(ParseModule("HloModule m\xff\n").ok());
  EXPECT_FALSE(ParseModule("ENTRY f { x = f32[] parameter(0), metadata={op_name=\"\\xff\"} }").ok());
}

}  // namespace
}  // namespace hlod::hlo
