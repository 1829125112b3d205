// Native kernels: functions of a shared object that the daemon runs for the custom-calls of a program. The
// header is C, and needs no other header of hlod.
//
//   #include <hlod/native_kernel.h>
//
//   static int Twice(const hlod_kernel_call* call) {
//     if (call->input_count != 1 || call->output_count != 1 || call->inputs[0].dtype != HLOD_F32 ||
//         call->outputs[0].dtype != HLOD_F32 || call->outputs[0].elements != call->inputs[0].elements) {
//       snprintf(call->error, call->error_bytes, "it takes one f32 array and returns one of the same size");
//       return 1;
//     }
//     const float* x = call->inputs[0].data;
//     float* y = call->outputs[0].data;
//     for (int64_t i = 0; i < call->inputs[0].elements; ++i) y[i] = 2 * x[i];
//     return 0;
//   }
//   static const hlod_kernel kernels[] = {{"twice", Twice}};
//   static const hlod_kernel_table table = {HLOD_NATIVE_KERNEL_ABI, 1, kernels};
//   const hlod_kernel_table* hlod_native_kernels(void) { return &table; }
//
//   cc -shared -fPIC -fvisibility=default -o twice.so twice.c
//   hlod --kernel-library ./twice.so
//   hlod::Tensor y = hlod::CustomCall("twice", {x}, x.shape());
//
// TRUST. A kernel runs in the daemon's process, with its memory, its rights and every client's data: it must
// be trusted like the daemon. Therefore only the daemon's configuration names libraries (--kernel-library, or
// kernel_library in its file); a client names a target, never a file. A kernel must observe these rules:
// - The client chooses the number, shapes and types of the arrays, and the payload; hlod does not check them.
//   A kernel refuses what it does not support before it touches data.
// - Several threads may call a kernel at once.
// - A kernel writes every byte of the outputs: before, they may hold another client's data.
// - A long call is not interrupted: cancelling, deadlines and the daemon's end wait for it.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Changes when a declaration below changes; a library of another version is refused.
#define HLOD_NATIVE_KERNEL_ABI 1

// Element types with XLA's numbers (xla_data.proto). Sub-byte types occupy one byte per element.
enum {
  HLOD_PRED = 1,
  HLOD_S8 = 2,
  HLOD_S16 = 3,
  HLOD_S32 = 4,
  HLOD_S64 = 5,
  HLOD_U8 = 6,
  HLOD_U16 = 7,
  HLOD_U32 = 8,
  HLOD_U64 = 9,
  HLOD_F16 = 10,
  HLOD_F32 = 11,
  HLOD_F64 = 12,
  HLOD_C64 = 15,
  HLOD_BF16 = 16,
  HLOD_C128 = 18
};

// An array: dense and row-major for any layout in the program, and aligned to 64 bytes. The data of an array
// without elements may be null.
typedef struct hlod_kernel_input {
  int32_t dtype;
  int32_t rank;
  const int64_t* dims;
  int64_t elements, bytes;
  const void* data;
} hlod_kernel_input;

typedef struct hlod_kernel_output {
  int32_t dtype;
  int32_t rank;
  const int64_t* dims;
  int64_t elements, bytes;
  void* data;  // Does not overlap an input.
} hlod_kernel_output;

// The arguments of a kernel. Its pointers are invalid after the call.
typedef struct hlod_kernel_call {
  const hlod_kernel_input* inputs;
  const hlod_kernel_output* outputs;  // One per leaf of the result.
  int32_t input_count, output_count;
  int32_t threads;      // The number of threads that the kernel may use.
  const char* payload;  // The custom-call's backend config, unchanged.
  size_t payload_bytes;
  // A buffer for the error of a failed call: text with a terminating 0, of at most error_bytes including the
  // 0.
  char* error;
  size_t error_bytes;
} hlod_kernel_call;

// Returns 0 for success, or a number that the error message contains.
typedef int (*hlod_kernel_function)(const hlod_kernel_call* call);

typedef struct hlod_kernel {
  const char* target;  // The custom-call's target; not one of hlod's own ("TopK").
  hlod_kernel_function run;
} hlod_kernel;

typedef struct hlod_kernel_table {
  uint32_t abi;  // HLOD_NATIVE_KERNEL_ABI.
  uint32_t count;
  const hlod_kernel* kernels;  // Lives as long as the process, like the whole table.
} hlod_kernel_table;

// The only symbol that a library exports. Called once, when the daemon starts.
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const hlod_kernel_table*
hlod_native_kernels(void);

#ifdef __cplusplus
}
#endif
