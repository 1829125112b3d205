// Buffers that get their values in other ways than by one upload, and layouts.
#include <gmock/gmock.h>

#include <functional>

#include "client/pjrt/abi/extensions.h"
#include "tests/unit/client/pjrt/driver.h"

namespace hlod::pjrt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kS16 = 3;

class Transfers : public PjrtClient {
 protected:
  Memory* MemoryOf(size_t device) {
    Call<abi::Device_DefaultMemory_Args> memory;
    memory->device = devices_[device];
    EXPECT_EQ(memory.Try(api().Device_DefaultMemory), "");
    return memory->memory;
  }
  std::vector<int32_t> Ints(Buffer* buffer, size_t count) {
    std::vector<int32_t> out(count);
    EXPECT_EQ(Download(buffer, out.data(), count * sizeof(int32_t)), "");
    return out;
  }
  std::string ReadyError(Buffer* buffer) {
    Call<abi::Buffer_ReadyEvent_Args> ready;
    ready->buffer = buffer;
    EXPECT_EQ(ready.Try(api().Buffer_ReadyEvent), "");
    return Await(ready->event);
  }
};

class HostToDevice : public Transfers {
 protected:
  void SetUp() override {
    Transfers::SetUp();
    static constexpr int64_t kDims[] = {2, 3};
    static constexpr int64_t kMinorFirst[] = {0, 1};
    abi::ShapeSpec specs[2] = {};
    for (abi::ShapeSpec& spec : specs) {
      spec.struct_size = sizeof(spec);
      spec.dims = kDims;
      spec.num_dims = 2;
      spec.element_type = abi::BufferType(kS32);
    }
    abi::Buffer_MemoryLayout columns = {};
    columns.type = abi::LayoutType::kTiled;
    columns.tiled = {};
    columns.tiled.minor_to_major = kMinorFirst;
    columns.tiled.minor_to_major_size = 2;
    abi::Buffer_MemoryLayout* layouts[] = {nullptr, &columns};
    Call<abi::Client_CreateBuffersForAsyncHostToDevice_Args> create;
    create->client = client_;
    create->shape_specs = specs;
    create->num_shape_specs = 2;
    create->device_layouts = layouts;
    create->num_device_layouts = 2;
    create->memory = MemoryOf(1);
    create.Run(api().Client_CreateBuffersForAsyncHostToDevice);
    manager_ = create->transfer_manager;
  }
  void TearDown() override {
    EndManager();
    Transfers::TearDown();
  }
  void EndManager() {
    Call<abi::AsyncHostToDeviceTransferManager_Destroy_Args> destroy;
    destroy->transfer_manager = std::exchange(manager_, nullptr);
    destroy.Run(api().AsyncHostToDeviceTransferManager_Destroy);
  }
  std::string Send(int index, const void* data, int64_t offset, int64_t size, bool last) {
    Call<abi::AsyncHostToDeviceTransferManager_TransferData_Args> send;
    send->transfer_manager = manager_;
    send->buffer_index = index;
    send->data = data;
    send->offset = offset;
    send->transfer_size = size;
    send->is_last_transfer = last;
    if (std::string error = send.Try(api().AsyncHostToDeviceTransferManager_TransferData); !error.empty())
      return error;
    return Await(send->done_with_h2d_transfer);
  }
  std::string SetError(int index, int code, std::string_view message) {
    Call<abi::AsyncHostToDeviceTransferManager_SetBufferError_Args> fail;
    fail->transfer_manager = manager_;
    fail->buffer_index = index;
    fail->error_code = abi::ErrorCode(code);
    fail->error_message = message.data();
    fail->error_message_size = message.size();
    return fail.Try(api().AsyncHostToDeviceTransferManager_SetBufferError);
  }
  std::string TryRetrieve(int index, Buffer** buffer) {
    Call<abi::AsyncHostToDeviceTransferManager_RetrieveBuffer_Args> retrieve;
    retrieve->transfer_manager = manager_;
    retrieve->buffer_index = index;
    const std::string error = retrieve.Try(api().AsyncHostToDeviceTransferManager_RetrieveBuffer);
    *buffer = retrieve->buffer_out;
    return error;
  }
  HostToDeviceTransfers* manager_ = nullptr;
};

