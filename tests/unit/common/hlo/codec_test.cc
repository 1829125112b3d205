// The codec on modules written by hand: requirements of XLA's format, and messages that a hostile peer may
// send.
#include "common/hlo/proto/codec.h"

#include <complex>
#include <set>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/unknown_field_set.h"
#include "tests/unit/common/hlo/codec_test_util.h"

namespace hlod::hlo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

xla::HloModuleProto Parse(const std::string& text) {
  xla::HloModuleProto proto;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &proto)) << text;
  return proto;
}

std::string F32(const std::string& dims) { return "shape { element_type: F32 " + dims + " } "; }
std::string S32(const std::string& dims) { return "shape { element_type: S32 " + dims + " } "; }

// Returns instructions { name opcode id ... }.
std::string Op(const std::string& name, const std::string& opcode, int64_t id, const std::string& rest) {
  return "instructions { name: '" + name + "' opcode: '" + opcode + "' id: " + std::to_string(id) + " " +
         rest + "}\n";
}
std::string Body(const std::string& name, int64_t id, int64_t root, const std::string& instructions) {
  return "computations { name: '" + name + "' id: " + std::to_string(id) +
         " root_id: " + std::to_string(root) + "\n" + instructions + "}\n";
}
// Returns a module of one computation "main".
std::string Main(const std::string& instructions, int64_t root) {
  return "name: 'm' entry_computation_id: 7 " + Body("main", 7, root, instructions);
}

absl::StatusOr<std::unique_ptr<Module>> Decode(const std::string& text, const DecodeOptions& options = {}) {
  return FromProto(Parse(text), options);
}

void ExpectRefused(const std::string& text, absl::StatusCode code, const std::string& message,
                   const DecodeOptions& options = {}) {
  const auto module = Decode(text, options);
  ASSERT_FALSE(module.ok()) << text;
  EXPECT_EQ(module.status().code(), code) << module.status();
  EXPECT_THAT(std::string(module.status().message()), HasSubstr(message));
}
constexpr auto kInvalidArgument = absl::StatusCode::kInvalidArgument;
constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;

const std::string kParameter0 = Op("x", "parameter", 1, F32("dimensions: 8"));

// JAX counts the modules of a process.
TEST(Codec, EqualModulesAreEqualBytesWhateverTheirNumbers) {
  const std::string text = Main(kParameter0, 1);
  const auto first = Decode("id: 1 " + text), second = Decode("id: 2 " + text);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(ToProto(**first).SerializeAsString(), ToProto(**second).SerializeAsString());
}

// A folder may be named in Latin-1. Protobuf refuses a whole message for one such byte.
TEST(CodecText, BytesThatAreNotUtf8AreEscaped) {
  auto module = Decode(Main(kParameter0, 1));
  ASSERT_TRUE(module.ok()) << module.status();
  Computation& main = (*module)->entry();
  main.mutable_notes(0).metadata.source_file = "caf\xe9.cc";
  main.mutable_notes(0).metadata.op_name = "\xc3\xa9\xff";
  main.mutable_notes(0).frontend_attributes["\xfe"] = "\xfd";
  xla::HloModuleProto read;
  ASSERT_TRUE(read.ParseFromString(ToProto(**module).SerializeAsString()));
  const xla::HloInstructionProto& x = read.computations(0).instructions(0);
  EXPECT_EQ(x.metadata().source_file(), "caf\\xe9.cc");
  EXPECT_EQ(x.metadata().op_name(), "\xc3\xa9\\xff");
  EXPECT_EQ(x.frontend_attributes().map().at("\\xfe"), "\\xfd");
}

TEST(CodecIds, OnlyTheLowHalfOfAnInstructionIdCounts) {
  const int64_t high = int64_t{7} << 32;
  const auto module =
      Decode(Main(Op("x", "parameter", high + 1, F32("dimensions: 8")) +
                      Op("y", "add", high + 2,
                         F32("dimensions: 8") + "operand_ids: 1 operand_ids: " + std::to_string(high + 1)),
                  (int64_t{3} << 32) + 2));
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_THAT((*module)->entry().root().operands(), ElementsAre(0, 0));
}

