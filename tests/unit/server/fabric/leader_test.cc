// The order in which a leader begins the launches that wait, and the size of what it sends.
#include "server/fabric/leader.h"

#include <gtest/gtest.h>

#include "common/base/errors/error.h"
#include "server/fabric/channel.h"
#include "tests/unit/server/fabric/no_work.h"

namespace hlod::fabric {
namespace {

LaunchSpec SpecOf(uint64_t group, uint64_t sequence, const std::string& user) {
  LaunchSpec spec;
  spec.prepare.set_group(group);
  spec.prepare.set_sequence(sequence);
  v1::LaunchPart& part = *spec.prepare.add_parts();
  part.set_rank(0);
  part.add_devices(0);
  spec.session = group;
  spec.user = user;
  return spec;
}

// Client 1 always has a further launch, and client 9 is of another user; each user has room for one.
TEST(Leader, ClientsOfAUserTakeTurnsWhateverTheirNumbers) {
  NoWork work;
  std::vector<v1::PrepareLaunch> begun;
  Leader leader(
      LaunchLimits{.begun_per_user_max = 1}, work,
      [&begun](uint32_t, const v1::PeerMessage& message) {
        if (message.has_prepare()) begun.push_back(message.prepare());
      },
      [](uint32_t) { return std::string("n0"); });
  for (uint64_t sequence = 1; sequence <= 20; ++sequence) {
    leader.Take(SpecOf(1, sequence, "greedy"), 0, 0);
    leader.Take(SpecOf(9, sequence, "other"), 0, 0);
    if (sequence > 3) continue;
    for (const uint64_t group : {2, 3}) leader.Take(SpecOf(group, sequence, "greedy"), 0, 0);
  }
  std::vector<uint64_t> of_greedy;
  leader.BeginNext(/*coordinator=*/false, 0);
  for (size_t i = 0; i < begun.size() && of_greedy.size() < 9; ++i) {
    const v1::PrepareLaunch ended = begun[i];
    if (ended.group() != 9) of_greedy.push_back(ended.group());
    for (const auto kind : {v1::LaunchStep::READY, v1::LaunchStep::DONE})
      EXPECT_TRUE(leader.OnStep(0, MakeStep(ended.launch(), kind).step(), 0).ok());
    leader.BeginNext(/*coordinator=*/false, 0);
  }
  EXPECT_EQ(of_greedy, (std::vector<uint64_t>{1, 2, 3, 1, 2, 3, 1, 2, 3}));
}

// A leader whose launches have one part each on ranks 0 and 1, on `devices` devices there.
class Charged : public ::testing::Test {
 protected:
  uint64_t Begin(uint32_t devices, int64_t now_us) {
    LaunchSpec spec = SpecOf(1, ++sequence_, "a");
    v1::LaunchPart& part = *spec.prepare.add_parts();
    part.set_rank(1);
    for (uint32_t device = 0; device < devices; ++device) part.add_devices(device);
    const uint64_t number = leader.Take(spec, 0, now_us);
    leader.BeginNext(/*coordinator=*/true, now_us);
    v1::Ticket ticket;
    ticket.set_number(number);
    ticket.set_ticket(number);
    leader.OnTicket(ticket, now_us);
    return number;
  }
  absl::Status Step(uint64_t number, uint32_t rank, v1::LaunchStep::Kind kind, int64_t now_us,
                    uint64_t used_us = 0) {
    v1::LaunchId id;
    id.set_number(number);
    v1::LaunchStep step = MakeStep(id, kind).step();
    step.set_used_us(used_us);
    return leader.OnStep(rank, step, now_us);
  }
  // Returns what the coordinator learns that the client has used.
  uint64_t Told(int64_t now_us) {
    sent.clear();
    leader.Tick(/*coordinator=*/true, now_us);
    uint64_t used_us = 0;
    for (const v1::PeerMessage& message : sent) used_us += message.ticket_request().used_us();
    return used_us;
  }
  NoWork work;
  std::vector<v1::PeerMessage> sent;
  Leader leader{LaunchLimits{}, work,
                [this](uint32_t, const v1::PeerMessage& message) { sent.push_back(message); },
                [](uint32_t rank) { return "n" + std::to_string(rank); }};