TEST_F(HostToDevice, PiecesComeInAnyOrder) {
  Call<abi::AsyncHostToDeviceTransferManager_BufferCount_Args> count;
  count->transfer_manager = manager_;
  count.Run(api().AsyncHostToDeviceTransferManager_BufferCount);
  EXPECT_EQ(count->buffer_count, 2);
  Call<abi::AsyncHostToDeviceTransferManager_BufferSize_Args> size;
  size->transfer_manager = manager_;
  size.Run(api().AsyncHostToDeviceTransferManager_BufferSize);
  EXPECT_EQ(size->buffer_size, 24);
  Call<abi::AsyncHostToDeviceTransferManager_Device_Args> device;
  device->transfer_manager = manager_;
  device.Run(api().AsyncHostToDeviceTransferManager_Device);
  EXPECT_EQ(device->device_out, devices_[1]);

  const int32_t values[] = {1, 2, 3, 4, 5, 6};
  Buffer* buffer = nullptr;
  ASSERT_EQ(TryRetrieve(0, &buffer), "");
  Buffer* again = nullptr;
  EXPECT_THAT(TryRetrieve(0, &again), HasSubstr("was retrieved before"));
  EXPECT_EQ(Send(0, values + 3, 12, 12, false), "");
  EXPECT_THAT(Send(0, values, 16, 12, false), HasSubstr("does not fit into buffer 0, which has 24"));
  EXPECT_THAT(Send(2, values, 0, 4, false), HasSubstr("The buffer_index is 2"));
  // A read that was asked for before the last piece.
  std::vector<int32_t> early(6);
  Call<abi::Buffer_ToHostBuffer_Args> read;
  read->src = buffer;
  read->dst = early.data();
  read->dst_size = 24;
  read.Run(api().Buffer_ToHostBuffer);
  EXPECT_EQ(Send(0, values, 0, 12, true), "");
  EXPECT_EQ(Await(read->event), "");
  EXPECT_THAT(early, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(ReadyError(buffer), "");
  EXPECT_THAT(Send(0, values, 0, 12, true), HasSubstr("was made before"));
  Destroy(buffer);
}

// The bytes of a column-major array; they are read back in the same order, and row-major when asked for.
TEST_F(HostToDevice, BytesAreInTheLayoutThatIsStated) {
  const int32_t columns[] = {1, 4, 2, 5, 3, 6};
  EXPECT_EQ(Send(1, columns, 0, 24, true), "");
  Buffer* buffer = nullptr;
  ASSERT_EQ(TryRetrieve(1, &buffer), "");
  EXPECT_THAT(Ints(buffer, 6), ElementsAre(1, 4, 2, 5, 3, 6));
  static constexpr int64_t kRows[] = {1, 0};
  abi::Buffer_MemoryLayout rows = {};
  rows.tiled = {};
  rows.tiled.minor_to_major = kRows;
  rows.tiled.minor_to_major_size = 2;
  std::vector<int32_t> out(6);
  Call<abi::Buffer_ToHostBuffer_Args> read;
  read->src = buffer;
  read->host_layout = &rows;
  read->dst = out.data();
  read->dst_size = 24;
  read.Run(api().Buffer_ToHostBuffer);
  EXPECT_EQ(Await(read->event), "");
  EXPECT_THAT(out, ElementsAre(1, 2, 3, 4, 5, 6));
  Call<abi::Buffer_GetMemoryLayout_Args> layout;
  layout->buffer = buffer;
  layout.Run(api().Buffer_GetMemoryLayout);
  EXPECT_EQ(layout->layout.tiled.minor_to_major[0], 0);
  Destroy(buffer);
}

TEST_F(HostToDevice, LiteralsErrorsAndTheManagersEnd) {
  const int32_t values[] = {1, 2, 3, 4, 5, 6};
  static constexpr int64_t kDims[] = {2, 3};
  Call<abi::AsyncHostToDeviceTransferManager_TransferLiteral_Args> literal;
  literal->transfer_manager = manager_;
  literal->data = values;
  literal->shape_dims = kDims;
  literal->shape_num_dims = 1;
  literal->shape_element_type = abi::BufferType(kS32);
  EXPECT_THAT(literal.Try(api().AsyncHostToDeviceTransferManager_TransferLiteral),
              HasSubstr("is of s32[2,3]; the literal is of s32[2]"));
  literal->shape_num_dims = 2;
  literal.Run(api().AsyncHostToDeviceTransferManager_TransferLiteral);
  EXPECT_EQ(Await(literal->done_with_h2d_transfer), "");
  Buffer *first = nullptr, *second = nullptr;
  ASSERT_EQ(TryRetrieve(0, &first), "");
  ASSERT_EQ(TryRetrieve(1, &second), "");
  EXPECT_THAT(Ints(first, 6), ElementsAre(1, 2, 3, 4, 5, 6));
  EndManager();
  EXPECT_THAT(ReadyError(second), HasSubstr("was destroyed before"));
  Destroy(first);
  Destroy(second);
}

// A framework sends the next buffer as soon as one is on the device, from the callback that says so.
TEST_F(HostToDevice, TheNextBufferIsSentFromTheCallbackOfTheOneBefore) {
  Buffer *first = nullptr, *second = nullptr;
  ASSERT_EQ(TryRetrieve(0, &first), "");
  ASSERT_EQ(TryRetrieve(1, &second), "");
  Call<abi::Buffer_ReadyEvent_Args> ready;
  ready->buffer = first;
  ready.Run(api().Buffer_ReadyEvent);
  const int32_t columns[] = {1, 4, 2, 5, 3, 6};
  struct Next {
    std::function<std::string()> send;
    std::string error = "was not called";
  } next = {[&] { return Send(1, columns, 0, 24, true); }};
  Call<abi::Event_OnReady_Args> on_ready;
  on_ready->event = ready->event;
  on_ready->callback = [](Error* error, void* user_arg) {
    auto* const next = static_cast<Next*>(user_arg);
    EXPECT_EQ(Take(error), "CANCELLED: no");
    next->error = next->send();
  };
  on_ready->user_arg = &next;
  on_ready.Run(api().Event_OnReady);
  EXPECT_EQ(SetError(0, 1, "no"), "");
  EXPECT_EQ(next.error, "");
  EXPECT_THAT(Ints(second, 6), ElementsAre(1, 4, 2, 5, 3, 6));
  Destroy(ready->event);
  Destroy(first);
  Destroy(second);
}

TEST_F(HostToDevice, AnErrorIsTheBuffers) {
  Buffer* buffer = nullptr;
  ASSERT_EQ(TryRetrieve(0, &buffer), "");
  EXPECT_EQ(SetError(0, 15, "lost"), "");
  EXPECT_EQ(ReadyError(buffer), "DATA_LOSS: lost");
  Destroy(buffer);
}

TEST_F(Transfers, AnAliasGetsTheValueOfAnotherBufferLater) {
  const int32_t values[] = {1, 2, 3};
  static constexpr int64_t kDims[] = {3};
  const auto make_alias = [&](size_t device, abi::FulfillAliasBufferCallback** fulfill) {
    Call<abi::Client_CreateAliasBuffer_Args> create;
    create->client = client_;
    create->memory = MemoryOf(device);
    create->shape_dims = kDims;
    create->shape_num_dims = 1;
    create->shape_element_type = abi::BufferType(kS32);
    EXPECT_EQ(create.Try(api().Client_CreateAliasBuffer), "");
    *fulfill = create->fulfill_alias_buffer_cb;
    return create->alias_buffer;
  };
  Buffer* const value = Upload(values, kS32, {3});
  for (const size_t device : {0u, 1u}) {
    abi::FulfillAliasBufferCallback* right = nullptr;
    Buffer* const alias = make_alias(device, &right);
    Call<abi::Client_FulfillAliasBuffer_Args> fulfill;
    fulfill->client = client_;
    fulfill->buffer = value;
    fulfill->fulfill_alias_buffer_cb = right;
    fulfill.Run(api().Client_FulfillAliasBuffer);
    EXPECT_EQ(ReadyError(alias), "");
    EXPECT_THAT(Ints(alias, 3), ElementsAre(1, 2, 3));
    Destroy(alias);
  }
  EXPECT_THAT(Ints(value, 3), ElementsAre(1, 2, 3));
  abi::FulfillAliasBufferCallback* right = nullptr;
  Buffer* const alias = make_alias(0, &right);
  Call<abi::Client_FulfillAliasBuffer_Args> fail;
  fail->client = client_;
  fail->status_code = abi::ErrorCode(1);
  fail->error_message = "no";
  fail->error_message_size = 2;
  fail->fulfill_alias_buffer_cb = right;
  fail.Run(api().Client_FulfillAliasBuffer);
  EXPECT_EQ(ReadyError(alias), "CANCELLED: no");
  Destroy(alias);
  Destroy(value);
}

TEST_F(Transfers, RawBytesGoWhereTheFrameworkSaysLater) {
  const int32_t values[] = {1, 2, 3, 4};
  Buffer* const buffer = Upload(values, kS32, {4});
  Call<abi::Buffer_CopyRawToHostFuture_Args> copy;
  copy->buffer = buffer;
  copy->offset = 4;
  copy->transfer_size = 8;
  copy.Run(api().Buffer_CopyRawToHostFuture);
  Destroy(buffer);
  int32_t out[2] = {};
  abi::Buffer_CopyRawToHostFuture_Callback_Args ready = {
      .struct_size = sizeof(ready), .callback_data = copy->callback_data, .dst = out};
  copy->future_ready_callback(&ready);
  EXPECT_EQ(Await(copy->event), "");
  EXPECT_THAT(out, ElementsAre(2, 3));
}

// A framework reads bounded dynamic arrays at the sizes that they turned out to have.
TEST_F(Transfers, ArraysOfBoundedSizesAreReadAtTheirSizes) {
  LoadedExecutable* executable = nullptr;
  ASSERT_EQ(TryCompile(R"(
module @bounded {
  func.func public @main(%x: tensor<2x4xi32>, %n: tensor<i32>) -> tensor<2x?xi32, #stablehlo.bounds<?, 4>> {
    %0 = "stablehlo.set_dimension_size"(%x, %n) <{dimension = 1 : i64}> : (tensor<2x4xi32>, tensor<i32>) -> tensor<2x?xi32, #stablehlo.bounds<?, 4>>
    return %0 : tensor<2x?xi32, #stablehlo.bounds<?, 4>>
  }
})",
                       &executable),
            "");
  const int32_t values[] = {1, 2, 3, 4, 5, 6, 7, 8}, size = 3;
  Buffer *const x = Upload(values, kS32, {2, 4}), *const n = Upload(&size, kS32, {});
  std::vector<Buffer*> results(1);
  Event* done = nullptr;
  ASSERT_EQ(TryExecute(executable, {x, n}, results, &done), "");
  EXPECT_EQ(Await(done), "");
  Call<abi::Buffer_UnpaddedDimensions_Args> sizes;
  sizes->buffer = results[0];
  sizes.Run(api().Buffer_UnpaddedDimensions);
  EXPECT_THAT(absl::MakeSpan(sizes->unpadded_dims, sizes->num_dims), ElementsAre(2, 3));
  EXPECT_THAT(Ints(results[0], 6), ElementsAre(1, 2, 3, 5, 6, 7));
  Call<abi::Buffer_ToHostBuffer_Args> bytes;
  bytes->src = results[0];
  bytes.Run(api().Buffer_ToHostBuffer);
  EXPECT_EQ(bytes->dst_size, 24);
  static constexpr int64_t kColumns[] = {0, 1};
  abi::Buffer_MemoryLayout columns = {};
  columns.tiled = {};
  columns.tiled.minor_to_major = kColumns;
  columns.tiled.minor_to_major_size = 2;
  std::vector<int32_t> out(6);
  Call<abi::Buffer_ToHostBuffer_Args> read;
  read->src = results[0];
  read->host_layout = &columns;
  read->dst = out.data();
  read->dst_size = 20;
  EXPECT_THAT(read.Try(api().Buffer_ToHostBuffer), HasSubstr("dst_size is 20; the value has 24 bytes"));
  read->dst_size = 24;
  read.Run(api().Buffer_ToHostBuffer);
  EXPECT_EQ(Await(read->event), "");
  EXPECT_THAT(out, ElementsAre(1, 5, 2, 6, 3, 7));
  // The bounds take 32 bytes, and the array that is read has 24.
  Call<abi::Buffer_CopyRawToHost_Args> raw;
  raw->buffer = results[0];
  raw->dst = out.data();
  raw->offset = 16;
  raw->transfer_size = 16;
  EXPECT_THAT(raw.Try(api().Buffer_CopyRawToHost),
              HasSubstr("UNIMPLEMENTED: Raw bytes of s32[2,<=4], whose sizes are known when it is read"));
  for (Buffer* const buffer : {x, n, results[0]}) Destroy(buffer);
  Call<abi::LoadedExecutable_Destroy_Args> destroy;
  destroy->executable = executable;
  destroy.Run(api().LoadedExecutable_Destroy);
}