TEST(CodecIds, WhileCallsBodyThenCondition) {
  const std::string state = "shape { element_type: TUPLE tuple_shapes { element_type: S32 } } ";
  const auto module =
      Decode("name: 'm' entry_computation_name: 'main' " +
             Body("cond", 1, 2,
                  Op("p", "parameter", 1, state) + Op("c", "constant", 2,
                                                      "shape { element_type: PRED } literal { "
                                                      "shape { element_type: PRED } preds: false }")) +
             Body("body", 2, 1, Op("p", "parameter", 1, state)) +
             Body("main", 3, 2,
                  Op("init", "parameter", 1, state) +
                      Op("w", "while", 2,
                         state + "operand_ids: 1 called_computation_ids: 2 called_computation_ids: 1")));
  ASSERT_TRUE(module.ok()) << module.status();
  const auto called = (*module)->entry().root().called();
  ASSERT_EQ(called.size(), 2u);
  EXPECT_EQ((*module)->computation(called[0]).name(), "body");
  EXPECT_EQ((*module)->computation(called[1]).name(), "cond");
}

TEST(CodecIds, ControlPredecessorsAreResolved) {
  const auto module =
      Decode(Main(kParameter0 + Op("y", "negate", 2, F32("dimensions: 8") + "operand_ids: 1") +
                      Op("z", "abs", 3, F32("dimensions: 8") + "operand_ids: 1 control_predecessor_ids: 2"),
                  3));
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_THAT((*module)->entry().notes(2)->control_predecessors, ElementsAre(1));
  EXPECT_EQ(ToProto(**module).computations(0).instructions(2).control_predecessor_ids(0),
            ToProto(**module).computations(0).instructions(1).id());
}

TEST(CodecUpgrade, AnOldComparisonOpcodeBecomesCompareWithTheTypeOfItsOperands) {
  const std::string scalar_u8 = "shape { element_type: U8 } ";
  const auto module = Decode(Main(
      Op("x", "parameter", 1, scalar_u8) +
          Op("c", "less-than-or-equal-to", 2, "shape { element_type: PRED } operand_ids: 1 operand_ids: 1"),
      2));
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ((*module)->entry().root().attributes<CompareAttributes>(),
            (CompareAttributes{ComparisonDirection::kLe, ComparisonType::kUnsigned}));
}

TEST(CodecUpgrade, OneVectorOfStartIndicesBecomesAScalarForEachDimension) {
  const auto module =
      Decode(Main(Op("x", "parameter", 1, F32("dimensions: 4 dimensions: 8")) +
                      Op("i", "parameter", 2, S32("dimensions: 2") + "parameter_number: 1") +
                      Op("s", "dynamic-slice", 3,
                         F32("dimensions: 1 dimensions: 8") +
                             "operand_ids: 1 operand_ids: 2 dynamic_slice_sizes: 1 dynamic_slice_sizes: 8"),
                  3));
  ASSERT_TRUE(module.ok()) << module.status();
  const Computation& main = (*module)->entry();
  ASSERT_EQ(main.root().operand_count(), 3u);
  const Instruction second = main.root().operand(2);
  EXPECT_EQ(second.opcode(), kReshape);
  EXPECT_EQ(ToString(second.shape()), "s32[]");
  EXPECT_EQ(second.operand(0).attributes<SliceAttributes>(), (SliceAttributes{{1}, {2}, {1}}));
}

TEST(CodecUpgrade, MissingGroupCountsAndPrecisionOfAConvolutionAreDefaults) {
  const auto module =
      Decode(Main(Op("x", "parameter", 1, F32("dimensions: 1 dimensions: 2 dimensions: 3")) +
                      Op("k", "parameter", 2,
                         F32("dimensions: 1 dimensions: 3 dimensions: 2") + "parameter_number: 1") +
                      Op("c", "convolution", 3,
                         F32("dimensions: 1 dimensions: 2 dimensions: 2") +
                             "operand_ids: 1 operand_ids: 2 window { dimensions { size: 1 stride: 1 "
                             "window_dilation: 1 base_dilation: 1 } } "
                             "convolution_dimension_numbers { input_feature_dimension: 2 "
                             "input_spatial_dimensions: 1 } sparsity_config { }"),
                  3),
             {.for_execution = true});
  ASSERT_TRUE(module.ok()) << module.status();
  const auto& attributes = (*module)->entry().root().attributes<ConvolutionAttributes>();
  EXPECT_EQ(attributes.feature_group_count, 1);
  EXPECT_EQ(attributes.batch_group_count, 1);
  EXPECT_EQ(attributes.precision, Precision());
}

