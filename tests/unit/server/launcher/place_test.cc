// The variables of each launcher, as its manual or a real job has them.
#include "server/launcher/place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "common/base/text/strings.h"

namespace hlod {
namespace {

using ::testing::HasSubstr;
using Set = std::map<std::string, std::string>;

absl::StatusOr<Place> Find(const Set& set, const std::string& host = "here") {
  return FindPlace(
      [&set](const std::string& name) {
        const auto found = set.find(name);
        return found == set.end() ? std::string() : found->second;
      },
      host);
}

void ExpectPlace(const absl::StatusOr<Place>& got, const Place& expected) {
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->launcher, expected.launcher);
  EXPECT_EQ(got->cluster, expected.cluster);
  EXPECT_EQ(got->rank, expected.rank);
  EXPECT_EQ(got->size, expected.size);
  EXPECT_EQ(got->host, expected.host);
  EXPECT_EQ(got->coordinator, expected.coordinator);
  EXPECT_EQ(got->port, expected.port);
  EXPECT_EQ(got->coordinator_port, expected.coordinator_port);
}

void ExpectRefused(const Set& set, const std::string& sentence, const std::string& host = "here") {
  const absl::StatusOr<Place> got = Find(set, host);
  ASSERT_FALSE(got.ok());
  EXPECT_THAT(FromAbsl(got.status().message()), HasSubstr(sentence));
}

// `srun -N3 -n3 env` of Slurm 22.05.
const Set kSlurmTask = {{"SLURM_JOB_ID", "10077"},     {"SLURM_STEP_ID", "0"},
                        {"SLURM_PROCID", "2"},         {"SLURM_LOCALID", "0"},
                        {"SLURM_NTASKS", "3"},         {"SLURM_STEP_NUM_TASKS", "3"},
                        {"SLURM_STEP_NUM_NODES", "3"}, {"SLURM_STEP_NODELIST", "n[1-3]"},
                        {"SLURMD_NODENAME", "n3"}};

TEST(Place, OfATaskOfSlurm) {
  ExpectPlace(Find(kSlurmTask), {.launcher = "Slurm",
                                 .cluster = "slurm-10077",
                                 .rank = 2,
                                 .size = 3,
                                 .host = "n3",
                                 .coordinator = "n1",
                                 .port = 20077,
                                 .coordinator_port = 20077});
}

TEST(Place, OfTasksOfSlurmOnOneMachineIsOnLoopback) {
  Set set = kSlurmTask;
  set["SLURM_STEP_NUM_NODES"] = "1";
  set["SLURM_STEP_NODELIST"] = "n1";
  set["SLURM_LOCALID"] = "2";
  ExpectPlace(Find(set), {.launcher = "Slurm",
                          .cluster = "slurm-10077",
                          .rank = 2,
                          .size = 3,
                          .host = "localhost",
                          .coordinator = "localhost",
                          .port = 20079,
                          .coordinator_port = 20077});
}

// Under srun an MPI library's variables are set, too.
TEST(Place, OfSlurmComesBeforeThatOfMpiAndAfterHlodsOwn) {
  Set set = kSlurmTask;
  set["PMI_RANK"] = "1";
  EXPECT_EQ(Find(set)->launcher, "Slurm");
  set["HLOD_CLUSTER_RANK"] = "1";
  set["HLOD_CLUSTER_SIZE"] = "2";
  set["HLOD_CLUSTER_COORDINATOR"] = "a:7000";
  set["HLOD_CLUSTER_ID"] = "my ci";
  ExpectPlace(Find(set), {.launcher = "HLOD_CLUSTER_RANK",
                          .cluster = "my-ci",
                          .rank = 1,
                          .size = 2,
                          .host = "here",
                          .coordinator = "a",
                          .port = 7000,
                          .coordinator_port = 7000});
}

TEST(Place, OfAProcessOfOpenMpi) {
  Set set = {{"OMPI_COMM_WORLD_RANK", "3"},
             {"OMPI_COMM_WORLD_SIZE", "4"},
             {"OMPI_COMM_WORLD_LOCAL_RANK", "3"},
             {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}};
  ExpectPlace(Find(set), {.launcher = "Open MPI",
                          .cluster = "auto",
                          .rank = 3,
                          .size = 4,
                          .host = "localhost",
                          .coordinator = "localhost",
                          .port = 9520,
                          .coordinator_port = 9517});
  set["OMPI_COMM_WORLD_LOCAL_RANK"] = "1";
  set["OMPI_COMM_WORLD_LOCAL_SIZE"] = "2";
  ExpectRefused(set, "Open MPI does not say where rank 0 runs: set $HLOD_CLUSTER_COORDINATOR");
  set["HLOD_CLUSTER_COORDINATOR"] = "n1";
  const Place place = Find(set).value();
  EXPECT_EQ(place.coordinator, "n1");
  EXPECT_EQ(place.host, "here");
  EXPECT_EQ(place.port, 9518);
}

TEST(Place, OfAProcessOfHydra) {
  ExpectPlace(
      Find({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "2"}}),
      {.launcher = "MPICH",
       .cluster = "auto",
       .rank = 1,
       .size = 2,
       .host = "localhost",
       .coordinator = "localhost",
       .port = 9518,
       .coordinator_port = 9517});
}

