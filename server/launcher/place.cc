// A row per launcher says which variables have the rank, the size and the rest. Launchers that start several
// daemons on one machine give each a number there, which is added to the port.
#include "server/launcher/place.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "common/base/errors/status.h"
#include "common/base/text/strings.h"

namespace hlod {
namespace {

// Alternatives for one variable are separated by blanks; the first that is set counts.
struct Launcher {
  const char* name;
  const char* rank;       // Set under this launcher only.
  const char* size;       // May be empty.
  const char* number;     // The daemon's number on its machine, from 0; "" if there is only one.
  const char* here;       // The number of daemons on this machine; "" if it is not stated.
  const char* id;         // Names the job; "" if nothing does.
  const char* id_prefix;  // Before the id in the cluster's name.
};

// OpenMPI and hydra (MPICH, Intel MPI) start daemons as they start any program. Under srun an MPI library's
// variables are set too, so Slurm comes first.
constexpr Launcher kOwn{"HLOD_CLUSTER_RANK", "HLOD_CLUSTER_RANK", "HLOD_CLUSTER_SIZE", "", "", "", ""};
constexpr Launcher kSlurm{
    "Slurm",        "SLURM_PROCID", "SLURM_STEP_NUM_TASKS SLURM_NTASKS", "SLURM_LOCALID", "",
    "SLURM_JOB_ID", "slurm-"};
constexpr Launcher kOpenMpi{"Open MPI",
                            "OMPI_COMM_WORLD_RANK",
                            "OMPI_COMM_WORLD_SIZE",
                            "OMPI_COMM_WORLD_LOCAL_RANK",
                            "OMPI_COMM_WORLD_LOCAL_SIZE",
                            "",
                            ""};
constexpr Launcher kHydra{"MPICH", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "", ""};
constexpr Launcher kTorchrun{
    "torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "TORCHELASTIC_RUN_ID", "torchrun-"};
constexpr Launcher kKubernetes{"Kubernetes", "JOB_COMPLETION_INDEX", "", "", "", "", ""};

std::string Get(const Variables& variables, std::string_view names) {
  while (!names.empty()) {
    const size_t blank = names.find(' ');
    std::string value = variables(std::string(names.substr(0, blank)));
    if (!value.empty() || blank == std::string_view::npos) return value;
    names.remove_prefix(blank + 1);
  }
  return "";
}

absl::StatusOr<int64_t> Number(const Variables& variables, const Launcher& launcher, const char* names) {
  constexpr int64_t kLargest = 1'000'000;
  const std::string text = Get(variables, names);
  int64_t number = 0;
  if (text.empty()) return 0;
  if (!absl::SimpleAtoi(text, &number) || number < 0 || number > kLargest)
    return InvalidArgument("cluster auto: $%s of %s is \"%s\", which is not a number.", names, launcher.name,
                           text);
  return number;
}

// A cluster's name has letters, digits, '.', '_' and '-'.
std::string PlainName(std::string text) {
  constexpr size_t kLongest = 64;
  for (char& c : text) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_') c = '-';
  }
  return text.substr(0, kLongest);
}

// Reads what the row of the launcher names.
absl::StatusOr<Place> ReadRow(const Variables& variables, const Launcher& launcher, const std::string& host) {
  Place place{.launcher = launcher.name, .host = host};
  ASSIGN_OR_RETURN(place.rank, Number(variables, launcher, launcher.rank));
  ASSIGN_OR_RETURN(place.size, Number(variables, launcher, launcher.size));
  ASSIGN_OR_RETURN(const int64_t number, Number(variables, launcher, launcher.number));
  ASSIGN_OR_RETURN(const int64_t here, Number(variables, launcher, launcher.here));
  place.coordinator_port = kClusterPort;
  place.port = kClusterPort + number;
  if (here > 0 && here == place.size) place.host = place.coordinator = "localhost";
  const std::string id = Get(variables, launcher.id);
  place.cluster = PlainName(absl::StrCat(launcher.id_prefix, id.empty() ? "auto" : id));
  return place;
}

absl::StatusOr<Place> FindInSlurm(const Variables& variables, const std::string& host) {
  ASSIGN_OR_RETURN(Place place, ReadRow(variables, kSlurm, host));
  if (const std::string node = variables("SLURMD_NODENAME"); !node.empty()) place.host = node;
  const std::string list = Get(variables, "SLURM_STEP_NODELIST SLURM_JOB_NODELIST");
  place.coordinator = FirstHost(list);
  if (place.coordinator.empty())
    return InvalidArgument("cluster auto: $SLURM_STEP_NODELIST of Slurm is \"%s\", which names no host.",
                           list);
  if (Get(variables, "SLURM_STEP_NUM_NODES SLURM_JOB_NUM_NODES") == "1")
    place.host = place.coordinator = "localhost";
  // Jobs that share a machine have ports of their own.
  ASSIGN_OR_RETURN(const int64_t job, Number(variables, kSlurm, "SLURM_JOB_ID"));
  const int64_t first = 20'000 + job % 10'000;
  place.port += first - kClusterPort;
  place.coordinator_port = first;
  return place;
}

absl::StatusOr<Place> FindInTorchrun(const Variables& variables, const std::string& host) {
  ASSIGN_OR_RETURN(Place place, ReadRow(variables, kTorchrun, host));
  // $MASTER_PORT is the one of torchrun's own store.
  if (place.coordinator.empty()) place.coordinator = variables("MASTER_ADDR");
  if (place.coordinator.empty()) return InvalidArgument("cluster auto: torchrun has not set $MASTER_ADDR.");
  if (place.rank == 0) place.host = place.coordinator;
  return place;
}

// A pod's name ends with its index, and a headless service gives it an address: "hlod-1.hlod".
absl::StatusOr<Place> FindInKubernetes(const Variables& variables, const std::string& host) {
  const size_t dash = host.rfind('-');
  ASSIGN_OR_RETURN(Place place, ReadRow(variables, kKubernetes, host));
  int64_t index = 0;
  const bool numbered = dash != std::string::npos && absl::SimpleAtoi(host.substr(dash + 1), &index);
  if (!numbered) {
    return InvalidArgument(
        "cluster auto: the pod %s has no index in its name; use a StatefulSet, or a Job with completionMode "
        "Indexed.",
        host);
  }
  place.rank = index;
  ASSIGN_OR_RETURN(place.size, Number(variables, kKubernetes, "HLOD_CLUSTER_SIZE"));
  const std::string service = variables("HLOD_CLUSTER_SERVICE"), set = host.substr(0, dash);
  if (service.empty()) {
    return InvalidArgument(
        "cluster auto: under Kubernetes $HLOD_CLUSTER_SERVICE must name the headless service of the pods.");
  }
  place.cluster = PlainName(set);
  place.host = absl::StrCat(host, ".", service);
  place.coordinator = absl::StrCat(set, "-0.", service);
  return place;
}

// Reads HOST or HOST:PORT from $HLOD_CLUSTER_COORDINATOR.
absl::Status SetCoordinator(const std::string& text, Place& place) {
  const size_t colon = text.rfind(':');
  int64_t port = 0;
  if (colon == std::string::npos) {
    place.coordinator = text;
  } else if (absl::SimpleAtoi(text.substr(colon + 1), &port) && port > 0 && port < 65'536 && colon > 0) {
    place.coordinator = text.substr(0, colon);
    place.port += port - place.coordinator_port;
    place.coordinator_port = port;
  } else {
    return InvalidArgument(
        "cluster auto: $HLOD_CLUSTER_COORDINATOR is \"%s\", which is not HOST or HOST:PORT.", text);
  }
  if (place.rank == 0) place.host = place.coordinator;
  return absl::OkStatus();
}

absl::StatusOr<Place> FindByLauncher(const Variables& variables, const std::string& host) {
  const auto started_by = [&](const Launcher& launcher) { return !Get(variables, launcher.rank).empty(); };
  if (started_by(kOwn)) return ReadRow(variables, kOwn, host);
  if (started_by(kSlurm)) return FindInSlurm(variables, host);
  if (started_by(kOpenMpi)) return ReadRow(variables, kOpenMpi, host);
  if (started_by(kHydra)) return ReadRow(variables, kHydra, host);
  if (started_by(kTorchrun)) return FindInTorchrun(variables, host);
  if (started_by(kKubernetes) || !variables("KUBERNETES_SERVICE_HOST").empty())
    return FindInKubernetes(variables, host);
  return FailedPrecondition(
      "cluster auto: no launcher has started this daemon: none of $HLOD_CLUSTER_RANK, $SLURM_PROCID (srun), "
      "$OMPI_COMM_WORLD_RANK or $PMI_RANK (mpirun), $RANK (torchrun) and $KUBERNETES_SERVICE_HOST is set.");
}

}  // namespace

std::string FirstHost(std::string_view list) {
  std::string host;
  for (size_t at = 0; at < list.size() && list[at] != ',';) {
    if (list[at] != '[') {
      host += list[at++];
      continue;
    }
    const size_t end = list.find(']', at);
    if (end == std::string_view::npos) return "";
    const std::string_view ranges = list.substr(at + 1, end - at - 1);
    host += ranges.substr(0, ranges.find_first_of(",-"));
    at = end + 1;
  }
  return host;
}

absl::StatusOr<Place> FindPlace(const Variables& variables, const std::string& host) {
  ASSIGN_OR_RETURN(Place place, FindByLauncher(variables, host));
  if (const std::string id = variables("HLOD_CLUSTER_ID"); !id.empty()) place.cluster = PlainName(id);
  if (const std::string text = variables("HLOD_CLUSTER_COORDINATOR"); !text.empty())
    RETURN_IF_ERROR(SetCoordinator(text, place));
  if (place.coordinator.empty() && place.rank == 0) place.coordinator = place.host;
  if (place.coordinator.empty()) {
    return InvalidArgument(
        "cluster auto: %s does not say where rank 0 runs: set $HLOD_CLUSTER_COORDINATOR to its HOST or HOST:PORT.",
        place.launcher);
  }
  if (place.size > 0 && place.rank >= place.size)
    return InvalidArgument("cluster auto: %s gives rank %d of %d.", place.launcher, place.rank, place.size);
  return place;
}

}  // namespace hlod
