// Programs of several participants (participants/cases.json) through the evaluator and the engine: XLA's
// results.
#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_join.h"
#include "common/base/system/rendezvous.h"
#include "common/evaluator/participants.h"
#include "common/hlo/inference/verifier.h"
#include "common/hlo/proto/codec.h"
#include "common/hlo/text/text.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "server/engine/plan/optimised.h"
#include "server/engine/plan/plan.h"
#include "tests/conformance/case.h"
#include "tests/support/held_engine.h"
#include "tests/support/source_dir.h"

namespace hlod::testing {
namespace {

using hlo::Literal;
using Json = nlohmann::json;
// The values by participant, then by parameter or leaf of the result.
using ByParticipant = std::vector<std::vector<Literal>>;

const std::map<std::string, Json>& Cases() {
  static const auto* const cases = [] {
    std::ifstream file(SourceDir() / "tests/conformance/participants/cases.json");
    auto* const named = new std::map<std::string, Json>;
    for (Json& row : Json::parse(file)) named->emplace(row["name"], std::move(row));
    return named;
  }();
  return *cases;
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const auto& [name, row] : Cases()) names.push_back(name);
  return names;
}

template <typename T>
void Fill(Literal& literal, const Json& values) {
  for (size_t i = 0; i < values.size(); ++i) literal.data<T>()[i] = static_cast<T>(values[i].get<double>());
}

Literal ArrayOf(const Json& json) {
  const std::string type = json["type"];
  const std::vector<int64_t> dims = json["dims"];
  const std::map<std::string, hlo::PrimitiveType> types = {
      {"f32", hlo::kF32}, {"s32", hlo::kS32}, {"u32", hlo::kU32}, {"pred", hlo::kPred}};
  Literal literal(hlo::Shape::Array(types.at(type), hlo::Dims(dims.begin(), dims.end())));
  if (type == "f32") Fill<float>(literal, json["values"]);
  if (type == "s32") Fill<int32_t>(literal, json["values"]);
  if (type == "u32") Fill<uint32_t>(literal, json["values"]);
  if (type == "pred") {
    for (size_t i = 0; i < json["values"].size(); ++i)
      literal.bytes()[i] = std::byte{json["values"][i].get<int>() != 0};
  }
  return literal;
}

ByParticipant ArraysOf(const Json& participants) {
  ByParticipant arrays;
  for (const Json& participant : participants) {
    arrays.emplace_back();
    for (const Json& array : participant) arrays.back().push_back(ArrayOf(array));
  }
  return arrays;
}

// Runs a plan for all participants side by side.
absl::StatusOr<ByParticipant> RunParticipants(const engine::Plan& plan, const ByParticipant& arguments) {
  const hlo::Participants& participants = plan.stats().participants;
  std::vector<std::string> names;
  for (int64_t m = 0; m < participants.count(); ++m) names.push_back(participants.Name(m));
  Rendezvous rendezvous(names);
  ByParticipant results;
  for (size_t m = 0; m < arguments.size(); ++m) {
    results.emplace_back();
    for (const hlo::Shape& shape : plan.results()) results.back().emplace_back(shape);
  }
  {
    std::vector<std::jthread> threads;
    for (size_t m = 0; m < arguments.size(); ++m) {
      threads.emplace_back([&, m] {
        std::vector<const std::byte*> given;
        std::vector<std::byte*> places;
        for (const Literal& argument : arguments[m]) given.push_back(argument.bytes().data());
        for (Literal& result : results[m]) places.push_back(result.bytes().data());
        const Literal temporary(hlo::Shape::Array(hlo::kU8, {plan.memory().temporary_bytes + 64}));
        auto* const bytes = const_cast<std::byte*>(temporary.bytes().data());
        engine::RunContext context;
        context.replica_id = static_cast<uint32_t>(m) / static_cast<uint32_t>(participants.partitions);
        context.partition_id = static_cast<uint32_t>(m) % static_cast<uint32_t>(participants.partitions);
        context.rendezvous = &rendezvous;
        context.participant = static_cast<int>(m);
        rendezvous.Leave(static_cast<int>(m), plan.Run(given, absl::MakeSpan(places), bytes, context));
      });
    }
  }
  if (!rendezvous.cause().ok()) return rendezvous.cause();
  return results;
}

// The prefix of the names of collectives' cases, which are listed with the others.
constexpr std::string_view kOfCorpus = "corpus_";

std::vector<std::string> CorpusNames() {
  std::vector<std::string> names = CaseNames("collectives");
  for (std::string& name : names) name.insert(0, kOfCorpus);
  return names;
}

// Splits an array over all participants into one part per participant.
void CutUp(const Literal& all, ByParticipant& participants) {
  participants.resize(static_cast<size_t>(all.shape().dims[0]));
  for (size_t m = 0; m < participants.size(); ++m) participants[m].push_back(PartOf(all, m));
}

class Participants : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    std::string text;
    if (GetParam().starts_with(kOfCorpus)) {
      const absl::StatusOr<Case> xla = LoadCase(GetParam().substr(kOfCorpus.size()), "collectives");
      ASSERT_TRUE(xla.ok()) << xla.status();
      text = xla->module_text;
      tolerances_ = xla->tolerances;
      for (const Literal& argument : xla->arguments) CutUp(argument, arguments_);
      for (const Literal& result : xla->expected) CutUp(result, expected_);
    } else {
      const Json& row = Cases().at(GetParam());
      const std::vector<std::string> lines = row["text"];
      text = absl::StrJoin(lines, "\n");
      arguments_ = ArraysOf(row["arguments"]);
      expected_ = ArraysOf(row["results"]);
    }
    auto module = hlo::ParseModule(text);
    ASSERT_TRUE(module.ok()) << module.status();
    module_ = *std::move(module);
    ASSERT_EQ(hlo::Verify(*module_), absl::OkStatus());
    ASSERT_EQ(static_cast<int64_t>(expected_.size()), hlo::ParticipantsOf(*module_).count());
  }

  // Sums are of eighths, exact in any order; a dot's sums are not.
  void ExpectXlasResults(const ByParticipant& results) {
    ASSERT_EQ(results.size(), expected_.size());
    for (size_t m = 0; m < results.size(); ++m) {
      ASSERT_EQ(results[m].size(), expected_[m].size());
      for (size_t r = 0; r < results[m].size(); ++r) {
        Tolerance tolerance = GetParam() == "mean_of_matmuls" ? Tolerance{1e-6, 1e-6} : Tolerance{};
        if (!tolerances_.empty()) tolerance = tolerances_[r];
        const absl::Status same = CompareArrays(results[m][r], expected_[m][r], tolerance);
        EXPECT_TRUE(same.ok()) << "participant " << m << ", result " << r << ": " << same;
      }
    }
  }
  void ExpectPlanGivesXlasResults(const engine::Plan& plan) {
    const auto results = RunParticipants(plan, arguments_);
    ASSERT_TRUE(results.ok()) << results.status() << "\n" << plan.Dump();
    ExpectXlasResults(*results);
  }

  std::unique_ptr<hlo::Module> module_;
  ByParticipant arguments_, expected_;
  std::vector<Tolerance> tolerances_;  // The tolerances from the corpus, by result.
};

