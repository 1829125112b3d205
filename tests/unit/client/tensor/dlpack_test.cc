// DLPack: memory shared in both directions, and refused tensors.
#include "hlod/tensor/dlpack.h"

#include <dlpack/dlpack.h>

#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

class Dlpack : public TensorTest {};

// A DLPack producer whose memory is an array of the test.
struct Producer {
  DLManagedTensor managed{};
  std::vector<int64_t> shape, strides;
  int deleted = 0;

  Producer(void* data, std::vector<int64_t> dims, std::vector<int64_t> steps, DLDataType type)
      : shape(std::move(dims)), strides(std::move(steps)) {
    managed.dl_tensor = {data, {kDLCPU, 0},  static_cast<int>(shape.size()),
                         type, shape.data(), strides.empty() ? nullptr : strides.data(),
                         0};
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensor* self) { ++static_cast<Producer*>(self->manager_ctx)->deleted; };
  }
};
constexpr DLDataType kFloat = {kDLFloat, 32, 1};

TEST_F(Dlpack, ImportsWithoutACopyAndGivesTheMemoryBackOnce) {
  float data[6] = {1, 2, 3, 4, 5, 6};
  Producer producer(data, {2, 3}, {}, kFloat);
  {
    Tensor x = FromDlpack(&producer.managed);
    EXPECT_EQ(x.dims(), (Dims{2, 3}));
    data[0] = 10;
    EXPECT_THAT(x.ToVector<float>(), ElementsAre(10, 2, 3, 4, 5, 6));
    Tensor row = x[1];
    x = Tensor();
    EXPECT_EQ(producer.deleted, 0);
    EXPECT_THAT(row.ToVector<float>(), ElementsAre(4, 5, 6));
  }
  EXPECT_EQ(producer.deleted, 1);
}

TEST_F(Dlpack, ImportsStrides) {
  int32_t data[6] = {1, 2, 3, 4, 5, 6};
  Producer producer(data, {3, 2}, {1, 3}, {kDLInt, 32, 1});
  const Tensor x = FromDlpack(&producer.managed);
  EXPECT_EQ(x.strides(), (Dims{1, 3}));
  EXPECT_THAT(x.ToVector<int32_t>(), ElementsAre(1, 4, 2, 5, 3, 6));
}

TEST_F(Dlpack, ExportsAViewAsItLies) {
  const Tensor x = FromValues<float>({1, 2, 3, 4, 5, 6}, Dims{2, 3});
  const Tensor column = x.Select(1, 1);
  DLManagedTensor* const exported = ToDlpack(column);
  const DLTensor& t = exported->dl_tensor;
  ASSERT_EQ(t.ndim, 1);
  EXPECT_EQ(t.shape[0], 2);
  EXPECT_EQ(t.strides[0], 3);
  EXPECT_EQ(t.byte_offset, 4u);
  const auto* data = reinterpret_cast<const float*>(static_cast<const char*>(t.data) + t.byte_offset);
  EXPECT_EQ(data[0], 2);
  EXPECT_EQ(data[3], 5);
  exported->deleter(exported);
}

TEST_F(Dlpack, ARoundTripIsOneMemory) {
  const Tensor x = FromValues<float>({1, 2}, Dims{2});
  DLManagedTensor* const exported = ToDlpack(x);
  static_cast<float*>(exported->dl_tensor.data)[0] = 7;
  const Tensor y = FromDlpack(exported);
  EXPECT_THAT(x.ToVector<float>(), ElementsAre(7, 2));
  EXPECT_THAT(y.ToVector<float>(), ElementsAre(7, 2));
}

TEST_F(Dlpack, WhatOthersMayWriteIsCopiedToTheDeviceEachTime) {
  const SettingsScope scope({.mixed_devices = MixedDevices::kImplicit});
  float data[2] = {1, 2};
  Producer producer(data, {2}, {}, kFloat);
  const Tensor shared = FromDlpack(&producer.managed), on_device = OnDevice({10, 20}, {2});
  EXPECT_THAT((on_device + shared).ToVector<float>(), ElementsAre(11, 22));
  data[0] = 5;
  EXPECT_THAT((on_device + shared).ToVector<float>(), ElementsAre(15, 22));
}

// Acceptance row PH16.
TEST_F(Dlpack, APlaceholderIsNotExported) {
  const Tensor p = Placeholder({2}, kF32, device());
  EXPECT_EQ(KindOf(Thrown([&] { ToDlpack(p); })), ErrorKind::kPlaceholder);
  EXPECT_EQ(KindOf(Thrown([&] { ToDlpack(p + p); })), ErrorKind::kPlaceholder);
}

TEST_F(Dlpack, WhatCannotBeSharedIsNamed) {
  const Tensor on_device = OnDevice({1, 2}, {2});
  EXPECT_EQ(KindOf(Thrown([&] { ToDlpack(on_device); })), ErrorKind::kArgument);
  EXPECT_THAT(last_what_, HasSubstr("ToHost()"));
  float data[4] = {};
  const auto refused = [&](Producer producer, const char* why) {
    producer.managed.manager_ctx = &producer;
    EXPECT_EQ(KindOf(Thrown([&] { FromDlpack(&producer.managed); })), ErrorKind::kArgument);
    EXPECT_THAT(last_what_, HasSubstr(why));
    EXPECT_EQ(producer.deleted, 0) << "the caller keeps what is refused";
  };
  refused(Producer(data, {4}, {-1}, kFloat), "stride (-1)");
  refused(Producer(data, {2, 1 << 30}, {INT64_MAX / 2, INT64_MAX / 2}, kFloat), "reaches too far");
  refused(Producer(data, {2}, {}, {kDLFloat, 32, 4}), "4 lanes");
  refused(Producer(data, {2}, {}, {kDLFloat, 24, 1}), "24 bits");
  Producer gpu(data, {2}, {}, kFloat);
  gpu.managed.dl_tensor.device = {kDLCUDA, 0};
  EXPECT_EQ(KindOf(Thrown([&] { FromDlpack(&gpu.managed); })), ErrorKind::kArgument);
  EXPECT_EQ(KindOf(Thrown([&] { FromDlpack(nullptr); })), ErrorKind::kArgument);
}

}  // namespace
}  // namespace hlod
