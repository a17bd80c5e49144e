// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// The second object file of every program: its command line. It does not depend on the program.
#include "pld/runtime_main.h"
