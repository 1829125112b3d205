// Runs whose arguments get their values later, and the callbacks that wait for their ends.
#include <gmock/gmock.h>

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/unit/client/pjrt/driver.h"

namespace {

// The bytes that an allocation of this thread may have at most.
thread_local size_t allocation_limit = std::numeric_limits<size_t>::max();

}  // namespace

// Replaces the functions of the standard library, to throw what they throw when there is no memory.
void* operator new(size_t bytes) {
  void* const memory = bytes > allocation_limit ? nullptr : std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace hlod::pjrt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kTwiceOfInts[] = R"(module @twice {
  func.func public @main(%x: tensor<3xi32>) -> tensor<3xi32> {
    %y = stablehlo.add %x, %x : tensor<3xi32>
    return %y : tensor<3xi32>
  }
})";

class Deferred : public PjrtClient {
 protected:
  void SetUp() override {
    PjrtClient::SetUp();
    ASSERT_EQ(TryCompile(kTwiceOfInts, &twice_), "");
    Call<abi::Device_DefaultMemory_Args> memory;
    memory->device = devices_[0];
    memory.Run(api().Device_DefaultMemory);
    static constexpr int64_t kDims[] = {3};
    Call<abi::Client_CreateAliasBuffer_Args> create;
    create->client = client_;
    create->memory = memory->memory;
    create->shape_dims = kDims;
    create->shape_num_dims = 1;
    create->shape_element_type = abi::BufferType(kS32);
    create.Run(api().Client_CreateAliasBuffer);
    alias_ = create->alias_buffer;
    right_ = create->fulfill_alias_buffer_cb;
    std::vector<Buffer*> results(1);
    ASSERT_EQ(TryExecute(twice_, {alias_}, results, &done_), "");
    result_ = results[0];
  }
  void TearDown() override {
    Destroy(result_);
    Destroy(alias_);
    Call<abi::LoadedExecutable_Destroy_Args> destroy;
    destroy->executable = twice_;
    destroy.Run(api().LoadedExecutable_Destroy);
    PjrtClient::TearDown();
  }
  // Gives the alias, for which the run waits, the value of `buffer`.
  std::string Fulfill(Buffer* buffer) {
    Call<abi::Client_FulfillAliasBuffer_Args> fulfill;
    fulfill->client = client_;
    fulfill->buffer = buffer;
    fulfill->fulfill_alias_buffer_cb = right_;
    return fulfill.Try(api().Client_FulfillAliasBuffer);
  }
  std::string OnReady(Event* event, void (*callback)(Error*, void*), void* user_arg) {
    Call<abi::Event_OnReady_Args> on_ready;
    on_ready->event = event;
    on_ready->callback = callback;
    on_ready->user_arg = user_arg;
    return on_ready.Try(api().Event_OnReady);
  }
  bool IsReady(Event* event) {
    Call<abi::Event_IsReady_Args> is_ready;
    is_ready->event = event;
    is_ready.Run(api().Event_IsReady);
    return is_ready->is_ready;
  }

  LoadedExecutable* twice_ = nullptr;
  Buffer *alias_ = nullptr, *result_ = nullptr;
  abi::FulfillAliasBufferCallback* right_ = nullptr;
  Event* done_ = nullptr;  // The end of the run.
};

// A framework's callbacks are C, but some are written in C++.
TEST_F(Deferred, ACallbackThatThrowsDoesNotKeepTheOthersWaiting) {
  std::atomic<int> calls = 0;
  const auto throws = [](Error*, void* calls) {
    ++*static_cast<std::atomic<int>*>(calls);
    throw 1;
  };
  for (int i = 0; i < 3; ++i) EXPECT_EQ(OnReady(done_, throws, &calls), "");
  EXPECT_FALSE(IsReady(done_));
  const int32_t values[] = {1, 2, 3};
  Buffer* const value = Upload(values, kS32, {3});
  EXPECT_EQ(Fulfill(value), "");
  int32_t out[3] = {};
  EXPECT_EQ(Download(result_, out, sizeof(out)), "");
  EXPECT_THAT(out, ElementsAre(2, 4, 6));
  EXPECT_EQ(AwaitOnly(done_), "");
  EXPECT_EQ(OnReady(done_, throws, &calls), "");
  while (calls < 4) std::this_thread::yield();
  Destroy(done_);
  Destroy(value);
}

// The run starts in the call that gives its last argument, whose caller cannot be told of the run's error.
TEST_F(Deferred, ARunThatThrowsWhenItStartsFailsItsResults) {
  constexpr int kMore = 1000;  // Their ids are the only long list that the start of a run makes.
  std::string text = "module @many { func.func public @main(%x: tensor<3xi32>";
  for (int i = 0; i < kMore; ++i) absl::StrAppend(&text, ", %a", i, ": tensor<3xi32>");
  text += ") -> tensor<3xi32> { return %x : tensor<3xi32> } }";
  LoadedExecutable* many = nullptr;
  ASSERT_EQ(TryCompile(text, &many), "");
  const int32_t values[] = {1, 2, 3};
  Buffer* const value = Upload(values, kS32, {3});
  std::vector<Buffer*> arguments(kMore + 1, value), results(1);
  arguments[0] = alias_;
  Event* done = nullptr;
  ASSERT_EQ(TryExecute(many, arguments, results, &done), "");

  allocation_limit = 4 * kMore;
  const std::string fulfilled = Fulfill(value);
  allocation_limit = std::numeric_limits<size_t>::max();

  EXPECT_EQ(fulfilled, "");
  EXPECT_THAT(Await(done), HasSubstr("A deferred run failed: std::bad_alloc."));
  int32_t out[3] = {};
  EXPECT_THAT(Download(results[0], out, sizeof(out)), HasSubstr("A deferred run failed: std::bad_alloc."));
  // The other run that waited for the argument is as it would be without this one.
  EXPECT_EQ(Download(result_, out, sizeof(out)), "");
  EXPECT_THAT(out, ElementsAre(2, 4, 6));
  EXPECT_EQ(AwaitOnly(done_), "");
  Destroy(done_);
  Destroy(results[0]);
  Destroy(value);
  Call<abi::LoadedExecutable_Destroy_Args> destroy;
  destroy->executable = many;
  destroy.Run(api().LoadedExecutable_Destroy);
}

// The run would wait for its own result.
TEST_F(Deferred, AResultCannotBeTheArgumentThatItsRunWaitsFor) {
  EXPECT_THAT(Fulfill(result_), HasSubstr("The buffer was not given its value yet."));
  EXPECT_THAT(Await(done_), HasSubstr("The buffer was not given its value yet."));
  int32_t out[3] = {};
  EXPECT_THAT(Download(result_, out, sizeof(out)), HasSubstr("The buffer was not given its value yet."));
}

}  // namespace
}  // namespace hlod::pjrt
