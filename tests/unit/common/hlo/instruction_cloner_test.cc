// Copies of instructions: over other operands, callees, shapes and Tables, and with the notes that still
// hold.
#include "common/hlo/instruction_cloner.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "common/hlo/text/text.h"

namespace hlod::hlo {
namespace {

std::unique_ptr<Module> Parsed(const std::string& text) { return ParseModule(text).value(); }

constexpr char kChain[] = R"(HloModule chain
double {
  x = f32[2] parameter(0)
  ROOT y = f32[2] add(x, x)
}
main {
  a = f32[2] parameter(0)
  b = f32[2] negate(a), frontend_attributes={mark="b"}
  c = f32[2] call(b), to_apply=double
  ROOT d = f32[2] multiply(c, b), control-predecessors={b, c}
}
)";

TEST(InstructionCloner, CopiesOverWhatReplacesTheOperands) {
  const std::unique_ptr<Module> module = Parsed(kChain);
  const Computation& from = module->entry();
  Computation to(module->shared_tables(), "copy");
  const NodeId first = CloneInstruction(from[0], {}, to, ClonedNotes::kNone);
  const NodeId second = CloneInstruction(from[0], {}, to, ClonedNotes::kNone);
  InstructionCloner cloner(from, to);
  cloner.set_node(0, second);
  EXPECT_FALSE(cloner.HasOperands(2)) << "b has no copy yet";
  cloner.CloneAll();
  EXPECT_EQ(cloner.node(0), second);
  EXPECT_EQ(to.size(), 5u) << "the parameter was not copied again";
  EXPECT_EQ(to[cloner.node(1)].operands()[0], second);
  EXPECT_EQ(to.root_id(), cloner.node(from.root_id()));
  EXPECT_EQ(to.root().operands()[0], cloner.node(2));
  EXPECT_EQ(to.notes(cloner.node(1))->frontend_attributes.at("mark"), "b");
  EXPECT_EQ(to.notes(to.root_id())->control_predecessors,
            (std::vector<NodeId>{cloner.node(1), cloner.node(2)}));
  EXPECT_EQ(from.notes(3)->control_predecessors, (std::vector<NodeId>{1, 2})) << "the original keeps its own";
  EXPECT_EQ(first, 0u);
}

TEST(InstructionCloner, DropsAControlPredecessorWithoutACopy) {
  const std::unique_ptr<Module> module = Parsed(kChain);
  const Computation& from = module->entry();
  Computation to(module->shared_tables(), "copy");
  InstructionCloner cloner(from, to);
  const NodeId a = cloner.Clone(0), b = cloner.Clone(1);
  // Appended in c's place, and not its copy; then nothing is.
  const NodeId c = cloner.Append(from[2]);
  EXPECT_FALSE(cloner.has(2));
  EXPECT_EQ(to[c].operands()[0], b);
  cloner.set_node(2, a);
  cloner.set_node(1, Computation::kNoNode);
  const NodeId d = cloner.Append(from[3], {.shape = from[0].shape_id()});
  EXPECT_EQ(to.notes(d)->control_predecessors, (std::vector<NodeId>{a}));
}

TEST(InstructionCloner, NamesCalleesByTheirNewIdsAndInternsInOtherTables) {
  const std::unique_ptr<Module> module = Parsed(kChain);
  Module other("other");
  other.AddComputation("unrelated");
  Translation translation(module->tables(), other.tables());
  Computation& callee = other.AddComputation("double");
  InstructionCloner(module->computation(0), callee, {.translation = &translation}).CloneAll();
  Computation& to = other.AddComputation("main");
  InstructionCloner(
      module->entry(), to,
      {.callee = [](ComputationId id) { return id + 1; }, .translation = &translation, .notes = false})
      .CloneAll();
  EXPECT_EQ(to[2].called()[0], 1u);
  EXPECT_EQ(to[2].shape(), Shape::Array(kF32, {2}));
  EXPECT_EQ(&to.tables(), &other.tables());
  EXPECT_EQ(to.notes(1), nullptr);
}

TEST(CloneInstruction, MayCopyWithinAComputationWhoseArenaMoves) {
  const std::unique_ptr<Module> module = Parsed(kChain);
  Computation to(module->shared_tables(), "copy");
  InstructionCloner(module->entry(), to).CloneAll();
  for (int i = 0; i < 1000; ++i) {
    const NodeId operands[] = {to.size() - 1};
    CloneInstruction(to[2], operands, to, ClonedNotes::kAll);
  }
  EXPECT_EQ(to.size(), 1004u);
  for (NodeId id = 4; id < to.size(); ++id) {
    ASSERT_EQ(to[id].opcode(), kCall);
    ASSERT_EQ(to[id].operands()[0], id - 1);
    ASSERT_EQ(to[id].called()[0], 0u);
  }
}

TEST(CloneInstruction, LeavesControlPredecessorsOutWhenAsked) {
  const std::unique_ptr<Module> module = Parsed(kChain);
  Computation to(module->shared_tables(), "copy");
  InstructionCloner(module->entry(), to).CloneAll();
  const NodeId operands[] = {0, 1};
  const NodeId all = CloneInstruction(module->entry()[3], operands, to, ClonedNotes::kAll);
  const NodeId without = CloneInstruction(module->entry()[3], operands, to, ClonedNotes::kWithoutControl);
  const NodeId none = CloneInstruction(module->entry()[3], operands, to, ClonedNotes::kNone);
  EXPECT_EQ(to.notes(all)->control_predecessors, (std::vector<NodeId>{1, 2}));
  EXPECT_TRUE(to.notes(without)->control_predecessors.empty());
  EXPECT_EQ(to.notes(none), nullptr);
}

}  // namespace
}  // namespace hlod::hlo
