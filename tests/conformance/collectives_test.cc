// Collectives in StableHLO become those of XLA's HLO for the same program.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/import/import.h"
#include "common/base/text/strings.h"
#include "common/hlo/collectives/replica_groups.h"
#include "common/hlo/proto/codec.h"
#include "common/hlo/text/text.h"
#include "tests/conformance/case.h"
#include "tests/support/source_dir.h"

namespace hlod::testing {
namespace {

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  return std::move(bytes).str();
}

std::string Describe(const hlo::Module& module, hlo::Instruction instruction) {
  std::string text = absl::StrCat(ToAbsl(Name(instruction.opcode())), " ");
  for (uint32_t i = 0; i < instruction.operand_count(); ++i)
    absl::StrAppend(&text, ToStringNoLayout(instruction.operand(i).shape()), " ");
  absl::StrAppend(&text, "-> ", ToStringNoLayout(instruction.shape()));
  if (const auto* said = std::get_if<hlo::CollectiveAttributes>(&instruction.attributes())) {
    for (const hlo::Dims& group : ListGroups(said->groups))
      absl::StrAppend(&text, " {", absl::StrJoin(group, ","), "}");
    absl::StrAppend(&text, " channel ", said->channel_id, " dimensions ",
                    absl::StrJoin(said->dimensions, ","), said->use_global_device_ids ? " global" : "");
  } else if (const auto* permute = std::get_if<hlo::PermuteAttributes>(&instruction.attributes())) {
    for (const auto& [source, target] : permute->pairs) absl::StrAppend(&text, " ", source, ">", target);
    absl::StrAppend(&text, " channel ", permute->channel_id);
  } else if (const auto* order = std::get_if<hlo::DimensionsAttributes>(&instruction.attributes())) {
    absl::StrAppend(&text, " dimensions ", absl::StrJoin(order->dimensions, ","));
  }
  for (const hlo::ComputationId called : instruction.called()) {
    absl::StrAppend(&text, " of ", ToAbsl(Name(module.computation(called).root().opcode())));
  }
  return text;
}

// Returns the collectives, and the instructions that move the pieces of all-to-all, in the order of the
// program.
std::vector<std::string> CollectivesOf(const hlo::Module& module) {
  std::vector<std::string> found;
  for (hlo::ComputationId id = 0; id < module.computation_count(); ++id) {
    const hlo::Computation& computation = module.computation(id);
    for (hlo::NodeId node = 0; node < computation.size(); ++node) {
      const hlo::Instruction instruction = computation[node];
      const bool moves = instruction.opcode() == hlo::kTranspose;
      const bool is_id = instruction.opcode() == hlo::kPartitionId || instruction.opcode() == hlo::kReplicaId;
      if (moves || is_id || HasTrait(instruction.opcode(), hlo::kCollective))
        found.push_back(Describe(module, instruction));
    }
  }
  return found;
}

// Returns the cases that StableHLO can express.
std::vector<std::string> CasesInStablehlo() {
  std::vector<std::string> names = CaseNames("collectives");
  std::erase_if(names, [](const std::string& name) {
    return !std::filesystem::exists(CasesDir("collectives") / name / "module.mlir");
  });
  return names;
}

class CollectivesInStablehlo : public ::testing::TestWithParam<std::string> {};

TEST_P(CollectivesInStablehlo, BecomeThoseOfTheSameProgramInHlo) {
  const absl::StatusOr<Case> xla = LoadCase(GetParam(), "collectives");
  ASSERT_TRUE(xla.ok()) << xla.status();
  const auto want = hlo::ParseModule(xla->module_text);
  ASSERT_TRUE(want.ok()) << want.status();
  const auto got = ReadModule(ReadAll(xla->folder + "/module.mlir"), {.for_execution = true});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ((*got)->config.replica_count, (*want)->config.replica_count);
  EXPECT_EQ((*got)->config.partition_count, (*want)->config.partition_count);
  const std::vector<std::string> collectives = CollectivesOf(**want);
  EXPECT_FALSE(collectives.empty());
  EXPECT_EQ(CollectivesOf(**got), collectives);
}

INSTANTIATE_TEST_SUITE_P(Collectives, CollectivesInStablehlo, ::testing::ValuesIn(CasesInStablehlo()),
                         CaseName());

TEST(CollectivesCases, AreThere) {
  EXPECT_GT(CaseNames("collectives").size(), 30);
  EXPECT_GT(CasesInStablehlo().size(), 20);
}

TEST(CollectivesOfManualComputations, AreThoseOfXlasHlo) {
  const absl::StatusOr<Case> jax = LoadCase("manual_computation", "stablehlo");
  ASSERT_TRUE(jax.ok()) << jax.status();
  const auto want = hlo::FromSerialized(jax->module_proto);
  ASSERT_TRUE(want.ok()) << want.status();
  for (const char* form : {"/module.mlir", "/module.generic.mlir", "/module.mlirbc"}) {
    const auto got = ReadModule(ReadAll(jax->folder + form));
    ASSERT_TRUE(got.ok()) << form << ": " << got.status();
    EXPECT_EQ(CollectivesOf(**got), CollectivesOf(**want)) << form;
  }
}

}  // namespace
}  // namespace hlod::testing