TEST(Place, OfAProcessOfTorchrun) {
  const Set set = {{"RANK", "4"},
                   {"WORLD_SIZE", "8"},
                   {"LOCAL_RANK", "0"},
                   {"LOCAL_WORLD_SIZE", "4"},
                   {"MASTER_ADDR", "n1"},
                   {"MASTER_PORT", "29500"},
                   {"TORCHELASTIC_RUN_ID", "run/7"}};
  ExpectPlace(Find(set, "n2"), {.launcher = "torchrun",
                                .cluster = "torchrun-run-7",
                                .rank = 4,
                                .size = 8,
                                .host = "n2",
                                .coordinator = "n1",
                                .port = 9517,
                                .coordinator_port = 9517});
  ExpectRefused({{"RANK", "0"}, {"WORLD_SIZE", "2"}}, "torchrun has not set $MASTER_ADDR");
}

TEST(Place, OfAPodOfKubernetes) {
  const Set set = {
      {"KUBERNETES_SERVICE_HOST", "10.0.0.1"}, {"HLOD_CLUSTER_SERVICE", "hlod"}, {"HLOD_CLUSTER_SIZE", "3"}};
  const Place expected{.launcher = "Kubernetes",
                       .cluster = "train-hlod",
                       .rank = 2,
                       .size = 3,
                       .host = "train-hlod-2.hlod",
                       .coordinator = "train-hlod-0.hlod",
                       .port = 9517,
                       .coordinator_port = 9517};
  ExpectPlace(Find(set, "train-hlod-2"), expected);
  Set job = set;
  job["JOB_COMPLETION_INDEX"] = "2";
  ExpectPlace(Find(job, "train-hlod-2"), expected);
  ExpectRefused(set, "the pod web has no index in its name", "web");
  ExpectRefused({{"KUBERNETES_SERVICE_HOST", "10.0.0.1"}},
                "$HLOD_CLUSTER_SERVICE must name the headless service", "hlod-0");
}

TEST(Place, IsRefusedWhereNothingOrNonsenseIsSet) {
  ExpectRefused({}, "no launcher has started this daemon");
  ExpectRefused({{"SLURM_PROCID", "one"}}, "$SLURM_PROCID of Slurm is \"one\", which is not a number");
  ExpectRefused({{"SLURM_PROCID", "1"}}, "$SLURM_STEP_NODELIST of Slurm is \"\"");
  ExpectRefused({{"HLOD_CLUSTER_RANK", "2"}, {"HLOD_CLUSTER_SIZE", "2"}, {"HLOD_CLUSTER_COORDINATOR", "a"}},
                "gives rank 2 of 2");
  ExpectRefused({{"HLOD_CLUSTER_RANK", "1"}, {"HLOD_CLUSTER_COORDINATOR", "a:b"}},
                "$HLOD_CLUSTER_COORDINATOR is \"a:b\"");
}

TEST(FirstHost, OfSlurmsLists) {
  EXPECT_EQ(FirstHost("n1"), "n1");
  EXPECT_EQ(FirstHost("n1,n2"), "n1");
  EXPECT_EQ(FirstHost("n[08-11,20],m1"), "n08");
  EXPECT_EQ(FirstHost("rack[2,4]node[1-3]-ib"), "rack2node1-ib");
  EXPECT_EQ(FirstHost("n[1-3"), "");
  EXPECT_EQ(FirstHost(""), "");
}

}  // namespace
}  // namespace hlod
