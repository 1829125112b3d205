// Libraries that a daemon refuses, by what ODD is defined to be.
#include <hlod/native_kernel.h>
#include <stddef.h>

static int Nothing(const hlod_kernel_call* call) {
  (void)call;
  return 0;
}

enum { other_abi, own_target, no_target, no_function, no_table, no_symbol };
static const hlod_kernel kernels[] = {{ODD == own_target  ? "TopK"
                                       : ODD == no_target ? ""
                                                          : "tests.odd",
                                       ODD == no_function ? NULL : Nothing}};
static const hlod_kernel_table table = {HLOD_NATIVE_KERNEL_ABI + (ODD == other_abi), 1, kernels};
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define symbol_other_abi hlod_native_kernels
#define symbol_own_target hlod_native_kernels
#define symbol_no_target hlod_native_kernels
#define symbol_no_function hlod_native_kernels
#define symbol_no_table hlod_native_kernels
#define symbol_no_symbol hlod_other_kernels
const hlod_kernel_table* JOIN(symbol_, ODD)(void) { return ODD == no_table ? NULL : &table; }
