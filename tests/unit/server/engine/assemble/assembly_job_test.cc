// The machine code of a plan: when it is requested, whose memory it takes, and that it is given back.
#include "server/engine/assemble/assembly_job.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "server/engine/assemble/assembler.h"
#include "server/engine/plan/plan.h"
#include "tests/unit/server/engine/assemble/assembly_users.h"
#include "tests/unit/server/engine/assemble/random_programs.h"
#include "tests/unit/server/engine/plan_testing.h"

namespace hlod::engine {
namespace {

class AssemblyJobs : public testing::Test {
 protected:
  void SetUp() override {
    if (!Assembler::Supported()) GTEST_SKIP() << "This processor has no AVX2.";
  }
  std::unique_ptr<Plan> MakePlan(std::shared_ptr<Assembler> assembler, uint32_t seed = 5) const {
    const auto module = RandomPrograms(seed).Make({3, 100}, 10);
    return Compile(*module, {.threads = 1, .assembler = std::move(assembler)}).value();
  }
  void Run(const Plan& plan, AssemblyUser* user) const {
    std::vector<hlo::Literal> arguments;
    for (const hlo::Shape& shape : plan.arguments()) arguments.push_back(Sample(shape, 1));
    RunContext context;
    context.assembly = user;
    ASSERT_TRUE(RunPlan(plan, arguments, context).ok());
  }

  const std::shared_ptr<Assembler> assembler_ = std::make_shared<Assembler>(Assembler::Options{});
};

TEST_F(AssemblyJobs, TheSecondRunRequestsMachineCode) {
  const auto plan = MakePlan(assembler_);
  const auto user = std::make_shared<HeldUser>();
  Run(*plan, user.get());
  EXPECT_EQ(user->requests(), 0);
  for (int run = 0; run < 3; ++run) Run(*plan, user.get());
  EXPECT_EQ(user->requests(), 1);
  EXPECT_EQ(plan->kernels(), 0);
  user->RunAll();
  EXPECT_GT(plan->kernels(), 0);
  const int turns = user->requests();  // More than one on a slow machine.
  Run(*plan, user.get());
  EXPECT_EQ(user->requests(), turns);
}

TEST_F(AssemblyJobs, ARunWithoutAUserRequestsNone) {
  const auto plan = MakePlan(assembler_);
  for (int run = 0; run < 3; ++run) Run(*plan, nullptr);
  EXPECT_EQ(plan->kernels(), 0);
}

TEST_F(AssemblyJobs, ARequestThatItsUserDropsIsMadeByAnother) {
  const auto plan = MakePlan(assembler_);
  const auto first = std::make_shared<HeldUser>(), second = std::make_shared<HeldUser>();
  for (int run = 0; run < 2; ++run) Run(*plan, first.get());
  Run(*plan, second.get());
  EXPECT_EQ(second->requests(), 0);
  first->Drop();
  Run(*plan, second.get());
  EXPECT_EQ(second->requests(), 1);
  second->RunAll();
  EXPECT_GT(plan->kernels(), 0);
}

TEST_F(AssemblyJobs, WorkMayRunAfterItsPlanIsGone) {
  auto plan = MakePlan(assembler_);
  const auto user = std::make_shared<HeldUser>();
  for (int run = 0; run < 2; ++run) Run(*plan, user.get());
  plan.reset();
  user->RunAll();
  EXPECT_EQ(assembler_->code_bytes(), 0);
}

// A user whose first Reserve, which is called while a program is being assembled, calls a function of the
// test.
class AskedUser : public HeldUser {
 public:
  explicit AskedUser(std::function<void()> act) : act_(std::move(act)) {}
  bool Reserve(int64_t bytes) override {
    if (act_ != nullptr) std::exchange(act_, nullptr)();
    return HeldUser::Reserve(bytes);
  }

 private:
  std::function<void()> act_;
};

// The plan is dropped by a thread that the assembler waits for: if that waited for the assembler, neither
// would end.
TEST_F(AssemblyJobs, APlanDoesNotWaitForAProgramThatIsBeingAssembled) {
  auto plan = MakePlan(assembler_);
  const auto user = std::make_shared<AskedUser>([&] { std::thread([&] { plan.reset(); }).join(); });
  for (int run = 0; run < 2; ++run) Run(*plan, user.get());
  user->RunAll();
  EXPECT_EQ(plan, nullptr);
  EXPECT_EQ(assembler_->code_bytes(), 0);
  EXPECT_EQ(user->bytes(), 0);
}

TEST_F(AssemblyJobs, CodeThatIsMadeAtOnceIsItsUsersToo) {
  const auto at_once = std::make_shared<Assembler>(Assembler::Options{.at_once = true});
  const auto module = RandomPrograms(5).Make({3, 100}, 10);
  const auto user = std::make_shared<HeldUser>(), poor = std::make_shared<HeldUser>(/*bytes_max=*/0);
  auto plan = Compile(*module, {.threads = 1, .assembler = at_once, .assembly = user}).value();
  EXPECT_GT(plan->kernels(), 0);
  EXPECT_GT(user->bytes(), 0);
  EXPECT_EQ(user->bytes(), at_once->code_bytes());
  plan.reset();
  EXPECT_EQ(user->bytes(), 0);
  plan = Compile(*module, {.threads = 1, .assembler = at_once, .assembly = poor}).value();
  EXPECT_EQ(plan->kernels(), 0);
}

TEST_F(AssemblyJobs, APlanGivesItsCodeBack) {
  const auto at_once = std::make_shared<Assembler>(Assembler::Options{.at_once = true});
  auto plan = MakePlan(at_once);
  EXPECT_GT(plan->kernels(), 0);
  EXPECT_GT(at_once->code_bytes(), 0);
  EXPECT_LE(at_once->code_bytes(), plan->code_bytes_max());
  plan.reset();
  EXPECT_EQ(at_once->code_bytes(), 0);
}

// The code that two users share is the first one's until nobody has it.
TEST_F(AssemblyJobs, MemoryIsThatOfTheUserWhoRequested) {
  auto first_plan = MakePlan(assembler_), second_plan = MakePlan(assembler_);
  const auto first = std::make_shared<HeldUser>(), second = std::make_shared<HeldUser>();
  for (int run = 0; run < 2; ++run) {
    Run(*first_plan, first.get());
    Run(*second_plan, second.get());
  }
  first->RunAll();
  second->RunAll();
  EXPECT_GT(second_plan->kernels(), 0);
  EXPECT_GT(first->bytes(), 0);
  EXPECT_EQ(first->bytes(), assembler_->code_bytes());
  EXPECT_EQ(second->bytes(), 0);
  first_plan.reset();
  EXPECT_GT(first->bytes(), 0);
  second_plan.reset();
  EXPECT_EQ(first->bytes(), 0);
}

TEST_F(AssemblyJobs, AUserWithoutMemoryTakesNoneFromOthers) {
  const auto plan = MakePlan(assembler_), others = MakePlan(assembler_, 6);
  const auto poor = std::make_shared<HeldUser>(/*bytes_max=*/0), other = std::make_shared<HeldUser>();
  for (int run = 0; run < 2; ++run) {
    Run(*plan, poor.get());
    Run(*others, other.get());
  }
  poor->RunAll();
  other->RunAll();
  EXPECT_EQ(plan->kernels(), 0);
  EXPECT_GT(others->kernels(), 0);
  EXPECT_EQ(other->bytes(), assembler_->code_bytes());
}

}  // namespace
}  // namespace hlod::engine
