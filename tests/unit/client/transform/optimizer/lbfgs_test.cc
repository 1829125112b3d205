// L-BFGS compared with PyTorch's (optimizer/torch.json): losses, calls of the closure, and parameters after
// each step on two Rosenbrock functions at once.
#include <cmath>
#include <fstream>
#include <set>

#include "hlod/observe/events.h"
#include "hlod/optim/lbfgs.h"
#include "nlohmann/json.hpp"
#include "tests/support/source_dir.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

class LbfgsSteps : public TensorTest {
 protected:
  struct Problem {
    Tensor x, y;
    int64_t evaluations = 0;
    std::function<Tensor()> Closure() {
      return [this] {
        ++evaluations;
        x.ZeroGrad();
        y.ZeroGrad();
        const Tensor loss = Sum(Square(1 - x)) + Sum(Square(y - Square(x))) * 100;
        loss.Backward();
        return loss;
      };
    }
    std::vector<double> Values() const { return Cat({x.Detach(), y.Detach()}).ToVector<double>(); }
  };
  Problem Start(const Device& where) {
    return {FromValues<double>({-1.2, .3}, Dims{2}, where).RequiresGrad_(),
            FromValues<double>({1, 2}, Dims{2}, where).RequiresGrad_()};
  }
  static nlohmann::json Wanted(const std::string& name) {
    return nlohmann::json::parse(
        std::ifstream(SourceDir() / "tests/unit/client/transform/optimizer/torch.json"))["lbfgs"][name];
  }
  static void ExpectNear(const std::vector<double>& got, const nlohmann::json& wanted,
                         const std::string& what, double tolerance = 1e-10) {
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_NEAR(got[i], wanted[i].get<double>(), tolerance * std::max(1.0, std::abs(got[i]))) << what;
    }
  }
};

TEST_F(LbfgsSteps, GivePyTorchsLossesAndParameters) {
  const std::map<std::string, LbfgsOptions> cases = {
      {"fixed", {.lr = 1e-3, .max_iter = 12}},
      {"history", {.lr = .05, .max_iter = 30, .history_size = 3}},
      {"strong_wolfe", {.strong_wolfe = true}},
      {"strong_wolfe_short", {.lr = .5, .max_iter = 4, .history_size = 2, .strong_wolfe = true}},
      {"few_evaluations", {.max_iter = 20, .max_eval = 5, .strong_wolfe = true}},
  };
  for (const auto& [name, options] : cases) {
    const nlohmann::json wanted = Wanted(name);
    // Fifty evaluations of this search amplify rounding: PyTorch's own result moves by 3e-7 to 7e-7 when the
    // last digit of the start changes.
    const double tolerance = name == "strong_wolfe" ? 5e-6 : 1e-10;
    Problem problem = Start(device());
    Lbfgs lbfgs({problem.x, problem.y}, options);
    for (size_t step = 0; step < wanted["losses"].size(); ++step) {
      const std::string what = name + ", step " + std::to_string(step);
      const Tensor loss = lbfgs.Step(problem.Closure());
      ExpectNear({loss.Item<double>()}, nlohmann::json::array({wanted["losses"][step]}), what, tolerance);
      EXPECT_EQ(problem.evaluations, wanted["evaluations"][step].get<int64_t>()) << what;
      ExpectNear(problem.Values(), wanted["after"][step], what, tolerance);
    }
    EXPECT_EQ(lbfgs.evaluations(), problem.evaluations);
  }
}

// Collects the lines of events that a program pays for.
class Lines : public Observer {
 public:
  void OnEvent(const Event& event) override {
    std::visit(
        [&](const auto& what) {
          if constexpr (requires { what.origin; }) lines.insert(what.origin.line);
        },
        event.what);
  }
  std::set<int> lines;
};

