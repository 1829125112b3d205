// The module's instruction storage and its tables.
#include "common/hlo/module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <vector>

#include "common/hlo/builder.h"
#include "common/hlo/flat_signature.h"
#include "common/hlo/hash.h"

namespace hlod::hlo {
namespace {

using ::testing::ElementsAre;

TEST(Tables, EqualThingsHaveOneId) {
  Tables tables;
  const Shape shape = Shape::Array(kF32, {2, 3});
  EXPECT_EQ(tables.Intern(shape), tables.Intern(Shape::Array(kF32, {2, 3})));
  EXPECT_NE(tables.Intern(shape), tables.Intern(Shape::Array(kF32, {3, 2})));
  Shape column = shape;
  column.layout.emplace();
  column.layout->minor_to_major = {0, 1};
  EXPECT_NE(tables.Intern(shape), tables.Intern(column));
  EXPECT_EQ(tables.Intern(Attributes(NoAttributes{})), 0u);
  EXPECT_EQ(tables.Intern(Attributes(DimensionsAttributes{{0, 1}})),
            tables.Intern(Attributes(DimensionsAttributes{{0, 1}})));
  EXPECT_NE(tables.Intern(Attributes(DimensionsAttributes{{0, 1}})),
            tables.Intern(Attributes(DynamicSliceAttributes{{0, 1}})));
  const auto literal = [](float x) { return std::make_shared<const Literal>(Literal::Scalar(x)); };
  EXPECT_EQ(tables.Intern(literal(1)), tables.Intern(literal(1)));
  EXPECT_NE(tables.Intern(literal(0)), tables.Intern(literal(-0.0f)));
}

TEST(Tables, KeepThousandsApart) {
  Tables tables;
  for (int64_t i = 0; i < 5000; ++i)
    EXPECT_EQ(tables.Intern(Shape::Array(kF32, {i})), static_cast<ShapeId>(i));
  for (int64_t i = 0; i < 5000; ++i)
    EXPECT_EQ(tables.Intern(Shape::Array(kF32, {i})), static_cast<ShapeId>(i));
}

// Shapes that collide under a hash with fixed factors, which this one once was: u8[0,d1,d2] with d2
// cancelling d1.
TEST(HashOf, CollisionsOfAFixedHashAreNone) {
  const auto mix = [](uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 32);
  };
  const uint64_t start = mix(mix(static_cast<uint64_t>(kU8) + 1, 3), 0);
  std::set<uint64_t> hashes;
  int64_t shapes = 0;
  for (int64_t d1 = 0; shapes < 1000; ++d1) {
    const uint64_t d2 = mix(start, static_cast<uint64_t>(d1)) ^ 12345;
    if (d2 >> 63 != 0) continue;
    hashes.insert(HashOf(Shape::Array(kU8, {0, d1, static_cast<int64_t>(d2)})));
    ++shapes;
  }
  EXPECT_EQ(hashes.size(), 1000u);
}

TEST(HashOf, EveryFieldOfAShapeCounts) {
  const auto change = [](auto edit) {
    Shape shape = Shape::Array(kF32, {4, 4});
    shape.layout = Layout::RowMajor(2);
    edit(shape);
    return shape;
  };
  const std::vector<Shape> shapes = {
      change([](Shape& s) {}),
      change([](Shape& s) { s.layout.reset(); }),
      change([](Shape& s) { s.type = kS32; }),
      change([](Shape& s) { s.dims = {4, 5}; }),
      change([](Shape& s) { s.dynamic = {true, false}; }),
      change([](Shape& s) { s.dynamic = {false, true}; }),
      change([](Shape& s) { s.tuple = {Shape::Scalar(kF32)}; }),
      change([](Shape& s) { s.layout->minor_to_major = {0, 1}; }),
      change([](Shape& s) { s.layout->tiles = {{8, 128}}; }),
      change([](Shape& s) { s.layout->tiles = {{8}, {128}}; }),
      change([](Shape& s) { s.layout->tail_padding_alignment = 2; }),
      change([](Shape& s) { s.layout->index_type = kU32; }),
      change([](Shape& s) { s.layout->pointer_type = kU32; }),
      change([](Shape& s) { s.layout->element_size_in_bits = 4; }),
      change([](Shape& s) { s.layout->memory_space = 1; }),
      change([](Shape& s) { s.layout->split_configs = {{0, {2}}}; }),
      change([](Shape& s) { s.layout->split_configs = {{1, {2}}}; }),
      change([](Shape& s) { s.layout->physical_shape = std::make_shared<const Shape>(Shape::Scalar(kU32)); }),
      change([](Shape& s) { s.layout->dynamic_shape_metadata_prefix_bytes = 8; }),
  };
  std::set<uint64_t> hashes;
  for (const Shape& shape : shapes) {
    hashes.insert(HashOf(shape));
    EXPECT_EQ(HashOf(shape), HashOf(Shape(shape)));
  }
  EXPECT_EQ(hashes.size(), shapes.size());
}

TEST(Tables, LargeLiteralsAreNotCompared) {
  Tables tables;
  const auto large = [] { return std::make_shared<const Literal>(Literal(Shape::Array(kF32, {20000}))); };
  EXPECT_NE(tables.Intern(large()), tables.Intern(large()));
}

NodeId AppendParameter(Computation& computation, int64_t number) {
  Tables& tables = computation.tables();
  return computation.Append(kParameter, tables.Intern(Shape::Scalar(kF32)),
                            tables.Intern(Attributes(ParameterAttributes{number})), {});
}

TEST(Computation, ParametersAreOrderedByNumberWhateverTheOrderOfAppending) {
  Computation computation(std::make_shared<Tables>(), "c");
  AppendParameter(computation, 2);
  EXPECT_THAT(computation.parameters(), ElementsAre());
  AppendParameter(computation, 0);
  EXPECT_THAT(computation.parameters(), ElementsAre(1));
  AppendParameter(computation, 1);
  EXPECT_THAT(computation.parameters(), ElementsAre(1, 2, 0));
  EXPECT_EQ(computation.program_shape().parameters.size(), 3u);
}

TEST(Computation, AHugeParameterNumberCostsNothing) {
  Computation computation(std::make_shared<Tables>(), "c");
  AppendParameter(computation, INT64_MAX);
  AppendParameter(computation, -7);
  EXPECT_THAT(computation.parameters(), ElementsAre());
}

// The table of notes grows while it is read; AddressSanitizer detects a dangling reference.
TEST(Computation, InstructionsShareNotesWithOthersOfTheirComputation) {
  Computation computation(std::make_shared<Tables>(), "c");
  for (int64_t i = 0; i < 1000; ++i) AppendParameter(computation, i);
  computation.mutable_notes(0).metadata.op_name = "jit(f)/add";
  for (NodeId id = 1; id < 1000; ++id) computation.ShareNotes(id, computation, id - 1);
  for (NodeId id = 0; id < 1000; ++id) EXPECT_EQ(computation.notes(id), computation.notes(0)) << id;
}

TEST(Computation, TheLastInstructionIsTheRootUntilOneIsSet) {
  Computation computation(std::make_shared<Tables>(), "c");
  AppendParameter(computation, 0);
  AppendParameter(computation, 1);
  EXPECT_EQ(computation.root_id(), 1u);
  computation.set_root(0);
  AppendParameter(computation, 2);
  EXPECT_EQ(computation.root_id(), 0u);
}

TEST(Computation, InstructionsReadBackAsAppended) {
  Module module("m");
  const ComputationId add = AddScalarReducer(module, kAdd, kF32);
  Builder b(module, "main");
  const Op x = b.Parameter(0, Shape::Array(kF32, {4}), "x"), zero = b.Constant(0.0f);
  const Op sum = b.Reduce(x, zero, {0}, add);
  ASSERT_TRUE(b.Build(sum).ok());
  const Instruction reduce = module.entry().root();
  EXPECT_EQ(reduce.opcode(), kReduce);
  EXPECT_THAT(reduce.operands(), ElementsAre(x.id, zero.id));
  EXPECT_THAT(reduce.called(), ElementsAre(add));
  EXPECT_EQ(reduce.operand(0).name(), "x");
  EXPECT_EQ(reduce.name(), "reduce.2");
  EXPECT_THAT(reduce.dimensions(), ElementsAre(0));
  EXPECT_EQ(reduce.operand(1).literal(), Literal::Scalar(0.0f));
  EXPECT_EQ(module.instruction_count(), 6);
}

TEST(Computation, EqualProgramsHaveEqualWords) {
  const auto tables = std::make_shared<Tables>();
  Module first("a", tables), second("b", tables);
  for (Module* module : {&first, &second}) {
    Builder b(*module, "main");
    const Op x = b.Parameter(0, Shape::Array(kF32, {4}));
    ASSERT_TRUE(b.Build(x + b.Constant(1.0f)).ok());
  }
  EXPECT_EQ(first.entry().words(), second.entry().words());
}

TEST(Clone, SharesNothingThatGrows) {
  Module module("m");
  const ComputationId add = AddScalarReducer(module, kAdd, kF32);
  Builder b(module, "main");
  b.Constant(Literal::Scalar<int64_t>(5));
  const Op x = b.Parameter(0, Shape::Array(kF32, {4}), "x");
  ASSERT_TRUE(b.Build(b.Reduce(x, b.Constant(2.0f), {0}, add)).ok());
  const auto clone = Clone(module);
  EXPECT_NE(&clone->tables(), &module.tables());
  EXPECT_EQ(clone->entry().root().operand(1).literal(), Literal::Scalar(2.0f));
  EXPECT_EQ(clone->entry()[x.id].name(), "x");
  clone->entry().mutable_notes(x.id).name = "y";
  EXPECT_EQ(module.entry()[x.id].name(), "x");
  EXPECT_EQ(clone->entry().root().called(), module.entry().root().called());
}

TEST(Clone, KeepsEverySetting) {
  Module module("m");
  Builder b(module, "main");
  ASSERT_TRUE(b.Build(b.Parameter(0, Shape::Array(kF32, {2}))).ok());
  module.entry().config = {.execution_thread = "side", .is_fusion = true, .unmodelled = "computation"};
  module.config = {.entry_layout = module.entry().program_shape(),
                   .input_output_alias = {{{}, 0, {}, true}},
                   .buffer_donors = {{0, {}}},
                   .frontend_attributes = {{"key", "value"}},
                   .replica_count = 2,
                   .partition_count = 3,
                   .is_scheduled = true,
                   .unmodelled = "module"};
  const std::unique_ptr<Module> clone = Clone(module);
  EXPECT_TRUE(clone->config == module.config);
  EXPECT_TRUE(clone->entry().config == module.entry().config);
}

TEST(FlatSignature, IsTheLeavesOfParametersAndRootInOrder) {
  Module module("m");
  Builder b(module, "main");
  Shape column = Shape::Array(kF32, {2, 3});
  column.layout.emplace();
  column.layout->minor_to_major = {0, 1};
  const Shape s32 = Shape::Scalar(kS32);
  const Op state = b.Parameter(0, Shape::Tuple({s32, Shape::Tuple({column, s32})})), x = b.Parameter(1, s32);
  ASSERT_TRUE(b.Build(b.Tuple({x, b.GetTupleElement(state, 1)})).ok());

  const FlatSignature signature(module.entry());
  ASSERT_EQ(signature.arguments.size(), 4u);
  EXPECT_TRUE(signature.arguments[1].shape == Shape::Array(kF32, {2, 3})) << "without a layout";
  EXPECT_EQ(signature.arguments[2].parameter, 0);
  EXPECT_EQ(signature.arguments[2].number, 2);
  EXPECT_THAT(signature.arguments[2].index, ElementsAre(1, 1));
  EXPECT_EQ(signature.arguments[3].parameter, 1);
  EXPECT_EQ(signature.FindArgument(0, {0}), 0);
  EXPECT_EQ(signature.FindArgument(0, {1, 1}), 2);
  EXPECT_EQ(signature.FindArgument(1, {}), 3);
  EXPECT_EQ(signature.FindArgument(0, {1}), -1) << "a tuple is not a leaf";
  EXPECT_EQ(signature.FindArgument(2, {}), -1);
  EXPECT_EQ(signature.FindArgument(-1, {0}), -1);
  ASSERT_EQ(signature.results.size(), 3u);
  EXPECT_EQ(signature.FindResult({1, 1}), 2);
  EXPECT_EQ(signature.FindResult({2}), -1);
}

TEST(OpcodeTable, NamesAreFoundAgain) {
  for (int i = 0; i < kOpcodeCount; ++i)
    EXPECT_EQ(ParseOpcode(Name(static_cast<Opcode>(i))), static_cast<Opcode>(i));
  EXPECT_EQ(ParseOpcode("no-such-opcode"), std::nullopt);
}

}  // namespace
}  // namespace hlod::hlo
