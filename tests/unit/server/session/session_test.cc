// The session machine: order, answers, replay, leases, isolation, and violations that end a session.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>

#include "common/rpc/ring_use.h"
#include "tests/unit/server/session/pipe.h"

namespace hlod::session {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Session, AnAddGoesInAndComesBack) {
  Daemon daemon;
  Client client(daemon);
  client.Send(client.UploadOf({1, 2, 3, 4}, 1));
  client.Send(client.UploadOf({10, 20, 30, 40}, 2));
  client.Send(client.CompileOf(3, device::AddProgram()));
  client.Send(client.ExecuteOf(3, {1, 2}, {4}));  // Sent without waiting for an answer.
  EXPECT_THAT(client.Read(4), ElementsAre(11, 22, 33, 44));
}

TEST(Session, LiteralsTravelInsideAnExecute) {
  Daemon daemon;
  Client client(daemon);
  client.Send(client.UploadOf({1, 2, 3, 4}, 1));
  client.Send(client.CompileOf(2, device::AddProgram()));
  v1::Command execute = client.ExecuteOf(2, {1, 0}, {3});
  v1::InlineLiteral& literal = *execute.mutable_execute()->add_literals();
  *literal.mutable_shape() = Client::Shape(Client::F32x4());
  literal.set_data(Client::Bytes({1, 1, 1, 1}));
  client.Send(execute);
  EXPECT_THAT(client.Read(3), ElementsAre(2, 3, 4, 5));
  EXPECT_EQ(client.Stats().inline_argument_bytes(), 16);
  EXPECT_EQ(client.Stats().host_to_device().calls(), 1) << "A literal is not an upload.";
}

TEST(Session, TheVersionIsNegotiatedOrRefusedWithBothRanges) {
  Daemon daemon;
  auto stream = std::make_shared<PipeStream>();
  Connection connection(*daemon.registry, Peer{});
  v1::ClientMessage message;
  message.mutable_hello()->set_version_min(7);
  message.mutable_hello()->set_version_max(9);
  connection.OnMessage(stream, message);
  ASSERT_TRUE(stream->end().has_value());
  EXPECT_EQ(KindOf(*stream->end()), ErrorKind::kVersion);
  EXPECT_THAT(std::string(stream->end()->message()), HasSubstr("7 to 9"));
  EXPECT_EQ(daemon.registry->size(), 0u);
}

TEST(Session, AProgramsMistakeIsAnAnswerAndTheSessionGoesOn) {
  Daemon daemon;
  Client client(daemon);
  EXPECT_EQ(client.Fails(client.DownloadOf(99)).kind, ErrorKind::kUnknownHandle);
  EXPECT_EQ(client.Fails(client.FreeOf({99})).kind, ErrorKind::kUnknownHandle);
  EXPECT_EQ(client.Fails(client.CompileOf(1, "no module at all")).kind, ErrorKind::kInvalidProgram);
  EXPECT_TRUE(client.Do(client.PingOf()).has_pong());
}