// Whatever Step() does belongs to its line, and what the closure does to the closure's.
TEST_F(LbfgsSteps, CompileOnceAtTheCallersLine) {
  Problem problem = Start(device());
  Lbfgs lbfgs({problem.x, problem.y}, {.lr = 1e-3, .max_iter = 2, .max_eval = 9});
  int64_t after_5 = 0;
  Lines seen;
  int step_line = 0, read_line = 0;
  const auto closure = [&] {
    const Tensor loss = problem.Closure()();
    read_line = __LINE__ + 1;
    EXPECT_GE(loss.Item<double>(), 0);
    return loss;
  };
  ::testing::internal::CaptureStderr();
  {
    const Observation observation(seen);
    for (int step = 0; step < 15; ++step) {
      step_line = __LINE__ + 1;
      lbfgs.Step(closure);
      if (step == 5) after_5 = GetTraceStats().compiles;
    }
  }
  EXPECT_EQ(lbfgs.iterations(), 30);
  EXPECT_EQ(GetTraceStats().compiles, after_5);
  EXPECT_THAT(seen.lines, ::testing::ElementsAre(read_line, step_line));
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), ::testing::Not(HasSubstr("compiled again")));
}

TEST_F(LbfgsSteps, AHistoryOfOnePairIsReplaced) {
  Problem problem = Start(device());
  Lbfgs lbfgs({problem.x, problem.y}, {.lr = .05, .max_iter = 6, .history_size = 1});
  lbfgs.Step(problem.Closure());
  EXPECT_EQ(lbfgs.StateDict().at("state.ro").numel(), 1);
}

TEST_F(LbfgsSteps, GoOnFromAState) {
  const nlohmann::json wanted = Wanted("strong_wolfe_short");
  const LbfgsOptions options = {.lr = .5, .max_iter = 4, .history_size = 2, .strong_wolfe = true};
  Problem first = Start(Device());
  Lbfgs before({first.x, first.y}, options);
  for (int step = 0; step < 3; ++step) before.Step(first.Closure());
  Problem second = {first.x.Detach().Clone().RequiresGrad_(), first.y.Detach().Clone().RequiresGrad_()};
  Lbfgs after({second.x, second.y});
  after.LoadStateDict(before.StateDict());
  for (size_t step = 3; step < 6; ++step) {
    after.Step(second.Closure());
    ExpectNear(second.Values(), wanted["after"][step], std::to_string(step));
  }
  auto less = before.StateDict();
  less.erase("state.H_diag");
  Throws([&] { after.LoadStateDict(less); });
  EXPECT_THAT(last_what_, HasSubstr("missing state.H_diag"));
}

TEST_F(LbfgsSteps, AScheduleChangesTheirRate) {
  Problem problem = Start(Device());
  Lbfgs lbfgs({problem.x, problem.y}, {.lr = .5});
  LrScheduler scheduler = ExponentialLr(lbfgs, .5);
  scheduler.Step();
  EXPECT_EQ(lbfgs.learning_rate(), .25);
}

TEST_F(LbfgsSteps, NeedAClosureAndPositiveNumbers) {
  Problem problem = Start(Device());
  Lbfgs lbfgs({problem.x, problem.y});
  const auto refused = [&](const std::function<void()>& body) {
    EXPECT_EQ(KindOf(Thrown(body)), ErrorKind::kArgument);
    EXPECT_THAT(last_what_, HasSubstr("lbfgs_test.cc"));
    return last_what_;
  };
  EXPECT_THAT(refused([&] { lbfgs.Step(); }), HasSubstr("takes a closure"));
  EXPECT_THAT(refused([&] { Lbfgs({problem.x}, {.lr = -1}); }), HasSubstr("lr is -1"));
  EXPECT_THAT(refused([&] { Lbfgs({problem.x}, {.history_size = 0}); }), HasSubstr("history_size is 0"));
}

// Other optimizers accept a closure, too, which computes the loss.
TEST_F(LbfgsSteps, AClosureComputesTheLossOfAnyOptimizer) {
  Problem problem = Start(Device());
  Sgd sgd({problem.x, problem.y}, {.lr = 1e-3});
  const NoGrad no_grad;  // The closure enables gradients inside this scope.
  // By hand: x - lr (2 (x - 1) - 400 x (y - x^2)), y - lr 200 (y - x^2).
  EXPECT_NEAR(sgd.Step(problem.Closure()).Item<double>(), 389.5, 1e-9);
  ExpectNear(problem.Values(), {-.9844, .5306, 1.088, 1.618}, "sgd");
}

}  // namespace
}  // namespace hlod