absl::StatusOr<Literal> DecodeLiteral(const std::string& text) {
  xla::LiteralProto proto;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &proto)) << text;
  return FromProto(proto);
}

TEST(CodecLiteral, NegativeIntegersSurviveTheirVarints) {
  const auto literal =
      DecodeLiteral("shape { element_type: S32 dimensions: 3 } s32s: -1 s32s: -2147483648 s32s: 7");
  ASSERT_TRUE(literal.ok()) << literal.status();
  EXPECT_THAT(literal->data<int32_t>(), ElementsAre(-1, INT32_MIN, 7));
  xla::LiteralProto again;
  ASSERT_TRUE(again.ParseFromString(ToProto(*literal).SerializeAsString()));
  EXPECT_EQ(*FromProto(again), *literal);
}

TEST(CodecLiteral, ColumnMajorDataIsBroughtIntoRowMajorOrder) {
  // The columns of {{1, 2, 3}, {4, 5, 6}}, one after the other.
  const auto literal = DecodeLiteral(
      "shape { element_type: F32 dimensions: 2 dimensions: 3 layout { minor_to_major: 0 minor_to_major: 1 } "
      "} f32s: 1 f32s: 4 f32s: 2 f32s: 5 f32s: 3 f32s: 6");
  ASSERT_TRUE(literal.ok()) << literal.status();
  EXPECT_THAT(literal->data<float>(), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(CodecLiteral, ThreeDimensionsInAnyOrder) {
  // shape [2,2,3], layout {1,2,0}: dimension 1 varies fastest, then 2, then 0. Element (i,j,k) is 6i + 3j +
  // k.
  const auto literal = DecodeLiteral(
      "shape { element_type: U8 dimensions: 2 dimensions: 2 dimensions: 3 "
      "layout { minor_to_major: 1 minor_to_major: 2 minor_to_major: 0 } } "
      "u8s: '\\000\\003\\001\\004\\002\\005\\006\\011\\007\\012\\010\\013'");
  ASSERT_TRUE(literal.ok()) << literal.status();
  EXPECT_THAT(literal->data<uint8_t>(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
}

TEST(CodecLiteral, SubByteElementsTakeAByteEachAndTheirHighBitsAreNotTrusted) {
  const auto literal = DecodeLiteral("shape { element_type: S4 dimensions: 4 } s4s: '\\007\\017\\370\\361'");
  ASSERT_TRUE(literal.ok()) << literal.status();
  const auto data = literal->data<S4>();
  EXPECT_EQ(int{data[0]}, 7);
  EXPECT_EQ(int{data[1]}, -1);
  EXPECT_EQ(int{data[2]}, -8);
  EXPECT_EQ(int{data[3]}, 1);
}

TEST(CodecLiteral, ATupleHoldsItsElements) {
  const auto literal = DecodeLiteral(
      "shape { element_type: TUPLE tuple_shapes { element_type: PRED } tuple_shapes { element_type: C64 } } "
      "tuple_literals { shape { element_type: PRED } preds: true } "
      "tuple_literals { shape { element_type: C64 } c64s: 1 c64s: -2 }");
  ASSERT_TRUE(literal.ok()) << literal.status();
  EXPECT_TRUE(literal->elements()[0].data<bool>()[0]);
  EXPECT_EQ(literal->elements()[1].data<std::complex<float>>()[0], std::complex<float>(1, -2));
}

TEST(CodecLiteral, EveryElementTypeComesBackWithItsBits) {
  for (int number = 1; number < 40; ++number) {
    const std::optional<PrimitiveType> type = PrimitiveTypeFromNumber(number);
    if (!type || !IsArrayType(*type)) continue;
    Literal literal(Shape::Array(*type, {2, 3}));
    const int width = ByteWidth(*type), bits = Info(*type).bits;
    for (size_t i = 0; i < literal.bytes().size(); ++i) {
      const int value = *type == kPred ? i % 2 : static_cast<int>(i * 37 + 11);
      // Elements smaller than a byte are masked, or sign-extended from 1, 2 or 4 bits, as in the storage
      // types.
      const int low = value & ((1 << std::min(8, bits)) - 1);
      const bool negative = IsSigned(*type) && bits < 8 && (low >> (bits - 1)) != 0;
      literal.bytes()[i] = static_cast<std::byte>(negative ? low - (1 << bits) : low);
    }
    const auto again = FromProto(ToProto(literal));
    ASSERT_TRUE(again.ok()) << Name(*type) << again.status();
    EXPECT_EQ(*again, literal) << Name(*type) << " of width " << width;
  }
}

TEST(CodecLiteral, DataThatDoesNotMatchTheShapeIsRefusedBeforeAnythingIsAllocated) {
  for (const char* text : {"shape { element_type: F32 dimensions: 2 } f32s: 1",
                           "shape { element_type: F32 dimensions: 2 } s32s: 1 s32s: 2",
                           "shape { element_type: F32 dimensions: 1099511627776 } f32s: 1",
                           "shape { element_type: BF16 dimensions: 2 } bf16s: 'abc'",
                           "shape { element_type: TUPLE tuple_shapes { element_type: F32 } }",
                           "shape { element_type: TUPLE tuple_shapes { element_type: F32 } } "
                           "tuple_literals { shape { element_type: S32 } s32s: 1 }",
                           "shape { element_type: OPAQUE_TYPE }", "shape { }", ""}) {
    const auto literal = DecodeLiteral(text);
    EXPECT_EQ(literal.status().code(), kInvalidArgument) << text << literal.status();
  }
}

TEST(CodecLiteral, DynamicAndSparseLiteralsAreNotImplemented) {
  EXPECT_EQ(
      DecodeLiteral("shape { element_type: F32 dimensions: 2 is_dynamic_dimension: true } f32s: 1 f32s: 2")
          .status()
          .code(),
      kUnimplemented);
  EXPECT_EQ(
      DecodeLiteral("shape { element_type: F32 dimensions: 1 } f32s: 1 sparse_indices: 0").status().code(),
      kUnimplemented);
}

TEST(CodecShape, EverythingALayoutSaysComesBack) {
  xla::ShapeProto proto;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "element_type: BF16 dimensions: 8 dimensions: 128 is_dynamic_dimension: true is_dynamic_dimension: "
      "false layout { minor_to_major: 1 minor_to_major: 0 tiles { dimensions: 8 dimensions: 128 } tiles { "
      "dimensions: 2 dimensions: 1 } element_size_in_bits: 16 memory_space: 5 index_primitive_type: U32 "
      "pointer_primitive_type: U8 tail_padding_alignment_in_elements: 256 split_configs { dimension: 1 "
      "split_indices: 64 } dynamic_shape_metadata_prefix_bytes: 16 }",
      &proto));
  const auto shape = FromProto(proto);
  ASSERT_TRUE(shape.ok()) << shape.status();
  EXPECT_EQ(ToProto(*shape).SerializeAsString(), proto.SerializeAsString());
}

TEST(CodecShape, NonsenseIsRefused) {
  for (const char* text :
       {"", "element_type: 99", "element_type: F32 dimensions: -1",
        "element_type: F32 dimensions: -9223372036854775808",
        "element_type: F32 dimensions: 4611686018427387904 dimensions: 4",
        "element_type: F32 dimensions: 2 is_dynamic_dimension: true is_dynamic_dimension: false",
        "element_type: F32 dimensions: 2 layout { minor_to_major: 1 }",
        "element_type: F32 dimensions: 2 dimensions: 2 layout { minor_to_major: 1 minor_to_major: 1 }",
        "element_type: F32 tuple_shapes { element_type: F32 }", "element_type: TUPLE dimensions: 2",
        "element_type: BUFFER", "element_type: F32 layout { index_primitive_type: 77 }"}) {
    xla::ShapeProto proto;
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &proto)) << text;
    EXPECT_EQ(FromProto(proto).status().code(), kInvalidArgument) << text;
  }
  xla::ShapeProto many;
  many.set_element_type(xla::F32);
  for (int i = 0; i < 65; ++i) many.add_dimensions(1);
  EXPECT_EQ(FromProto(many).status().code(), kInvalidArgument);
}