TEST(Session, ABrokenProtocolEndsTheSession) {
  const std::function<void(Client&)> violations[] = {
      [](Client& c) {
        c.Send(c.UploadOf({1, 2, 3, 4}, 0));
      },                                                                          // Handle 0.
      [](Client& c) { c.Send(c.PlaceholderOf(5)), c.Send(c.PlaceholderOf(5)); },  // The same handle twice.
      [](Client& c) { c.Send(c.PlaceholderOf(5)), c.Send(c.PlaceholderOf(4)); },  // A smaller handle.
      [](Client& c) {
        v1::Command p = c.PingOf();
        p.set_id(9);
        c.Send(p);
      },                                         // The ids have a gap.
      [](Client& c) { c.Send(v1::Command()); },  // A command without a body.
      [](Client& c) {
        v1::ClientMessage m;
        m.set_ack_through(100);
        c.SendRaw(m);
      },  // Acknowledges answers that were not sent.
      [](Client& c) {
        v1::ClientMessage m;
        m.mutable_hello();
        c.SendRaw(m);
      },  // A second Hello.
      [](Client& c) {
        v1::Command p;
        p.mutable_program_chunk()->set_data("x");
        c.Send(p);
      },  // A chunk without a program.
      [](Client& c) {
        v1::Command p;
        p.mutable_define_origin()->set_id(3);
        c.Send(p);
      },  // The line's number is not the next one.
      [](Client& c) {
        v1::Command p;
        p.mutable_compile()->set_executable(1);
        p.mutable_compile()->set_module_bytes(10);
        c.Send(p);
        c.Send(c.PingOf());  // A command is sent where a chunk is expected.
      },
  };
  for (size_t i = 0; i < std::size(violations); ++i) {
    Daemon daemon;
    Client client(daemon);
    client.Send(client.UploadOf({1, 2, 3, 4}, 1));
    violations[i](client);
    EXPECT_EQ(KindOf(client.Ended()), ErrorKind::kViolation) << "violation " << i << ": " << client.Ended();
    EXPECT_EQ(daemon.registry->size(), 0u);
    EXPECT_EQ(daemon.used_bytes(), 0) << "violation " << i;
  }
}

TEST(Session, TheFirstMessageIsHello) {
  Daemon daemon;
  auto stream = std::make_shared<PipeStream>();
  Connection connection(*daemon.registry, Peer{});
  connection.OnMessage(stream, v1::ClientMessage());
  EXPECT_EQ(KindOf(*stream->end()), ErrorKind::kViolation);
}

TEST(Session, GoodbyeFreesEverythingAtOnce) {
  Daemon daemon;
  Client client(daemon);
  client.Do(client.UploadOf({1, 2, 3, 4}, 1));
  EXPECT_EQ(daemon.used_bytes(), 16);
  v1::Command goodbye;
  goodbye.mutable_goodbye();
  client.Send(goodbye);
  EXPECT_TRUE(client.Ended().ok());
  EXPECT_EQ(daemon.used_bytes(), 0);
  EXPECT_EQ(daemon.registry->size(), 0u);
  EXPECT_EQ(daemon.registry->Stats().totals().host_to_device().bytes(), 16)
      << "The ledger outlives the session.";
}

TEST(Session, TwoSessionsCannotNameEachOthersBuffers) {
  Daemon daemon;
  Client one(daemon), other(daemon);
  one.Send(one.UploadOf({1, 2, 3, 4}, 7));
  EXPECT_EQ(other.Fails(other.DownloadOf(7)).kind, ErrorKind::kUnknownHandle);
  EXPECT_EQ(other.Fails(other.FreeOf({7})).kind, ErrorKind::kUnknownHandle);
  EXPECT_THAT(one.Read(7), ElementsAre(1, 2, 3, 4));
  // Neither a forged id nor a forged secret opens the other's session.
  EXPECT_FALSE(daemon.registry->Authenticate(one.session(), other.secret()).ok());
  EXPECT_FALSE(daemon.registry->Authenticate(one.session(), "").ok());
  EXPECT_FALSE(daemon.registry->Authenticate(one.session(), std::string(32, '\0')).ok());
  EXPECT_EQ(daemon.registry->FindByKey(std::string(32, 'x')).session, nullptr);
}

TEST(Session, SharedMemoryIsFoundByItsKeysUntilTheSessionEnds) {
  Daemon daemon;
  Client one(daemon), other(daemon);
  const Registry& registry = *daemon.registry;
  EXPECT_EQ(registry.FindByKey(one.secret()).session->identity().id, one.session());
  EXPECT_FALSE(registry.FindByKey(one.secret()).ring);
  EXPECT_EQ(registry.FindByKey(other.secret()).session->identity().id, other.session());
  const std::string ring_key = registry.FindByKey(one.secret()).session->identity().ring_key.bytes();
  EXPECT_EQ(registry.FindByKey(ring_key).session, nullptr) << "This daemon offers no ring.";
  v1::Command goodbye;
  goodbye.mutable_goodbye();
  const std::string secret = one.secret();
  one.Send(goodbye);
  ASSERT_TRUE(one.Ended().ok());
  EXPECT_EQ(registry.FindByKey(secret).session, nullptr);
  EXPECT_NE(registry.FindByKey(other.secret()).session, nullptr);
}