TEST_F(Transfers, APointerIsRefusedWithWhatToDo) {
  const int32_t value = 1;
  Buffer* const buffer = Upload(&value, kS32, {});
  Call<abi::Buffer_OpaqueDeviceMemoryDataPointer_Args> pointer;
  pointer->buffer = buffer;
  const std::string error = pointer.Try(api().Buffer_OpaqueDeviceMemoryDataPointer);
  EXPECT_THAT(error, HasSubstr("UNIMPLEMENTED: An array of hlod lies in its daemon's memory"));
  EXPECT_THAT(error, HasSubstr("x.cpu() in PyTorch"));
  Destroy(buffer);
}

TEST_F(Transfers, ADonatedBufferWaitsForItsDependency) {
  const int32_t values[] = {1, 2};
  for (const int code : {0, 10}) {
    Buffer* const buffer = Upload(values, kS32, {2});
    Call<abi::Buffer_DonateWithControlDependency_Args> donate;
    donate->buffer = buffer;
    donate.Run(api().Buffer_DonateWithControlDependency);
    Call<abi::Buffer_IsDeleted_Args> deleted;
    deleted->buffer = buffer;
    deleted.Run(api().Buffer_IsDeleted);
    EXPECT_TRUE(deleted->is_deleted);
    Destroy(buffer);
    abi::Buffer_DonateWithControlDependency_Callback_Args ready = {.struct_size = sizeof(ready),
                                                                   .callback_data = donate->callback_data,
                                                                   .error_code = abi::ErrorCode(code)};
    donate->dependency_ready_callback(&ready);
    EXPECT_EQ(ReadyError(donate->out_buffer).empty(), code == 0);
    if (code == 0) {
      EXPECT_THAT(Ints(donate->out_buffer, 2), ElementsAre(1, 2));
    }
    Destroy(donate->out_buffer);
  }
}