TEST(CodecShape, NestingHasALimit) {
  xla::ShapeProto proto;
  xla::ShapeProto* at = &proto;
  for (int depth = 0; depth < 100'000; ++depth) {
    at->set_element_type(xla::TUPLE);
    at = at->add_tuple_shapes();
  }
  at->set_element_type(xla::F32);
  EXPECT_EQ(FromProto(proto).status().code(), kInvalidArgument);
  // The message is taken apart level by level, because its destructor is recursive.
  while (proto.tuple_shapes_size() != 0) {
    xla::ShapeProto inner;
    inner.Swap(proto.mutable_tuple_shapes(0));
    proto.Swap(&inner);
  }
}

TEST(CodecHostile, ReferencesThatLeadNowhereAreRefusedByName) {
  const std::string add = F32("dimensions: 8") + "operand_ids: 1 operand_ids: ";
  ExpectRefused(Main(kParameter0 + Op("y", "add", 2, add + "2"), 2), kInvalidArgument,
                "Computation \"main\": instruction \"y\": operand id 2");
  ExpectRefused(Main(kParameter0 + Op("y", "add", 2, add + "3") + Op("z", "add", 3, add + "2"), 2),
                kInvalidArgument, "operand id 3");
  ExpectRefused(Main(kParameter0, 9), kInvalidArgument, "root_id 9");
  ExpectRefused(Main(kParameter0 + Op("y", "negate", 2,
                                      F32("dimensions: 8") + "operand_ids: 1 control_predecessor_ids: 5"),
                     2),
                kInvalidArgument, "control predecessor id 5");
  ExpectRefused("name: 'm' entry_computation_id: 8 " + Body("main", 7, 1, kParameter0), kInvalidArgument,
                "entry's id 8");
  ExpectRefused("name: 'm'", kInvalidArgument, "no computations");
  ExpectRefused(Main("", 0), kInvalidArgument, "no instructions");
}