TEST(Session, ARingIsOfferedToTheDaemonsOwnUserUnlessToAllOfThisHost) {
  for (const rpc::RingUse use : {rpc::RingUse::kOff, rpc::RingUse::kOn, rpc::RingUse::kAll}) {
    Daemon daemon;
    Registry registry(*daemon.devices, daemon.processes,
                      {.epoch = 77, .arena_socket = "test-arena", .ring = use, .daemon = "test"});
    const auto offers = [&registry](bool local, std::optional<uint32_t> user) {
      v1::Hello hello;
      hello.set_version_min(1);
      hello.set_version_max(1);
      const auto stream = std::make_shared<PipeStream>();
      const Peer peer{.local = local, .description = "test", .owner = "someone", .user = user};
      const std::shared_ptr<Session> session = registry.Open(hello, peer, stream).value();
      const v1::Welcome welcome = stream->Next()->welcome();
      const std::string key = session->identity().ring_key.bytes();
      EXPECT_EQ(registry.FindByKey(key).session, welcome.has_ring() ? session : nullptr);
      EXPECT_EQ(registry.FindByKey(key).ring, welcome.has_ring());
      EXPECT_EQ(welcome.ring().key(), welcome.has_ring() ? key : "");
      return welcome.has_ring();
    };
    EXPECT_EQ(offers(true, geteuid()), use != rpc::RingUse::kOff);
    EXPECT_EQ(offers(true, geteuid() + 1), use == rpc::RingUse::kAll);
    EXPECT_EQ(offers(true, std::nullopt), use == rpc::RingUse::kAll);
    EXPECT_FALSE(offers(false, geteuid()));
  }
}

TEST(Session, ADigestIsNoWayToAnothersProgram) {
  Daemon daemon;
  Client one(daemon), other(daemon);
  const std::string program = device::AddProgram();
  one.Do(one.CompileOf(1, program));
  const Digest digest = Sha256(program);
  v1::Command by_digest;
  by_digest.mutable_compile()->set_executable(2);
  by_digest.mutable_compile()->set_digest(std::string(digest.begin(), digest.end()));
  EXPECT_FALSE(one.Do(by_digest).has_error());
  EXPECT_EQ(other.Fails(by_digest).code, absl::StatusCode::kNotFound);
  EXPECT_EQ(one.Stats().compiles(), 1);
  EXPECT_EQ(one.Stats().compile_cache_hits(), 1);
  // Equal programs are compiled once for all sessions.
  other.Do(other.CompileOf(3, program));
  EXPECT_EQ(other.Stats().compiles(), 0);
}

TEST(Session, ProgramsComeInChunks) {
  Daemon daemon;
  Client client(daemon);
  const std::string program = device::AddProgram();
  v1::Command compile;
  compile.mutable_compile()->set_executable(1);
  compile.mutable_compile()->set_module_bytes(program.size());
  compile.mutable_compile()->set_describe(true);
  const uint64_t id = client.Send(compile);
  for (size_t i = 0; i < program.size(); i += 7) {
    v1::Command chunk;
    chunk.mutable_program_chunk()->set_data(program.substr(i, 7));
    client.Send(chunk);
  }
  const v1::Reply reply = client.Await(id);
  EXPECT_FALSE(reply.has_error()) << reply.error().text();
  EXPECT_EQ(reply.compile().arguments_size(), 2);
  EXPECT_EQ(reply.compile().output_bytes(), 16);
  EXPECT_EQ(client.Stats().program_bytes(), static_cast<int64_t>(program.size()));
}