TEST_P(Participants, EvaluatorComputesXlasResults) {
  std::vector<std::vector<const Literal*>> pointers;
  for (const std::vector<Literal>& participant : arguments_) {
    pointers.emplace_back();
    for (const Literal& argument : participant) pointers.back().push_back(&argument);
  }
  const auto results = EvaluateParticipants(*module_, pointers);
  ASSERT_TRUE(results.ok()) << results.status();
  ByParticipant leaves;
  for (const Literal& result : *results) {
    leaves.emplace_back();
    for (const Literal* leaf : result.Leaves()) leaves.back().push_back(*leaf);
  }
  ExpectXlasResults(leaves);
}

TEST_P(Participants, EngineComputesXlasResults) {
  const auto plan = engine::Compile(*module_, {.threads = EngineThreads()});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ((*plan)->stats().reference_steps, 0) << (*plan)->Dump();
  ExpectPlanGivesXlasResults(**plan);
}

TEST_P(Participants, ReferencePlanComputesXlasResults) {
  const auto plan = engine::Compile(*module_, {.threads = EngineThreads(), .reference_only = true});
  ASSERT_TRUE(plan.ok()) << plan.status();
  ExpectPlanGivesXlasResults(**plan);
}

// A proto's device assignment states the number of participants.
TEST_P(Participants, SurviveAProto) {
  const std::string bytes = hlo::ToProto(*module_).SerializeAsString();
  const auto read = hlo::FromSerialized(bytes, {.for_execution = true});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ((*read)->config.replica_count, module_->config.replica_count);
  EXPECT_EQ((*read)->config.partition_count, module_->config.partition_count);
  const auto plan = engine::Compile(**read, {.threads = EngineThreads()});
  ASSERT_TRUE(plan.ok()) << plan.status();
  ExpectPlanGivesXlasResults(**plan);
}

INSTANTIATE_TEST_SUITE_P(Xla, Participants, ::testing::ValuesIn(Names()), CaseName());
INSTANTIATE_TEST_SUITE_P(Corpus, Participants, ::testing::ValuesIn(CorpusNames()), CaseName());

}  // namespace
}  // namespace hlod::testing