TEST(CodecHostile, AComputationCannotCallItselfOrALaterOne) {
  const std::string call = F32("dimensions: 8") + "operand_ids: 1 called_computation_ids: ";
  ExpectRefused(Main(kParameter0 + Op("y", "call", 2, call + "7"), 2), kInvalidArgument,
                "called computation id 7");
  ExpectRefused(Main(kParameter0 + Op("y", "call", 2, call + "8"), 2) + Body("later", 8, 1, kParameter0),
                kInvalidArgument, "called computation id 8");
  ExpectRefused(Main(kParameter0 + Op("y", "negate", 2, call + "7"), 2), kInvalidArgument,
                "negate calls 1 computations");
}

TEST(CodecHostile, TwoOfOneIdAreRefused) {
  ExpectRefused(Main(kParameter0 + Op("y", "negate", 1, F32("dimensions: 8") + "operand_ids: 1"), 1),
                kInvalidArgument, "id 1 is taken");
  ExpectRefused(Main(kParameter0, 1) + Body("other", 7, 1, kParameter0), kInvalidArgument, "id 7 is taken");
}

TEST(CodecHostile, ParameterNumbersOutOfRangeCostNothing) {
  ExpectRefused(Main(Op("x", "parameter", 1, F32("") + "parameter_number: 4611686018427387904"), 1),
                kInvalidArgument, "parameter_number is 4611686018427387904");
  ExpectRefused(Main(Op("x", "parameter", 1, F32("") + "parameter_number: -1"), 1), kInvalidArgument,
                "parameter_number is -1");
  ExpectRefused(Main(kParameter0 + Op("y", "parameter", 2, F32("")), 1), kInvalidArgument,
                "another parameter with number 0");
}

TEST(CodecHostile, MissingPartsAreNamed) {
  ExpectRefused(Main(Op("x", "parameter", 1, ""), 1), kInvalidArgument, "the shape is missing");
  ExpectRefused(Main(Op("", "parameter", 1, F32("")), 1), kInvalidArgument, "the name is missing");
  ExpectRefused(Main(Op("c", "constant", 1, F32("")), 1), kInvalidArgument, "the literal is missing");
  ExpectRefused(Main(Op("c", "constant", 1, F32("") + "literal { " + S32("") + " s32s: 1 }"), 1),
                kInvalidArgument, "the literal has shape s32[]");
  ExpectRefused(Main(kParameter0 + Op("s", "sort", 2,
                                      F32("dimensions: 8") + "operand_ids: 1 called_computation_ids: 1"),
                     2),
                kInvalidArgument, "called computation id 1");
  ExpectRefused(Main(Op("c", "compare", 1, F32("") + "comparison_direction: 'UP'"), 1), kInvalidArgument,
                "\"UP\"");
  ExpectRefused(Main(Op("c", "compare", 1, F32("") + "comparison_direction: 'LT'"), 1), kInvalidArgument,
                "without operands");
}

