// Threads that trace concurrently: a wait in one does not hold up the others.
#include <thread>

#include "absl/synchronization/notification.h"
#include "client/tensor/value/impl.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

class Threads : public TensorTest {};

TEST_F(Threads, AFileThatIsSlowToReadDoesNotHoldUpOthers) {
  absl::Notification reading, traced;
  auto value = lazy::MakeRef<lazy::Value>(kF32, Dims{2}, lazy::Place{}, Caller::Here());
  value->Become(lazy::Value::File{[&]() -> absl::StatusOr<Literal> {
    reading.Notify();
    traced.WaitForNotification();
    return Literal::Vector<float>({1, 2});
  }});
  const Tensor file = lazy::MakeTensor(std::move(value));
  std::vector<float> sum;
  std::thread reader([&] { sum = (file + file).ToVector<float>(); });
  reading.WaitForNotification();
  EXPECT_THAT((OnDevice({1, 2}, {2}) * 2.0).ToVector<float>(), ElementsAre(2, 4));
  traced.Notify();
  reader.join();
  EXPECT_THAT(sum, ElementsAre(2, 4));
}

TEST_F(Threads, ThreadsThatNeedOneImplicitCopyGetIt) {
  DefaultEnvironment().Set({.mixed_devices = MixedDevices::kImplicit});
  const Tensor on_host = FromValues<float>({3, 4}), on_device = OnDevice({1, 2}, {2});
  std::vector<std::vector<float>> sums(4);
  std::vector<std::thread> threads;
  for (std::vector<float>& sum : sums)
    threads.emplace_back([&] { sum = (on_device + on_host).ToVector<float>(); });
  for (std::thread& thread : threads) thread.join();
  DefaultEnvironment().Set({.mixed_devices = MixedDevices::kError});
  for (const std::vector<float>& sum : sums) EXPECT_THAT(sum, ElementsAre(4, 6));
  EXPECT_GE(GetTraceStats().implicit_copies, 1);
  EXPECT_LE(GetTraceStats().implicit_copies, 4);
}

}  // namespace
}  // namespace hlod
