// A pass is of the daemon whose key signed it, and so is the group.
#include "server/grpc/launches/session_pass.h"

#include <gtest/gtest.h>

#include "common/base/errors/error.h"

namespace hlod::grpc_server {
namespace {

// By Python: int.from_bytes(hashlib.sha256(bytes(range(32)) + (41).to_bytes(8, "little")).digest()[:8],
// "little").
TEST(SessionPass, TheGroupIsAHashOfTheKeyAndTheNumber) {
  std::string key;
  for (char byte = 0; byte < 32; ++byte) key += byte;
  EXPECT_EQ(GroupOf(key, 41), 11979692420780683796u);
}

// A daemon to which a pass was shown knows the client's number, and the group.
TEST(SessionPass, ADaemonCannotGiveAPassForAnothersGroup) {
  const PassKey owner, other;
  v1::SessionPass pass;
  pass.set_incarnation(1);
  pass.set_client(RandomClient());
  v1::SessionPass given;
  ASSERT_TRUE(given.ParseFromString(owner.Sign(pass)));
  const absl::StatusOr<uint64_t> group = CheckPass(given, owner.Public());
  ASSERT_TRUE(group.ok()) << group.status();
  EXPECT_EQ(*group, GroupOf(owner.Public(), pass.client()));
  EXPECT_EQ(KindOf(CheckPass(given, other.Public()).status()), ErrorKind::kAuth);
  // It signs the same number, in its own name and in the owner's.
  v1::SessionPass copied;
  ASSERT_TRUE(copied.ParseFromString(other.Sign(pass)));
  EXPECT_NE(*CheckPass(copied, other.Public()), *group);
  EXPECT_EQ(KindOf(CheckPass(copied, owner.Public()).status()), ErrorKind::kAuth);
}

// A client that connects again gets the passes that it had.
TEST(SessionPass, APassIsSignedOncePerSessionAndMember) {
  const PassKey key;
  v1::SessionPass pass;
  pass.set_user("a");
  device::GivenPasses given(41);
  v1::ClusterInfo cluster;
  for (const uint32_t rank : {1u, 2u}) {
    cluster.add_daemons()->set_rank(rank);
    cluster.mutable_daemons()->rbegin()->set_name("n" + std::to_string(rank));
  }
  AddPasses(key, pass, given, cluster);
  for (const v1::ClusterDaemon& row : cluster.daemons()) {
    v1::SessionPass own;
    ASSERT_TRUE(own.ParseFromString(row.pass()));
    EXPECT_EQ(own.for_rank(), row.rank());
    EXPECT_EQ(own.for_name(), row.name());
    EXPECT_EQ(own.user(), "a");
    EXPECT_EQ(CheckPass(own, key.Public()).value_or(0), GroupOf(key.Public(), 41));
  }
  {
    MutexLock lock(&given.mu);
    given.by_member[{1, "n1"}] = "the one that it had";
  }
  cluster.mutable_daemons(1)->set_name("n3");  // Another daemon has its rank now.
  AddPasses(key, pass, given, cluster);
  EXPECT_EQ(cluster.daemons(0).pass(), "the one that it had");
  v1::SessionPass own;
  ASSERT_TRUE(own.ParseFromString(cluster.daemons(1).pass()));
  EXPECT_EQ(own.for_name(), "n3");
  MutexLock lock(&given.mu);
  EXPECT_EQ(given.by_member.size(), 2u) << "those for former members are forgotten";
}

// They are as many as the cluster has members, and stay as long as the session.
TEST(SessionPass, PassesAreChargedToTheirOwner) {
  device::SideMemory memory(int64_t{1} << 30);
  const PassKey key;
  v1::ClusterInfo cluster;
  for (uint32_t rank = 1; rank <= 100; ++rank) cluster.add_daemons()->set_rank(rank);
  auto given = std::make_shared<device::GivenPasses>(41, memory.ShareOf("a"));
  AddPasses(key, {}, *given, cluster);
  int64_t bytes = 0;
  for (const v1::ClusterDaemon& row : cluster.daemons()) bytes += static_cast<int64_t>(row.pass().size());
  EXPECT_GT(bytes, 100 * 64) << "each has a signature";
  EXPECT_GE(memory.used_bytes(), bytes);
  const int64_t used = memory.ShareOf("a")->used_bytes();
  EXPECT_EQ(used, memory.used_bytes());
  AddPasses(key, {}, *given, cluster);
  EXPECT_EQ(memory.used_bytes(), used) << "a session that connects again has the same passes";
  cluster.mutable_daemons()->DeleteSubrange(50, 50);
  AddPasses(key, {}, *given, cluster);
  EXPECT_LT(memory.used_bytes(), used);
  given.reset();
  EXPECT_EQ(memory.used_bytes(), 0);
}

// Sessions are as many as a client likes.
TEST(SessionPass, PassesTakeNoMoreThanTheirOwnersRoom) {
  device::SideMemory memory(100'000);
  const PassKey key;
  v1::ClusterInfo cluster;
  for (uint32_t rank = 1; rank <= 50; ++rank) cluster.add_daemons()->set_rank(rank);
  std::vector<std::shared_ptr<device::GivenPasses>> sessions;
  for (uint64_t client = 1; client <= 20; ++client) {
    sessions.push_back(std::make_shared<device::GivenPasses>(client, memory.ShareOf("a")));
    for (int again = 0; again < 2; ++again) AddPasses(key, {}, *sessions.back(), cluster);
    EXPECT_LE(memory.used_bytes(), 75'000) << "three quarters";
    v1::SessionPass pass;
    ASSERT_TRUE(pass.ParseFromString(cluster.daemons(49).pass()));
    EXPECT_EQ(CheckPass(pass, key.Public()).value_or(0), GroupOf(key.Public(), client));
  }
  EXPECT_GT(memory.used_bytes(), 0);
  sessions.clear();
  EXPECT_EQ(memory.used_bytes(), 0);
}

}  // namespace
}  // namespace hlod::grpc_server
