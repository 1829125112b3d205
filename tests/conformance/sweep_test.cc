// Every opcode over every type that XLA supports, through the engine and the evaluator: XLA's results.
#include "tests/conformance/sweep.h"

#include <fnmatch.h>

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/hlo/inference/verifier.h"
#include "common/hlo/text/text.h"
#include "gtest/gtest.h"
#include "server/engine/plan/plan.h"
#include "tests/support/held_engine.h"
#include "tests/unit/server/engine/plan_testing.h"

namespace hlod::testing {
namespace {

// Results that are known to differ from XLA's. A row whose results all agree fails, because it is out of
// date.
struct Difference {
  const char* module;  // Patterns (fnmatch) of the modules' names.
  const char* result;
  std::string_view reason;
};
const std::vector<Difference>& Known() {
  static const auto* const known = new std::vector<Difference>{
      {"unary.f8e3m4", "sqrt", "XLA rounds twice: to f16, then to four bits of mantissa"},
      {"unary.f8e5m2fnuz", "reduce_precision_e5m10", "XLA computes in f16, which has more subnormal numbers"},
      {"unary.f8e5m2fnuz", "reduce_precision_e5m2", "XLA computes in f16, which has more subnormal numbers"},
      {"sort.LT.total.f8e4m3b11fnuz", "*", "XLA's only NaN is negative, and sorts first"},
      {"sort.GT.total.f8e4m3b11fnuz", "*", "XLA's only NaN is negative, and sorts last"},
      {"sort.LT.total.f8e4m3fnuz", "*", "XLA's only NaN is negative, and sorts first"},
      {"sort.GT.total.f8e4m3fnuz", "*", "XLA's only NaN is negative, and sorts last"},
      {"sort.LT.total.f8e5m2fnuz", "*", "XLA's only NaN is negative, and sorts first"},
      {"sort.GT.total.f8e5m2fnuz", "*", "XLA's only NaN is negative, and sorts last"},
      {"binary.f8*fnuz", "compare_total_*", "XLA's only NaN is negative"},
      {"binary.c*", "m??imum",
       "complex numbers have no order; here the real part leads, then the imaginary part"},
      {"binary.c*", "atan2", "close to zero the last bits of a logarithm remain; the sides of a branch cut"},
      {"reduce.m*imum.c*", "*", "complex numbers have no order"},
      {"scatter.m*imum.c*", "*", "complex numbers have no order"},
      {"reduce.add.f8*", "*", "each sum is rounded to a few bits, in an order that HLO leaves open"},
      {"reduce.multiply.f8*", "*", "each product is rounded to a few bits, in an order that HLO leaves open"},
  };
  return *known;
}

class Sweep : public ::testing::TestWithParam<std::string> {
 protected:
  void Compare(const SweepModule& module, std::string_view who, const std::vector<hlo::Literal>& results) {
    ASSERT_EQ(results.size(), module.results.size()) << module.name;
    for (size_t r = 0; r < results.size(); ++r) {
      const SweepResult& want = module.results[r];
      const std::string difference = SweepDifference(results[r], want);
      bool known = false;
      for (size_t k = 0; k < Known().size(); ++k) {
        if (fnmatch(Known()[k].module, module.name.c_str(), 0) != 0 ||
            fnmatch(Known()[k].result, want.name.c_str(), 0) != 0)
          continue;
        known = met_[k] = true;
        if (!difference.empty()) differed_[k].insert(absl::StrCat(module.name, " ", want.name));
      }
      if (!difference.empty() && !known)
        ADD_FAILURE() << module.name << " " << want.name << " (" << who << "): " << difference;
    }
  }

  // One entry per row: true when a result matched it, and the results that differed.
  std::vector<bool> met_ = std::vector<bool>(Known().size());
  std::vector<std::set<std::string>> differed_ = std::vector<std::set<std::string>>(Known().size());
};

TEST_P(Sweep, EngineAndEvaluatorComputeXlasResults) {
  const auto modules = LoadSweep(GetParam());
  ASSERT_TRUE(modules.ok()) << modules.status();
  size_t results = 0;
  for (const SweepModule& sweep : *modules) {
    results += sweep.results.size();
    const auto module = hlo::ParseModule(sweep.text);
    ASSERT_TRUE(module.ok()) << sweep.name << ": " << module.status();
    const absl::Status verified = hlo::Verify(**module);
    ASSERT_TRUE(verified.ok()) << sweep.name << ": " << verified;
    const auto evaluated = engine::RunEvaluator(**module, sweep.arguments);
    ASSERT_TRUE(evaluated.ok()) << sweep.name << ": " << evaluated.status();
    Compare(sweep, "evaluator", *evaluated);
    const auto plan = engine::Compile(**module, {.threads = EngineThreads()});
    ASSERT_TRUE(plan.ok()) << sweep.name << ": " << plan.status();
    const auto ran = engine::RunPlan(**plan, sweep.arguments);
    ASSERT_TRUE(ran.ok()) << sweep.name << ": " << ran.status();
    Compare(sweep, "engine", *ran);
  }
  for (size_t k = 0; k < Known().size(); ++k) {
    if (!met_[k]) continue;
    EXPECT_FALSE(differed_[k].empty()) << Known()[k].module << " " << Known()[k].result << " agrees with XLA";
    RecordProperty(absl::StrCat("known_", k),
                   absl::StrFormat("%d|%s %s|%s", differed_[k].size(), Known()[k].module, Known()[k].result,
                                   Known()[k].reason));
  }
  RecordProperty("results", static_cast<int>(results));  // readme.py counts these.
}

INSTANTIATE_TEST_SUITE_P(Xla, Sweep, ::testing::ValuesIn(SweepFamilies()),
                         [](const auto& info) { return info.param; });

TEST(SweepFamilies, AreThere) { EXPECT_GE(SweepFamilies().size(), 12u); }

}  // namespace
}  // namespace hlod::testing