TEST(CodecHostile, UnknownOpcodesAndEnumNumbersAreNotImplemented) {
  ExpectRefused(Main(Op("x", "frobnicate", 1, F32("")), 1), kUnimplemented, "\"frobnicate\"");
  ExpectRefused(
      Main(kParameter0 + Op("r", "rng-bit-generator", 2, F32("") + "operand_ids: 1 rng_algorithm: 9"), 2),
      kUnimplemented, "rng_algorithm is 9");
  ExpectRefused(Main(kParameter0 + Op("r", "fft", 2, F32("") + "operand_ids: 1 fft_type: 44"), 2),
                kUnimplemented, "fft_type");
  ExpectRefused(
      Main(kParameter0 + Op("r", "dot", 2,
                            F32("") + "operand_ids: 1 operand_ids: 1 precision_config { algorithm: 99 }"),
           2),
      kUnimplemented, "precision_config.algorithm is 99");
}

TEST(CodecHostile, TruncatedAndForeignBytesAreNoModule) {
  const std::string bytes = Parse(Main(kParameter0, 1)).SerializeAsString();
  ASSERT_TRUE(FromSerialized(bytes).ok());
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(FromSerialized(std::string_view(bytes).substr(0, length)).ok()) << length;
  }
  EXPECT_FALSE(FromSerialized("HloModule m").ok());
  EXPECT_FALSE(FromSerialized(std::string(1000, '\xff')).ok());
}

TEST(CodecHostile, OneFlippedByteAnywhereNeverCrashes) {
  std::string bytes =
      Parse(Main(kParameter0 +
                     Op("c", "constant", 2,
                        S32("dimensions: 1") + "literal { " + S32("dimensions: 1") + " s32s: -1 }") +
                     Op("d", "dot", 3,
                        F32("") + "operand_ids: 1 operand_ids: 1 dot_dimension_numbers { "
                                  "lhs_contracting_dimensions: 0 }") +
                     Op("s", "dynamic-slice", 4,
                        F32("dimensions: 4") + "operand_ids: 1 operand_ids: 2 dynamic_slice_sizes: 4") +
                     Op("t", "tuple", 5,
                        "shape { element_type: TUPLE tuple_shapes { element_type: F32 } } operand_ids: 3"),
                 5))
          .SerializeAsString();
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const uint8_t flip : {0x01, 0x80, 0xff}) {
      bytes[i] = static_cast<char>(bytes[i] ^ flip);
      const auto module = FromSerialized(bytes, {.for_execution = true, .literal_bytes_max = 1 << 20});
      if (module.ok()) Serialize(**module);
      bytes[i] = static_cast<char>(bytes[i] ^ flip);
    }
  }
}

TEST(CodecSerialized, ModulesInsideHloProtoAndHloSnapshotAreFound) {
  xla::HloSnapshot snapshot;
  *snapshot.mutable_hlo()->mutable_hlo_module() = Parse(Main(kParameter0, 1));
  snapshot.set_execution_platform("cpu");
  for (const std::string& bytes : {snapshot.SerializeAsString(), snapshot.hlo().SerializeAsString(),
                                   snapshot.hlo().hlo_module().SerializeAsString()}) {
    const auto module = FromSerialized(bytes);
    ASSERT_TRUE(module.ok()) << module.status();
    EXPECT_EQ((*module)->name(), "m");
  }
}

const google::protobuf::UnknownFieldSet& Unknown(const google::protobuf::Message& message) {
  return message.GetReflection()->GetUnknownFields(message);
}
// Adds an unknown varint field.
void AddUnknown(google::protobuf::Message* message, int number) {
  message->GetReflection()->MutableUnknownFields(message)->AddVarint(number, 5);
}

