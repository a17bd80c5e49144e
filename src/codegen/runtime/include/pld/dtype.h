// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Element types on the host side: sizes and names. The values are those of DataType (abi.h).
#pragma once
#include "pld/abi.h"

namespace pld {

using DType = DataType;
inline constexpr DType f32 = DataType::FLOAT32;
inline constexpr DType f16 = DataType::FLOAT16;
inline constexpr DType bf16 = DataType::BFLOAT16;
inline constexpr DType i64 = DataType::INT64;
inline constexpr DType i32 = DataType::INT32;
inline constexpr DType i16 = DataType::INT16;
inline constexpr DType i8 = DataType::INT8;
inline constexpr DType u64 = DataType::UINT64;
inline constexpr DType u32 = DataType::UINT32;
inline constexpr DType u16 = DataType::UINT16;
inline constexpr DType u8 = DataType::UINT8;
inline constexpr DType b8 = DataType::BOOL;
inline constexpr DType fp8e4m3 = DataType::FP8E4M3FN;
inline constexpr DType fp8e8m0 = DataType::FP8E8M0;

// Bytes of one element.
constexpr int64_t size_of(DType d) {
  switch (d) {
    case DataType::INT64:
    case DataType::UINT64:
      return 8;
    case DataType::FLOAT32:
    case DataType::INT32:
    case DataType::UINT32:
      return 4;
    case DataType::FLOAT16:
    case DataType::BFLOAT16:
    case DataType::INT16:
    case DataType::UINT16:
      return 2;
    default:
      return 1;
  }
}

// The name that the IR prints, without `pl.`.
constexpr const char* name_of(DType d) {
  switch (d) {
    case DataType::FLOAT32:
      return "FP32";
    case DataType::FLOAT16:
      return "FP16";
    case DataType::BFLOAT16:
      return "BF16";
    case DataType::INT64:
      return "INT64";
    case DataType::INT32:
      return "INT32";
    case DataType::INT16:
      return "INT16";
    case DataType::INT8:
      return "INT8";
    case DataType::UINT64:
      return "UINT64";
    case DataType::UINT32:
      return "UINT32";
    case DataType::UINT16:
      return "UINT16";
    case DataType::UINT8:
      return "UINT8";
    case DataType::BOOL:
      return "BOOL";
    case DataType::FP8E4M3FN:
      return "FP8E4M3FN";
    case DataType::FP8E8M0:
      return "FP8E8M0";
    case DataType::FP4E2M1:
      return "FP4E2M1";
  }
  return "?";
}

}  // namespace pld