TEST_F(Transfers, BitcastReadsTheSameBytes) {
  const int32_t values[] = {0x00020001, 0x00040003};
  Buffer* const buffer = Upload(values, kS32, {2});
  static constexpr int64_t kDims[] = {4, 1};
  Call<abi::Buffer_Bitcast_Args> bitcast;
  bitcast->buffer = buffer;
  bitcast->element_type = abi::BufferType(kS16);
  bitcast->dims = kDims;
  bitcast->num_dims = 2;
  bitcast.Run(api().Buffer_Bitcast);
  int16_t out[4] = {};
  EXPECT_EQ(Download(bitcast->out_buffer, out, sizeof(out)), "");
  EXPECT_THAT(out, ElementsAre(1, 2, 3, 4));
  Destroy(bitcast->out_buffer);
  bitcast->element_type = abi::BufferType(kF32);
  EXPECT_THAT(bitcast.Try(api().Buffer_Bitcast), HasSubstr("cannot be read as f32[4,1]: their sizes differ"));
  Destroy(buffer);
}

TEST_F(Transfers, CopiesToAnotherDeviceDoNotPassTheHost) {
  const int32_t values[] = {1, 2, 3};
  Buffer* const buffer = Upload(values, kS32, {3});
  Call<abi::Buffer_CopyToMemory_Args> copy;
  copy->buffer = buffer;
  copy->dst_memory = MemoryOf(1);
  copy.Run(api().Buffer_CopyToMemory);
  Destroy(buffer);
  EXPECT_THAT(Ints(copy->dst_buffer, 3), ElementsAre(1, 2, 3));
  Call<abi::Buffer_Device_Args> device;
  device->buffer = copy->dst_buffer;
  device.Run(api().Buffer_Device);
  EXPECT_EQ(device->device, devices_[1]);
  Destroy(copy->dst_buffer);
}

