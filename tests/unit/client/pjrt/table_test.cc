// Every entry, called wrongly.
#include <set>

#include "client/pjrt/abi/extensions.h"
#include "tests/unit/client/pjrt/driver.h"

namespace hlod::pjrt {
namespace {

TEST(Table, HasEveryEntry) {
  EXPECT_EQ(sizeof(abi::Api), 40 + 138 * sizeof(void*));
  EXPECT_EQ(api().struct_size, sizeof(abi::Api));
  EXPECT_EQ(api().version.major_version, 0);
  EXPECT_EQ(api().version.minor_version, 112);
  const auto* const entries = reinterpret_cast<void* const*>(reinterpret_cast<const char*>(&api()) + 40);
  for (int i = 0; i < 138; ++i) EXPECT_NE(entries[i], nullptr) << "entry " << i;
}

// The sizes of structs that frameworks know, from the interface's description.
TEST(Table, LaysOutStructsAsTheInterface) {
  EXPECT_EQ(sizeof(abi::Args), 16);
  EXPECT_EQ(sizeof(abi::NamedValue), 56);
  EXPECT_EQ(sizeof(abi::ExecuteOptions), 144);
  EXPECT_EQ(offsetof(abi::ExecuteOptions, context), 72);
  EXPECT_EQ(offsetof(abi::ExecuteOptions, call_location), 80);
  EXPECT_EQ(offsetof(abi::ExecuteOptions, multi_slice_config), 112);
  EXPECT_EQ(sizeof(abi::Client_BufferFromHostBuffer_Args), 120);
}

#define HLOD_PJRT_VOID(name)
#define HLOD_PJRT_MISSING(name) HLOD_PJRT_ENTRY(name)

TEST(Table, RefusesNullAndSmallStructs) {
#define HLOD_PJRT_ENTRY(name)                                                        \
  {                                                                                  \
    const std::string null = Take(api().name(nullptr));                              \
    EXPECT_NE(null, "") << #name;                                                    \
    EXPECT_NE(null.find("PJRT_" #name), std::string::npos) << null;                  \
    Call<abi::name##_Args> small(8);                                                 \
    const std::string text = small.Try(api().name);                                  \
    EXPECT_NE(text.find("PJRT_" #name), std::string::npos) << #name << ": " << text; \
  }
#include "client/pjrt/abi/entries.inc"
#undef HLOD_PJRT_ENTRY
}

// Entries that do their work without any argument.
const std::set<std::string>& WorkWithNulls() {
  static const auto* const names = new std::set<std::string>{
      "Plugin_Initialize",
      "Plugin_Attributes",
      "Event_Destroy",
      "Event_Create",
      "Client_Destroy",
      "Executable_Destroy",
      "LoadedExecutable_Destroy",
      "Buffer_Destroy",
      "ExecuteContext_Create",
      "ExecuteContext_Destroy",
      "CopyToDeviceStream_Destroy",
      "AsyncHostToDeviceTransferManager_Destroy",
      "AsyncTrackingEvent_Destroy",
      "TopologyDescription_Destroy",
  };
  return *names;
}

// Destroys what an entry has made.
template <typename Arguments>
void DestroyMade(Arguments&) {}
void DestroyMade(abi::Event_Create_Args& made) {
  Call<abi::Event_Destroy_Args> destroy;
  destroy->event = made.event;
  destroy.Run(api().Event_Destroy);
}
void DestroyMade(abi::ExecuteContext_Create_Args& made) {
  Call<abi::ExecuteContext_Destroy_Args> destroy;
  destroy->context = made.context;
  destroy.Run(api().ExecuteContext_Destroy);
}

TEST(Table, NamesWhatIsNullOrMissing) {
#define HLOD_PJRT_ENTRY(name)                                                             \
  if (std::string(#name) != "Client_Create") {                                            \
    for (const size_t size : {sizeof(abi::name##_Args), sizeof(abi::name##_Args) + 32}) { \
      Call<abi::name##_Args> call(size);                                                  \
      const std::string text = call.Try(api().name);                                      \
      EXPECT_EQ(text.empty(), WorkWithNulls().contains(#name)) << #name << ": " << text;  \
      EXPECT_EQ(text.find("wrote beyond"), std::string::npos) << #name;                   \
      DestroyMade(call.args());                                                           \
    }                                                                                     \
  }
#include "client/pjrt/abi/entries.inc"
#undef HLOD_PJRT_ENTRY
}

#undef HLOD_PJRT_MISSING
#undef HLOD_PJRT_VOID

TEST(Table, TakesNullWhereNothingIsToBeDestroyed) {
  abi::Error_Destroy_Args destroy = {{sizeof(destroy), nullptr}, nullptr};
  api().Error_Destroy(&destroy);
  api().Error_Destroy(nullptr);
}

// The headers of jaxlib up to 0.6 state 24 for a struct of 32 bytes, whose last field they read.
TEST(Table, FillsAttributesForFrameworksThatMisstateTheirSize) {
  abi::Plugin_Attributes_Args args = {{24, nullptr}, nullptr, 1234};
  ASSERT_EQ(Take(api().Plugin_Attributes(&args)), "");
  ASSERT_EQ(args.num_attributes, 3);
  EXPECT_EQ(std::string(args.attributes[0].name, args.attributes[0].name_size), "stablehlo_current_version");
}

TEST(Table, ChainsItsExtensions) {
  std::set<int> types;
  for (const abi::Extension* e = api().extension_start; e != nullptr; e = e->next) types.insert(e->type);
  EXPECT_EQ(types, (std::set<int>{abi::kLayouts, abi::kForeignFunctions, abi::kProfiler,
                                  abi::kMemoryDescriptions, abi::kShardings}));
}

}  // namespace
}  // namespace hlod::pjrt
