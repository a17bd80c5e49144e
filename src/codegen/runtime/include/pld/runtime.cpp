// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// The runtime as an object file; every program links it. It does not depend on the program.
#include "pld/runtime_host.h"
#include "pld/runtime_task.h"
#include "pld/runtime_wait.h"