TEST_F(Transfers, HostMemoryIsMappedOnce) {
  static int memory[4];
  Call<abi::Client_DmaMap_Args> map;
  map->client = client_;
  map->data = memory;
  map->size = sizeof(memory);
  map.Run(api().Client_DmaMap);
  EXPECT_THAT(map.Try(api().Client_DmaMap), HasSubstr("ALREADY_EXISTS"));
  Call<abi::Client_DmaUnmap_Args> unmap;
  unmap->client = client_;
  unmap->data = memory;
  unmap.Run(api().Client_DmaUnmap);
  EXPECT_THAT(unmap.Try(api().Client_DmaUnmap), HasSubstr("NOT_FOUND"));
}

TEST_F(Transfers, ThePeakOfMemoryIsForgotten) {
  const auto peak = [&] {
    Call<abi::Device_MemoryStats_Args> stats;
    stats->device = devices_[0];
    EXPECT_EQ(stats.Try(api().Device_MemoryStats), "");
    EXPECT_TRUE(stats->bytes_limit_is_set);
    return stats->peak_bytes_in_use;
  };
  Destroy(Upload(std::vector<int32_t>(1000).data(), kS32, {1000}));
  EXPECT_EQ(peak(), 4000);
  Call<abi::Device_ClearMemoryStats_Args> clear;
  clear->device = devices_[0];
  clear.Run(api().Device_ClearMemoryStats);
  EXPECT_EQ(peak(), 0);
}

}  // namespace
}  // namespace hlod::pjrt