TEST(CodecUnknownField, UnknownFieldsAtEveryLevelComeBack) {
  xla::HloModuleProto proto =
      Parse(Main(kParameter0 + Op("z", "parameter", 3, F32("") + "parameter_number: 1") +
                     Op("p", "pad", 2,
                        F32("dimensions: 9") + "operand_ids: 1 operand_ids: 3 "
                                               "padding_config { dimensions { edge_padding_low: 1 } } "
                                               "metadata { op_name: 'a' stack_frame_id: 4 } "
                                               "statistics_viz { stat_index_to_visualize: 2 }"),
                 2));
  auto* pad = proto.mutable_computations(0)->mutable_instructions(2);
  AddUnknown(&proto, 900);
  AddUnknown(proto.mutable_computations(0), 901);
  AddUnknown(pad, 902);
  AddUnknown(pad->mutable_padding_config()->mutable_dimensions(0), 903);
  AddUnknown(pad->mutable_shape(), 904);
  const auto module = FromProto(proto);
  ASSERT_TRUE(module.ok()) << module.status();
  const xla::HloModuleProto again = ToProto(**module);
  const auto& pad_again = again.computations(0).instructions(2);
  EXPECT_EQ(pad_again.metadata().stack_frame_id(), 4);
  EXPECT_EQ(pad_again.metadata().op_name(), "a");
  EXPECT_EQ(pad_again.statistics_viz().stat_index_to_visualize(), 2);
  EXPECT_EQ(pad_again.padding_config().dimensions_size(), 1);
  EXPECT_EQ(pad_again.padding_config().dimensions(0).edge_padding_low(), 1);
  const std::vector<const google::protobuf::Message*> extended = {&again, &again.computations(0), &pad_again,
                                                                  &pad_again.padding_config().dimensions(0),
                                                                  &pad_again.shape()};
  for (const auto* message : extended) {
    ASSERT_EQ(Unknown(*message).field_count(), 1);
    EXPECT_EQ(Unknown(*message).field(0).varint(), 5u);
  }
}

TEST(CodecUnknownField, AModuleThatIsToRunMayNotHaveOneOnAnInstruction) {
  xla::HloModuleProto proto = Parse(Main(kParameter0, 1));
  AddUnknown(proto.mutable_computations(0)->mutable_instructions(0), 902);
  EXPECT_TRUE(FromProto(proto).ok());
  const absl::Status status = FromProto(proto, {.for_execution = true}).status();
  EXPECT_EQ(status.code(), kUnimplemented);
  EXPECT_THAT(std::string(status.message()), HasSubstr("instruction \"x\": field 902"));
}

TEST(CodecUnknownField, AnUnknownFieldInsideAnAttributeIsNamedByItsPath) {
  xla::HloModuleProto proto = Parse(Main(kParameter0, 1));
  AddUnknown(proto.mutable_computations(0)->mutable_instructions(0)->mutable_shape(), 77);
  EXPECT_THAT(std::string(FromProto(proto, {.for_execution = true}).status().message()),
              HasSubstr("field shape.77"));
}

TEST(CodecUnknownField, CosmeticFieldsMayHoldAnything) {
  xla::HloModuleProto proto = Parse(Main(kParameter0, 1));
  auto* x = proto.mutable_computations(0)->mutable_instructions(0);
  AddUnknown(x->mutable_metadata(), 99);
  AddUnknown(x->mutable_sharding(), 99);
  AddUnknown(x->mutable_original_value(), 99);
  AddUnknown(x->mutable_frontend_attributes(), 99);
  x->set_conv_kind(static_cast<xla::ConvolutionKind>(12));
  const auto module = FromProto(proto, {.for_execution = true});
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(Unknown(ToProto(**module).computations(0).instructions(0).metadata()).field_count(), 1);
}

TEST(CodecUnknownField, ASparseOperandIsRefused) {
  ExpectRefused(Main(kParameter0 + Op("y", "dot", 2,
                                      F32("") + "operand_ids: 1 operand_ids: 1 "
                                                "sparsity_config { lhs { num_non_zero: 2 block_size: 4 } }"),
                     2),
                kUnimplemented, "sparsity_config (field 98)", {.for_execution = true});
}