 private:
  uint64_t sequence_ = 0;
};

TEST_F(Charged, ALaunchCostsAMillisecondAtLeast) {
  const uint64_t launch = Begin(1, 0);
  for (const auto kind : {v1::LaunchStep::READY, v1::LaunchStep::DONE}) {
    for (const uint32_t rank : {0u, 1u}) EXPECT_TRUE(Step(launch, rank, kind, 10, /*used_us=*/1).ok());
  }
  EXPECT_EQ(Told(20), 1'000u);
}

// Four devices for five seconds, and one for as long.
TEST_F(Charged, NoDaemonSaysMoreThanThereWasSinceTheStart) {
  const uint64_t launch = Begin(4, 0);
  for (const uint32_t rank : {0u, 1u}) EXPECT_TRUE(Step(launch, rank, v1::LaunchStep::READY, 0).ok());
  for (const uint32_t rank : {0u, 1u})
    EXPECT_TRUE(Step(launch, rank, v1::LaunchStep::DONE, 5'000'000, UINT64_MAX / 2).ok());
  EXPECT_EQ(Told(5'000'001), 5 * 5'000'001u);
}

// Four devices for ten seconds until an earlier launch took them, and for twenty before it was cancelled.
TEST_F(Charged, WhatALaunchHeldBeforeItStartedIsUsed) {
  for (const auto kind : {v1::LaunchStep::WOUND, v1::LaunchStep::OVERDUE}) {
    const uint64_t launch = Begin(4, 0);
    EXPECT_TRUE(Step(launch, 1, v1::LaunchStep::READY, 1'000'000).ok());
    EXPECT_TRUE(Step(launch, 0, kind, 11'000'000).ok()) << "rank 0 is not ready";
    EXPECT_TRUE(Step(launch, 1, kind, 11'000'000).ok());
    EXPECT_TRUE(Step(launch, 1, kind, 12'000'000).ok()) << "it has given its devices back";
    EXPECT_EQ(leader.size(), 1u);
    EXPECT_TRUE(Step(launch, 1, v1::LaunchStep::READY, 20'000'000).ok());
    leader.Tick(/*coordinator=*/true, 40'000'000);
    leader.Cancel(launch, absl::CancelledError("It was cancelled."));
    EXPECT_EQ(Told(40'000'000), 4 * 10'000'001u + 4 * 20'000'001u);
  }
}

// A part that lets others pass takes its place again when the other one is ready, and so in turns.
TEST_F(Charged, PartsThatWerePassedComeBackWhenNoOtherIsMissing) {
  const uint64_t launch = Begin(1, 0);
  const auto last = [this] { return sent.back().step().kind(); };
  EXPECT_TRUE(Step(launch, 1, v1::LaunchStep::READY, 0).ok());
  EXPECT_TRUE(Step(launch, 1, v1::LaunchStep::OVERDUE, 1).ok());
  EXPECT_EQ(last(), v1::LaunchStep::PASS);
  EXPECT_TRUE(Step(launch, 0, v1::LaunchStep::READY, 2).ok());
  EXPECT_EQ(last(), v1::LaunchStep::RESUME);
  EXPECT_TRUE(Step(launch, 0, v1::LaunchStep::OVERDUE, 3).ok());
  EXPECT_EQ(last(), v1::LaunchStep::PASS);
  EXPECT_TRUE(Step(launch, 1, v1::LaunchStep::READY, 4).ok());
  EXPECT_EQ(last(), v1::LaunchStep::RESUME);
  EXPECT_TRUE(Step(launch, 0, v1::LaunchStep::READY, 5).ok());
  EXPECT_EQ(last(), v1::LaunchStep::START);
}

// A launch that has started is not ended.
TEST_F(Charged, OverdueComesTooLateForALaunchThatHasStarted) {
  const uint64_t launch = Begin(1, 0);
  for (const uint32_t rank : {0u, 1u}) EXPECT_TRUE(Step(launch, rank, v1::LaunchStep::READY, 0).ok());
  EXPECT_TRUE(Step(launch, 1, v1::LaunchStep::OVERDUE, 1).ok());
  EXPECT_EQ(leader.size(), 1u);
}

// A client that begins launches and takes them back asks for no more tickets than there may be launches.
TEST_F(Charged, TicketsThatHaveNotComeAreBounded) {
  size_t asked = 0;
  for (int i = 0; i < 5000; ++i) {
    sent.clear();
    const uint64_t number = leader.Take(SpecOf(1, static_cast<uint64_t>(i) + 100, "a"), 0, i);
    leader.BeginNext(/*coordinator=*/true, i);
    for (const v1::PeerMessage& message : sent) asked += message.has_ticket_request() ? 1 : 0;
    leader.Cancel(number, absl::CancelledError("It was cancelled."));
  }
  EXPECT_EQ(asked, LaunchLimits().launches_per_leader_max);
  // Without the coordinator it begins what waits.
  leader.Take(SpecOf(1, 9999, "a"), 0, 6000);
  leader.Tick(/*coordinator=*/false, 6000);
  sent.clear();
  leader.BeginNext(/*coordinator=*/false, 6000);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_TRUE(sent[0].has_prepare());
}

// Programs choose names of any length, and errors state them.
TEST(Messages, ErrorsOfAnyLengthFit) {
  ErrorDetails error{.kind = ErrorKind::kFailed, .shape = std::string(2 << 20, 's')};
  error.text = "x";
  for (int i = 0; i < 1 << 20; ++i) error.text += "\xc3\xa9";  // Two bytes each: the limit is within one.
  const v1::PeerMessage step = MakeStep({}, v1::LaunchStep::DONE, ToStatus(error));
  EXPECT_LT(step.ByteSizeLong(), 8192u);
  const std::string text = step.step().error().text();
  EXPECT_EQ(text.substr(text.size() - 5), "\xc3\xa9...");
  // The texts of other daemons are bounded, too, and remain text.
  v1::Error sent;
  sent.set_code(2);
  sent.set_text(error.text);
  const std::string reason(ReasonOf(sent).message());
  EXPECT_LT(reason.size(), 8192u);
  EXPECT_EQ(reason.substr(reason.size() - 5), "\xc3\xa9...");
}

TEST(Messages, AChannelKeepsNoMessageThatItsReceiverRefuses) {
  Channel channel;
  v1::PeerMessage large;
  large.mutable_step()->set_kind(v1::LaunchStep::DONE);
  large.mutable_step()->mutable_error()->set_code(2);
  large.mutable_step()->mutable_error()->set_text(std::string(Channel::kMessageBytesMax, 't'));
  const v1::PeerMessage* const added = channel.Add(large, 0);
  ASSERT_NE(added, nullptr);
  EXPECT_LT(added->ByteSizeLong(), 1000u);
  EXPECT_EQ(added->step().kind(), v1::LaunchStep::DONE);
  EXPECT_EQ(added->step().error().code(), 2);
  EXPECT_EQ(added->step().error().text(), "The error is too long to be told to another daemon.");
  v1::PeerMessage hopeless;
  hopeless.mutable_offer()->set_user(std::string(Channel::kMessageBytesMax, 'u'));
  EXPECT_EQ(channel.Add(hopeless, 0), nullptr);
  EXPECT_EQ(channel.waiting().size(), 1u);
}

TEST(Messages, AChannelIsBoundedByBytesAndNotByTheirNumber) {
  Channel channel;
  v1::PeerMessage small;
  small.mutable_ticket()->set_number(1);
  for (int i = 0; i < 10'000; ++i) ASSERT_NE(channel.Add(small, 0), nullptr) << i;
  EXPECT_FALSE(channel.HasRoom());
  v1::PeerMessage all;
  all.set_received(10'000);
  ASSERT_TRUE(channel.Take(all, 0).ok());
  EXPECT_EQ(channel.waiting_bytes(), 0u);
  v1::PeerMessage large;
  large.mutable_offer()->set_user(std::string(Channel::kMessageBytesMax - 1000, 'u'));
  size_t taken = 0;
  while (channel.Add(large, 0) != nullptr) ++taken;
  EXPECT_EQ(taken, Channel::kWaitingBytesMax / Channel::kMessageBytesMax);
}

// Messages that come before an earlier one are kept within their bound, too, and come again otherwise.
TEST(Messages, WhatComesTooEarlyIsBoundedByBytes) {
  Channel channel;
  v1::PeerMessage large;
  large.mutable_offer()->set_user(std::string(Channel::kMessageBytesMax - 1000, 'u'));
  for (uint64_t sequence = 2; sequence <= 100; ++sequence) {
    large.set_sequence(sequence);
    EXPECT_EQ(channel.Take(large, 0)->size(), 0u);
  }
  large.set_sequence(1);
  EXPECT_EQ(channel.Take(large, 0)->size(), 1 + Channel::kEarlyBytesMax / Channel::kMessageBytesMax);
}

}  // namespace
}  // namespace hlod::fabric
