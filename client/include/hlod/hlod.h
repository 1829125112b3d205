// Everything a program needs: connect, build a module, compile, upload, execute, download.
#pragma once

#include "common/hlo/builder.h"
#include "common/hlo/text/text.h"
#include "hlod/buffer.h"
#include "hlod/client.h"
#include "hlod/device.h"
#include "hlod/executable.h"
#include "hlod/future.h"
#include "hlod/types.h"
