// Compilation for devices that are not there, options of compilations, and layouts of programs.
#include <gmock/gmock.h>

#include "client/pjrt/abi/extensions.h"
#include "proto/xla/compile_options.pb.h"
#include "tests/unit/client/pjrt/driver.h"

namespace hlod::pjrt {
namespace {

using ::testing::HasSubstr;

constexpr char kDot[] = R"(
func.func @main(%x: tensor<4x8xf32> {mhlo.layout_mode = "{0,1}"}, %y: tensor<8x2xf32>)
    -> (tensor<4x2xf32> {mhlo.layout_mode = "auto"}) {
  %z = stablehlo.dot %x, %y : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return %z : tensor<4x2xf32>
}
)";

abi::Program ProgramOf(const char* text) {
  abi::Program program = {};
  program.struct_size = sizeof(program);
  program.code = const_cast<char*>(text);
  program.code_size = std::strlen(text);
  program.format = "mlir";
  program.format_size = 4;
  return program;
}

Topology* CreateTopology(std::string_view name, std::string* error = nullptr) {
  Call<abi::TopologyDescription_Create_Args> create;
  create->topology_name = name.data();
  create->topology_name_size = name.size();
  const std::string text = create.Try(api().TopologyDescription_Create);
  if (error != nullptr) *error = text;
  return text.empty() ? create->topology : nullptr;
}

void Destroy(Topology* topology) {
  Call<abi::TopologyDescription_Destroy_Args> destroy;
  destroy->topology = topology;
  destroy.Run(api().TopologyDescription_Destroy);
}

size_t DevicesOf(Topology* topology) {
  Call<abi::TopologyDescription_GetDeviceDescriptions_Args> descriptions;
  descriptions->topology = topology;
  EXPECT_EQ(descriptions.Try(api().TopologyDescription_GetDeviceDescriptions), "");
  return descriptions->num_descriptions;
}

TEST(Topologies, AreMadeByTheirNumberOfDevices) {
  std::string error;
  CreateTopology("", &error);
  EXPECT_THAT(error, HasSubstr("INVALID_ARGUMENT: topology_name is not specified"));
  CreateTopology("2y4", &error);
  EXPECT_THAT(error, HasSubstr("\"2y4\" is not a number of devices"));
  CreateTopology("65536x65536x65536x65536", &error);
  EXPECT_THAT(error, HasSubstr("is not a number of devices"));
  Topology* const topology = CreateTopology("2x4");
  EXPECT_EQ(DevicesOf(topology), 8);

  Call<abi::TopologyDescription_Serialize_Args> serialize;
  serialize->topology = topology;
  serialize.Run(api().TopologyDescription_Serialize);
  Call<abi::TopologyDescription_Deserialize_Args> read;
  read->serialized_topology = serialize->serialized_bytes;
  read->serialized_topology_size = serialize->serialized_bytes_size;
  read.Run(api().TopologyDescription_Deserialize);
  EXPECT_EQ(DevicesOf(read->topology), 8);
  serialize->serialized_topology_deleter(serialize->serialized_topology);
  uint64_t fingerprints[2];
  for (int i = 0; i < 2; ++i) {
    Call<abi::TopologyDescription_Fingerprint_Args> fingerprint;
    fingerprint->topology = i == 0 ? topology : read->topology;
    fingerprint.Run(api().TopologyDescription_Fingerprint);
    fingerprints[i] = fingerprint->fingerprint;
  }
  EXPECT_EQ(fingerprints[0], fingerprints[1]);
  read->serialized_topology = "nonsense";
  read->serialized_topology_size = 8;
  Destroy(read->topology);
  EXPECT_THAT(read.Try(api().TopologyDescription_Deserialize), HasSubstr("was not written by"));

  static constexpr int64_t kDims[] = {2, 3};
  Call<abi::TopologyDescription_MakeCanonicalShapeForMemorySpace_Args> canonical;
  canonical->topology = topology;
  canonical->dims = kDims;
  canonical->num_dims = 2;
  canonical->element_type = abi::BufferType(11);
  canonical.Run(api().TopologyDescription_MakeCanonicalShapeForMemorySpace);
  xla::ShapeProto shape;
  EXPECT_TRUE(
      shape.ParseFromArray(canonical->serialized_shape, static_cast<int>(canonical->serialized_shape_size)));
  EXPECT_EQ(shape.layout().minor_to_major(0), 1);
  canonical->serialized_shape_deleter(canonical->serialized_shape);
  Destroy(topology);
}

class AheadOfTime : public PjrtClient {
 protected:
  void SetUp() override {
    PjrtClient::SetUp();
    Topology* const topology = CreateTopology("1");
    const abi::Program program = ProgramOf(kDot);
    Call<abi::Compile_Args> compile;
    compile->topology = topology;
    compile->program = &program;
    compile.Run(api().Compile);
    executable_ = compile->executable;
    pjrt::Destroy(topology);
  }
  void TearDown() override {
    Call<abi::Executable_Destroy_Args> destroy;
    destroy->executable = executable_;
    destroy.Run(api().Executable_Destroy);
    PjrtClient::TearDown();
  }
  Executable* executable_ = nullptr;
};

TEST_F(AheadOfTime, ProgramsAreDescribedWithoutADaemon) {
  Call<abi::Executable_GetCompiledMemoryStats_Args> memory;
  memory->executable = executable_;
  memory.Run(api().Executable_GetCompiledMemoryStats);
  EXPECT_EQ(memory->argument_size_in_bytes, 4 * (32 + 16));
  EXPECT_EQ(memory->output_size_in_bytes, 4 * 8);
  Call<abi::Executable_GetCostAnalysis_Args> cost;
  cost->executable = executable_;
  cost.Run(api().Executable_GetCostAnalysis);
  EXPECT_EQ(cost->properties[0].float_value, 2 * 4 * 8 * 2);  // Multiplications and additions.
}

TEST_F(AheadOfTime, ProgramsAreLoadedAndRun) {
  Call<abi::Client_Load_Args> load;
  load->client = client_;
  load->executable = executable_;
  load.Run(api().Client_Load);
  const std::vector<float> x(32, 1), y(16, 2);
  std::vector<Buffer*> results(1);
  Event* done = nullptr;
  Buffer *const a = Upload(x.data(), 11, {4, 8}), *const b = Upload(y.data(), 11, {8, 2});
  ASSERT_EQ(TryExecute(load->loaded_executable, {a, b}, results, &done), "");
  EXPECT_EQ(Await(done), "");
  float out[8] = {};
  EXPECT_EQ(Download(results[0], out, sizeof(out)), "");
  EXPECT_EQ(out[7], 16);
  for (Buffer* const buffer : {a, b, results[0]}) PjrtClient::Destroy(buffer);
  Call<abi::LoadedExecutable_Destroy_Args> destroy;
  destroy->executable = load->loaded_executable;
  destroy.Run(api().LoadedExecutable_Destroy);
}

TEST_F(AheadOfTime, LayoutsAreThoseThatAreStated) {
  const abi::LayoutsExtension* layouts = nullptr;
  for (const abi::Extension* e = api().extension_start; e != nullptr; e = e->next) {
    if (e->type == abi::kLayouts) layouts = reinterpret_cast<const abi::LayoutsExtension*>(e);
  }
  ASSERT_NE(layouts, nullptr);
  Call<abi::Layouts_OfProgram_Args> parameters;
  parameters->executable = executable_;
  parameters.Run(layouts->of_parameters);
  ASSERT_EQ(parameters->num_layouts, 2);
  std::vector<std::string> texts;
  for (size_t i = 0; i < 2; ++i) {
    Call<abi::Layouts_Serialize_Args> serialize;
    serialize->layout = parameters->layouts[i];
    serialize.Run(layouts->serialize);
    texts.emplace_back(serialize->serialized_bytes, serialize->serialized_bytes_size);
    serialize->serialized_layout_deleter(serialize->serialized_layout);
  }
  EXPECT_THAT(texts, ::testing::ElementsAre("{0,1}", "{1,0}"));
}

TEST(CompileOptions, AreCheckedAsByXla) {
  Topology* const topology = CreateTopology("1");
  const abi::Program program = ProgramOf(kDot);
  const auto try_option = [&](const std::string& name, auto set) {
    xla::CompileOptionsProto options;
    set((*options.mutable_env_option_overrides())[name]);
    const std::string bytes = options.SerializeAsString();
    Call<abi::Compile_Args> compile;
    compile->topology = topology;
    compile->program = &program;
    compile->compile_options = bytes.data();
    compile->compile_options_size = bytes.size();
    const std::string error = compile.Try(api().Compile);
    Call<abi::Executable_Destroy_Args> destroy;
    destroy->executable = compile->executable;
    destroy.Run(api().Executable_Destroy);
    return error;
  };
  const auto text = [](const char* value) {
    return [value](xla::OptionOverrideProto& option) { option.set_string_field(value); };
  };
  const auto truth = [](bool value) {
    return [value](xla::OptionOverrideProto& option) { option.set_bool_field(value); };
  };
  EXPECT_EQ(try_option("xla_embed_ir_in_executable", truth(true)), "");
  EXPECT_EQ(try_option("xla_backend_optimization_level", text("1")), "");
  EXPECT_EQ(try_option("xla_tpu_detect_nan", truth(false)), "");
  EXPECT_THAT(try_option("xla_tpu_detect_nan", truth(true)),
              HasSubstr("The compile option xla_tpu_detect_nan"));
  EXPECT_EQ(try_option("invalid_key", text("1")), "INVALID_ARGUMENT: No such compile option: 'invalid_key'");
  EXPECT_EQ(try_option("xla_dump_max_hlo_modules", text("invalid_value")),
            "INVALID_ARGUMENT: While setting option xla_dump_max_hlo_modules, 'invalid_value' is not a valid "
            "int32 value.");
  EXPECT_THAT(try_option("xla_embed_ir_in_executable", text("maybe")),
              HasSubstr("'maybe' is not a valid bool value"));
  Destroy(topology);
}

}  // namespace
}  // namespace hlod::pjrt
