// Schedulers that multiply the rate.
#pragma once

#include <cstdint>
#include <functional>

#include "hlod/optim/lr_scheduler.h"

namespace hlod {

// Returns a scheduler whose rate at an epoch is the base times factor(epoch). Each step multiplies the
// current rate by change(epoch), which is factor(epoch) / factor(epoch - 1), and is computed as that when it
// is null.
LrScheduler FactorLr(ParameterOptimizer& optimizer, std::function<double(int64_t epoch)> factor,
                     std::function<double(int64_t epoch)> change = {});

}  // namespace hlod
