// Meshes as options write them.
#include "client/partition/mesh.h"

#include <gtest/gtest.h>

namespace hlod::partition {
namespace {

TEST(MeshText, NamesAxesSlowestFirst) {
  const absl::StatusOr<hlo::Mesh> mesh = ParseMesh("data=4, model=2");
  ASSERT_TRUE(mesh.ok()) << mesh.status();
  EXPECT_EQ(mesh->axes, (std::vector<std::pair<std::string, int64_t>>{{"data", 4}, {"model", 2}}));
  EXPECT_EQ(MeshText(*mesh), "data=4,model=2");
  EXPECT_EQ(hlo::DeviceCount(*mesh), 8);
}

TEST(MeshText, RefusesWhatIsNoMesh) {
  for (const char* text : {"", "data", "data=", "data=0", "data=-1", "=4", "data=4,", "data=4,data=2",
                           "data=4,model=2x", "a=1024,b=1024,c=2", "a=9223372036854775808"}) {
    const absl::StatusOr<hlo::Mesh> mesh = ParseMesh(text);
    EXPECT_FALSE(mesh.ok()) << text;
    EXPECT_NE(mesh.status().message().find(text), absl::string_view::npos) << mesh.status();
  }
}

}  // namespace
}  // namespace hlod::partition
