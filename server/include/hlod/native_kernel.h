// Native kernels: functions of a shared object that the daemon runs where a program has a custom-call. C; it
// needs nothing of hlod but this header.
//
//   #include <hlod/native_kernel.h>
//
//   static int Twice(const hlod_kernel_call* call) {
//     if (call->input_count != 1 || call->output_count != 1 || call->inputs[0].dtype != HLOD_F32 ||
//         call->outputs[0].dtype != HLOD_F32 || call->outputs[0].elements != call->inputs[0].elements) {
//       snprintf(call->error, call->error_bytes, "it takes one f32 array and gives one as large");
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
// TRUST. A kernel runs in the daemon's process, with its memory, its rights and every client's data: it is as
// trusted as the daemon. So only the daemon's configuration names libraries (--kernel-library, or
// kernel_library in its file); a client names a target, never a file. What a kernel must take care of itself:
//  - Numbers, shapes and types of the arrays and the payload are the client's choice; hlod checks none of
//    them. A kernel refuses what it does not understand before it touches data.
//  - Several threads may call a kernel at once.
//  - Every byte of the outputs is to be written: what they hold before may be another client's.
//  - A call that lasts is not interrupted: cancelling, deadlines and the daemon's end wait for it.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Changes when anything below does; a library of another version is refused.
#define HLOD_NATIVE_KERNEL_ABI 1

// Element types: XLA's numbers (xla_data.proto). Sub-byte types take a byte an element.
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

// An array: dense and row-major, whatever layouts the program has; aligned to 64 bytes. Without elements its
// data may be null.
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
  void* data;  // Not an input's memory.
} hlod_kernel_output;

// What a kernel is called with. Nothing of it outlives the call.
typedef struct hlod_kernel_call {
  const hlod_kernel_input* inputs;
  const hlod_kernel_output* outputs;  // One for each leaf of the result.
  int32_t input_count, output_count;
  int32_t threads;      // How many threads it may run on.
  const char* payload;  // The custom-call's backend config, byte for byte.
  size_t payload_bytes;
  char* error;  // Where a call that fails says why: text that ends with 0, of error_bytes with the 0.
  size_t error_bytes;
} hlod_kernel_call;

// 0, or a number that the error names.
typedef int (*hlod_kernel_function)(const hlod_kernel_call* call);

typedef struct hlod_kernel {
  const char* target;  // The custom-call's; not one of hlod's own ("TopK").
  hlod_kernel_function run;
} hlod_kernel;

typedef struct hlod_kernel_table {
  uint32_t abi;  // HLOD_NATIVE_KERNEL_ABI.
  uint32_t count;
  const hlod_kernel* kernels;  // Lives as long as the process, as all of the table does.
} hlod_kernel_table;

// The one symbol that a library exports. Called once, when the daemon starts.
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const hlod_kernel_table*
hlod_native_kernels(void);

#ifdef __cplusplus
}
#endif