TEST(Session, AnExecuteIsAnsweredWithItsProfileWhenAsked) {
  Daemon daemon;
  Client client(daemon);
  client.Send(client.UploadOf({1, 2, 3, 4}, 1));
  client.Send(client.CompileOf(2, device::AddProgram()));
  v1::Command execute = client.ExecuteOf(2, {1, 1}, {3});
  execute.mutable_execute()->set_profile(true);
  execute.mutable_execute()->set_measure_machine(true);
  const v1::Reply reply = client.Do(execute);
  EXPECT_THAT(client.Read(3), ElementsAre(2, 4, 6, 8));
  const v1::ExecuteProfile& profile = reply.profile();
  ASSERT_EQ(profile.steps_size(), 1);
  EXPECT_EQ(profile.steps(0).kind(), "interpreted");
  EXPECT_EQ(profile.steps(0).runs(), 1);
  EXPECT_EQ(profile.steps(0).bytes(), 3 * 16);
  EXPECT_GT(profile.run_ns(), 0);
  EXPECT_GT(profile.machine().f32_flops(), 0);
  ASSERT_GT(profile.machine().copies_size(), 0) << "The device has room for small copies.";
  EXPECT_GT(profile.machine().copies(0).bytes_per_second(), 0);
  // Only who asks is answered.
  client.Do(client.PingOf());
  const uint64_t plain = client.Send(client.ExecuteOf(2, {1, 1}, {4}));
  client.Do(client.PingOf());
  EXPECT_FALSE(client.replies.contains(plain));
}

// A measurement repeats a loop of 100,000 dependent multiply-adds twenty times, which takes more than a
// millisecond on every processor. The execute itself may wait for a core, but not each time.
TEST(Session, TheMeasurementOfTheMachineIsNoQueueTime) {
  Daemon daemon;
  Client client(daemon);
  client.Send(client.UploadOf({1, 2, 3, 4}, 1));
  client.Send(client.CompileOf(2, device::AddProgram()));
  uint64_t result = 2;
  EXPECT_TRUE(device::Eventually([&] {
    const int64_t before = client.Stats().queue_us();
    v1::Command execute = client.ExecuteOf(2, {1, 1}, {++result});
    execute.mutable_execute()->set_profile(true);
    execute.mutable_execute()->set_measure_machine(true);
    EXPECT_GT(client.Do(execute).profile().machine().f32_flops(), 0);
    return client.Stats().queue_us() - before < 1000;
  }));
}

