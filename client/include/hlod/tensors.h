// Everything a program with tensors needs.
#pragma once

#include "hlod/environment.h"
#include "hlod/hlod.h"
#include "hlod/nn/module.h"
#include "hlod/nn/state_dict.h"
#include "hlod/ops/comparison.h"
#include "hlod/ops/creation.h"
#include "hlod/ops/elementwise.h"
#include "hlod/ops/linear_algebra.h"
#include "hlod/ops/math.h"
#include "hlod/ops/reduction.h"
#include "hlod/tensor.h"
#include "hlod/trace.h"
