// Asks the partitioner for the smallest program.
#include "client/cli/doctor/finding.h"
#include "client/partition/partition.h"
#include "common/base/errors/status.h"

namespace hlod::cli {

Finding ExaminePartitioner() {
  partition::Request request;
  request.program =
      "HloModule doctor\nENTRY main { ROOT x = f32[2] parameter(0), sharding={devices=[2]<=[2]} }\n";
  request.devices = 2;
  request.seconds = 60;
  const absl::StatusOr<partition::Partitioned> divided = partition::Partition(request);
  if (divided.ok()) return {.what = "partitioner", .found = "jaxlib " + divided->jaxlib};
  return {Grade::kNote, "partitioner", std::string(FromAbsl(divided.status().message())),
          "Only programs over meshes need it."};
}

}  // namespace hlod::cli