// The field `device` has no meaning beside `devices`, and may be any number there.
TEST(Session, AProfileMeasuresTheDeviceThatTheExecuteRunsOn) {
  Daemon daemon;
  Client client(daemon);
  client.Send(client.UploadOf({1, 2, 3, 4}, 1));
  client.Send(client.CompileOf(2, device::AddProgram()));
  v1::Command execute = client.ExecuteOf(2, {1, 1}, {3});
  execute.mutable_execute()->set_device(1'000'000'000);
  execute.mutable_execute()->add_devices(0);
  execute.mutable_execute()->set_profile(true);
  execute.mutable_execute()->set_measure_machine(true);
  EXPECT_GT(client.Do(execute).profile().machine().f32_flops(), 0);
}

TEST(Session, AProfileIsRefusedWhereNothingRunsOrBeyondTheLimit) {
  Daemon daemon;
  Client client(daemon);
  client.Send(client.UploadOf({1, 2, 3, 4}, 1));
  client.Send(client.PlaceholderOf(2));
  client.Send(client.CompileOf(3, device::AddProgram()));
  v1::Command execute = client.ExecuteOf(3, {1, 2}, {4});
  execute.mutable_execute()->set_abstract(true);
  execute.mutable_execute()->set_profile(true);
  EXPECT_EQ(client.Fails(execute).kind, ErrorKind::kUnimplemented);

  Limits limits;
  limits.staging_bytes_max = 1500;  // More than the program takes, less than its profile.
  Daemon small(limits);
  Client other(small);
  other.Send(other.UploadOf({1, 2, 3, 4}, 1));
  other.Send(other.CompileOf(2, device::AddProgram()));
  v1::Command profiled = other.ExecuteOf(2, {1, 1}, {3});
  profiled.mutable_execute()->set_profile(true);
  const ErrorDetails error = other.Fails(profiled);
  EXPECT_EQ(error.kind, ErrorKind::kLimit);
  EXPECT_THAT(error.text, HasSubstr("staging_bytes_max"));
  other.Send(other.ExecuteOf(2, {1, 1}, {4}));
  EXPECT_THAT(other.Read(4), ElementsAre(2, 4, 6, 8));
}

TEST(Session, PingWaitsForWhatCameBeforeUnlessAskedNotTo) {
  Daemon daemon;
  Client client(daemon);
  client.Send(client.StreamUploadOf(1));  // The upload's bytes never come.
  const uint64_t waiting = client.Send(client.PingOf());
  EXPECT_TRUE(client.Do(client.PingOf(/*at_once=*/true)).has_pong());
  EXPECT_FALSE(client.replies.contains(waiting));
  daemon.clock.Advance(absl::Seconds(31));
  daemon.registry->Tick();
  EXPECT_TRUE(client.Await(waiting).has_pong());
}

TEST(Session, EachCommandOfAReplayTakesEffectOnce) {
  Daemon daemon;
  Client client(daemon);
  client.Do(client.UploadOf({1, 2, 3, 4}, 1));
  client.Do(client.CompileOf(2, device::AddProgram()));
  client.Do(client.ExecuteOf(2, {1, 1}, {3}));
  const uint64_t download = client.Send(client.DownloadOf(3));
  client.Await(download);
  const v1::SessionStats before = client.Stats();
  client.Break();
  client.replies.clear();
  client.Connect(client.ResumeOf());
  EXPECT_EQ(client.welcome.received_through(), client.last_command);
  // The daemon repeats answers that were not acknowledged, though the client does not repeat the commands.
  EXPECT_EQ(client.Await(download).download().inline_(), Client::Bytes({2, 4, 6, 8}));
  const size_t count = client.sent.size();
  for (size_t i = 0; i < count; ++i) client.SendRaw(v1::ClientMessage(client.sent[i]));
  const v1::SessionStats after = client.Stats();
  EXPECT_EQ(after.replayed_commands(), static_cast<int64_t>(count));
  EXPECT_EQ(after.host_to_device().bytes(), before.host_to_device().bytes());
  EXPECT_EQ(after.device_to_host().bytes(), before.device_to_host().bytes());
  EXPECT_EQ(after.executes(), before.executes());
}

TEST(Session, AcknowledgedRepliesDoNotComeAgain) {
  Daemon daemon;
  Client client(daemon);
  client.Send(client.PingOf());
  client.Await(1);
  client.ack_through = 1;
  client.Send(client.PingOf());
  client.Await(2);
  client.Break();
  client.replies.clear();
  client.Connect(client.ResumeOf());
  client.Await(2);
  client.Do(client.PingOf());
  EXPECT_FALSE(client.replies.contains(1));
}

TEST(Session, AResumeNeedsTheSecretAndTheEpoch) {
  Daemon daemon;
  Client client(daemon);
  v1::Resume resume = client.ResumeOf();
  client.Break();
  const auto attempt = [&](const v1::Resume& with) {
    auto stream = std::make_shared<PipeStream>();
    Connection connection(*daemon.registry, Peer{});
    v1::ClientMessage message;
    message.mutable_hello()->set_version_min(1);
    message.mutable_hello()->set_version_max(1);
    *message.mutable_hello()->mutable_resume() = with;
    connection.OnMessage(stream, message);
    return KindOf(stream->end().value_or(absl::OkStatus()));
  };
  v1::Resume wrong = resume;
  wrong.set_secret(std::string(32, 'x'));
  EXPECT_EQ(attempt(wrong), ErrorKind::kLostSession);
  wrong = resume;
  wrong.set_epoch(resume.epoch() + 1);
  EXPECT_EQ(attempt(wrong), ErrorKind::kLostSession);
  wrong = resume;
  wrong.set_session(resume.session() + 1);
  EXPECT_EQ(attempt(wrong), ErrorKind::kLostSession);
  EXPECT_EQ(attempt(resume), ErrorKind::kNone);
}

TEST(Session, ALeaseRunsOutAfterTheGracePeriod) {
  Daemon daemon;
  Client client(daemon);
  client.Do(client.UploadOf({1, 2, 3, 4}, 1));
  const v1::Resume resume = client.ResumeOf();
  client.Break();
  daemon.clock.Advance(absl::Seconds(29));
  daemon.registry->Tick();
  EXPECT_EQ(daemon.used_bytes(), 16);
  client.Connect(resume);
  EXPECT_THAT(client.Read(1), ElementsAre(1, 2, 3, 4));
  client.Break();
  daemon.clock.Advance(absl::Seconds(31));
  daemon.registry->Tick();
  EXPECT_EQ(daemon.used_bytes(), 0);
  EXPECT_EQ(daemon.registry->size(), 0u);
}

TEST(Session, ADeadProcessIsNotWaitedFor) {
  Daemon daemon;
  daemon.processes.alive[4242] = 1000;
  Client client(daemon, /*pid=*/4242);
  client.Do(client.UploadOf({1, 2, 3, 4}, 1));
  daemon.processes.alive.clear();
  daemon.registry->OnProcessEnded(4242);
  EXPECT_EQ(daemon.used_bytes(), 0);
  EXPECT_EQ(KindOf(client.Ended()), ErrorKind::kLostSession);
}

TEST(Session, AProcessThatNeverConnectedIsNotBelieved) {
  Daemon daemon;
  Client client(daemon, /*pid=*/1);
  daemon.registry->OnProcessEnded(1);
  EXPECT_EQ(daemon.registry->size(), 1u);
}

TEST(Session, APrivateDaemonKeepsNoLease) {
  Daemon daemon({}, 64 << 20, 1, /*leases=*/false);
  Client client(daemon);
  client.Do(client.UploadOf({1, 2, 3, 4}, 1));
  client.Break();
  EXPECT_EQ(daemon.used_bytes(), 0);
}

TEST(Session, ADrainingDaemonTakesNoNewSession) {
  Daemon daemon;
  Client before(daemon);
  daemon.registry->Drain();
  Client after(daemon);
  EXPECT_EQ(KindOf(after.Ended()), ErrorKind::kDraining);
  EXPECT_TRUE(before.Do(before.PingOf()).has_pong());
}

TEST(Session, ALongChainOfFailuresNeedsNoStack) {
  Daemon daemon;
  Client client(daemon);
  client.Send(client.CompileOf(1, device::AddProgram()));
  client.Send(client.StreamUploadOf(2));
  for (uint64_t i = 3; i < 20'000; ++i) client.Send(client.ExecuteOf(1, {i - 1, i - 1}, {i}));
  const uint64_t ping = client.Send(client.PingOf());
  for (int i = 0; i < 5000; ++i) client.Send(client.PingOf());
  daemon.clock.Advance(absl::Seconds(31));
  daemon.registry->Tick();
  EXPECT_TRUE(client.Await(ping).has_pong());
  EXPECT_EQ(client.Fails(client.DownloadOf(19'999)).kind, ErrorKind::kPending);
}

TEST(Session, LedgerRowsAreByLineCauseAndStep) {
  Daemon daemon;
  Client client(daemon);
  const uint32_t line = client.Line("/src/train.cc", 41);
  client.Send(client.At(line, client.UploadOf({1, 2, 3, 4}, 1)));
  v1::Command step;
  step.mutable_step_mark()->set_step(3);
  client.Send(step);
  client.Send(client.At(line, client.UploadOf({1, 2, 3, 4}, 2)));
  client.Send(client.At(line, client.UploadOf({1, 2, 3, 4}, 3)));
  const v1::SessionStats stats = client.Stats();
  ASSERT_EQ(stats.rows_size(), 2);
  EXPECT_EQ(stats.rows(0).amount().bytes(), 32);
  EXPECT_EQ(stats.rows(0).amount().calls(), 2);
  EXPECT_EQ(stats.rows(0).step(), 3u);
  EXPECT_EQ(stats.rows(0).origin().line(), 41);
  EXPECT_EQ(stats.host_to_device().bytes(), 48);
}

}  // namespace
}  // namespace hlod::session
