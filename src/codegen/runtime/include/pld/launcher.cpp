// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// The third one: the command line.
#include "pld/runtime_main.h"
