// The parts of a serialized module that are read without parsing it.
#include "common/hlo/proto/serialized.h"

#include <gtest/gtest.h>

#include "proto/xla/hlo.pb.h"

namespace hlod::hlo::codec {
namespace {

xla::HloModuleProto Named(const std::string& name) {
  xla::HloModuleProto module;
  module.set_name(name);
  module.add_computations()->set_name("main");
  return module;
}

TEST(ModuleName, IsFoundInEveryForm) {
  xla::HloSnapshot snapshot;
  *snapshot.mutable_hlo()->mutable_hlo_module() = Named("jit_step");
  EXPECT_EQ(ModuleName(Named("jit_step").SerializeAsString()), "jit_step");
  EXPECT_EQ(ModuleName(snapshot.hlo().SerializeAsString()), "jit_step");
  EXPECT_EQ(ModuleName(snapshot.SerializeAsString()), "jit_step");
}

TEST(ModuleName, IsClippedAndPrintable) {
  EXPECT_EQ(ModuleName(Named(std::string(1000, 'x')).SerializeAsString()), std::string(256, 'x'));
  EXPECT_EQ(ModuleName(Named("line\nbreak").SerializeAsString()), "");
  EXPECT_EQ(ModuleName(Named("").SerializeAsString()), "");
}

TEST(ModuleName, OfWhatIsNotAModuleIsEmpty) {
  const std::string bytes = Named("jit_step").SerializeAsString();
  EXPECT_EQ(ModuleName(""), "");
  EXPECT_EQ(ModuleName("not a module"), "");
  for (size_t length = 0; length + 1 < bytes.size(); ++length) ModuleName(bytes.substr(0, length));
  EXPECT_EQ(ModuleName(bytes.substr(0, 5)), "") << "cut off inside its name";
}

}  // namespace
}  // namespace hlod::hlo::codec
