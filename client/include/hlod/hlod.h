// Includes everything that a program needs to connect, build a module, compile, upload, execute and download.
#pragma once

#include "common/hlo/builder.h"
#include "common/hlo/text/text.h"
#include "hlod/runtime/buffer.h"
#include "hlod/runtime/client.h"
#include "hlod/runtime/device.h"
#include "hlod/runtime/executable.h"
#include "hlod/runtime/future.h"
#include "hlod/runtime/types.h"
