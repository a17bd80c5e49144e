// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Embedded tile library: the names and argument orders of the official instruction set, executed at once on
// the CPU. An instruction that is not here does not compile; results follow the IR's op definitions.
#pragma once
#include "pld/pto_compare.h"
#include "pld/pto_convert.h"
#include "pld/pto_index.h"
#include "pld/pto_math.h"
#include "pld/pto_matmul.h"
#include "pld/pto_move.h"
#include "pld/pto_pipe.h"
#include "pld/pto_reduce.h"
#include "pld/pto_types.h"
