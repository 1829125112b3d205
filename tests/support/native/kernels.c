// Native kernels that the tests call. In C, since the interface is C.
#include <hlod/native_kernel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int Refuse(const hlod_kernel_call* call, const char* why) {
  snprintf(call->error, call->error_bytes, "%s", why);
  return 1;
}

// f32 x -> x times the number that the payload is as text.
static int Scale(const hlod_kernel_call* call) {
  char text[32] = {0};
  if (call->input_count != 1 || call->output_count != 1)
    return Refuse(call, "scale takes one array and gives one");
  const hlod_kernel_input* x = &call->inputs[0];
  const hlod_kernel_output* y = &call->outputs[0];
  if (x->dtype != HLOD_F32 || y->dtype != HLOD_F32) return Refuse(call, "scale is for f32");
  if (x->elements != y->elements || x->bytes != y->bytes)
    return Refuse(call, "scale gives as many elements as it takes");
  if (call->payload_bytes == 0 || call->payload_bytes >= sizeof(text))
    return Refuse(call, "the payload of scale is a number");
  memcpy(text, call->payload, call->payload_bytes);
  const float factor = strtof(text, NULL);
  const float* from = (const float*)x->data;
  float* to = (float*)y->data;
  for (int64_t i = 0; i < x->elements; ++i) to[i] = from[i] * factor;
  return 0;
}

// f32 arrays -> the sum of all elements as f32[], and the sizes of the last dimensions as s32[inputs].
static int Survey(const hlod_kernel_call* call) {
  float sum = 0;
  if (call->output_count != 2 || call->outputs[0].rank != 0 || call->outputs[1].dtype != HLOD_S32 ||
      call->outputs[1].elements != call->input_count || call->threads < 1) {
    return Refuse(call, "survey gives f32[] and s32[inputs]");
  }
  int32_t* sizes = (int32_t*)call->outputs[1].data;
  for (int32_t k = 0; k < call->input_count; ++k) {
    const hlod_kernel_input* x = &call->inputs[k];
    for (int64_t i = 0; i < x->elements; ++i) sum += ((const float*)x->data)[i];
    sizes[k] = x->rank == 0 ? 1 : (int32_t)x->dims[x->rank - 1];
  }
  *(float*)call->outputs[0].data = sum;
  return 0;
}

// A failure without a word.
static int Silent(const hlod_kernel_call* call) {
  (void)call;
  return 7;
}

static const hlod_kernel kernels[] = {
    {"tests.scale", Scale}, {"tests.survey", Survey}, {"tests.silent", Silent}};
static const hlod_kernel_table table = {HLOD_NATIVE_KERNEL_ABI, 3, kernels};
const hlod_kernel_table* hlod_native_kernels(void) { return &table; }
