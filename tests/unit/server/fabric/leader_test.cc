// The order in which a leader begins the launches that wait, and the size of what it sends.
#include "server/fabric/leader.h"

#include <gtest/gtest.h>

#include "common/base/errors/error.h"
#include "server/fabric/channel.h"

namespace hlod::fabric {
namespace {

struct NoWork : Work {
  void Prepare(const v1::PrepareLaunch&, uint64_t) override {}
  void Release(const v1::LaunchId&, const absl::Status&) override {}
  void Start(const v1::LaunchId&) override {}
  void Cancel(const v1::LaunchId&, const absl::Status&) override {}
  void OnOver(uint64_t, bool, const absl::Status&) override {}
  void OnOfferRefused(uint64_t, uint64_t, const v1::LaunchId&, const absl::Status&) override {}
};

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
