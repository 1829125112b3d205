// Schedules, results' memory and the heap, by hand arithmetic.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/analysis/module/memory/packing.h"
#include "client/analysis/module/memory/schedule.h"
#include "client/analysis/module/peak.h"
#include "common/hlo/text/text.h"

namespace hlod::analysis {
namespace {

using ::testing::ElementsAre;

Span Of(int64_t first, int64_t last, int64_t bytes) { return {.ticks = {first, last}, .bytes = bytes}; }

TEST(Packing, LargeSpansGetResultsMemoryWhileItIsFree) {
  // The result of 10 bytes is made at tick 5.
  const std::vector<Room> rooms = {{.bytes = 10, .busy = {{5, 9}}}};
  const std::vector<Span> left =
      LeftOver({Of(0, 3, 8), Of(2, 4, 10), Of(0, 1, 4), Of(6, 7, 4), Of(0, 1, 11)}, rooms);
  std::vector<int64_t> bytes;
  for (const Span& span : left) bytes.push_back(span.bytes);
  // The array of 11 bytes does not fit. The one of 10 takes the memory from tick 2 to 4, so the one of 8 does
  // not get it. Of those of 4, the one of ticks 0 to 1 gets it; the other one lives while the result does.
  EXPECT_THAT(bytes, ElementsAre(11, 8, 4));
}

TEST(Packing, ASpanIsTriedInTheSmallestRoomsAlone) {
  // 4,096 rooms are in use, so that the free one after them is not looked at.
  std::vector<Room> rooms(4096, {.bytes = 10, .busy = {{0, 9}}});
  rooms.push_back({.bytes = 20, .busy = {}});
  EXPECT_EQ(LeftOver({Of(0, 1, 8)}, rooms).size(), 1);
  EXPECT_EQ(LeftOver({Of(0, 1, 16)}, rooms).size(), 0);
}

TEST(Packing, AHeapHasTheHeightOfWhatLiesOnOneAnother) {
  EXPECT_EQ(HeapBytes({Of(0, 1, 10), Of(2, 3, 10)}), 10);
  EXPECT_EQ(HeapBytes({Of(0, 2, 10), Of(2, 3, 10)}), 20);
  // 6 lies below 4 from 0 to 2; from 3 on only 4 is there, and 5 fits below it into the gap of 6.
  EXPECT_EQ(HeapBytes({Of(0, 2, 6), Of(0, 5, 4), Of(3, 5, 5)}), 10);
}

TEST(Packing, AGapThatIsTooSmallMakesTheHeapHigherThanWhatIsAlive) {
  // 5 lies on 6 from tick 1 on. At tick 2, 6 has gone: 4 lies in its gap, whose other 2 bytes are too few
  // for 3.
  const std::vector<Span> spans = {Of(0, 1, 6), Of(1, 2, 5), Of(2, 2, 4), Of(2, 2, 3)};
  EXPECT_EQ(MostAlive(spans).bytes, 5 + 4 + 3);
  EXPECT_EQ(HeapBytes(spans), 6 + 5 + 3);
}

int64_t TemporariesOf(const std::string& text) {
  return PeakOf(*hlo::ParseModule(text).value()).value().temporaries;
}

// Two matrices of 1,024 bytes are summed among the devices. Joined, both and their sums are there at once,
// and the table of two pointers. With other groups each is summed alone: the first lies where the second's
// sum will.
TEST(CombinedReductions, HaveAllOperandsAtOnce) {
  const auto temporaries = [](const std::string& groups) {
    return TemporariesOf(R"(HloModule m, num_partitions=2
add { p = f32[] parameter(0) q = f32[] parameter(1) ROOT r = f32[] add(p, q) }
ENTRY e {
  x = f32[16,16] parameter(0)
  y = f32[16,16] parameter(1)
  a = f32[16,16] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  b = f32[16,16] dot(y, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  c = f32[16,16] all-reduce(a), replica_groups={{0,1}}, channel_id=1, use_global_device_ids=true, to_apply=add
  d = f32[16,16] all-reduce(b), replica_groups=)" +
                         groups + R"(, channel_id=2, use_global_device_ids=true, to_apply=add
  ROOT t = (f32[16,16], f32[16,16]) tuple(c, d)
})");
  };
  EXPECT_EQ(temporaries("{{0,1}}"), 2 * 1024 + 64);
  EXPECT_EQ(temporaries("[1,2]<=[2]"), 2 * 1024 + 64);  // The same groups in another form.
  EXPECT_EQ(temporaries("{{0},{1}}"), 1024);
}

// The pieces that are sent, 512 bytes each, and those that come: one of them lies in the result's memory
// until the result is made.
TEST(AllToAll, IsOneOfPieces) {
  EXPECT_EQ(TemporariesOf(R"(HloModule m, num_partitions=2
ENTRY e {
  x = f32[16,16] parameter(0)
  ROOT y = f32[16,16] all-to-all(x), replica_groups={{0,1}}, channel_id=1, dimensions={0}
})"),
            3 * 512 + 64);
}

// XLA copies a donated argument that something reads which need not run before the result in its memory.
TEST(ArgumentCopies, AreOfDonatedArgumentsThatOthersRead) {
  const auto temporaries = [](const std::string& result) {
    return TemporariesOf(R"(HloModule m, input_output_alias={ {1}: (1, {}, may-alias) }
ENTRY e {
  w = f32[16,16] parameter(0)
  v = f32[16,16] parameter(1)
  next = f32[16,16] subtract(w, v)
  after = f32[16,16] multiply()" +
                         result + R"()
  ROOT t = (f32[16,16], f32[16,16]) tuple(next, after)
})");
  };
  EXPECT_EQ(temporaries("v, w"), 1024);
  EXPECT_EQ(temporaries("v, next"), 0) << "the other reader runs before";
}

// A result in a donated argument's memory has room for others only when the argument is not read any more.
TEST(Rooms, ADonatedArgumentIsInTheResultsMemory) {
  const auto temporaries = [](const std::string& donors) {
    const std::string text = "HloModule m" + donors + R"(
ENTRY e {
  x = f32[16,16] parameter(0)
  y = f32[16,16] parameter(1)
  a = f32[16,16] dot(y, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  b = f32[16,16] dot(a, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = f32[16,16] dot(b, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})";
    return PeakOf(*hlo::ParseModule(text).value()).value().temporaries;
  };
  EXPECT_EQ(temporaries(""), 1024) << "b; a lies where r will";
  EXPECT_EQ(temporaries(", buffer_donor={ (0, {}) }"), 2 * 1024);
  EXPECT_EQ(temporaries(", input_output_alias={ {}: (0, {}, may-alias) }"), 2 * 1024);
}

// Two branches of one large array each: one after the other they need one at a time.
constexpr char kBranches[] = R"(HloModule m
ENTRY e {
  x = f32[16,2] parameter(0)
  a = f32[16,16] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  b = f32[16,16] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}, operand_precision={highest,highest}
  c = f32[16,2] dot(a, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  d = f32[16,2] dot(b, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = f32[] dot(c, d), lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1}
})";

int64_t TemporariesOf(const char* text, Compiler compiler) {
  const auto module = hlo::ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return PeakOf(**module, {.compiler = compiler}).value().temporaries;
}

TEST(Schedules, AnAcceleratorFinishesABranchAndTheCpuRunsBoth) {
  EXPECT_EQ(TemporariesOf(kBranches, Compiler::kAccelerator), 16 * 16 * 4 + 2 * 128) << "b beside c and d";
  EXPECT_EQ(TemporariesOf(kBranches, Compiler::kXlaCpu), 2 * 16 * 16 * 4 + 128)
      << "a and b, then c beside them; d lies where a lay";
}

std::vector<std::string> NamesIn(Order order) {
  const auto module = hlo::ParseModule(kBranches);
  const Placements placements(**module, {});
  const Placement& placement = placements.of((*module)->entry_id());
  std::vector<std::string> names;
  for (const hlo::NodeId node : ScheduleGraph(placement).In(order).order)
    names.emplace_back(placement.computation()[node].name());
  return names;
}

TEST(Schedules, HaveTheirOrders) {
  EXPECT_THAT(NamesIn(Order::kProgram), ElementsAre("x", "a", "b", "c", "d", "r"));
  EXPECT_THAT(NamesIn(Order::kBreadthFirst), ElementsAre("x", "a", "b", "c", "d", "r"));
  EXPECT_THAT(NamesIn(Order::kDepthFirst), ElementsAre("x", "b", "d", "a", "c", "r"));
  EXPECT_THAT(NamesIn(Order::kGreedy), ElementsAre("x", "a", "c", "b", "d", "r"));
}

// XLA's CPU backend gathers along the slowest dimension, exchanges slices, and multiplies in f32.
TEST(CpuForms, AreCopies) {
  const auto gathered = [](const std::string& dim, const std::string& shape) {
    return "HloModule m, num_partitions=2\nENTRY e {\n  x = f32[64,64] parameter(0)\n  v = f32[128] "
           "parameter(1)\n  g = f32[" +
           shape + "] all-gather(x), channel_id=1, replica_groups={{0,1}}, dimensions={" + dim +
           "}, use_global_device_ids=true\n  ROOT r = f32[64] dot(g, v), lhs_contracting_dims={" + dim +
           "}, rhs_contracting_dims={0}\n}";
  };
  const std::string rows = gathered("0", "128,64"), columns = gathered("1", "64,128");
  EXPECT_EQ(TemporariesOf(rows.c_str(), Compiler::kXlaCpu), 128 * 64 * 4);
  EXPECT_EQ(TemporariesOf(columns.c_str(), Compiler::kAccelerator), 128 * 64 * 4);
  EXPECT_EQ(TemporariesOf(columns.c_str(), Compiler::kXlaCpu), 2 * 128 * 64 * 4) << "the array and its copy";
  constexpr char kNarrow[] = R"(HloModule m
ENTRY e {
  x = bf16[64,64] parameter(0)
  ROOT r = bf16[64,64] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})";
  EXPECT_EQ(TemporariesOf(kNarrow, Compiler::kAccelerator), 0);
  EXPECT_GE(TemporariesOf(kNarrow, Compiler::kXlaCpu), 2 * 64 * 64 * 4);
}

}  // namespace
}  // namespace hlod::analysis
