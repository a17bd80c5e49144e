// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// The first of three object files that every program links and that do not depend on it: what runs. Tensors, domains,
// dispatches, waits.
#include "pld/runtime_host.h"
#include "pld/runtime_pipes.h"
#include "pld/runtime_task.h"
#include "pld/runtime_tensor.h"
#include "pld/runtime_text.h"
#include "pld/runtime_wait.h"
#ifdef PLD_TARGET_MPI
#include "pld/runtime_share.h"
#endif
