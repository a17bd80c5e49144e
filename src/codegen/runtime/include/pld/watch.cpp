// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// The second one: what watches. Reports, seeded schedules, races, traces; an ordinary run calls nothing of it.
#include "pld/runtime_observe.h"
#include "pld/runtime_order.h"
#include "pld/runtime_race.h"
#include "pld/runtime_report.h"
#include "pld/runtime_trace.h"
