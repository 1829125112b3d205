// Values in channels without a program: order, limits, cancelling, and their release at the session's end.
#include <gmock/gmock.h>

#include "tests/unit/server/device/session_device.h"

namespace hlod::device {
namespace {

using ::testing::HasSubstr;

struct ChannelSession : TestSession {
  using TestSession::TestSession;
  uint64_t Infeed(const std::vector<Handle>& arguments, std::optional<int64_t> channel = std::nullopt) {
    InfeedRequest request;
    request.command = Next();
    request.channel.id = channel;
    request.arguments = arguments;
    const uint64_t id = request.command.id;
    EXPECT_TRUE(session_device->Infeed(std::move(request), Keep(id)).ok());
    return id;
  }
  uint64_t Outfeed(const std::vector<Handle>& results, const std::vector<hlo::Shape>& shapes) {
    OutfeedRequest request;
    request.command = Next();
    request.results = results;
    request.shapes = shapes;
    const uint64_t id = request.command.id;
    EXPECT_TRUE(session_device->Outfeed(std::move(request), Keep(id)).ok());
    return id;
  }
};

std::string Text(const absl::Status& status) { return ErrorOf(status).text; }

TEST(Channels, AnInfeedIsAnsweredWhenItsBuffersAreThere) {
  FakeClock clock;
  const std::unique_ptr<Devices> devices = MakeDevices(clock);
  ChannelSession session(*devices);
  const uint64_t upload = session.Announce(1);
  const uint64_t infeed = session.Infeed({1});
  EXPECT_FALSE(session.AnswerTo(infeed).has_value());
  session.Deliver(upload);
  EXPECT_TRUE(session.Await(infeed).ok());
  EXPECT_EQ(KindOf(session.Await(session.Infeed({7}))), ErrorKind::kUnknownHandle);
  session.Placeholder(2);
  EXPECT_EQ(KindOf(session.Await(session.Infeed({2}))), ErrorKind::kPlaceholder);
}

TEST(Channels, ValuesAreLimitedAndACancelledOneMakesRoom) {
  FakeClock clock;
  const std::unique_ptr<Devices> devices = MakeDevices(clock, {.channel_values_max = 2});
  ChannelSession session(*devices);
  session.Announce(1);
  const uint64_t first = session.Infeed({1}), second = session.Infeed({1}, 5);
  const absl::Status refused = session.Await(session.Infeed({1}));
  EXPECT_EQ(KindOf(refused), ErrorKind::kLimit);
  EXPECT_THAT(Text(refused), HasSubstr("channel_values_max is 2"));
  session.session_device->Cancel(second);
  EXPECT_EQ(KindOf(session.Await(second)), ErrorKind::kCancelled);
  const uint64_t third = session.Infeed({1});
  EXPECT_FALSE(session.AnswerTo(third).has_value());
  EXPECT_FALSE(session.AnswerTo(first).has_value());
}

TEST(Channels, AValueHasFewArrays) {
  FakeClock clock;
  const std::unique_ptr<Devices> devices = MakeDevices(clock);
  ChannelSession session(*devices);
  session.Upload(1, {1, 2, 3, 4});
  EXPECT_THAT(Text(session.Await(session.Infeed(std::vector<Handle>(257, 1)))),
              HasSubstr("names 257 arrays; the limit is 256"));
  std::vector<Handle> results;
  for (Handle handle = 10; handle < 267; ++handle) results.push_back(handle);
  EXPECT_THAT(Text(session.Await(session.Outfeed(results, std::vector<hlo::Shape>(257, F32x4())))),
              HasSubstr("names 257 arrays; the limit is 256"));
}

TEST(Channels, AnOutfeedWaitsAndIsCancelled) {
  FakeClock clock;
  const std::unique_ptr<Devices> devices = MakeDevices(clock);
  ChannelSession session(*devices);
  const uint64_t outfeed = session.Outfeed({1, 2}, {F32x4(), F32x4()});
  const uint64_t read = session.Download(2);
  EXPECT_FALSE(session.AnswerTo(outfeed).has_value());
  session.session_device->Cancel(outfeed);
  EXPECT_EQ(KindOf(session.Await(outfeed)), ErrorKind::kCancelled);
  EXPECT_EQ(KindOf(session.Await(read)), ErrorKind::kCancelled);
  EXPECT_THAT(Text(session.Await(session.Outfeed({3}, {}))), HasSubstr("names 1 handles and 0 shapes"));
}

TEST(Channels, AnEndedSessionLetsGoOfAllOfThem) {
  FakeClock clock;
  const std::unique_ptr<Devices> devices = MakeDevices(clock);
  std::weak_ptr<SessionDevice> session_device;
  {
    ChannelSession session(*devices);
    session_device = session.session_device;
    session.Upload(1, {1, 2, 3, 4});
    EXPECT_TRUE(session.Await(session.Infeed({1})).ok());
    session.Announce(2);
    session.Infeed({2});
    session.Outfeed({3}, {F32x4()});
    EXPECT_GT(devices->device(0).memory.figures().used_bytes, 0);
  }
  EXPECT_TRUE(Eventually([&] { return session_device.expired(); }));
  EXPECT_EQ(devices->device(0).memory.figures().used_bytes, 0);
}

}  // namespace
}  // namespace hlod::device