TEST(CodecUnknownField, ReplicaGroupsOfACollectiveAreCarriedAsTheyAre) {
  const auto module =
      Decode(Main(kParameter0 + Op("g", "all-gather", 2,
                                   F32("dimensions: 8") +
                                       "operand_ids: 1 dimensions: 0 collective_device_list { "
                                       "replica_groups { replica_ids: 0 replica_ids: 1 } } channel_id: 3"),
                  2));
  ASSERT_TRUE(module.ok()) << module.status();
  const xla::HloModuleProto proto = ToProto(**module);
  const auto& gather = proto.computations(0).instructions(1);
  EXPECT_EQ(gather.channel_id(), 3);
  EXPECT_THAT(gather.collective_device_list().replica_groups(0).replica_ids(), ElementsAre(0, 1));
}

TEST(CodecNotes, AReplicatedShardingIsNotLostThoughItSaysOnlyDefaults) {
  xla::HloModuleProto proto = Parse(Main(kParameter0, 1));
  proto.mutable_computations(0)->mutable_instructions(0)->mutable_sharding();
  const auto module = FromProto(proto);
  ASSERT_TRUE(module.ok());
  EXPECT_TRUE(ToProto(**module).computations(0).instructions(0).has_sharding());
}

TEST(CodecNotes, BackendConfigSharedInTheModuleIsResolved) {
  const std::string call = "custom_call_target: 'f' backend_config_payload { id: ";
  const auto module =
      Decode("payloads: 'one' payloads: 'two' " + Main(Op("c", "custom-call", 1, F32("") + call + "1 }"), 1));
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ((*module)->entry().root().attributes<CustomCallAttributes>().backend_config, "two");
  ExpectRefused(Main(Op("c", "custom-call", 1, F32("") + call + "1 }"), 1), kInvalidArgument,
                "backend_config_payload is 1");
}

TEST(CodecModule, AliasesDonorsAttributesAndScheduleComeBack) {
  const std::string text = Main(kParameter0, 1) +
                           "input_output_alias { entries { parameter_number: 0 kind: MUST_ALIAS } entries { "
                           "output_shape_index: 1 kind: MAY_ALIAS } } "
                           "buffer_donor { entries { parameter_number: 2 parameter_shape_index: 1 } } "
                           "frontend_attributes { map { key: 'k' value: 'v' } } schedule { sequences { key: "
                           "7 value { instruction_ids: 1 } } } "
                           "host_program_shape { parameters { element_type: F32 dimensions: 8 } result { "
                           "element_type: F32 dimensions: 8 } }";
  const auto module = Decode(text);
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_TRUE((*module)->config.is_scheduled);
  EXPECT_TRUE((*module)->config.input_output_alias[0].must_alias);
  EXPECT_FALSE((*module)->config.input_output_alias[1].must_alias);
  const xla::HloModuleProto again = ToProto(**module);
  EXPECT_EQ(again.input_output_alias().entries(1).output_shape_index(0), 1);
  EXPECT_EQ(again.buffer_donor().entries(0).parameter_number(), 2);
  EXPECT_EQ(again.frontend_attributes().map().at("k"), "v");
  EXPECT_EQ(again.schedule().sequences().at(again.entry_computation_id()).instruction_ids(0),
            again.computations(0).instructions(0).id());
}

TEST(CodecModule, NamesAreMadeUniqueOnTheWay) {
  Module module("m");
  for (const char* name : {"f", "f"}) {
    Computation& f = module.AddComputation(name);
    const ShapeId shape = module.tables().Intern(Shape::Scalar(kF32));
    for (int64_t i = 0; i < 2; ++i) {
      f.Append(kParameter, shape, module.tables().Intern(ParameterAttributes{i}), {});
      f.mutable_notes(static_cast<NodeId>(i)).name = "x";
    }
  }
  const xla::HloModuleProto proto = ToProto(module);
  std::set<std::string> names;
  for (const auto& computation : proto.computations()) {
    EXPECT_TRUE(names.insert("computation " + computation.name()).second);
    for (const auto& instruction : computation.instructions())
      EXPECT_TRUE(names.insert(instruction.name()).second);
  }
  EXPECT_EQ(proto.host_program_shape().parameters_size(), 2);
}

}  // namespace
}  // namespace hlod::hlo
